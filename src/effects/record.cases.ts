/** Calls, events and a recorder as the tests of this folder use them. */
import type { EffectCall, Lineage } from '../protocol/effect.ts';
import type { EventBodies, EventBody, RunEvent } from '../protocol/events.ts';
import { unknownUsage } from '../protocol/usage.ts';
import { callId, effectsOf } from './effects.ts';
import type { RunEffectOptions } from './run-effect.ts';

export function effectCall(more: Partial<EffectCall> = {}): EffectCall {
  return {
    turn: 1,
    position: 1,
    tool: 'book',
    access: 'write',
    repeat: 'once',
    key: 'book',
    fingerprint: 'print-1',
    repeatable: false,
    timeoutMs: 60_000,
    ...more,
  };
}

export function numbered(bodies: readonly EventBody[]): RunEvent[] {
  return bodies.map((body, i) => ({ ...body, run: 'run_a', seq: i + 1, at: 0, epoch: 1 }));
}

/** The id of the store that the records here are of. */
export const storeId = 'ledger_a';

export function dispatchOf(call: EffectCall, attempt = 1, from?: Lineage): EventBody {
  const { turn, position, tool, access, repeat, key, fingerprint, ticket = null } = call;
  const lineage: Lineage =
    attempt === 1
      ? { mode: 'initial', parent: null }
      : { mode: 'retry', parent: { turn, position, attempt: attempt - 1 } };
  return {
    ...{ type: 'effect-dispatch', turn, position, tool, access, repeat, key, fingerprint, attempt, ticket },
    call: callId(storeId, { run: 'run_a', turn, position }, fingerprint),
    lineage: from ?? lineage,
  };
}

export function observeOf(
  { turn, position }: EffectCall,
  more: Partial<EventBodies['effect-observe']> = {},
): EventBody {
  const seen = {
    attempt: 1,
    status: 'succeeded',
    text: 'digest',
    truncated: false,
    bytes: 2,
    late: false,
  } as const;
  return { type: 'effect-observe', turn, position, ...seen, ...more };
}

export interface Recorder extends Pick<RunEffectOptions, 'record' | 'recall'> {
  readonly events: EventBody[];
  readonly powers: boolean[];
  view(): ReturnType<typeof effectsOf>;
  /** Rejects the next event of this type, and everything after it. */
  breakAt(type: EventBody['type']): void;
}

/** A record in memory that resolves late, as a real one does. */
export function recorder(): Recorder {
  const events: EventBody[] = [];
  const powers: boolean[] = [];
  const blobs = new Map<string, Uint8Array>();
  let breaking: string | undefined;
  let broken = false;
  return {
    events,
    powers,
    view: () => effectsOf(numbered(events), new Map(), storeId),
    breakAt(type) {
      breaking = type;
    },
    async record(given, options) {
      await new Promise((resolve) => setImmediate(resolve));
      broken ||= given.some(({ type }) => type === breaking);
      if (broken) throw new Error('the disk is gone');
      events.push(...given);
      powers.push(options.power);
      for (const { digest, bytes } of options.blobs ?? []) blobs.set(digest, Buffer.from(bytes));
    },
    recall: async (digest) => blobs.get(digest),
  };
}

/** The events of a request to a model in turn 1. */
export function asked(more: Partial<EventBodies['model-request']>): EventBody {
  return {
    ...{ type: 'model-request', turn: 1, attempt: 1, model: 'p/m', wire: 'openai-chat', url: 'http://m' },
    ...{ keep: 0, add: [], tools: null, parameters: {}, body: 'body', bodyBytes: 4, reserved: {} },
    ...more,
  };
}

export function answered(more: Partial<EventBodies['model-response']>): EventBody {
  return {
    ...{ type: 'model-response', turn: 1, attempt: 1, httpStatus: 200, response: 'raw', finish: 'stop' },
    ...{ modelSeen: null, requestId: null, usage: unknownUsage, firstByteMs: 1, elapsedMs: 2 },
    ...more,
  };
}

export function faulted(more: Partial<EventBodies['model-fault']>): EventBody {
  return {
    ...{ type: 'model-fault', turn: 1, attempt: 1, dispatched: 'yes', httpStatus: null, response: null },
    ...{
      error: { code: 'model.cut', kind: 'failed', message: 'Cut.' },
      usage: unknownUsage,
      retryInMs: null,
    },
    ...more,
  };
}
