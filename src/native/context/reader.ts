/** A context as a tool gets it: bound to one call, bounded in what each operation returns, and never the payload itself. */
import type { Json } from '../../protocol/json.ts';
import type { Contexts } from './contexts.ts';
import { ContextError } from './errors.ts';
import type { ContextLimits } from './limits.ts';
import type {
  ContextAnswer,
  ContextMetadata,
  Mapping,
  Part,
  Partition,
  Range,
  Reduction,
  SearchRequest,
  SearchValue,
  Selector,
  SliceValue,
} from './operations.ts';

type Limits = Partial<ContextLimits>;

/**
 * Operations answer with a value or a fault (an unknown alias is one) and reject only when the call is over. Limits can
 * only be tighter than those of the session.
 */
export interface ContextReader {
  metadata(): Promise<ContextAnswer<ContextMetadata>>;
  peek(selector: Selector, limits?: Limits): Promise<ContextAnswer<Json>>;
  slice(range: Range, limits?: Limits): Promise<ContextAnswer<SliceValue>>;
  search(request: SearchRequest, limits?: Limits): Promise<ContextAnswer<SearchValue>>;
  partition(how: Partition, limits?: Limits): Promise<ContextAnswer<readonly Part[]>>;
  map(how: Mapping, limits?: Limits): Promise<ContextAnswer<Json[]>>;
  reduce(how: Reduction, limits?: Limits): Promise<ContextAnswer<number>>;
  /**
   * The whole text in pieces of at most 64 KiB, or each item of a list as JSON. It is read as it is asked for, so memory
   * stays small. Throws a ContextError.
   */
  texts(): AsyncIterable<string>;
}

/** The reader of one context for one call, whose `signal` ends every operation. */
export function contextReader(contexts: Contexts, ref: string, signal: AbortSignal): ContextReader {
  const call = (limits: Limits | undefined) => ({ signal, ...(limits === undefined ? {} : { limits }) });
  return {
    metadata: () => contexts.metadata(ref, { signal }),
    peek: (selector, limits) => contexts.peek(ref, selector, call(limits)),
    slice: (range, limits) => contexts.slice(ref, range, call(limits)),
    search: (request, limits) => contexts.search(ref, request, call(limits)),
    partition: (how, limits) => contexts.partition(ref, how, call(limits)),
    map: (how, limits) => contexts.map(ref, how, call(limits)),
    reduce: (how, limits) => contexts.reduce(ref, how, call(limits)),
    texts: () => contexts.texts(ref, signal),
  };
}

/** What a run without the capability gets: every operation is refused. */
export function refusedReader(): ContextReader {
  const error = capabilityMissing();
  const refuse = async () => ({ ok: false as const, code: error.code, message: error.message });
  return {
    metadata: refuse,
    peek: refuse,
    slice: refuse,
    search: refuse,
    partition: refuse,
    map: refuse,
    reduce: refuse,
    // biome-ignore lint/correctness/useYield: it refuses before the first piece.
    async *texts() {
      throw error;
    },
  };
}

/** The error of contexts without the right to look at them. */
export function capabilityMissing(): ContextError {
  return new ContextError(
    'context.capability-missing',
    "Contexts need the capability 'context', which this run does not hold.",
    { next: 'Grant it in agent.yaml: capabilities: { from: none, context: true }.' },
  );
}
