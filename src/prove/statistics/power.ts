/** What a design can find, before it is run: power by simulation, and the smallest p that it can reach. */
import { type Interval, resampleSums, summarise } from './bootstrap.ts';
import { type Generator, type Seed, stream } from './generator.ts';
import { type Better, equivalence, hull, nonInferiority, superiority } from './margin.ts';
import { badOption, checkCount, checkResamples, checkShare, resamplesLeast } from './options.ts';
import { checkOutcomes, type Outcomes, simulateItem } from './outcomes.ts';
import { pairedDifference } from './paired-difference.ts';
import { countExtreme, smallestFlipP, sumFlips } from './sign-flip.ts';

/** What has to be shown: that the arms differ, or that the treatment lies within a margin, in the unit of the effect. */
export type PowerQuestion =
  | { readonly kind: 'difference' }
  | { readonly kind: 'equivalence'; readonly margin: number }
  | { readonly kind: 'non-inferiority'; readonly margin: number; readonly better?: Better };

export interface PowerDesign {
  readonly items: number;
  /** Trials of each item in each arm. */
  readonly repeats: number;
  readonly outcomes: Outcomes;
  readonly seed: Seed;
  /** A difference by default. */
  readonly question?: PowerQuestion;
  /** Items of each group where the estimand is macro over groups; left out, each item weighs the same. */
  readonly groups?: readonly number[];
  /** 0.05 by default. */
  readonly alpha?: number;
  /** Simulated experiments, 1,000 by default, which gives a power of 0.8 to within 0.025 (two standard errors). */
  readonly simulations?: number;
}

export interface Power {
  readonly design: PowerDesign;
  readonly alpha: number;
  readonly simulations: number;
  /** Share of simulated experiments in which what is asked is shown. */
  readonly power: number;
  /** Standard error of `power` by the number of simulations. */
  readonly standardError: number;
  /** Mean true effect over the simulated items: less than asked where rates are cut to 0 and 1. */
  readonly effect: number;
  /** The smallest two-sided p of the design; above alpha nothing it finds can count. */
  readonly smallestP: number;
}

/** Random resamples inside one simulated experiment: enough to tell p from 0.05, too few to publish a p. */
const innerResamples = 999;
/** Enumerating more than 2^12 flips costs more than 999 random ones. */
const innerExactMost = 12;

/**
 * Simulates whole experiments and decides each as an analysis does: a difference by the sign-flip test and the percentile
 * interval of the cluster bootstrap, both of which must show it; a margin by the interval of level 1 - 2 alpha that holds
 * the bootstrap's and, where no groups are weighed, the t interval. No closed form is used, for these tests have none.
 * Source: Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed. 2005, chapter 3; simulation as in Morris
 * et al., Statistics in Medicine 38, 2019; near to it for quantities: Julious, Statistics in Medicine 23, 2004 (t tests).
 * Throws `statistics.bad-option`.
 */
export function power(design: PowerDesign): Power {
  const items = checkCount('items', design.items, 1);
  const repeats = checkCount('repeats', design.repeats, 1);
  const simulations = checkCount('simulations', design.simulations ?? 1000, 1);
  const alpha = checkShare('alpha', design.alpha ?? 0.05);
  const groups = checkGroups(design.groups, items);
  checkOutcomes(design.outcomes);
  const generator = stream(design.seed, 'power');
  const values = new Float64Array(innerResamples);
  const show = shownBy(design.question ?? { kind: 'difference' }, alpha, design.groups === undefined);
  let found = 0;
  let effects = 0;
  for (let simulation = 0; simulation < simulations; simulation += 1) {
    const strata = groups.map((size) => {
      const parts = new Float64Array(size);
      for (let item = 0; item < size; item += 1) {
        const { difference, effect } = simulateItem(design.outcomes, repeats, generator);
        effects += effect;
        parts[item] = difference / size / groups.length;
      }
      return parts;
    });
    if (show(strata, generator, values)) found += 1;
  }
  const share = found / simulations;
  return {
    design,
    alpha,
    simulations,
    power: share,
    standardError: Math.sqrt((share * (1 - share)) / simulations),
    effect: effects / simulations / items,
    smallestP: smallestP({ test: 'sign-flip', items }),
  };
}

export interface Reach {
  readonly test: 'sign-flip' | 'sign' | 'mcnemar';
  /** Items of the design; of McNemar's test, its pairs. */
  readonly items: number;
  readonly resamples?: number;
}

/**
 * The smallest two-sided p that a design can give, when every item differs in the same direction: 2 / 2^items, and with
 * more than 20 items of a sign-flip test no less than 1 / (resamples + 1). It follows from the definitions of the tests.
 * Throws `statistics.bad-option`.
 */
export function smallestP({ test, items, resamples }: Reach): number {
  checkCount('items', items, 1);
  return test === 'sign-flip'
    ? smallestFlipP(items, checkResamples(resamples ?? resamplesLeast))
    : Math.min(1, 2 / 2 ** items);
}

/** Whether one simulated experiment, the parts of its difference by stratum, shows what is asked. */
type Show = (strata: readonly Float64Array[], generator: Generator, values: Float64Array) => boolean;

function shownBy(question: PowerQuestion, alpha: number, alike: boolean): Show {
  if (question.kind === 'difference') {
    return (strata, generator, values) => {
      const parts = strata.flatMap((stratum) => [...stratum]).filter((part) => part !== 0);
      if (flipP(Float64Array.from(parts), generator, values) > alpha) return false;
      const { verdict } = superiority(drawnInterval(strata, generator, values, 1 - alpha));
      return verdict === 'better' || verdict === 'worse';
    };
  }
  const answer = question.kind === 'equivalence' ? equivalence : nonInferiority;
  const level = 1 - 2 * alpha;
  return (strata, generator, values) => {
    const drawn = drawnInterval(strata, generator, values, level);
    const interval = alike
      ? hull(
          drawn,
          tInterval(
            strata.flatMap((parts) => [...parts]),
            level,
          ),
        )
      : drawn;
    return answer(interval, { ...question, alpha }).verdict === 'shown';
  };
}

function drawnInterval(
  strata: readonly Float64Array[],
  generator: Generator,
  values: Float64Array,
  level: number,
): Interval {
  resampleSums(strata, generator, values);
  const singleItemGroups = strata.filter((parts) => parts.length < 2).map(() => '');
  const summary = { effect: 'difference', estimate: null, levels: [level], singleItemGroups } as const;
  return summarise(values, summary).intervals[0] ?? { level, low: null, high: null };
}

function tInterval(parts: readonly number[], level: number): Interval {
  const items = parts.map((part) => ({ item: '', difference: part * parts.length }));
  return pairedDifference(items, [level]).intervals[0] ?? { level, low: null, high: null };
}

/** The p of one simulated experiment, by the parts of its difference. */
function flipP(parts: Float64Array, generator: Generator, values: Float64Array): number {
  const flips = sumFlips(parts);
  const observed = parts.reduce((total, part) => total + part, 0);
  if (parts.length <= innerExactMost) {
    return countExtreme(flips.all(), observed, flips.tolerance) / 2 ** parts.length;
  }
  const extreme = countExtreme(flips.random(generator, values), observed, flips.tolerance);
  return (extreme + 1) / (values.length + 1);
}

function checkGroups(groups: readonly number[] | undefined, items: number): readonly number[] {
  if (groups === undefined) return [items];
  const total = groups.reduce((sum, size) => sum + checkCount('groups', size, 1), 0);
  if (total === items) return groups;
  throw badOption('groups', `sizes that add up to the ${items} items`, total);
}
