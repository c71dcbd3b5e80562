/** The contexts of one session: registered under an alias, addressed by it or by id, looked at in bounded operations. */
import { type Clock, systemClock } from '../../clock.ts';
import { holdsBigint, isRecord, type Json } from '../../protocol/json.ts';
import { closedJson } from '../tool/closed-json.ts';
import { memoryBytes, openFileBytes } from './bytes.ts';
import { ContextError } from './errors.ts';
import { jsonBytes } from './fit.ts';
import { type ContextLimits, defaultContextLimits, openPace, type Pace, tighten } from './limits.ts';
import {
  type ContextAnswer,
  type ContextBody,
  type ContextMetadata,
  type Found,
  type Mapping,
  mustBeNamed,
  type Part,
  type Partition,
  type Range,
  type Reduction,
  reductions,
  type SearchRequest,
  type SearchValue,
  type Selector,
  type SliceValue,
  type Work,
} from './operations.ts';
import { termsBody } from './terms-body.ts';
import { openTextBody } from './text-body.ts';
import { type ContextTrace, openTrace } from './trace.ts';

export type ContextSource =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'terms'; readonly items: readonly Json[] }
  /** A regular file beneath `root`; read by ranges, never loaded whole. */
  | { readonly kind: 'file'; readonly root: string; readonly path: string };

/** What is told of a context. Never anything of its payload. */
export interface ContextHandle {
  /** Random; says nothing. */
  readonly id: string;
  readonly alias: string;
}

export interface RegisteredContext extends ContextHandle {
  readonly metadata: ContextMetadata;
}

export interface CallOptions {
  /** Only ever tighter than those of the session. */
  readonly limits?: Partial<ContextLimits>;
  /** Stops the operation, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * `ref` is an alias or an id. Operations answer with a value or a fault and reject only when their signal aborts; one that
 * may withhold something says so in `truncated`.
 */
export interface Contexts {
  /** Throws a ContextError: `bad-alias`, `bad-source`, `file-refused` or `not-text`. */
  register(
    alias: string,
    source: ContextSource,
    options?: Pick<CallOptions, 'signal'>,
  ): Promise<RegisteredContext>;
  /** Registers a payload that is made when it is first looked at. Throws `context.bad-alias`. */
  registerBody(alias: string, open: () => Promise<ContextBody>): ContextHandle;
  /** Why nothing can be looked at under this name; undefined if something can. */
  fault(ref: string): ContextError | undefined;
  metadata(ref: string, options?: CallOptions): Promise<ContextAnswer<ContextMetadata>>;
  peek(ref: string, selector: Selector, options?: CallOptions): Promise<ContextAnswer<Json>>;
  slice(ref: string, range: Range, options?: CallOptions): Promise<ContextAnswer<SliceValue>>;
  search(ref: string, request: SearchRequest, options?: CallOptions): Promise<ContextAnswer<SearchValue>>;
  partition(ref: string, how: Partition, options?: CallOptions): Promise<ContextAnswer<readonly Part[]>>;
  map(ref: string, how: Mapping, options?: CallOptions): Promise<ContextAnswer<Json[]>>;
  reduce(ref: string, how: Reduction, options?: CallOptions): Promise<ContextAnswer<number>>;
  /** The whole payload in pieces of whole characters, for programs. Throws a ContextError. */
  texts(ref: string, signal?: AbortSignal): AsyncIterable<string>;
  /** Later use is `context.stale`. */
  delete(ref: string): Promise<void>;
  /** The newest operations, oldest first. */
  trace(count?: number): readonly ContextTrace[];
  /** Deletes all; safe to call twice. */
  close(): Promise<void>;
}

export interface ContextsOptions {
  readonly limits?: Partial<ContextLimits>;
  readonly clock?: Clock;
  /** Stops every operation. */
  readonly signal?: AbortSignal;
  /** Called after each successful operation. */
  readonly onRead?: (trace: ContextTrace) => void;
}

interface Entry extends ContextHandle {
  open(): Promise<ContextBody>;
  body: Promise<ContextBody> | undefined;
  operations: number;
}

const tombstonesMax = 256;
const aliasPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Opens a registry. Throws `context.invalid-limit`. */
export function openContexts(options: ContextsOptions = {}): Contexts {
  const { clock = systemClock, signal: sessionSignal, onRead } = options;
  const limits: ContextLimits = { ...defaultContextLimits, ...options.limits };
  tighten(limits, limits);
  const entries = new Map<string, Entry>();
  // A set keeps the order of insertion, so the oldest can be let go.
  const tombstones = new Set<string>();
  const trace = openTrace();

  const faultOf = (ref: string): ContextError | undefined => {
    if (entries.has(ref)) return undefined;
    const shown = ref.slice(0, 64);
    return tombstones.has(ref)
      ? new ContextError('context.stale', `The context '${shown}' was deleted.`)
      : new ContextError('context.unknown', `There is no context '${shown}'. ${namesOf(entries)}`);
  };
  const entryOf = (ref: string): Entry => {
    const entry = entries.get(ref);
    if (entry === undefined) throw faultOf(ref) ?? new Error('An entry has no fault.');
    return entry;
  };
  const bodyOf = async (entry: Entry): Promise<ContextBody> => {
    entry.body ??= entry.open();
    const body = await entry.body;
    await body.check();
    return body;
  };
  const noteRead = (
    entry: Entry,
    startedMs: number,
    amounts: Pick<ContextTrace, 'operation' | 'bytesInspected' | 'bytesReturned' | 'truncated'>,
  ): void => {
    entry.operations += 1;
    const { id, alias, operations: sequence } = entry;
    const elapsedMs = clock.monotonicMs() - startedMs;
    const read: ContextTrace = { id, alias, sequence, ...amounts, elapsedMs, at: clock.now() };
    trace.add(read);
    onRead?.(read);
  };
  const add = (alias: string, open: () => Promise<ContextBody>, body?: ContextBody): ContextHandle => {
    const entry: Entry = {
      id: clock.id('context'),
      alias,
      open,
      body: body === undefined ? undefined : Promise.resolve(body),
      operations: 0,
    };
    entries.set(entry.id, entry);
    entries.set(alias, entry);
    return { id: entry.id, alias };
  };
  const mustBeFree = (alias: string) => {
    if (typeof alias !== 'string' || !aliasPattern.test(alias)) {
      throw badAlias(`Expected an alias of a letter and up to 63 letters, digits, _ or -, found '${alias}'.`);
    }
    if (entries.has(alias)) throw badAlias(`The alias '${alias}' is taken.`);
  };

  /** Runs one operation: limits first, then the context, then the work; its fault is its answer. */
  const run = async <Value extends Json>(
    ref: string,
    operation: string,
    call: CallOptions,
    work: (body: ContextBody, work: Work) => Promise<Found<Value>> | Found<Value>,
  ): Promise<ContextAnswer<Value>> => {
    try {
      const tightened = tighten(limits, call.limits);
      const entry = entryOf(ref);
      const startedMs = clock.monotonicMs();
      const pace = openPace(clock, [sessionSignal, call.signal], tightened.timeMs);
      await pace.step();
      const body = await bodyOf(entry);
      let bytesInspected = 0;
      const found = await work(body, {
        limits: tightened,
        pace,
        inspect: (bytes) => {
          bytesInspected += bytes;
        },
      });
      const bytesReturned = jsonBytes(found.value);
      noteRead(entry, startedMs, { operation, bytesInspected, bytesReturned, truncated: found.truncated });
      return { ok: true, ...found, bytesInspected, bytesReturned };
    } catch (thrown) {
      if (!(thrown instanceof ContextError)) throw thrown;
      const next = thrown.next === undefined ? '' : ` ${thrown.next}`;
      return { ok: false, code: thrown.code, message: `${thrown.message}${next}` };
    }
  };

  return {
    async register(alias, source, { signal } = {}) {
      mustBeFree(alias);
      const body = await openBody(source, openPace(clock, [sessionSignal, signal]));
      try {
        // Somebody may have taken the alias while the payload was read.
        mustBeFree(alias);
      } catch (thrown) {
        await body.close();
        throw thrown;
      }
      return { ...add(alias, async () => body, body), metadata: body.metadata };
    },
    registerBody(alias, open) {
      mustBeFree(alias);
      return add(alias, open);
    },
    fault: faultOf,
    metadata: (ref, call = {}) =>
      run(ref, 'metadata', call, ({ metadata }) => ({ value: metadata, truncated: false })),
    peek: (ref, selector, call = {}) =>
      run<Json>(ref, 'peek', call, (body, work) =>
        selector.type === 'metadata' ? { value: body.metadata, truncated: false } : body.peek(work, selector),
      ),
    slice: (ref, range, call = {}) => run(ref, 'slice', call, (body, work) => body.slice(work, range)),
    search: (ref, request, call = {}) => run(ref, 'search', call, (body, work) => body.search(work, request)),
    partition: (ref, how, call = {}) =>
      run(ref, 'partition', call, (body, work) => body.partition(work, how)),
    map: (ref, how, call = {}) => run(ref, 'map', call, (body, work) => body.map(work, how)),
    reduce: (ref, how, call = {}) =>
      run(ref, 'reduce', call, ({ metadata }) => {
        mustBeNamed('reduce', reductions, how);
        return { value: how === 'count' ? metadata.items : metadata.bytes, truncated: false };
      }),
    async *texts(ref, signal) {
      const entry = entryOf(ref);
      const startedMs = clock.monotonicMs();
      let bytes = 0;
      try {
        const pace = openPace(clock, [sessionSignal, signal]);
        for await (const text of (await bodyOf(entry)).texts(pace)) {
          bytes += Buffer.byteLength(text);
          yield text;
        }
      } finally {
        const all = bytes === (await entry.body)?.metadata.bytes;
        noteRead(entry, startedMs, {
          operation: 'texts',
          bytesInspected: bytes,
          bytesReturned: bytes,
          truncated: !all,
        });
      }
    },
    delete: async (ref) => remove(entryOf(ref)),
    trace: (count = Number.POSITIVE_INFINITY) => trace.newest(count),
    async close() {
      await Promise.all([...new Set(entries.values())].map(remove));
    },
  };

  async function remove(entry: Entry): Promise<void> {
    for (const name of [entry.id, entry.alias]) {
      entries.delete(name);
      tombstones.add(name);
    }
    for (const oldest of tombstones) {
      if (tombstones.size <= 2 * tombstonesMax) break;
      tombstones.delete(oldest);
    }
    // A payload that could not be opened holds nothing.
    const body = await entry.body?.catch(() => undefined);
    await body?.close();
  }
}

async function openBody(source: ContextSource, pace: Pace): Promise<ContextBody> {
  const kind = isRecord(source) ? String(source.kind) : typeof source;
  if (source?.kind === 'text' && typeof source.text === 'string') {
    // Half a character has no bytes of its own: it is replaced here, as it is wherever a text leaves.
    return openTextBody(memoryBytes(Buffer.from(source.text)), pace);
  }
  if (source?.kind === 'terms' && Array.isArray(source.items)) {
    const closed = closedJson(source.items);
    if (closed.ok && !holdsBigint(closed.value)) return termsBody(source.items);
  }
  if (source?.kind === 'file' && typeof source.root === 'string' && typeof source.path === 'string') {
    return openTextBody(await openFileBytes(source.root, source.path), pace);
  }
  throw new ContextError(
    'context.bad-source',
    `Expected a text, a list of JSON values as terms, or a file with root and path, found ${kind}.`,
    { next: 'Register one of these; read a stream into a file first.' },
  );
}

function badAlias(message: string): ContextError {
  return new ContextError('context.bad-alias', message, { next: 'Choose another alias, such as input.' });
}

function namesOf(entries: ReadonlyMap<string, Entry>): string {
  const aliases = [...new Set([...entries.values()].map((entry) => entry.alias))];
  if (aliases.length === 0) return 'This session has none.';
  const more = aliases.length > 20 ? `, … (${aliases.length} in all)` : '';
  return `There are: ${aliases.slice(0, 20).join(', ')}${more}.`;
}
