/** Where an interrupted run goes on, and what of its ledger's end was left out because it was no whole record. */
import type { TornTail } from '../ledger/store.ts';
import type { EventType, RunEvent } from '../protocol/events.ts';
import { lastOf } from './derive.ts';

/** The newest event that is recorded: all up to it is whole, and the run goes on behind it. */
export interface ResumePoint {
  readonly seq: number;
  readonly type: EventType;
}

/** Undefined for a run of which nothing is recorded. */
export function resumePoint(events: readonly RunEvent[]): ResumePoint | undefined {
  const last = events.at(-1);
  return last === undefined ? undefined : { seq: last.seq, type: last.type };
}

/**
 * The torn ends that may have held events of this run: those found after the process that was last at work on it recorded
 * its last one. None for a run whose end or pause is recorded.
 */
export function tornFor(events: readonly RunEvent[], tails: readonly TornTail[]): readonly TornTail[] {
  const epoch = (lastOf(events, 'run-resume') ?? lastOf(events, 'run-start'))?.epoch;
  // What people decided since was written under later leases.
  const last = events.findLast((event) => event.epoch === epoch);
  if (last === undefined || last.type === 'run-pause' || last.type === 'run-finish') return [];
  return tails.filter(({ at }) => at >= last.at);
}

/** How a record tells where it goes on. */
export interface GoesOn {
  /** The newest event of a run that waits or was interrupted: it goes on behind it. */
  readonly goesOnAfter?: ResumePoint;
  /** Ends of the ledger's journal that were no whole record, and may have held events of this run; left out for none. */
  readonly torn?: readonly TornTail[];
}

export function goesOn(events: readonly RunEvent[], tails: readonly TornTail[]): GoesOn {
  const goesOnAfter = resumePoint(events);
  const torn = tornFor(events, tails);
  return { ...(goesOnAfter === undefined ? {} : { goesOnAfter }), ...(torn.length === 0 ? {} : { torn }) };
}

/** One sentence for a person. */
export function tornText({ bytes, found }: TornTail, { seq, type }: ResumePoint): string {
  const what = found === 'zeros' ? 'nothing but zeros' : 'no whole record';
  return `The last ${bytes} bytes of the ledger's journal were ${what} and are left out; the run goes on after event ${seq} (${type}).`;
}
