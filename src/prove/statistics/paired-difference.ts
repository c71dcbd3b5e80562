/** Paired differences of a quantity: one difference an item, its mean, spread, and the paired t test. */
import type { Interval } from './bootstrap.ts';
import { StatisticsError } from './errors.ts';
import { type ItemNumbers, noNumber, sum } from './estimand.ts';
import { checkShare } from './options.ts';
import { studentCritical, studentTwoSided } from './student-t.ts';

export interface PairedDifference {
  readonly test: 'paired-t';
  /** Items; each has one difference, treatment minus control, however many repeats it had. */
  readonly items: number;
  /** Mean of the items' differences, in the metric's unit: the difference of macro by item. */
  readonly mean: number;
  readonly median: number;
  /** Standard deviation of the differences and standard error of their mean; null for one item. */
  readonly deviation: number | null;
  readonly standardError: number | null;
  /** Mean by standard error; null for one item, and where no item differs from another. */
  readonly t: number | null;
  readonly freedom: number;
  /** Two-sided. */
  readonly p: number | null;
  readonly intervals: readonly Interval[];
}

/**
 * The items are the sample, so repeats make a difference more exact and never add to the degrees of freedom. The t test
 * trusts that differences are not far from normal; the sign-flip test and the bootstrap do not need that.
 * Source: Student, Biometrika 6, 1908; Miller, Adding Error Bars to Evals, 2024, sections 2.2 and 4 (items as clusters).
 * Throws `statistics.no-pairs` without items or where an item has no number, `statistics.bad-option`.
 */
export function pairedDifference(
  items: readonly Pick<ItemNumbers, 'item' | 'difference'>[],
  levels: readonly number[] = [0.95],
): PairedDifference {
  const differences = items.map(({ item, difference }) => {
    if (difference !== null) return difference;
    throw noNumber(item);
  });
  if (differences.length === 0) {
    throw new StatisticsError('statistics.no-pairs', 'Expected at least one item, found none.');
  }
  const n = differences.length;
  const mean = sum(differences) / n;
  const squares = sum(differences.map((one) => (one - mean) ** 2));
  const deviation = n > 1 ? Math.sqrt(squares / (n - 1)) : null;
  const standardError = deviation === null ? null : deviation / Math.sqrt(n);
  const t = standardError ? mean / standardError : null;
  return {
    test: 'paired-t',
    items: n,
    mean,
    median: medianOf(differences),
    deviation,
    standardError,
    t,
    freedom: n - 1,
    p: t === null ? null : studentTwoSided(t, n - 1),
    intervals: levels.map((level) => {
      checkShare('level', level);
      if (standardError === null) return { level, low: null, high: null };
      const reach = studentCritical(1 - level, n - 1) * standardError;
      return { level, low: mean - reach, high: mean + reach };
    }),
  };
}

/** The middle value, or the mean of the two in the middle. */
export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2;
}
