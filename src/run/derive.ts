/** What the events of a run say about it: its state, its usage, its open ticket. Nothing else stores these. */
import type { EventBodies, RunEvent } from '../protocol/events.ts';
import type { RunStatus } from '../protocol/outcome.ts';
import type { Ticket } from '../protocol/ticket.ts';
import { addUsage, noUsage, type Usage, unknownUsage } from '../protocol/usage.ts';

/** `interrupted`: nobody holds the run and its record has no end; it can be resumed. */
export type RunState = RunStatus | 'running' | 'interrupted';

/** The state of a run; `held` says whether a living process has its lease. */
export function stateOf(events: readonly RunEvent[], held: boolean): RunState {
  const finish = lastOf(events, 'run-finish');
  if (finish !== undefined) return finish.status;
  if (held) return 'running';
  return events.at(-1)?.type === 'run-pause' || openTicketOf(events) !== undefined ? 'paused' : 'interrupted';
}

/** The newest event of a type. */
export function lastOf<T extends keyof EventBodies>(
  events: readonly RunEvent[],
  type: T,
): (RunEvent & { readonly type: T }) | undefined {
  return events.findLast((event): event is RunEvent & { readonly type: T } => event.type === type);
}

/** All that the run's model requests used. A request without an end is unknown, so the sum is. */
export function usageOf(events: readonly RunEvent[]): Usage {
  let usage = noUsage;
  let open = false;
  for (const event of events) {
    if (event.type === 'model-request') {
      if (open) usage = addUsage(usage, unknownUsage);
      open = true;
    } else if (event.type === 'model-response' || event.type === 'model-fault') {
      usage = addUsage(usage, event.usage);
      open = false;
    }
  }
  return open ? addUsage(usage, unknownUsage) : usage;
}

/** Turns that were started and calls that really ran. */
export function countsOf(events: readonly RunEvent[]): {
  readonly turns: number;
  readonly toolCalls: number;
} {
  let turns = 0;
  let toolCalls = 0;
  for (const event of events) {
    if (event.type === 'turn-start') turns += 1;
    if (event.type === 'tool-result' && !['rejected', 'denied', 'not-run'].includes(event.status))
      toolCalls += 1;
  }
  return { turns, toolCalls };
}

/** The question that has no answer yet, if the run is waiting for one. */
export function openTicketOf(events: readonly RunEvent[]): Ticket | undefined {
  const asked = lastOf(events, 'approval-request')?.ticket;
  if (asked === undefined) return undefined;
  const answered = events.some((event) => event.type === 'approval-answer' && event.ticket === asked.id);
  return answered || lastOf(events, 'run-finish') !== undefined ? undefined : asked;
}
