/** What model calls used. Null is "unknown" and stays unknown through every sum; it never becomes zero. */

export interface Usage {
  readonly modelCalls: number;
  /** All tokens of the prompt, cached ones included, whatever shape the provider reports them in. */
  readonly promptTokens: number | null;
  /** The part of `promptTokens` read from the provider's cache. */
  readonly cachedTokens: number | null;
  /** The part of `promptTokens` written to the provider's cache. */
  readonly cacheWriteTokens: number | null;
  /** All tokens of the answer, reasoning included. */
  readonly completionTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly totalTokens: number | null;
  readonly costUsd: number | null;
  /** `reported` by the provider, `priced` from a price table, `unknown`, or `none` where nothing was asked. */
  readonly costSource: 'reported' | 'priced' | 'unknown' | 'none';
  /** What an outside harness itself reckons that it cost: never part of `costUsd`. Left out where none reckoned. */
  readonly estimatedUsd?: number | null;
}

export const noUsage: Usage = {
  modelCalls: 0,
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  totalTokens: 0,
  costUsd: 0,
  costSource: 'none',
};

/** One call of which the provider said nothing, for instance because its stream was cut. */
export const unknownUsage: Usage = {
  modelCalls: 1,
  promptTokens: null,
  cachedTokens: null,
  cacheWriteTokens: null,
  completionTokens: null,
  reasoningTokens: null,
  totalTokens: null,
  costUsd: null,
  costSource: 'unknown',
};

/** Adds field by field; a sum with an unknown part is unknown. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    modelCalls: a.modelCalls + b.modelCalls,
    promptTokens: plus(a.promptTokens, b.promptTokens),
    cachedTokens: plus(a.cachedTokens, b.cachedTokens),
    cacheWriteTokens: plus(a.cacheWriteTokens, b.cacheWriteTokens),
    completionTokens: plus(a.completionTokens, b.completionTokens),
    reasoningTokens: plus(a.reasoningTokens, b.reasoningTokens),
    totalTokens: plus(a.totalTokens, b.totalTokens),
    costUsd: plus(a.costUsd, b.costUsd),
    costSource: addSource(a.costSource, b.costSource),
    ...estimateOf(a, b),
  };
}

// Of a sum with a part that nobody reckoned the estimate is unknown, as any other field is.
function estimateOf(a: Usage, b: Usage): Pick<Usage, 'estimatedUsd'> {
  if (a.estimatedUsd === undefined && b.estimatedUsd === undefined) return {};
  const of = ({ estimatedUsd, modelCalls }: Usage) => estimatedUsd ?? (modelCalls === 0 ? 0 : null);
  return { estimatedUsd: plus(of(a), of(b)) };
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function addSource(a: Usage['costSource'], b: Usage['costSource']): Usage['costSource'] {
  if (a === 'none') return b;
  if (b === 'none') return a;
  if (a === 'unknown' || b === 'unknown') return 'unknown';
  return a === b ? a : 'priced';
}
