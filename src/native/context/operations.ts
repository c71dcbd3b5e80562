/** The operations on a context as both kinds of body keep them: what is asked, what is found, and under which limits. */
import type { Json } from '../../protocol/json.ts';
import { ContextError, type ContextErrorCode } from './errors.ts';
import type { ContextLimits, Pace } from './limits.ts';

/** Counts are in characters of a text and in items of a list. */
export type Selector =
  | { readonly type: 'metadata' }
  | { readonly type: 'head' | 'tail'; readonly count: number }
  | { readonly type: 'item'; readonly index: number };

export interface SearchRequest {
  readonly pattern: string;
  /** True for an RE2 expression; otherwise the pattern is taken letter by letter. */
  readonly regex?: boolean;
  /** The line or item to begin at; 0 unless given. */
  readonly from?: number;
}

/** From 0, in characters of a text and in items of a list. */
export interface Range {
  readonly start: number;
  readonly length: number;
}

export type Partition =
  /** Parts of so many characters or items. */
  | { readonly type: 'fixed'; readonly size: number }
  /** Parts of so many lines of a text. */
  | { readonly type: 'lines'; readonly size: number };

export const mappings = ['identity', 'lowercase', 'uppercase', 'length'] as const;
export type Mapping = (typeof mappings)[number];

export const reductions = ['count', 'byte_count'] as const;
export type Reduction = (typeof reductions)[number];

export type ContextMetadata = {
  readonly kind: 'text' | 'terms';
  readonly bytes: number;
  /** Code points; null for a list. */
  readonly characters: number | null;
  /** Lines of a text, items of a list. */
  readonly items: number;
};

export type Hit = {
  /** The line or item, from 0. */
  readonly index: number;
  /** Where the match begins, in characters of the whole text; null for a list. */
  readonly at: number | null;
  /** The line without its end, or the item; a part around the match where it is long. */
  readonly value: string;
};

export type SearchValue = {
  readonly hits: readonly Hit[];
  /** The line or item to go on from; null once all was searched. */
  readonly next: number | null;
  /** Lines above 1 MiB, which an expression is not tried on. */
  readonly skipped: number;
};

export type SliceValue = {
  readonly start: number;
  /** A text, or a list of items. */
  readonly value: Json;
  /** Where to go on; null at the end. */
  readonly next: number | null;
};

export type Part = {
  readonly index: number;
  readonly start: number;
  readonly length: number;
  readonly value: Json;
};

/** One operation at work. */
export interface Work {
  readonly limits: ContextLimits;
  readonly pace: Pace;
  /** Adds to the bytes that the operation has looked at. */
  inspect(bytes: number): void;
}

export interface Found<Value extends Json> {
  readonly value: Value;
  /** True if anything that was asked for is not in the value. */
  readonly truncated: boolean;
}

/** What holds the payload of a context. Its operations throw a ContextError for what the caller must mend. */
export interface ContextBody {
  readonly metadata: ContextMetadata;
  /** Throws `context.changed` if the payload is no longer what was registered. */
  check(): Promise<void>;
  peek(work: Work, selector: Exclude<Selector, { readonly type: 'metadata' }>): Promise<Found<Json>>;
  slice(work: Work, range: Range): Promise<Found<SliceValue>>;
  search(work: Work, request: SearchRequest): Promise<Found<SearchValue>>;
  partition(work: Work, how: Partition): Promise<Found<readonly Part[]>>;
  map(work: Work, how: Mapping): Promise<Found<Json[]>>;
  /** The whole text in pieces, or each item as JSON; whole characters, in order. */
  texts(pace: Pace): AsyncIterable<string>;
  close(): Promise<void>;
}

/** How an operation ended. A fault is for the model to mend. */
export type ContextAnswer<Value extends Json> =
  | (Found<Value> & {
      readonly ok: true;
      /** Source bytes read. */
      readonly bytesInspected: number;
      /** UTF-8 bytes of the value as JSON. */
      readonly bytesReturned: number;
    })
  | ContextFault;

export interface ContextFault {
  readonly ok: false;
  readonly code: ContextErrorCode;
  readonly message: string;
}

/** Throws `context.invalid-argument` unless the value is a whole number of at least `least`. */
export function mustBeWhole(name: string, value: unknown, least: number): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return;
  const found = typeof value === 'number' ? value : typeof value;
  throw new ContextError(
    'context.invalid-argument',
    `${name}: expected a whole number of at least ${least}, found ${found}.`,
  );
}

/** Throws `context.unsupported-operation` for a name that is not in the list: no value of a caller is ever run. */
export function mustBeNamed(operation: string, names: readonly string[], value: unknown): void {
  if (typeof value === 'string' && names.includes(value)) return;
  const found = typeof value === 'string' ? `'${value.slice(0, 40)}'` : typeof value;
  throw new ContextError(
    'context.unsupported-operation',
    `${operation}: expected one of ${names.join(', ')}, found ${found}.`,
  );
}

/** The fault of a start that lies past the end. The end itself is a place: nothing lies after it. */
export function outOfRange(name: string, found: number, end: number, unit: string): ContextError {
  return new ContextError(
    'context.out-of-range',
    `${name}: expected at most ${end}, the number of ${unit}, found ${found}.`,
  );
}
