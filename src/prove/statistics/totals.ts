/** Arm totals of what is counted, and whether the treatment acted at all. */
import { StatisticsError } from './errors.ts';
import { sum } from './estimand.ts';
import { checkShare } from './options.ts';
import type { Side, TrialKey } from './pairing.ts';
import { nameOf } from './pairing.ts';

/** How often something happened in a trial: tool calls, timeouts, model requests. Null where nobody knows. */
export interface CountRow extends TrialKey {
  readonly count: number | null;
}

export interface ArmTotal {
  /** Null where the count of any trial is unknown. */
  readonly total: number | null;
  /** The sum of what is known: a lower bound. */
  readonly known: number;
  readonly trials: number;
  readonly unknown: number;
  /** Trials with a count above 0. */
  readonly trialsWithAny: number;
}

export interface ArmTotals {
  readonly control: ArmTotal;
  readonly treatment: ArmTotal;
  /** Treatment minus control. */
  readonly difference: number | null;
  /** Treatment by control, minus 1; null where control is 0. */
  readonly relative: number | null;
}

/**
 * Sums over all trials given, paired or not: a total describes the record and is no comparison. Its unit is what is counted
 * (calls, timeouts). A plain sum, with no source but its definition: an arm's total is the sum of its trials' counts, the
 * difference is treatment minus control, the relative one that by control. Throws
 * `statistics.bad-value` for a count below 0.
 */
export function armTotals(rows: readonly CountRow[]): ArmTotals {
  const control = totalOf(rows, 'control');
  const treatment = totalOf(rows, 'treatment');
  const known = control.total !== null && treatment.total !== null;
  const difference = known ? (treatment.total ?? 0) - (control.total ?? 0) : null;
  return {
    control,
    treatment,
    difference,
    relative: difference === null || !control.total ? null : difference / control.total,
  };
}

function totalOf(rows: readonly CountRow[], side: Side): ArmTotal {
  const own = rows.filter((row) => row.side === side);
  const counts = own.flatMap((row) => {
    if (row.count === null) return [];
    if (row.count >= 0 && Number.isFinite(row.count)) return [row.count];
    throw new StatisticsError(
      'statistics.bad-value',
      `${nameOf(row)}: expected a count of 0 or more, or null, found ${row.count}.`,
    );
  });
  const known = sum(counts);
  const unknown = own.length - counts.length;
  return {
    total: unknown === 0 ? known : null,
    known,
    trials: own.length,
    unknown,
    trialsWithAny: counts.filter((count) => count > 0).length,
  };
}

export interface ManipulationQuestion {
  /** The arm in which the count must be exactly 0 in every trial. */
  readonly zeroIn: Side;
  /** The share of the other arm's trials, above 0, in which it must have happened; any trial at all by default. */
  readonly shareLeast?: number;
}

/**
 * - `acted`: exactly 0 in the one arm, often enough in the other;
 * - `did-not-act`: the other arm hardly did it either, so nothing was changed and the experiment is void;
 * - `leaked`: it happened in the arm that should be without;
 * - `unknown`: a count that would decide is unknown, or an arm has no trials.
 */
export type ManipulationVerdict = 'acted' | 'did-not-act' | 'leaked' | 'unknown';

export interface ManipulationCheck {
  readonly verdict: ManipulationVerdict;
  readonly zeroIn: Side;
  readonly totals: ArmTotals;
  /** Share of the other arm's known trials in which it happened; null without any. */
  readonly share: number | null;
  /** Trials of the zero arm in which it happened, by item and repeat. */
  readonly leaks: readonly { readonly item: string; readonly repeat: number; readonly count: number }[];
}

/**
 * Whether the treated text acted: what it ordered is gone without exception in the arm without it, and was there in the
 * other. Zero is compared exactly, no test is made: one call is a leak. Counts are calls of a tool, `share` is a share of trials.
 * Source: Perdue and Summers, Checking the Success of Manipulations in Marketing Experiments, Journal of Marketing Research 23,
 * 1986, for a check of its own before outcomes are looked at; that it is of exact zeros is ours. Throws `statistics.bad-value`,
 * `statistics.bad-option`.
 */
export function manipulationCheck(
  rows: readonly CountRow[],
  { zeroIn, shareLeast }: ManipulationQuestion,
): ManipulationCheck {
  if (shareLeast !== undefined && shareLeast !== 1) checkShare('shareLeast', shareLeast);
  const totals = armTotals(rows);
  const zero = totals[zeroIn];
  const other = totals[zeroIn === 'control' ? 'treatment' : 'control'];
  const leaks = rows
    .filter((row) => row.side === zeroIn && row.count !== null && row.count > 0)
    .map(({ item, repeat, count }) => ({ item, repeat, count: count ?? 0 }));
  return {
    verdict: verdictOf(zero, other, shareLeast ?? 0),
    zeroIn,
    totals,
    share: other.trials === other.unknown ? null : other.trialsWithAny / (other.trials - other.unknown),
    leaks,
  };
}

// Each verdict must hold whatever the unknown counts are.
function verdictOf(zero: ArmTotal, other: ArmTotal, shareLeast: number): ManipulationVerdict {
  if (zero.known > 0) return 'leaked';
  if (zero.trials === 0 || other.trials === 0) return 'unknown';
  const enough = (trials: number) => trials > 0 && trials >= shareLeast * other.trials;
  if (!enough(other.trialsWithAny + other.unknown)) return 'did-not-act';
  if (zero.unknown > 0 || !enough(other.trialsWithAny)) return 'unknown';
  return 'acted';
}
