/** Runs one call at most once: recorded before it is sent, settled as real, not sent or unknown, in bounded time. */
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { sha256 } from '../digest.ts';
import { messageOf } from '../errors.ts';
import type {
  AttemptId,
  EffectCall,
  EffectId,
  EffectOutcome,
  Lineage,
  NonDispatch,
  Observation,
  Reconciled,
} from '../protocol/effect.ts';
import type { EventBody } from '../protocol/events.ts';
import type { Blob } from '../protocol/record.ts';
import type { EffectRecord, EffectView, RecordedObservation } from './effects.ts';
import { callId, decide } from './effects.ts';
import { EffectsError } from './errors.ts';

export interface RunEffectOptions {
  /** The id of the store that holds the record. */
  readonly store: string;
  readonly run: string;
  /** The effects of the run, whenever it is asked. */
  readonly view: () => EffectView;
  /** Open effects of the session's earlier runs, as they stand now. */
  readonly earlier?: () => Promise<readonly EffectRecord[]>;
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
  /** Looks what became of an attempt of this call whose outcome is unknown. Changes nothing outside. */
  readonly reconcile?: ((signal: AbortSignal) => Promise<Reconciled>) | undefined;
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
  const { call, signal } = options;
  const settled = await settleEffect(options);
  if ('outcome' in settled) return settled.outcome;
  if (signal.aborted) return notSent('cancelled', 'The run was cancelled before the call began.');
  return call.access === 'read' ? read(options) : write(options, settled);
}

/**
 * What the record already decides of a call, and what looking at it brings where its outcome is unknown; or as which
 * attempt it may be sent. Sends nothing.
 */
export async function settleEffect(
  options: Omit<RunEffectOptions, 'dispatch'>,
): Promise<{ readonly outcome: EffectOutcome } | { readonly attempt: number; readonly lineage: Lineage }> {
  const { view, call, earlier, record, signal, reconcile } = options;
  const decision = decide(view(), call, call.access === 'read' ? [] : await earlier?.());
  switch (decision.do) {
    case 'replay': {
      const outcome = await replayed(decision.observation, options);
      await record([{ type: 'effect-replay', ...place(call), parent: decision.from }], { power: false });
      return { outcome };
    }
    case 'held':
      return { outcome: notSent('rejected-locally', heldText(decision.by, options)) };
    case 'unknown': {
      const { attempt, state } = decision;
      if (state === 'abandoned') return { outcome: unknown(call, 'A person gave it up as unknown.') };
      const at = { ...place(call), attempt };
      if (reconcile !== undefined && !signal.aborted) {
        const answer = await look(reconcile, options);
        await record(...learned(answer, at));
        // Proven not sent, it may be sent now, unless another effect of its key has become unknown since.
        if (answer.answer === 'not-dispatched') return settleEffect(options);
        const outcome =
          answer.answer === 'observed' ? seen(answer.observation) : unknown(call, answer.message);
        return { outcome };
      }
      const reason = 'It was sent, and no result was recorded.';
      if (state !== 'unknown') await record([{ type: 'effect-unknown', ...at, reason }], { power: false });
      return { outcome: unknown(call, reason) };
    }
    case 'dispatch':
    case 'redo':
      return decision;
  }
}

/** Asks within the time of a call. Whatever goes wrong in looking leaves the outcome as unknown as it was. */
async function look(
  reconcile: (signal: AbortSignal) => Promise<Reconciled>,
  { call, signal, clock = systemClock }: Omit<RunEffectOptions, 'dispatch'>,
): Promise<Reconciled> {
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const asked = (async () => reconcile(stop.signal))().catch(
    (error: unknown): Reconciled => ({ answer: 'unknown', message: `Looking failed: ${messageOf(error)}` }),
  );
  const over = clock.sleep(Math.min(call.timeoutMs, timerMsMax), stop.signal).then((): Reconciled => {
    return { answer: 'unknown', message: 'It was sent, and looking what it did brought no answer.' };
  });
  const answer = await Promise.race([asked, over]);
  signal.removeEventListener('abort', onAbort);
  stop.abort();
  return answer;
}

/** An answer as it is recorded: that somebody looked, and what was learned by it. */
function learned(answer: Reconciled, at: AttemptId): Parameters<RunEffectOptions['record']> {
  const reason = answer.answer === 'unknown' ? answer.message : '';
  const looked = { type: 'effect-reconcile', ...at, answer: answer.answer, by: null, reason } as const;
  if (answer.answer === 'unknown') return [[looked], { power: false }];
  const [events, options] = settlement(
    answer.answer === 'observed' ? answer.observation : answer.nonDispatch,
    at,
    true,
  );
  return [[looked, ...events], options];
}

async function read(options: RunEffectOptions): Promise<EffectOutcome> {
  const { ending } = await enter(options);
  if (ending.end !== 'returned')
    return { state: 'observed', observation: failure(ending.message), replayed: false };
  return seen(ending.value);
}

async function write(
  options: RunEffectOptions,
  { attempt, lineage }: { readonly attempt: number; readonly lineage: Lineage },
): Promise<EffectOutcome> {
  const { store, run, call, record, signal } = options;
  const { tool, access, repeat, key, fingerprint, ticket = null } = call;
  const at = { ...place(call), attempt };
  const what = { tool, access, repeat, key, fingerprint, call: callId(store, { run, ...at }, fingerprint) };
  await record([{ type: 'effect-dispatch', ...at, ...what, lineage, ticket }], { power: true });
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
  const timedOut = clock.sleep(Math.min(call.timeoutMs, timerMsMax), done.signal).then((): Ending => {
    if (!done.signal.aborted) inner.abort(new Error(message));
    return { end: 'given-up', message };
  });
  const ending = await Promise.race([running, cancelled, timedOut]);
  done.abort();
  return { ending, running };
}

/** Timers take at most 31 bits of milliseconds; more would fire at once. */
const timerMsMax = 2 ** 31 - 1;

function settlement(
  value: Observation | NonDispatch,
  at: AttemptId,
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

async function replayed(
  observation: RecordedObservation,
  options: Pick<RunEffectOptions, 'recall' | 'call'>,
): Promise<EffectOutcome> {
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

function heldText(by: EffectId, { run, call }: Pick<RunEffectOptions, 'run' | 'call'>): string {
  const whose = by.run === run ? '' : ` of an earlier run, ${by.run},`;
  return `The outcome of turn ${by.turn}, call ${by.position}${whose} is still unknown, and '${call.key}' waits for it. ${call.look ?? ''}`.trim();
}

function place({ turn, position }: EffectCall): { readonly turn: number; readonly position: number } {
  return { turn, position };
}
