/** What the record of a metered run says of the requests that went through our recorder. */
import type { RunEvent } from '../protocol/events.ts';
import { lastOf } from './derive.ts';

export interface MeterView {
  /** Where the requests were sent on to. */
  readonly upstream: string;
  /** Requests of the task's own conversation that were let through. */
  readonly main: number;
  /** Of these, those in which our text was found where it was measured to stand, once. An empty text is not looked for. */
  readonly proven: number;
  /** Requests beside the task that were let through. */
  readonly side: number;
  /** Requests that were answered in the upstream's place. */
  readonly refused: number;
}

/** Nothing where the run was not metered. */
export function meterOf(events: readonly RunEvent[]): { readonly meter?: MeterView } {
  const opened = lastOf(events, 'meter-open');
  if (opened === undefined) return {};
  const view = { main: 0, proven: 0, side: 0, refused: 0 };
  for (const event of events) {
    if (event.type === 'meter-refuse') view.refused += 1;
    if (event.type !== 'meter-admit') continue;
    view[event.lane] += 1;
    if (event.text !== null) view.proven += 1;
  }
  return { meter: { upstream: opened.upstream, ...view } };
}
