/** What became of the trials of one arm, in numbers: outcomes, why a trial is no plain answer, calls that failed. */
import type { Side } from './statistics/trials.ts';
import type { TrialOutcome, TrialRow } from './trial.ts';

export interface SideCounts {
  readonly planned: number;
  readonly outcomes: Readonly<Record<TrialOutcome | 'missing' | 'ungraded', number>>;
  /** Why trials are no plain answers: of each outcome and reason how many, the most frequent first. */
  readonly reasons: readonly ReasonCount[];
  /** In how many trials a call failed, by its code: of those that were answered too. */
  readonly callCodes: Readonly<Record<string, number>>;
  readonly interrupted: number;
  /** Attempts that ended in an outage before anything was sent, so that their trial began anew. */
  readonly unsent: number;
  readonly timeouts: number;
  readonly modelsSeen: readonly string[];
  readonly fingerprintsSeen: readonly string[];
  readonly environments: readonly string[];
}

export interface ReasonCount {
  readonly outcome: TrialOutcome;
  readonly reason: string;
  readonly trials: number;
}

/** Counts the trials of an arm; those of the plan that have no row are missing. */
export function countsOf(
  plan: readonly { readonly side: Side }[],
  planned: readonly TrialRow[],
  side: Side,
): SideCounts {
  const own = planned.filter((row) => row.side === side);
  const size = plan.filter((trial) => trial.side === side).length;
  const count = (outcome: TrialOutcome) => own.filter((row) => row.outcome === outcome).length;
  return {
    planned: size,
    outcomes: {
      answered: count('answered'),
      'agent-failure': count('agent-failure'),
      outage: count('outage'),
      invalid: count('invalid'),
      missing: size - own.length,
      ungraded: own.filter((row) => row.outcome === 'answered' && row.score === null).length,
    },
    reasons: reasonsOf(own),
    callCodes: Object.fromEntries(tally(own.flatMap((row) => row.callCodes))),
    interrupted: own.reduce((total, row) => total + row.interrupted, 0),
    unsent: own.reduce((total, row) => total + row.unsent.length, 0),
    timeouts: own.filter((row) => !row.finished).length,
    modelsSeen: known(own.flatMap((row) => row.modelsSeen)),
    fingerprintsSeen: known(own.flatMap((row) => row.fingerprintsSeen)),
    environments: [...new Set(own.map((row) => row.environment))].sort(),
  };
}

function reasonsOf(own: readonly TrialRow[]): readonly ReasonCount[] {
  return (['agent-failure', 'outage', 'invalid'] as const).flatMap((outcome) =>
    tally(own.flatMap((row) => (row.outcome === outcome && row.reason !== null ? [row.reason] : []))).map(
      ([reason, trials]) => ({ outcome, reason, trials }),
    ),
  );
}

/** How often each text stands there, the most frequent first, equals by the text. */
function tally(texts: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}

function known(names: readonly (string | null)[]): readonly string[] {
  return [...new Set(names.flatMap((one) => one ?? []))].sort();
}
