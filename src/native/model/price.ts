/** Turns what a call used into what it cost, where a price is known. */
import type { Usage } from '../../protocol/usage.ts';
import { ModelError } from './errors.ts';
import type { Price } from './model.ts';

/**
 * The usage with its cost. A cost that the provider reported stays. Cached and cache-write tokens are parts of
 * `promptTokens` and are charged at their own rates; a provider that reports no such part is taken to have none, so that
 * all tokens cost the full rate. The cost is unknown where a count is, or where tokens fall under a rate that is.
 */
export function priceUsage(usage: Usage, price: Price | null): Usage {
  if (usage.costSource !== 'unknown') return usage;
  const costUsd = price === null ? null : cost(usage, price);
  return { ...usage, costUsd, costSource: costUsd === null ? 'unknown' : 'priced' };
}

function cost(usage: Usage, price: Price): number | null {
  const { promptTokens, completionTokens } = usage;
  if (promptTokens === null || completionTokens === null) return null;
  const cached = usage.cachedTokens ?? 0;
  const cacheWrite = usage.cacheWriteTokens ?? 0;
  const full = promptTokens - cached - cacheWrite;
  if (full < 0) return null;
  const parts = [
    at(full, price.prompt),
    at(cached, price.cached),
    at(cacheWrite, price.cacheWrite),
    at(completionTokens, price.completion),
  ];
  return parts.reduce<number | null>((sum, part) => (sum === null || part === null ? null : sum + part), 0);
}

function at(tokens: number, usdPerMillion: number | undefined): number | null {
  if (tokens === 0) return 0;
  return usdPerMillion === undefined ? null : (tokens * usdPerMillion) / 1e6;
}

/** The price of a model, or null for none. Throws `model.bad-price` for one that is no price. */
export function priceOf(spec: string, prices: Readonly<Record<string, Price>> | undefined): Price | null {
  const price = prices?.[spec];
  if (price === undefined) return null;
  for (const rate of ['prompt', 'completion', 'cached', 'cacheWrite'] as const) {
    const usd: unknown = price[rate];
    if (usd === undefined && (rate === 'cached' || rate === 'cacheWrite')) continue;
    if (typeof usd === 'number' && Number.isFinite(usd) && usd >= 0) continue;
    throw new ModelError(
      'model.bad-price',
      `Expected US dollars per million tokens, from zero up, as the ${rate} price of ${spec}; found ${String(usd)}.`,
      { next: `Correct or remove the price of ${spec}.`, details: { model: spec, rate } },
    );
  }
  return price;
}
