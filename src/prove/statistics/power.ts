/** What a design can find, before it is run: power by simulation, and the smallest p that it can reach. */
import { type Generator, type Seed, stream } from './generator.ts';
import { badOption, checkCount, checkResamples, checkShare, resamplesLeast } from './options.ts';
import { countExtreme, smallestFlipP, sumFlips } from './sign-flip.ts';

/**
 * What is assumed of the outcomes.
 * - `binary`: an item's pass rate in the control arm is drawn from the beta distribution with mean `rate` and standard
 *   deviation `deviation` over items; the treatment adds `effect`, cut to 0 and 1;
 * - `quantity`: an item's true difference is normal with mean `effect` and standard deviation `deviation` over items, and
 *   each trial adds noise with standard deviation `noise`. All in the metric's unit.
 */
export type Outcomes =
  | { readonly kind: 'binary'; readonly rate: number; readonly deviation: number; readonly effect: number }
  | {
      readonly kind: 'quantity';
      readonly effect: number;
      readonly deviation: number;
      readonly noise: number;
    };

export interface PowerDesign {
  readonly items: number;
  /** Trials of each item in each arm. */
  readonly repeats: number;
  readonly outcomes: Outcomes;
  readonly seed: Seed;
  /** 0.05 by default. */
  readonly alpha?: number;
  /** Simulated experiments, 1,000 by default, which gives a power of 0.8 to within 0.025 (two standard errors). */
  readonly simulations?: number;
}

export interface Power {
  readonly design: PowerDesign;
  readonly alpha: number;
  readonly simulations: number;
  /** Share of simulated experiments in which the sign-flip test gives p <= alpha. */
  readonly power: number;
  /** Standard error of `power` by the number of simulations. */
  readonly standardError: number;
  /** Mean true effect over the simulated items: less than asked where rates are cut to 0 and 1. */
  readonly effect: number;
  /** The smallest two-sided p of the design; above alpha nothing it finds can count. */
  readonly smallestP: number;
}

/** Random flips inside one simulated experiment: enough to tell p from 0.05, too few to publish a p. */
const innerResamples = 999;
/** Enumerating more than 2^12 flips costs more than 999 random ones. */
const innerExactMost = 12;

/**
 * Simulates whole experiments and tests each with the sign-flip test on the items' differences.
 * Source: Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed. 2005, chapter 3; simulation as in Morris
 * et al., Statistics in Medicine 38, 2019. Throws `statistics.bad-option`.
 */
export function power(design: PowerDesign): Power {
  const items = checkCount('items', design.items, 1);
  const repeats = checkCount('repeats', design.repeats, 1);
  const simulations = checkCount('simulations', design.simulations ?? 1000, 1);
  const alpha = checkShare('alpha', design.alpha ?? 0.05);
  checkOutcomes(design.outcomes);
  const generator = stream(design.seed, 'power');
  const values = new Float64Array(innerResamples);
  let found = 0;
  let effects = 0;
  for (let simulation = 0; simulation < simulations; simulation += 1) {
    const differences: number[] = [];
    for (let item = 0; item < items; item += 1) {
      const { difference, effect } = simulateItem(design.outcomes, repeats, generator);
      effects += effect;
      if (difference !== 0) differences.push(difference);
    }
    if (flipP(Float64Array.from(differences), generator, values) <= alpha) found += 1;
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
 * more than 20 items of a sign-flip test no less than 1 / (resamples + 1). Throws `statistics.bad-option`.
 */
export function smallestP({ test, items, resamples }: Reach): number {
  checkCount('items', items, 1);
  return test === 'sign-flip'
    ? smallestFlipP(items, checkResamples(resamples ?? resamplesLeast))
    : Math.min(1, 2 / 2 ** items);
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

/** One item of a simulated experiment: the difference that is seen, and the true one. */
function simulateItem(
  outcomes: Outcomes,
  repeats: number,
  generator: Generator,
): { readonly difference: number; readonly effect: number } {
  if (outcomes.kind === 'quantity') {
    const effect = outcomes.effect + outcomes.deviation * generator.normal();
    const noise = outcomes.noise * Math.sqrt(2 / repeats) * generator.normal();
    return { difference: effect + noise, effect };
  }
  const control = betaRate(outcomes.rate, outcomes.deviation, generator);
  const treatment = Math.min(1, Math.max(0, control + outcomes.effect));
  let passes = 0;
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    if (generator.unit() < treatment) passes += 1;
    if (generator.unit() < control) passes -= 1;
  }
  return { difference: passes / repeats, effect: treatment - control };
}

/** A rate from the beta distribution with this mean and standard deviation. */
export function betaRate(mean: number, deviation: number, generator: Generator): number {
  if (deviation === 0) return mean;
  const size = (mean * (1 - mean)) / deviation ** 2 - 1;
  const passes = gamma(mean * size, generator);
  return passes / (passes + gamma((1 - mean) * size, generator));
}

// Marsaglia and Tsang, A simple method for generating gamma variables, ACM TOMS 26, 2000; shapes below 1 by their section 6.
function gamma(shape: number, generator: Generator): number {
  if (shape < 1) return gamma(shape + 1, generator) * generator.unit() ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = generator.normal();
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(generator.unit()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

function checkOutcomes(outcomes: Outcomes): void {
  const { deviation, effect } = outcomes;
  if (!Number.isFinite(effect)) throw badOption('effect', 'a finite number', effect);
  if (outcomes.kind === 'quantity') {
    if (!(deviation >= 0 && Number.isFinite(deviation)))
      throw badOption('deviation', 'a number of 0 or more', deviation);
    if (!(outcomes.noise >= 0 && Number.isFinite(outcomes.noise))) {
      throw badOption('noise', 'a number of 0 or more', outcomes.noise);
    }
    return;
  }
  const rate = checkShare('rate', outcomes.rate);
  const most = Math.sqrt(rate * (1 - rate));
  if (!(deviation >= 0 && deviation < most)) {
    throw badOption('deviation', `a number from 0 to below sqrt(rate (1 - rate)) = ${most}`, deviation);
  }
}
