/** One model request: admitted by the budget, recorded before it leaves, sent, retried in one place, charged as used. */
import { type Digest, sha256 } from '../digest.ts';
import type { ErrorJson } from '../errors.ts';
import type { Host } from '../harness.ts';
import { amountOf, type BudgetAmount, budgetExhausted } from '../protocol/budget.ts';
import type { EventBodies, EventBody } from '../protocol/events.ts';
import type { HarnessOutcome } from '../protocol/outcome.ts';
import type { Blob } from '../protocol/record.ts';
import type { Settings } from '../wire/settings.ts';
import type { WireDelta } from '../wire/wire.ts';
import type { Conversation, Written } from './conversation.ts';
import { NativeError } from './errors.ts';
import type { Model, ModelReply, Price } from './model/model.ts';
import { parametersOf } from './request-parameters.ts';

export interface RequestOptions {
  /** Set alike for every protocol, which writes them in its own way; they win over `parameters`. */
  readonly settings?: Settings;
  /** Output limit in tokens; null leaves it to the provider unless a budget needs one. */
  readonly maxTokens: number | null;
  /** Further parameters by the wire's own names. */
  readonly parameters: { readonly [name: string]: unknown };
  /** How often one request is sent at most, the first time included. */
  readonly attemptsMax: number;
  /** The longest wait before a retry; a provider that asks for more ends the run. */
  readonly retryWaitMsMax: number;
  /** How often it is sent again after an answer that did not begin or stood still; none where left out. */
  readonly stallRetries?: number;
}

export const defaultRequestOptions: RequestOptions = {
  maxTokens: null,
  parameters: {},
  attemptsMax: 4,
  retryWaitMsMax: 60_000,
};

/** Where a budget of tokens or money needs an output limit and none is given. */
const maxTokensUnderBudget = 4096;
/** A request's tokens are reserved as its bytes over this: dense text has fewer bytes a token than prose (about 4). */
export const bytesPerToken = 3;

/** Answers that did not begin, or stood still, within the time that the model has for it. */
const stalls: ReadonlySet<string> = new Set(['model.no-answer', 'model.stalled']);

export type Answered = Extract<ModelReply, { ok: true }>;
type Failed = Extract<ModelReply, { ok: false }>;
export type Asked =
  /** `event` and `blob` are not recorded yet: they go into one write with what the answer leads to. */
  | { readonly kind: 'answered'; readonly reply: Answered; readonly event: EventBody; readonly blob: Blob }
  | { readonly kind: 'ended'; readonly outcome: HarnessOutcome };

interface Asking {
  readonly run: string;
  readonly turn: number;
  readonly model: Model;
  /** The session's tool block, the same bytes in each request; undefined for none. */
  readonly toolBlock: Written | undefined;
  readonly host: Host;
  readonly conversation: Conversation;
  readonly options: RequestOptions;
}

/**
 * Asks the model for the next message. `attemptsMade` is more than zero when a run is resumed in the middle of a turn;
 * then the turn is not counted again. Every attempt is recorded before it leaves and after it ended.
 */
export async function askModel(asking: Asking, attemptsMade: number): Promise<Asked> {
  const { host, model, turn, conversation, options } = asking;
  let stallsLeft = options.stallRetries ?? 0;
  for (let attempt = attemptsMade + 1; ; attempt += 1) {
    if (host.signal.aborted) return ended('cancelled', cancelled());
    const admitted = admit(asking, attempt === 1);
    if ('error' in admitted) {
      await host.record([admitted.event]);
      return ended('failed', admitted.error);
    }
    await recordRequest(asking, attempt, admitted);
    const reply = await model.send(admitted.body, {
      signal: host.signal,
      // Where a budget makes a later attempt another request, it has another key.
      idempotencyKey: `${asking.run}:${turn}:${admitted.digest.slice(0, 16)}`,
      onDelta: liveDeltas(host, turn),
    });
    const used = amountOf(reply.usage);
    const turns = admitted.reserved.turns ?? 0;
    host.charge(admitted.reservation, { ...used.known, modelCalls: 1, turns }, used.unknown);
    const warnings = newWarnings(reply, conversation);
    if (warnings.length > 0) host.note(warnings);
    if (reply.ok) {
      return answered(turn, attempt, reply);
    }
    const stalled = stalls.has(reply.error.code);
    const fault = stalled ? stallFault(reply, stallsLeft) : reply;
    if (stalled) stallsLeft -= 1;
    const wait = retryWait(fault, attempt - attemptsMade, options, host.clock.random());
    await recordFault(host, turn, attempt, fault, wait.ms);
    if (host.signal.aborted) return ended('cancelled', cancelled());
    if (wait.ms === null) return ended('failed', wait.error ?? fault.error);
    await host.clock.sleep(wait.ms, host.signal);
  }
}

/**
 * An answer that stood still, as the fault that it is. To ask again loses text alone, because our calls begin when an
 * answer is whole; a tool that the provider itself had begun may have acted, and would be run a second time.
 */
function stallFault(reply: Failed, stallsLeft: number): Failed {
  if (reply.began === undefined) return stallsLeft > 0 ? { ...reply, retryable: true } : reply;
  const error = new NativeError(
    'native.stalled-in-tool',
    `The provider had begun to run its own tool '${reply.began.slice(0, 64)}', and the answer stood still; what the tool did is not known. ${reply.error.message}`,
    {
      next: 'Look at what the tool may have done, then give the task again.',
      details: { tool: reply.began.slice(0, 64), fault: reply.error },
    },
  );
  return { ...reply, error: error.toJSON(), retryable: false };
}

function ended(status: 'failed' | 'cancelled', error: ErrorJson): Asked {
  return { kind: 'ended', outcome: { status, error } };
}

/** The error of an answer that the provider kept back. */
export function filtered(): NativeError {
  return new NativeError('native.answer-filtered', "The provider's filter withheld the answer.", {
    next: 'Change the task or the instructions.',
  });
}

/** The error of a harness that was told to stop. */
export function cancelled(): ErrorJson {
  return new NativeError('native.cancelled', 'The run was told to stop.', {
    next: 'Start the task again, or continue the session with another task.',
  }).toJSON();
}

interface Admitted {
  readonly body: string;
  readonly digest: Digest;
  readonly bytes: number;
  readonly reservation: number;
  readonly reserved: BudgetAmount;
  readonly maxTokens: number | null;
  readonly parameters: { readonly [name: string]: unknown };
}

// Reads what is left and reserves in one go, without an await between: nothing can slip in.
function admit(
  { model, toolBlock, host, conversation, options }: Asking,
  newTurn: boolean,
): Admitted | { readonly event: EventBody; readonly error: ErrorJson } {
  const parameters = parametersOf(model, options);
  const write = (maxTokens: number | null) =>
    model.body({
      messages: conversation.texts,
      tools: toolBlock?.bytes ?? '',
      maxTokens,
      parameters,
    });
  const given = options.maxTokens ?? model.maxTokensDefault ?? null;
  let body = write(given);
  let bytes = Buffer.byteLength(body);
  const promptTokens = Math.ceil(bytes / bytesPerToken);
  const maxTokens = outputLimit(host, model, promptTokens, given);
  if (maxTokens !== given) {
    body = write(maxTokens);
    bytes = Buffer.byteLength(body);
  }
  const reserved: BudgetAmount = {
    ...(newTurn ? { turns: 1 } : {}),
    modelCalls: 1,
    ...(maxTokens === null ? {} : { tokens: promptTokens + maxTokens }),
    ...(maxTokens === null || model.price === null
      ? {}
      : { costUsd: (promptTokens * promptRate(model.price) + maxTokens * model.price.completion) / 1e6 }),
  };
  const reservation = host.reserve(reserved);
  if (!reservation.granted) {
    const { granted: _, ...spent } = reservation;
    return { event: { type: 'budget-refuse', ...spent }, error: budgetExhausted(spent) };
  }
  return { body, digest: sha256(body), bytes, reservation: reservation.id, reserved, maxTokens, parameters };
}

// Whatever the cache makes of the prompt: to write into it costs more than to read past it.
function promptRate({ prompt, cacheWrite = 0 }: Price): number {
  return Math.max(prompt, cacheWrite);
}

// At least one token is asked for, so that a budget with no room refuses by its own counter.
function outputLimit(host: Host, model: Model, promptTokens: number, given: number | null): number | null {
  const tokensLeft = host.left('tokens');
  const costLeft = host.left('costUsd');
  if (tokensLeft === null && costLeft === null) return given;
  let limit = given ?? maxTokensUnderBudget;
  if (tokensLeft !== null) limit = Math.min(limit, tokensLeft - promptTokens);
  if (costLeft !== null && model.price !== null && model.price.completion > 0) {
    const forAnswer = costLeft * 1e6 - promptTokens * promptRate(model.price);
    limit = Math.min(limit, Math.floor(forAnswer / model.price.completion));
  }
  return Math.max(1, limit);
}

// An SDK warns at every request of the same thing; the record is told once.
function newWarnings({ warnings = [] }: ModelReply, { warned }: Conversation): EventBody[] {
  const fresh = [...new Set(warnings)].filter((text) => !warned.has(text));
  for (const text of fresh) warned.add(text);
  return fresh.map((text) => ({ type: 'notice', code: 'model.warning', text }));
}

function liveDeltas(host: Host, turn: number): (delta: WireDelta) => void {
  let n = 0;
  return (delta) => {
    n += 1;
    host.live({ type: delta.type === 'text' ? 'text-delta' : 'reasoning-delta', turn, n, text: delta.text });
  };
}

async function recordRequest(
  { turn, model, toolBlock, host, conversation }: Asking,
  attempt: number,
  admitted: Admitted,
) {
  const keep = conversation.requested;
  const add = conversation.digests.slice(keep);
  const blobs: Blob[] = add.map((digest, i) => ({ digest, bytes: conversation.texts[keep + i] ?? '' }));
  if (toolBlock !== undefined && keep === 0) blobs.push(toolBlock);
  const request: { type: 'model-request' } & EventBodies['model-request'] = {
    type: 'model-request',
    turn,
    attempt,
    model: model.id,
    wire: model.wire,
    url: model.url,
    keep,
    add,
    tools: toolBlock?.digest ?? null,
    parameters: {
      ...admitted.parameters,
      ...(admitted.maxTokens === null ? {} : { maxTokens: admitted.maxTokens }),
    },
    body: admitted.digest,
    bodyBytes: admitted.bytes,
    reserved: admitted.reserved,
  };
  await host.record(attempt === 1 ? [{ type: 'turn-start', turn }, request] : [request], blobs);
  conversation.requested = conversation.texts.length;
}

function answered(turn: number, attempt: number, reply: Answered): Asked {
  const response = sha256(reply.raw);
  const event: EventBody = {
    type: 'model-response',
    turn,
    attempt,
    httpStatus: reply.httpStatus,
    response,
    finish: reply.finish,
    modelSeen: reply.modelSeen,
    ...(reply.fingerprint === undefined ? {} : { fingerprint: reply.fingerprint }),
    requestId: reply.requestId,
    usage: reply.usage,
    firstByteMs: reply.firstByteMs,
    elapsedMs: reply.elapsedMs,
  };
  return { kind: 'answered', reply, event, blob: { digest: response, bytes: reply.raw } };
}

async function recordFault(
  host: Host,
  turn: number,
  attempt: number,
  reply: Failed,
  retryInMs: number | null,
) {
  const response = reply.raw === null ? null : sha256(reply.raw);
  await host.record(
    [
      {
        type: 'model-fault',
        turn,
        attempt,
        error: reply.error,
        httpStatus: reply.httpStatus,
        response,
        dispatched: reply.dispatched,
        usage: reply.usage,
        retryInMs,
      },
    ],
    response === null || reply.raw === null ? [] : [{ digest: response, bytes: reply.raw }],
  );
}

/**
 * How long to wait before the same request is sent again; null for not at all. The provider's own wait is obeyed up to the
 * cap; a longer one ends the run with that wait in the message, because a shorter one would only be refused again.
 */
function retryWait(
  reply: Failed,
  attemptsNow: number,
  options: RequestOptions,
  random: number,
): { readonly ms: number | null; readonly error?: ErrorJson } {
  if (!reply.retryable || attemptsNow >= options.attemptsMax) return { ms: null };
  if (reply.retryAfterMs !== null && reply.retryAfterMs > options.retryWaitMsMax) {
    const seconds = Math.ceil(reply.retryAfterMs / 1000);
    const error = new NativeError(
      'native.retry-too-late',
      `The provider asks to wait ${seconds} s before the next request; at most ${options.retryWaitMsMax / 1000} s are waited. It said: ${reply.error.message}`,
      {
        next: `Run the task again in ${seconds} s.`,
        details: { retryAfterMs: reply.retryAfterMs, fault: reply.error },
      },
    );
    return { ms: null, error: error.toJSON() };
  }
  const backoff = Math.min(500 * 2 ** (attemptsNow - 1), options.retryWaitMsMax);
  // Jitter only ever adds to the provider's wait: to come back earlier than it asked is to be refused again.
  return { ms: Math.round((reply.retryAfterMs ?? backoff / 2) + (random * backoff) / 2) };
}
