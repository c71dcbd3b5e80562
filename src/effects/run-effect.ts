/** Runs one call at most once: recorded before it is sent, settled as real, not sent or unknown, in bounded time. */
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { sha256 } from '../digest.ts';
import { messageOf } from '../errors.ts';
import type { EffectCall, EffectId, EffectOutcome, NonDispatch, Observation } from '../protocol/effect.ts';
import type { EventBody } from '../protocol/events.ts';
import type { Blob } from '../protocol/record.ts';
import type { EffectView, RecordedObservation } from './effects.ts';
import { decide } from './effects.ts';
import { EffectsError } from './errors.ts';

export interface RunEffectOptions {
  /** The effects of the run up to now. */
  readonly view: EffectView;
  readonly call: EffectCall;
  /** Resolves when the events are durable; with `power`, even if the machine loses power. */
  readonly record: (
    events: readonly EventBody[],
    options: { readonly power: boolean; readonly blobs?: readonly Blob[] },
  ) => Promise<void>;
  /** Bytes that the run recorded earlier. */
  readonly recall: (digest: string) => Promise<Uint8Array | undefined>;
  /** Acts. Its signal aborts on cancel and when the call's time is spent. */
  readonly dispatch: (signal: AbortSignal) => Promise<Observation | NonDispatch>;
  readonly signal: AbortSignal;
  /** How long a dispatch may still answer after the signal aborts, before its outcome counts as unknown. */
  readonly settleGraceMs: number;
  readonly clock?: Clock;
}

type Ending =
  | { readonly end: 'returned'; readonly value: Observation | NonDispatch }
  | { readonly end: 'threw'; readonly message: string }
  | { readonly end: 'given-up'; readonly message: string };

/**
 * A write is recorded as dispatched, power-safe, before `dispatch` is entered; if that fails this rejects and nothing was
 * sent. After entry it always resolves, at the latest when the call's time or the grace after an abort is spent; what
 * `dispatch` returns later is recorded as a late observation. A read is not recorded, and what it throws is its failure.
 */
export async function runEffect(options: RunEffectOptions): Promise<EffectOutcome> {
  const { view, call, record, signal } = options;
  const decision = decide(view, call);
  switch (decision.do) {
    case 'replay':
      return replayed(decision.observation, options);
    case 'held':
      return notSent('rejected-locally', heldText(decision.by, call));
    case 'unknown': {
      const { attempt, state } = decision;
      const reason =
        state === 'abandoned'
          ? 'A person gave it up as unknown.'
          : 'It was sent, and no result was recorded.';
      if (state === 'dispatching' || state === 'cancel-requested') {
        await record([{ type: 'effect-unknown', ...place(call), attempt, reason }], { power: false });
      }
      return unknown(call, reason);
    }
    case 'dispatch':
    case 'redo':
      if (signal.aborted) return notSent('cancelled', 'The run was cancelled before the call began.');
      return call.access === 'read' ? read(options) : write(options, decision.attempt);
  }
}

async function read(options: RunEffectOptions): Promise<EffectOutcome> {
  const { ending } = await enter(options);
  if (ending.end !== 'returned')
    return { state: 'observed', observation: failure(ending.message), replayed: false };
  return seen(ending.value);
}

async function write(options: RunEffectOptions, attempt: number): Promise<EffectOutcome> {
  const { call, record, signal } = options;
  const { tool, access, repeat, key, fingerprint } = call;
  const at = { ...place(call), attempt };
  await record([{ type: 'effect-dispatch', ...at, tool, access, repeat, key, fingerprint }], { power: true });
  // The record took time, and until `dispatch` is entered a cancel is proof that nothing was sent.
  const { ending, running } = signal.aborted
    ? { ending: cancelledBefore, running: undefined }
    : await enter(options);
  try {
    if (ending.end === 'returned') {
      await record(...settlement(ending.value, at, false));
      return seen(ending.value);
    }
    void running?.then((late) => {
      // Nobody waits any more. If it cannot be recorded the effect stays unknown, which is safe.
      if (late.end === 'returned') record(...settlement(late.value, at, true)).catch(() => {});
    });
    await record([{ type: 'effect-unknown', ...at, reason: ending.message }], { power: false });
    return unknown(call, ending.message);
  } catch (error) {
    return unknown(call, `Its result could not be recorded: ${messageOf(error)}`);
  }
}

const cancelledBefore: Ending = {
  end: 'returned',
  value: {
    proof: 'not-dispatched',
    reason: 'cancelled',
    message: 'The run was cancelled before the call began.',
  },
};

/** Enters `dispatch` and waits for it as long as it may take. `running` is the dispatch itself; it never rejects. */
async function enter(options: RunEffectOptions): Promise<{ ending: Ending; running: Promise<Ending> }> {
  const { call, dispatch, signal, settleGraceMs, clock = systemClock } = options;
  const inner = new AbortController();
  const done = new AbortController();
  const running = (async (): Promise<Ending> => {
    try {
      return { end: 'returned', value: await dispatch(inner.signal) };
    } catch (error) {
      return { end: 'threw', message: `It broke off: ${messageOf(error)}` };
    }
  })();
  const cancelled = new Promise<Ending>((resolve) => {
    const onAbort = async () => {
      inner.abort(signal.reason);
      await clock.sleep(settleGraceMs, done.signal);
      const message = `The run was cancelled, and the call did not end within ${settleGraceMs} ms.`;
      resolve({ end: 'given-up', message });
    };
    if (signal.aborted) void onAbort();
    else signal.addEventListener('abort', () => void onAbort(), { once: true, signal: done.signal });
  });
  const message = `It did not end within ${call.timeoutMs} ms.`;
  // Timers take at most 31 bits of milliseconds; more would fire at once.
  const timedOut = clock.sleep(Math.min(call.timeoutMs, 2 ** 31 - 1), done.signal).then((): Ending => {
    if (!done.signal.aborted) inner.abort(new Error(message));
    return { end: 'given-up', message };
  });
  const ending = await Promise.race([running, cancelled, timedOut]);
  done.abort();
  return { ending, running };
}

function settlement(
  value: Observation | NonDispatch,
  at: { readonly turn: number; readonly position: number; readonly attempt: number },
  late: boolean,
): Parameters<RunEffectOptions['record']> {
  if ('proof' in value) {
    return [[{ type: 'effect-not-dispatched', ...at, reason: value.message }], { power: false }];
  }
  const { status, text, truncated, bytes } = value;
  const digest = sha256(text);
  const event = { type: 'effect-observe' as const, ...at, status, text: digest, truncated, bytes, late };
  return [[event], { power: false, blobs: [{ digest, bytes: text }] }];
}

async function replayed(observation: RecordedObservation, options: RunEffectOptions): Promise<EffectOutcome> {
  const bytes = await options.recall(observation.text);
  // Another text must not pass for what was seen. Where a secret was replaced the digest is of the text as it was.
  const genuine = bytes !== undefined && (sha256(bytes) === observation.text || holdsReplacedSecret(bytes));
  if (bytes === undefined || !genuine) {
    const { turn, position } = options.call;
    throw new EffectsError(
      'effects.observation-lost',
      `The call at turn ${turn}, position ${position} has a recorded result, but its text is ${bytes === undefined ? 'not in the ledger' : 'no longer as it was'}.`,
      {
        next: 'Restore the ledger from a copy; the call is not sent again.',
        details: { digest: observation.text },
      },
    );
  }
  const { status, truncated } = observation;
  const text = Buffer.from(bytes).toString('utf8');
  return {
    state: 'observed',
    observation: { status, text, truncated, bytes: observation.bytes },
    replayed: true,
  };
}

function holdsReplacedSecret(bytes: Uint8Array): boolean {
  return Buffer.from(bytes).includes('[secret ');
}

function seen(value: Observation | NonDispatch): EffectOutcome {
  if ('proof' in value) return { state: 'not-dispatched', nonDispatch: value };
  return { state: 'observed', observation: value, replayed: false };
}

function failure(text: string): Observation {
  return { status: 'failed', text, truncated: false, bytes: Buffer.byteLength(text) };
}

function notSent(reason: NonDispatch['reason'], message: string): EffectOutcome {
  return { state: 'not-dispatched', nonDispatch: { proof: 'not-dispatched', reason, message } };
}

function unknown({ look }: EffectCall, reason: string): EffectOutcome {
  return { state: 'unknown', reason, ...(look === undefined ? {} : { look }) };
}

function heldText({ turn, position }: EffectId, call: EffectCall): string {
  return `The outcome of turn ${turn}, call ${position} is still unknown, and '${call.key}' waits for it. ${call.look ?? ''}`.trim();
}

function place({ turn, position }: EffectCall): { readonly turn: number; readonly position: number } {
  return { turn, position };
}
