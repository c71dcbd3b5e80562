/** Says in our own codes what the AI SDK threw or put into its stream. Its errors are told apart by their fields, not by class. */
import type { LanguageModelV3, LanguageModelV3FinishReason } from '@ai-sdk/provider';
import type { Clock } from '../../clock.ts';
import { errorGraph } from '../../error-graph.ts';
import { systemCode } from '../../errors.ts';
import { isRecord } from '../../protocol/json.ts';
import { unknownUsage } from '../../protocol/usage.ts';
import { tooManyCalls } from '../../wire/call-fault.ts';
import { errorIn, excerpt, isPassing, responseFault } from '../../wire/fault.ts';
import { ModelError } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { type Asked, answerFault, exchangeFault, type Fault, statusFault, turnedAway } from './faults.ts';
import type { Price } from './model.ts';
import { retryAfterMs } from './retry-after.ts';

/** Who is asked, and how. */
export interface SdkAsking {
  readonly model: LanguageModelV3;
  readonly id: string;
  readonly url: string;
  readonly price: Price | null;
  readonly strict: boolean;
  readonly limits: { readonly firstByteTimeoutMs: number; readonly idleTimeoutMs: number };
  readonly clock: Clock;
}

/** What is known of a request when its fault is named. */
export type SdkState = Omit<Exchange, 'end'>;

export interface Thrown {
  readonly fault: Fault;
  readonly dispatched: Exchange['dispatched'];
  readonly httpStatus: number | null;
  readonly retryAfterMs: number | null;
  /** True where the server did not work on the request. */
  readonly turnedAway: boolean;
}

/** Thrown while the call is still being made ready: proof that nothing was sent. */
const refusedUnsent = new Set([
  'AI_UnsupportedFunctionalityError',
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_NoSuchModelError',
]);
const keyErrors = new Set(['AI_LoadAPIKeyError', 'AI_LoadSettingError']);
const unreadable = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
]);
/** Codes of connections that were never made. */
const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** A stop of ours: a cancel, or a wait that took too long. */
export function stopFault(
  asking: SdkAsking,
  how: 'cancelled' | 'no-answer' | 'stalled',
  state: SdkState,
): Fault {
  return exchangeFault(askedOf(asking, null), { ...state, end: { how } }, limitsOf(asking));
}

/** Whatever the SDK threw, before the stream or in it. */
export function thrownFault(asking: SdkAsking, thrown: unknown, state: SdkState): Thrown {
  const asked = askedOf(asking, thrown);
  const { dispatched } = state;
  const ended = (fault: Fault, sent = dispatched): Thrown => ({
    fault,
    dispatched: sent,
    httpStatus: null,
    retryAfterMs: null,
    turnedAway: sent === 'no',
  });
  const status = isRecord(thrown) && typeof thrown.statusCode === 'number' ? thrown.statusCode : null;
  const coded = codedCause(thrown);
  // A status of success stands on an error too, where the connection broke or the SDK could not read what came.
  if (status !== null && !isSuccess(status)) {
    const headers =
      isRecord(thrown) && isRecord(thrown.responseHeaders) ? lowerCased(thrown.responseHeaders) : {};
    return {
      ...ended(statusFault(asked, { status, headers }, responseFault(status, bodyOf(thrown))), 'yes'),
      httpStatus: status,
      retryAfterMs: retryAfterMs(headers, asking.clock.now()),
      turnedAway: turnedAway(status),
    };
  }
  const name = nameOf(thrown);
  if (keyErrors.has(name)) {
    const next = "Give the SDK's provider its key.";
    return ended(plain('model.missing-key', asking, messageOf(thrown), next), 'no');
  }
  if (refusedUnsent.has(name)) {
    const next = 'Change what its message names.';
    return ended(plain('model.rejected', asking, messageOf(thrown), next), 'no');
  }
  if (coded === null && (status !== null || unreadable.has(name))) return ended(notReadable(asked, thrown));
  if (coded !== null || name === 'AI_APICallError') {
    const { error, code } = coded ?? { error: new Error(messageOf(thrown)), code: '' };
    const sent = neverConnected.has(code) || isCertificate(code) ? 'no' : dispatched;
    const done = { ...state, dispatched: sent, end: { how: 'broken' as const, error } };
    return ended(exchangeFault(asked, done, limitsOf(asking)), sent);
  }
  return ended(
    answerFault(asked, { kind: 'error', code: name || null, message: messageOf(thrown), usage: noneSaid }),
  );
}

/** An error that stood as a part in the stream. */
export function streamFault(asking: SdkAsking, value: unknown, state: SdkState): Fault {
  const asked = askedOf(asking, value);
  const name = nameOf(value);
  // So ends the stream of a provider that never said why it stopped.
  if (name === 'AI_InvalidResponseDataError' && isRecord(value) && value.data === undefined) {
    return answerFault(asked, { kind: 'cut', message: messageOf(value), usage: noneSaid });
  }
  if (value instanceof Error) {
    const { fault } = thrownFault(asking, value, state);
    return { ...fault, retryable: fault.retryable && state.raw.length === 0 };
  }
  const said = errorIn({ error: value }) ?? { code: null, message: messageOf(value) };
  const passing = isPassing(said.code) && state.raw.length === 0;
  return answerFault(asked, { kind: 'error', ...said, passing, usage: noneSaid });
}

/** A stream that came to its end without a whole answer. */
export function endFault(asking: SdkAsking, finish: LanguageModelV3FinishReason | null): Fault {
  const asked = askedOf(asking, null);
  const message = 'The provider ended the answer with an error it did not name.';
  if (finish?.unified === 'error')
    return answerFault(asked, { kind: 'error', code: null, message, usage: noneSaid });
  const cut = 'The stream ended without a finish reason; the answer is not whole.';
  return answerFault(asked, { kind: 'cut', message: cut, usage: noneSaid });
}

/** An answer with more calls than one may have. */
export function tooManyFault(asking: SdkAsking): Fault {
  return answerFault(askedOf(asking, null), { kind: 'error', ...tooManyCalls, usage: noneSaid });
}

/** A setting was dropped where that is not wanted. */
export function droppedFault(asking: SdkAsking, warnings: readonly string[]): Fault {
  return plain(
    'model.setting-dropped',
    asking,
    `Expected every setting to reach the model; the AI SDK warned: ${warnings.join('; ')}`,
    'Remove what the warning names, or allow warnings.',
  );
}

// The usage of a fault is told beside it, not in it.
const noneSaid = unknownUsage;

function askedOf(asking: SdkAsking, error: unknown): Asked {
  const url = isRecord(error) && typeof error.url === 'string' ? error.url : '';
  // A query may hold a key.
  const shown = URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : asking.url;
  return { id: asking.id, url: shown, path: null, keyEnv: "the SDK's provider" };
}

function limitsOf({ limits }: SdkAsking) {
  return { ...limits, responseBytesMax: Number.POSITIVE_INFINITY };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function bodyOf(error: unknown): string {
  return isRecord(error) && typeof error.responseBody === 'string' ? error.responseBody : messageOf(error);
}

function notReadable(asked: Asked, error: unknown): Fault {
  const message = messageOf(error);
  return answerFault(asked, { kind: 'error', code: 'wire.bad-response', message, usage: noneSaid });
}

function plain(
  code: 'model.missing-key' | 'model.rejected' | 'model.setting-dropped',
  asking: SdkAsking,
  message: string,
  next: string,
): Fault {
  const details = { model: asking.id };
  return { error: new ModelError(code, `${asking.id}: ${message}`, { next, details }), retryable: false };
}

function nameOf(value: unknown): string {
  return isRecord(value) && typeof value.name === 'string' ? value.name : '';
}

function messageOf(value: unknown): string {
  if (typeof value === 'string') return excerpt(value);
  return excerpt(isRecord(value) && typeof value.message === 'string' ? value.message : String(value));
}

function isCertificate(code: string): boolean {
  return /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code);
}

// The code that a system or its sockets gave stands somewhere below what the SDK threw.
function codedCause(thrown: unknown): { readonly error: Error; readonly code: string } | null {
  for (const error of errorGraph(thrown).nodes) {
    const code = systemCode(error);
    if (code !== undefined && error instanceof Error) return { error, code };
  }
  return null;
}

function lowerCased(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}
