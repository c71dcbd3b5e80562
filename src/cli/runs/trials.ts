/** Which runs an experiment made: they are marked, and pass nobody for the run that they have just started. */
import type { Store } from '../../ledger/store.ts';
import { isRecord } from '../../protocol/json.ts';
import type { RunRecord, SessionRecord } from '../../protocol/record.ts';

/** What a trial is of, or that a run judged one. Null for a run that no experiment made. */
export type MadeFor =
  | { readonly experiment: string; readonly item: string; readonly side: string; readonly repeat: number }
  | { readonly judge: true }
  | null;

/** Reads what the session's origin says of it. */
export function madeFor({ origin }: Pick<SessionRecord, 'origin'>): MadeFor {
  const stamp = origin.experiment;
  if (!isRecord(stamp)) return null;
  const { experiment, item, side, repeat } = stamp;
  const whole = typeof experiment === 'string' && typeof item === 'string' && typeof side === 'string';
  return whole && typeof repeat === 'number' ? { experiment, item, side, repeat } : { judge: true };
}

/** One short text for a person. */
export function madeForText(made: NonNullable<MadeFor>): string {
  if ('judge' in made) return 'judges a trial';
  return `trial of ${made.experiment}: ${made.item}, ${made.side}, ${made.repeat}`;
}

/** The newest runs that no experiment made, and how many newer ones of experiments were passed over for them. */
export async function ownRuns(
  store: Store,
  records: readonly RunRecord[],
  limit: number,
): Promise<{ readonly runs: readonly RunRecord[]; readonly leftOut: number }> {
  const runs: RunRecord[] = [];
  let leftOut = 0;
  for (const record of records) {
    if (runs.length === limit) break;
    const session = await store.session(record.session);
    if (session !== undefined && madeFor(session) !== null) leftOut += 1;
    else runs.push(record);
  }
  return { runs, leftOut };
}
