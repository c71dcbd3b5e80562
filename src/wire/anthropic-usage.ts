/** What the `usage` objects of an Anthropic answer say together. */
import { isRecord } from '../protocol/json.ts';
import { type Usage, unknownUsage } from '../protocol/usage.ts';
import { count, sum } from './token-count.ts';

/**
 * The reports of one answer. Each is of the whole answer so far, so of each count the last word holds, and nothing is
 * added up over reports; a report without a count does not take an earlier one back.
 */
export class UsageReports {
  #said: Readonly<Record<string, unknown>> = {};
  #reported = false;

  /** `last` is false for the report at the beginning: its output tokens are of an answer that has not been written. */
  add(usage: unknown, last: boolean): void {
    if (!isRecord(usage)) return;
    this.#reported = true;
    const { output_tokens, output_tokens_details, ...prompt } = usage;
    const said = Object.entries(last ? usage : prompt).filter(([, value]) => value !== null);
    this.#said = { ...this.#said, ...Object.fromEntries(said) };
  }

  /** In this shape the tokens of the cache stand beside `input_tokens`, not in it. */
  usage(): Usage {
    if (!this.#reported) return unknownUsage;
    const said = this.#said;
    const fresh = count(said.input_tokens);
    const cachedTokens = count(said.cache_read_input_tokens);
    const cacheWriteTokens = count(said.cache_creation_input_tokens);
    const promptTokens = fresh === null ? null : fresh + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0);
    const completionTokens = count(said.output_tokens);
    const details = isRecord(said.output_tokens_details) ? said.output_tokens_details : {};
    return {
      modelCalls: 1,
      promptTokens,
      cachedTokens,
      cacheWriteTokens,
      completionTokens,
      reasoningTokens: count(details.thinking_tokens),
      totalTokens: sum(promptTokens, completionTokens),
      costUsd: null,
      costSource: 'unknown',
    };
  }
}
