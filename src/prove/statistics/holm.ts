/** Holm's correction: many metrics, one error rate. */
import { badOption, checkShare } from './options.ts';

export interface HolmInput {
  readonly name: string;
  /** Null for a test that gave none. It stays in the family and counts as 1. */
  readonly p: number | null;
}

export interface HolmRow extends HolmInput {
  /** The p to compare with the whole family's alpha; null where p is. */
  readonly adjusted: number | null;
  readonly rejected: boolean;
}

/**
 * Adjusted p values in the order given: in ascending order, p(i) times (m - i + 1), at most 1, never below the one
 * before. The chance of any false rejection in the family is at most `alpha`, however the tests depend on each other.
 * Source: Holm, Scandinavian Journal of Statistics 6, 1979.
 * Every registered secondary metric belongs in the list, also those nobody will mention. Throws `statistics.bad-option`.
 */
export function holm(tests: readonly HolmInput[], alpha = 0.05): HolmRow[] {
  checkShare('alpha', alpha);
  for (const { name, p } of tests) {
    if (p !== null && !(p >= 0 && p <= 1))
      throw badOption(`p of '${name}'`, 'a number from 0 to 1, or null', p);
  }
  const ascending = tests.map(({ p }, at) => ({ p: p ?? 1, at })).sort((a, b) => a.p - b.p);
  const adjusted = new Array<number>(tests.length).fill(1);
  let floor = 0;
  ascending.forEach(({ p, at }, before) => {
    floor = Math.max(floor, Math.min(1, p * (tests.length - before)));
    adjusted[at] = floor;
  });
  return tests.map(({ name, p }, at) => {
    const value = p === null ? null : (adjusted[at] ?? 1);
    return { name, p, adjusted: value, rejected: value !== null && value <= alpha };
  });
}
