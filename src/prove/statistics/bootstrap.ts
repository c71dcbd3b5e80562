/** The cluster bootstrap: items are drawn again, each with both arms and all its repeats, and percentiles make the interval. */
import { type Blocks, type Estimand, estimate, finite } from './estimand.ts';
import { type Generator, type Seed, stream } from './generator.ts';
import { checkResamples, checkShare, resamplesLeast } from './options.ts';

/** `difference` is treatment minus control, `relative` treatment by control minus 1, the others one arm's own number. */
export type Effect = 'difference' | 'relative' | 'control' | 'treatment';

export interface BootstrapOptions {
  readonly seed: Seed;
  /** 20,000 and more. */
  readonly resamples?: number;
  /** Two-sided levels, `[0.95]` by default. An equivalence test at 5 % needs 0.9. */
  readonly levels?: readonly number[];
  readonly effect?: Effect;
}

/** An end is null where it is not known: too few items, or resamples that divide by 0 reach into that tail. */
export interface Interval {
  readonly level: number;
  readonly low: number | null;
  readonly high: number | null;
}

export interface Bootstrap {
  readonly method: 'cluster-bootstrap';
  readonly effect: Effect;
  readonly estimate: number | null;
  /** Standard deviation of the resampled values that are numbers; null below two of them. */
  readonly standardError: number | null;
  readonly resamples: number;
  /** Resamples in which the effect divides by 0. They count as below the lower and above the upper end. */
  readonly undefinedResamples: number;
  readonly intervals: readonly Interval[];
  /** Strata with one item alone: it cannot vary, so there is no honest interval and both ends are null. */
  readonly singleItemGroups: readonly string[];
}

export interface BlockBootstrap extends Bootstrap {
  readonly estimand: Estimand;
}

/**
 * Percentile intervals of an estimand. Items are drawn with replacement, inside each group where the estimand is macro
 * over a named grouping, and both arms of a drawn item come together.
 *
 * Source: Davison and Hinkley, Bootstrap Methods and their Application, 1997, sections 3.8 (clusters) and 5.3.1
 * (percentiles at (R + 1) alpha, between neighbours by straight line); Field and Welsh, Journal of the Royal Statistical
 * Society B 69, 2007. Below some 20 items such intervals are too short: see the coverage in docs/evidence.
 * Throws `statistics.bad-option`.
 */
export function clusterBootstrap(blocks: Blocks, options: BootstrapOptions): BlockBootstrap {
  const resamples = checkResamples(options.resamples ?? resamplesLeast);
  const effect = options.effect ?? 'difference';
  const single = blocks.strata.filter((_, at) => (blocks.starts[at + 1] ?? 0) - (blocks.starts[at] ?? 0) < 2);
  const values = new Float64Array(resamples);
  resample(blocks, effect, stream(options.seed, 'cluster-bootstrap'), values);
  return {
    estimand: blocks.estimand,
    ...summarise(values, {
      effect,
      estimate: estimate(blocks)[effect],
      levels: options.levels,
      singleItemGroups: single,
    }),
  };
}

/** Fills `into` with the effect in as many resamples of the blocks. */
export function resample(blocks: Blocks, effect: Effect, generator: Generator, into: Float64Array): void {
  const { controlTop, controlBottom, treatmentTop, treatmentBottom, starts } = blocks;
  const strata = blocks.strata.length;
  for (let round = 0; round < into.length; round += 1) {
    let control = 0;
    let treatment = 0;
    for (let stratum = 0; stratum < strata; stratum += 1) {
      const from = starts[stratum] as number;
      const size = (starts[stratum + 1] as number) - from;
      let cTop = 0;
      let cBottom = 0;
      let tTop = 0;
      let tBottom = 0;
      for (let draw = 0; draw < size; draw += 1) {
        const at = from + generator.below(size);
        cTop += controlTop[at] as number;
        cBottom += controlBottom[at] as number;
        tTop += treatmentTop[at] as number;
        tBottom += treatmentBottom[at] as number;
      }
      control += cTop / cBottom;
      treatment += tTop / tBottom;
    }
    into[round] = effectOf(effect, control / strata, treatment / strata);
  }
}

/** One effect of two arms' numbers. */
export function effectOf(effect: Effect, control: number, treatment: number): number {
  switch (effect) {
    case 'difference':
      return treatment - control;
    case 'relative':
      return treatment / control - 1;
    case 'control':
      return control;
    case 'treatment':
      return treatment;
  }
}

interface Summary {
  readonly effect: Effect;
  readonly estimate: number | null;
  readonly levels: readonly number[] | undefined;
  readonly singleItemGroups: readonly string[];
}

/** Makes intervals of resampled values; sorts them in place. */
export function summarise(values: Float64Array, summary: Summary): Bootstrap {
  const { effect, singleItemGroups } = summary;
  const levels = (summary.levels ?? [0.95]).map((level) => checkShare('level', level));
  values.sort();
  // Sorted, what is not a number stands last, infinities at both ends.
  const numbers = values.filter(Number.isFinite);
  const undefinedResamples = values.length - numbers.length;
  const known = singleItemGroups.length === 0;
  return {
    method: 'cluster-bootstrap',
    effect,
    estimate: summary.estimate,
    standardError: known ? deviation(numbers) : null,
    resamples: values.length,
    undefinedResamples,
    intervals: levels.map((level) => ({
      level,
      low: known ? percentile(numbers, undefinedResamples, (1 - level) / 2, 'low') : null,
      high: known ? percentile(numbers, undefinedResamples, (1 + level) / 2, 'high') : null,
    })),
    singleItemGroups,
  };
}

// The undefined ones stand below everything for the lower end and above everything for the upper one.
function percentile(
  sorted: Float64Array,
  missing: number,
  share: number,
  end: 'low' | 'high',
): number | null {
  const total = sorted.length + missing;
  const rank = Math.min(total, Math.max(1, share * (total + 1))) - (end === 'low' ? missing : 0);
  const below = Math.floor(rank);
  const low = sorted[below - 1];
  const high = rank === below ? low : sorted[below];
  if (low === undefined || high === undefined) return null;
  return finite(low + (rank - below) * (high - low));
}

function deviation(values: Float64Array): number | null {
  if (values.length < 2) return null;
  let mean = 0;
  let squares = 0;
  values.forEach((value, at) => {
    const step = value - mean;
    mean += step / (at + 1);
    squares += step * (value - mean);
  });
  return Math.sqrt(squares / (values.length - 1));
}
