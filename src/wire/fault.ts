/** What the errors of providers say, in the shapes they have in common: in an error response, and inside a stream that began with success. */
import { isRecord } from '../protocol/json.ts';

export interface Fault {
  /** The provider's own code or type, for instance `rate_limit_exceeded` or `overloaded_error`; null where it gave none. */
  readonly code: string | null;
  readonly message: string;
}

const excerptChars = 400;

/** Reads an error response: a JSON object in one of the known shapes, or plain text. */
export function responseFault(httpStatus: number, body: string): Fault {
  const parsed = parseOrUndefined(body);
  const found = errorIn(Array.isArray(parsed) ? parsed[0] : parsed) ?? bareFault(parsed);
  if (found !== undefined) return found;
  const text = excerpt(body);
  return { code: null, message: text === '' ? `HTTP ${httpStatus} with an empty body` : text };
}

/** The error that a JSON object carries in its `error` field, or as an object of type `error`; undefined for none. */
export function errorIn(value: unknown): Fault | undefined {
  if (!isRecord(value)) return undefined;
  const { error } = value;
  if (typeof error === 'string' && error !== '') return { code: codeOf(value), message: excerpt(error) };
  if (isRecord(error)) return { code: codeOf(error), message: messageOf(error) };
  return value.object === 'error' ? { code: codeOf(value), message: messageOf(value) } : undefined;
}

const passing = new Set(['overloaded_error', 'rate_limit_error', 'api_error', 'timeout_error']);

/** True for the codes by which Anthropic says that it was too busy; the same request may do a moment later. */
export function isPassing(code: string | null): boolean {
  return code !== null && passing.has(code);
}

// Only for a response that is an error by its status: `message` or `detail` alone would mean nothing elsewhere.
function bareFault(value: unknown): Fault | undefined {
  if (!isRecord(value)) return undefined;
  if (typeof value.message === 'string') return { code: codeOf(value), message: messageOf(value) };
  if (value.detail === undefined) return undefined;
  const detail = typeof value.detail === 'string' ? value.detail : JSON.stringify(value.detail);
  return { code: codeOf(value), message: excerpt(detail) };
}

function codeOf(error: Record<string, unknown>): string | null {
  for (const code of [error.code, error.type]) {
    if (typeof code === 'string' && code !== '') return code;
    if (typeof code === 'number') return String(code);
  }
  return null;
}

// OpenRouter's own message is often only "Provider returned error"; what the provider said is in `metadata.raw`.
function messageOf(error: Record<string, unknown>): string {
  const said = typeof error.message === 'string' ? excerpt(error.message) : excerpt(JSON.stringify(error));
  const raw = isRecord(error.metadata) ? error.metadata.raw : undefined;
  if (raw === undefined || raw === null) return said;
  return `${said}: ${excerpt(typeof raw === 'string' ? raw : JSON.stringify(raw))}`;
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The beginning of a text on one line, for a message that a person reads. */
export function excerpt(text: string): string {
  const taken = text.slice(0, excerptChars * 4);
  const points = [...taken.replace(/\s+/g, ' ').trim()];
  const shown = points
    .slice(0, excerptChars)
    .join('')
    .replace(/\p{Surrogate}/gu, '\ufffd');
  return points.length > excerptChars || taken.length < text.length ? `${shown}…` : shown;
}
