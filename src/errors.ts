/** The base of every error of Writ: a stable code, what was expected and found, what to do next, and the cause. */
import { errorGraph, ownData } from './error-graph.ts';

/** Who has to act, and so which exit code the command line gives: 2 bad input, 3 refused, 1 failed, 4 unknown. */
export type ErrorKind = 'input' | 'refused' | 'failed' | 'unknown';

/** One folder's closed list of codes. `about` is the sentence that `docs/errors.md` explains further. */
export type ErrorTable = Readonly<Record<string, { readonly kind: ErrorKind; readonly about: string }>>;

export interface ErrorExtra {
  /** One imperative sentence: what the reader can do about it. */
  readonly next?: string;
  /** Closed JSON values a program can act on. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** An error as data: what `--json`, the ledger and the wire carry. */
export interface ErrorJson {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly next?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: string;
}

/**
 * Thrown for misuse and for whatever stops the work; what a caller or a model must deal with is returned instead.
 * Each folder has one subclass bound to its own table: `new ComposeError('compose.unknown-key', '…', { next: '…' })`.
 */
export class WritError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly kind: ErrorKind;
  readonly next: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(table: ErrorTable, code: Code, message: string, extra: ErrorExtra = {}) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.name = new.target.name;
    this.code = code;
    this.kind = table[code]?.kind ?? 'failed';
    this.next = extra.next;
    this.details = extra.details;
  }

  toJSON(): ErrorJson {
    return {
      code: this.code,
      kind: this.kind,
      message: this.message,
      ...(this.next === undefined ? {} : { next: this.next }),
      ...(this.details === undefined ? {} : { details: this.details }),
      ...(this.cause === undefined ? {} : { cause: causeText(this.cause) }),
    };
  }
}

/** Any thrown value as data. What is not ours is a fault of Writ or of its surroundings: code `fault`, kind failed. */
export function toErrorJson(thrown: unknown): ErrorJson {
  if (isA(WritError, thrown)) return thrown.toJSON();
  return {
    code: 'fault',
    kind: 'failed',
    message: messageOf(thrown),
  };
}

const unreadable = 'A value without a text was thrown.';

/** What a thrown value says. Never throws, whatever was thrown: such a value may be hostile when it is looked at. */
export function messageOf(thrown: unknown): string {
  return attempt(() => String(isA(Error, thrown) ? thrown.message : thrown)) ?? unreadable;
}

/** The code that the system gave an error (`ENOENT`, `EPIPE`, …); undefined where there is none. Never throws. */
export function systemCode(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const { value } = ownData(thrown, 'code');
  return typeof value === 'string' && isA(Error, thrown) ? value : undefined;
}

const causesShown = 4;

// A cause is for people: its own message, then the messages of what it holds.
function causeText(cause: unknown): string {
  return errorGraph(cause)
    .met.filter((one) => one !== undefined && one !== null)
    .slice(0, causesShown)
    .map(messageOf)
    .join(' ← ');
}

// `instanceof` itself runs foreign code where the value is a proxy.
function isA<T>(type: new (...args: never[]) => T, value: unknown): value is T {
  return attempt(() => value instanceof type) ?? false;
}

function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
