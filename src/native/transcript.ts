/** The conversation of a session, rebuilt from its events: the same bytes in the same order, and the calls still open. */
import type { EventBody, RunEvent } from '../protocol/events.ts';
import type { ToolCall } from '../protocol/messages.ts';

/** A batch of calls with those of its results that exist, in provider order. */
export interface Batch {
  readonly turn: number;
  readonly calls: readonly ToolCall[];
  /** Digest of each call's result message; undefined while it has none. */
  readonly results: (string | undefined)[];
}

/** A call of an earlier run that ended without settling it: no result was recorded, so its outcome is unknown. */
export interface LostCall {
  readonly lost: ToolCall;
}

/** What the events say. Digests name messages as they stand on the wire. */
export interface Transcript {
  /** All finished messages in order. A batch with an open call ends the list with its assistant message. */
  readonly messages: readonly (string | LostCall)[];
  /** How many messages the newest request sent. */
  readonly requested: number;
  /** The newest turn of the newest run; 0 before the first. */
  readonly turn: number;
  /** Attempts already made at the newest turn's request while it has no answer; 0 when it has one. */
  readonly openAttempts: number;
  /** The batch that still has calls without a result. */
  readonly batch: Batch | undefined;
  /** Every provider id seen in the session. */
  readonly callIds: ReadonlySet<string>;
  /** Digest of the newest turn's text if it had no calls: the run ended but its end was not recorded. */
  readonly answered: string | undefined;
  /** True once the newest run's task stands in the messages. */
  readonly taskSent: boolean;
}

/**
 * The events of one conversation: the session's own where no lane is named, else that of a step of a plan in this run.
 * Events that belong to no turn are in each; a compaction belongs to the conversation that it shortened.
 */
export function laneEvents(events: readonly RunEvent[], run: string, lane?: string): readonly RunEvent[] {
  const lanes = new Map<string, string>();
  return events.filter((event) => {
    if (lane !== undefined && event.run !== run) return false;
    if (event.type === 'session-compact') return event.lane === lane;
    if (!('turn' in event)) return true;
    const place = `${event.run} ${event.turn}`;
    if (event.type === 'turn-start' && event.lane !== undefined) lanes.set(place, event.lane);
    return lanes.get(place) === lane;
  });
}

/** Digest of the message that holds the task of a run: the last of the first request among its events. */
export function taskOf(events: readonly EventBody[]): string | undefined {
  const first = events.find((event) => event.type === 'model-request');
  return first?.type === 'model-request' ? first.add.at(-1) : undefined;
}

/** Reduces a session's events, those of earlier runs first. `run` is the run at work now. */
export function transcriptOf(events: readonly RunEvent[], run: string): Transcript {
  let messages: (string | LostCall)[] = [];
  let requested = 0;
  let turn = 0;
  let openAttempts = 0;
  let batch: { turn: number; calls: ToolCall[]; results: (string | undefined)[]; size: number } | undefined;
  let answered: string | undefined;
  let taskSent = false;
  let current = '';
  const callIds = new Set<string>();

  for (const event of events) {
    if (event.run !== current) {
      current = event.run;
      turn = 0;
      openAttempts = 0;
      answered = undefined;
      // Providers refuse a history in which a call has no result; what is missing is named, never invented.
      if (batch !== undefined)
        messages.push(...batch.calls.map((call, i) => batch?.results[i] ?? { lost: call }));
      batch = undefined;
    }
    switch (event.type) {
      case 'turn-start':
        turn = event.turn;
        openAttempts = 0;
        answered = undefined;
        break;
      case 'model-request':
        messages = [...messages.slice(0, event.keep), ...event.add];
        requested = messages.length;
        openAttempts = event.attempt;
        if (event.run === run) taskSent = true;
        break;
      case 'message-finish':
        messages.push(event.message);
        openAttempts = 0;
        if (event.calls > 0) batch = { turn: event.turn, calls: [], results: [], size: event.calls };
        else answered = event.text ?? undefined;
        break;
      case 'tool-call':
        callIds.add(event.callId);
        batch?.calls.push({ id: event.callId, name: event.tool, arguments: event.arguments });
        break;
      case 'tool-result':
        if (batch === undefined) break;
        batch.results[event.position - 1] = event.message;
        if (batch.results.filter((result) => result !== undefined).length === batch.size) {
          messages.push(...batch.results.filter((result) => result !== undefined));
          batch = undefined;
        }
        break;
    }
  }
  return { messages, requested, turn, openAttempts, batch, callIds, answered, taskSent };
}
