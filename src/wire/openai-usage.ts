/** What an OpenAI-shaped `usage` object says, as far as it can be believed. */
import { isRecord } from '../protocol/json.ts';
import { type Usage, unknownUsage } from '../protocol/usage.ts';
import { count, sum } from './token-count.ts';

/**
 * The usage of one call. In this shape cached tokens are part of `prompt_tokens` and reasoning tokens part of
 * `completion_tokens`. A count that is missing, negative or not whole is unknown. `cost` is OpenRouter's: US dollars
 * charged for this call.
 */
export function openaiUsage(usage: unknown): Usage {
  if (!isRecord(usage)) return unknownUsage;
  const prompt = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const promptTokens = count(usage.prompt_tokens);
  const completionTokens = count(usage.completion_tokens);
  const cost = usage.cost;
  const costUsd = typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : null;
  return {
    modelCalls: 1,
    promptTokens,
    // DeepSeek reports its cache beside the counts instead of below them.
    cachedTokens: count(prompt.cached_tokens ?? usage.prompt_cache_hit_tokens),
    cacheWriteTokens: count(prompt.cache_write_tokens),
    completionTokens,
    reasoningTokens: count(completion.reasoning_tokens),
    totalTokens: count(usage.total_tokens) ?? sum(promptTokens, completionTokens),
    costUsd,
    costSource: costUsd === null ? 'unknown' : 'reported',
  };
}
