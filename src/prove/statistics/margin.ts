/** Equivalence and non-inferiority against a registered margin, both judged by an interval. */
import type { Interval } from './bootstrap.ts';
import { badOption, checkShare } from './options.ts';

/** Which way of the metric is good: passes `higher`, cost `lower`. */
export type Better = 'higher' | 'lower';

export interface MarginQuestion {
  /** The registered margin in the unit of the effect, above 0. */
  readonly margin: number;
  /** The error rate of the claim, 0.05 by default. The interval must have level 1 - 2 alpha. */
  readonly alpha?: number;
}

export interface MarginAnswer {
  readonly question: 'equivalence' | 'non-inferiority';
  readonly margin: number;
  readonly alpha: number;
  readonly interval: Interval;
  /** `unknown` where the end that decides is not known. `not-shown` is not the opposite claim. */
  readonly verdict: 'shown' | 'not-shown' | 'unknown';
}

/**
 * Two one-sided tests by their interval: equivalence at `alpha` is shown when the whole interval of level 1 - 2 alpha
 * lies strictly between -margin and margin.
 * Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987. Throws `statistics.bad-option`.
 */
export function equivalence(interval: Interval, { margin, alpha = 0.05 }: MarginQuestion): MarginAnswer {
  check(interval, margin, alpha);
  const { low, high } = interval;
  const outside = (low !== null && low <= -margin) || (high !== null && high >= margin);
  const verdict = outside ? 'not-shown' : low === null || high === null ? 'unknown' : 'shown';
  return { question: 'equivalence', margin, alpha, interval, verdict };
}

/**
 * Non-inferiority at `alpha`: the treatment is worse by less than `margin`, shown when the unfavourable end of the
 * interval of level 1 - 2 alpha lies strictly inside the margin.
 * Source: ICH E9, Statistical Principles for Clinical Trials, 1998, section 3.3.2. Throws `statistics.bad-option`.
 */
export function nonInferiority(
  interval: Interval,
  { margin, alpha = 0.05, better = 'higher' }: MarginQuestion & { readonly better?: Better },
): MarginAnswer {
  check(interval, margin, alpha);
  const worst = better === 'higher' ? interval.low : interval.high === null ? null : -interval.high;
  const verdict = worst === null ? 'unknown' : worst > -margin ? 'shown' : 'not-shown';
  return { question: 'non-inferiority', margin, alpha, interval, verdict };
}

export interface Superiority {
  /** `no-effect-detected` where the interval holds 0; that is no proof of equality. `unknown` without both ends. */
  readonly verdict: 'better' | 'worse' | 'no-effect-detected' | 'unknown';
  readonly interval: Interval;
}

/**
 * The interval that holds both, for a claim that has to stand by either: its level is at least theirs. An end is null
 * where it is in one of them. What is inside by both is inside by their hull: an intersection-union test (Berger, Technometrics
 * 24, 1982), whose error is at most that of either.
 */
export function hull(one: Interval, other: Interval): Interval {
  const end = (a: number | null, b: number | null, pick: (a: number, b: number) => number) =>
    a === null || b === null ? null : pick(a, b);
  return {
    level: one.level,
    low: end(one.low, other.low, Math.min),
    high: end(one.high, other.high, Math.max),
  };
}

/**
 * On which side of 0 the whole interval lies. By the duality of tests and intervals that is a two-sided test at 1 minus the
 * interval's level. Source: Lehmann and Romano, Testing Statistical Hypotheses, 3rd ed. 2005, section 3.5.
 */
export function superiority(interval: Interval, better: Better = 'higher'): Superiority {
  const { low, high } = interval;
  if (low === null || high === null) return { verdict: 'unknown', interval };
  if (low <= 0 && high >= 0) return { verdict: 'no-effect-detected', interval };
  return { verdict: low > 0 === (better === 'higher') ? 'better' : 'worse', interval };
}

function check(interval: Interval, margin: number, alpha: number): void {
  if (!(margin > 0 && Number.isFinite(margin))) throw badOption('margin', 'a number above 0', margin);
  checkShare('alpha', alpha);
  if (Math.abs(interval.level - (1 - 2 * alpha)) > 1e-9) {
    throw badOption('interval', `the level 1 - 2 alpha = ${1 - 2 * alpha}`, interval.level);
  }
}
