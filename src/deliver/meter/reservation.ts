/** What a request may use at most, told from its bytes before it is sent on. */
import type { BudgetAmount } from '../../protocol/budget.ts';
import { isRecord } from '../../protocol/json.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { ModelRequest, Protocol } from '../recorder/model-request.ts';

/** What a model's tokens cost. */
export interface Tariff {
  /** US dollars for so many tokens, at the dearest rate that may apply. */
  atMost(promptTokens: number, outputTokens: number): number;
  /** The usage with its cost, where it can be told. */
  price(usage: Usage): Usage;
}

/** Low, so that too much is set aside rather than too little. */
const bytesPerToken = 3;
/** What is set aside for an answer whose request names no limit. Its bytes are the program's own, so none is added. */
const outputTokensUsual = 4096;

/** `json` is the body of the request. A `tariff` of null sets no money aside. */
export function reservationOf(
  { protocol, bytes }: Pick<ModelRequest, 'protocol' | 'bytes'>,
  json: Readonly<Record<string, unknown>>,
  { isTurn, tariff }: { readonly isTurn: boolean; readonly tariff: Tariff | null },
): BudgetAmount {
  const promptTokens = Math.ceil(bytes / bytesPerToken);
  const outputTokens = outputLimit(protocol, json);
  return {
    ...(isTurn ? { turns: 1 } : {}),
    modelCalls: 1,
    tokens: promptTokens + outputTokens,
    ...(tariff === null ? {} : { costUsd: tariff.atMost(promptTokens, outputTokens) }),
  };
}

function outputLimit(protocol: Protocol, body: Readonly<Record<string, unknown>>): number {
  switch (protocol) {
    case 'anthropic':
      return tokensOf(body.max_tokens);
    case 'openai-responses':
      return tokensOf(body.max_output_tokens);
    case 'openai-chat':
      return tokensOf(body.max_completion_tokens ?? body.max_tokens) * answersOf(body.n);
    case 'gemini': {
      const settings = body.generationConfig ?? body.generation_config;
      if (!isRecord(settings)) return outputTokensUsual;
      const limit = tokensOf(settings.maxOutputTokens ?? settings.max_output_tokens);
      return limit * answersOf(settings.candidateCount ?? settings.candidate_count);
    }
  }
}

function tokensOf(limit: unknown): number {
  return typeof limit === 'number' && Number.isSafeInteger(limit) && limit > 0 ? limit : outputTokensUsual;
}

function answersOf(wanted: unknown): number {
  return typeof wanted === 'number' && Number.isSafeInteger(wanted) && wanted > 1 ? wanted : 1;
}
