/** The sign-flip permutation test blocked by item: exact over all flips where few items differ, seeded resamples elsewhere. */
import { type Blocks, type Estimand, estimate } from './estimand.ts';
import { type Generator, type Seed, stream } from './generator.ts';
import { type Histogram, histogramOf } from './histogram.ts';
import { checkResamples, resamplesLeast } from './options.ts';

/** Up to so many items that differ, all 2^n flips are enumerated. */
const exactBlocksMost = 20;

export interface SignFlipOptions {
  readonly seed: Seed;
  /** Random flips where there are too many to enumerate; 20,000 and more. */
  readonly resamples?: number;
}

export interface SignFlip {
  readonly test: 'sign-flip';
  readonly estimand: Estimand;
  /** Treatment minus control; null where it would divide by 0, and then `p` is null too. */
  readonly difference: number | null;
  readonly items: number;
  /** Items whose flip changes anything. Ties are not dropped: they add nothing under either sign. */
  readonly itemsThatDiffer: number;
  readonly method: 'exact' | 'monte-carlo';
  /** Flips looked at: all 2^itemsThatDiffer, or the random ones. */
  readonly resamples: number;
  /** Flips whose difference is at least as far from 0 as the observed one. One that divides by 0 is among them. */
  readonly atLeastAsExtreme: number;
  /** Two-sided. */
  readonly p: number | null;
  /** Standard error of a Monte Carlo p, sqrt(p (1 - p) / (resamples + 1)); 0 where the test is exact. */
  readonly pStandardError: number | null;
  /** The smallest p that these items could have given. */
  readonly smallestP: number;
  /** The permutation distribution of the difference, for a plot. */
  readonly histogram: Histogram | null;
}

/**
 * Tests that the arms are exchangeable within each item: every flip swaps the two arms of an item, all its repeats
 * together, and the difference of the estimand is computed anew. With equal repeats that is the sum of ±d over items.
 *
 * Source: Fisher, The Design of Experiments, 1935, section 21; Good, Permutation, Parametric and Bootstrap Tests of
 * Hypotheses, 3rd ed. 2005, chapter 3. A Monte Carlo p is (1 + b) / (1 + resamples), which counts the observed
 * arrangement and is never 0 (Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9, 2010).
 * Two differences are equal when they are so within 1e-12 of the sum of their parts, so that rounding breaks no tie.
 * Throws `statistics.bad-option`.
 */
export function signFlip(blocks: Blocks, options: SignFlipOptions): SignFlip {
  const resamples = checkResamples(options.resamples ?? resamplesLeast);
  const { difference } = estimate(blocks);
  const flips = flipsOf(blocks);
  const exact = flips.count <= exactBlocksMost;
  const common = {
    test: 'sign-flip' as const,
    estimand: blocks.estimand,
    difference,
    items: blocks.items.length,
    itemsThatDiffer: flips.count,
    method: exact ? ('exact' as const) : ('monte-carlo' as const),
    resamples: exact ? 2 ** flips.count : resamples,
    smallestP: smallestFlipP(flips.count, resamples),
  };
  if (difference === null) {
    return { ...common, atLeastAsExtreme: common.resamples, p: null, pStandardError: null, histogram: null };
  }
  const values = exact
    ? flips.all()
    : flips.random(stream(options.seed, 'sign-flip'), new Float64Array(resamples));
  const extreme = countExtreme(values, difference, flips.tolerance);
  const p = exact ? extreme / values.length : (extreme + 1) / (resamples + 1);
  return {
    ...common,
    atLeastAsExtreme: extreme,
    p,
    pStandardError: exact ? 0 : Math.sqrt((p * (1 - p)) / (resamples + 1)),
    histogram: histogramOf(values, difference),
  };
}

/** The smallest two-sided p of a sign-flip test in which `items` items differ: 2 / 2^items, or what resampling allows. */
export function smallestFlipP(items: number, resamples: number = resamplesLeast): number {
  if (items <= exactBlocksMost) return Math.min(1, 2 / 2 ** items);
  return Math.max(2 / 2 ** items, 1 / (resamples + 1));
}

/** How many are at least as far from 0 as `observed`; what is not a number counts, so that it can only weaken a claim. */
export function countExtreme(values: Float64Array, observed: number, tolerance: number): number {
  const bound = Math.abs(observed) - tolerance;
  let count = 0;
  for (let at = 0; at < values.length; at += 1) {
    if (!(Math.abs(values[at] as number) < bound)) count += 1;
  }
  return count;
}

/** The flips of one set of blocks. */
export interface Flips {
  /** Items whose flip changes anything. */
  readonly count: number;
  /** Differences nearer to each other than this are equal. */
  readonly tolerance: number;
  /** The differences under all 2^count flips. */
  all(): Float64Array;
  /** Fills `into` with the differences under as many random flips. */
  random(generator: Generator, into: Float64Array): Float64Array;
}

/** Sums of ±parts where a flip leaves every divisor as it is; the whole computation for each flip elsewhere. */
export function flipsOf(blocks: Blocks): Flips {
  const { controlTop, controlBottom, treatmentTop, treatmentBottom, starts } = blocks;
  const balanced = controlBottom.every((bottom, at) => bottom === treatmentBottom[at]);
  if (!balanced) return swapFlips(blocks);
  const parts: number[] = [];
  blocks.strata.forEach((_, stratum) => {
    const from = starts[stratum] ?? 0;
    const to = starts[stratum + 1] ?? 0;
    const bottom = controlBottom.subarray(from, to).reduce((total, one) => total + one, 0);
    for (let at = from; at < to; at += 1) {
      const treatment = treatmentTop[at] ?? 0;
      const control = controlTop[at] ?? 0;
      const difference = treatment - control;
      // 0.1 + 0.2 against 0.3 is no difference.
      const near = 1e-12 * Math.max(Math.abs(treatment), Math.abs(control));
      if (Math.abs(difference) > near) parts.push(difference / bottom / blocks.strata.length);
    }
  });
  return sumFlips(Float64Array.from(parts));
}

/** The flips of a plain sum: parts of the observed difference, one for each item that differs. */
export function sumFlips(parts: Float64Array): Flips {
  const n = parts.length;
  const tolerance = 1e-12 * parts.reduce((total, part) => total + Math.abs(part), 0);
  return {
    count: n,
    tolerance,
    // Two tables of at most 2^10 sums, not one running sum over 2^20 steps: its rounding would grow with every step.
    all: () => {
      const low = allSums(parts.subarray(0, n >> 1));
      const high = allSums(parts.subarray(n >> 1));
      const values = new Float64Array(low.length * high.length);
      let at = 0;
      for (const one of high) for (const other of low) values[at++] = one + other;
      return values;
    },
    random: (generator, into) => {
      // A byte of random bits picks one of the 256 sums of eight parts.
      const tables = Array.from({ length: Math.ceil(n / 8) }, (_, at) =>
        allSums(parts.subarray(8 * at, 8 * at + 8)),
      );
      const words = new Int32Array(into.length);
      into.fill(0);
      tables.forEach((table, at) => {
        if (at % 4 === 0) generator.fill(words);
        const shift = 8 * (at % 4);
        const mask = table.length - 1;
        for (let resample = 0; resample < into.length; resample += 1) {
          const pick = ((words[resample] as number) >>> shift) & mask;
          into[resample] = (into[resample] as number) + (table[pick] as number);
        }
      });
      return into;
    },
  };
}

function allSums(parts: Float64Array): Float64Array {
  const sums = new Float64Array(2 ** parts.length);
  for (let mask = 0; mask < sums.length; mask += 1) {
    let total = 0;
    for (let at = 0; at < parts.length; at += 1) {
      total += (mask >>> at) & 1 ? -(parts[at] as number) : (parts[at] as number);
    }
    sums[mask] = total;
  }
  return sums;
}

function swapFlips(blocks: Blocks): Flips {
  const { controlTop, controlBottom, treatmentTop, treatmentBottom, starts } = blocks;
  const strata = blocks.strata.length;
  const differs = Uint8Array.from(blocks.items, (_, at) =>
    controlTop[at] === treatmentTop[at] && controlBottom[at] === treatmentBottom[at] ? 0 : 1,
  );
  const count = differs.reduce((total, one) => total + one, 0);
  const flipped = new Uint8Array(blocks.items.length);
  const difference = (): number => {
    let total = 0;
    for (let stratum = 0; stratum < strata; stratum += 1) {
      let [top, bottom, otherTop, otherBottom] = [0, 0, 0, 0];
      for (let at = starts[stratum] as number; at < (starts[stratum + 1] as number); at += 1) {
        const swap = flipped[at] === 1;
        top += (swap ? controlTop : treatmentTop)[at] as number;
        bottom += (swap ? controlBottom : treatmentBottom)[at] as number;
        otherTop += (swap ? treatmentTop : controlTop)[at] as number;
        otherBottom += (swap ? treatmentBottom : controlBottom)[at] as number;
      }
      total += top / bottom - otherTop / otherBottom;
    }
    return total / strata;
  };
  const arms = estimate(blocks);
  return {
    count,
    tolerance: 1e-12 * (Math.abs(arms.control ?? 0) + Math.abs(arms.treatment ?? 0)),
    all: () => {
      const values = new Float64Array(2 ** count);
      for (let mask = 0; mask < values.length; mask += 1) {
        let bit = 0;
        for (let at = 0; at < flipped.length; at += 1) {
          if (differs[at] === 1) flipped[at] = (mask >>> bit++) & 1;
        }
        values[mask] = difference();
      }
      return values;
    },
    random: (generator, into) => {
      for (let resample = 0; resample < into.length; resample += 1) {
        let word = 0;
        for (let at = 0; at < flipped.length; at += 1) {
          word = (at & 31) === 0 ? generator.bits() : word >>> 1;
          flipped[at] = word & 1;
        }
        into[resample] = difference();
      }
      return into;
    },
  };
}
