/** The cluster bootstrap: items are drawn again, each with both arms and all its repeats, and percentiles make the interval. */
import { type Blocks, type Estimand, estimate } from './estimand.ts';
import { type Generator, type Seed, stream } from './generator.ts';
import { checkResamples, checkShare, resamplesLeast } from './options.ts';
import { finitePart, leastFrom, select } from './order-statistics.ts';

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
 * Society B 69, 2007. Of few items such intervals are too short; docs/statistics.md has their coverage.
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

/** Resamples whose draws are made at once: large enough to be quick, small enough for the nearest cache. */
export const batchSize = 128;

/** Fills `into` with the effect in as many resamples of the blocks. */
export function resample(blocks: Blocks, effect: Effect, generator: Generator, into: Float64Array): void {
  const parts = effect === 'difference' ? partsOf(blocks) : undefined;
  if (parts === undefined) resampleArms(blocks, effect, generator, into);
  else resampleSums(parts, generator, into);
}

/** Fills `into` with sums of parts drawn with replacement, as many of each stratum as it has. */
export function resampleSums(
  strata: readonly Float64Array[],
  generator: Generator,
  into: Float64Array,
): void {
  into.fill(0);
  for (const stratum of strata) addSums(stratum, generator, into);
}

/**
 * The items' parts of the difference by stratum, where every item of a stratum has the same divisor in both arms: then
 * no resample changes a divisor, and a sum of parts is all there is to compute. Undefined elsewhere.
 */
function partsOf({ strata, starts, ...sums }: Blocks): Float64Array[] | undefined {
  const parts = strata.map((_, stratum) => {
    const [from = 0, to = 0] = starts.subarray(stratum, stratum + 2);
    const bottom = sums.controlBottom[from] ?? 0;
    const divisor = bottom * (to - from) * strata.length;
    const same = (column: Float64Array) => column.subarray(from, to).every((one) => one === bottom);
    if (!same(sums.controlBottom) || !same(sums.treatmentBottom)) return undefined;
    const control = sums.controlTop.subarray(from, to);
    return sums.treatmentTop.subarray(from, to).map((top, at) => (top - (control[at] ?? 0)) / divisor);
  });
  return parts.every((one) => one !== undefined) ? parts : undefined;
}

/** Up to so many items, a table of all sums of two fits into 2^16 draws and the nearer caches. */
const pairedMost = 256;

/** Adds to each resample the sum of as many drawn parts as there are. One draw of n * n picks two items where it can. */
function addSums(parts: Float64Array, generator: Generator, into: Float64Array): void {
  const n = parts.length;
  if (n > pairedMost) {
    generator.addDrawn(into, parts, n);
    return;
  }
  const pairs = new Float64Array(n * n);
  for (let at = 0; at < pairs.length; at += 1) {
    pairs[at] = (parts[at % n] as number) + (parts[Math.floor(at / n)] as number);
  }
  generator.addDrawn(into, pairs, n >> 1);
  if (n % 2 === 1) generator.addDrawn(into, parts, 1);
}

function resampleArms(blocks: Blocks, effect: Effect, generator: Generator, into: Float64Array): void {
  const strata = blocks.strata.map((_, at) => stratumOf(blocks, at));
  const control = new Float64Array(batchSize);
  const treatment = new Float64Array(batchSize);
  for (let from = 0; from < into.length; from += batchSize) {
    control.fill(0);
    treatment.fill(0);
    for (const stratum of strata) {
      generator.draw(stratum.draws, stratum.size);
      addBatch(stratum, control, treatment);
    }
    const count = Math.min(batchSize, into.length - from);
    for (let at = 0; at < count; at += 1) {
      into[from + at] = effectOf(
        effect,
        (control[at] as number) / strata.length,
        (treatment[at] as number) / strata.length,
      );
    }
  }
}

interface Stratum {
  readonly size: number;
  /** Control top and bottom, treatment top and bottom of one item side by side, so that a draw touches one place. */
  readonly sums: Float64Array;
  /** `size` draws for each resample of a batch. */
  readonly draws: Uint32Array;
}

function stratumOf(blocks: Blocks, at: number): Stratum {
  const [from = 0, to = 0] = blocks.starts.subarray(at, at + 2);
  const { controlTop, controlBottom, treatmentTop, treatmentBottom } = blocks;
  const sums = new Float64Array(4 * (to - from));
  [controlTop, controlBottom, treatmentTop, treatmentBottom].forEach((column, part) => {
    for (let item = from; item < to; item += 1) sums[4 * (item - from) + part] = column[item] ?? 0;
  });
  return { size: to - from, sums, draws: new Uint32Array((to - from) * batchSize) };
}

function addBatch({ size, sums, draws }: Stratum, control: Float64Array, treatment: Float64Array): void {
  let next = 0;
  for (let round = 0; round < batchSize; round += 1) {
    const end = next + size;
    let cTop = 0;
    let cBottom = 0;
    let tTop = 0;
    let tBottom = 0;
    for (; next < end; next += 1) {
      const at = (draws[next] as number) << 2;
      cTop += sums[at] as number;
      cBottom += sums[at | 1] as number;
      tTop += sums[at | 2] as number;
      tBottom += sums[at | 3] as number;
    }
    control[round] = (control[round] as number) + cTop / cBottom;
    treatment[round] = (treatment[round] as number) + tTop / tBottom;
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

/** Makes intervals of resampled values, which it rearranges. */
export function summarise(values: Float64Array, summary: Summary): Bootstrap {
  const { effect, singleItemGroups } = summary;
  const levels = (summary.levels ?? [0.95]).map((level) => checkShare('level', level));
  const numbers = finitePart(values);
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
  numbers: Float64Array,
  missing: number,
  share: number,
  end: 'low' | 'high',
): number | null {
  const total = numbers.length + missing;
  const rank = Math.min(total, Math.max(1, share * (total + 1))) - (end === 'low' ? missing : 0);
  const below = Math.floor(rank);
  const low = select(numbers, below - 1);
  const high = rank === below ? low : leastFrom(numbers, below);
  return low === undefined || high === undefined ? null : low + (rank - below) * (high - low);
}

function deviation(values: Float64Array): number | null {
  if (values.length < 2) return null;
  let total = 0;
  for (let at = 0; at < values.length; at += 1) total += values[at] as number;
  const mean = total / values.length;
  let squares = 0;
  for (let at = 0; at < values.length; at += 1) squares += ((values[at] as number) - mean) ** 2;
  return Math.sqrt(squares / (values.length - 1));
}
