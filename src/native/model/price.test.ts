/** What a call cost, or that nobody knows. */
import { expect, test } from 'vitest';
import { noUsage, type Usage, unknownUsage } from '../../protocol/usage.ts';
import { openaiUsage } from '../../wire/openai-usage.ts';
import type { Price } from './model.ts';
import { priceUsage } from './price.ts';

const usage = (fields: Partial<Usage>): Usage => ({ ...unknownUsage, ...fields });
const rates: Price = { prompt: 3, completion: 15, cached: 0.3, cacheWrite: 3.75 };
const tokens = { promptTokens: 1000, completionTokens: 100 };

test.each<[string, Partial<Usage>, Price | null, number | null]>([
  ['full rate', { ...tokens, cachedTokens: 0 }, rates, 0.0045],
  ['no cache reported', tokens, { prompt: 3, completion: 15 }, 0.0045],
  ['cached tokens inside the prompt', { ...tokens, cachedTokens: 600 }, rates, 0.00288],
  ['tokens written to the cache', { ...tokens, cachedTokens: 600, cacheWriteTokens: 200 }, rates, 0.00303],
  ['a cached rate of zero', { ...tokens, cachedTokens: 600 }, { ...rates, cached: 0 }, 0.0027],
  ['a free model', tokens, { prompt: 0, completion: 0 }, 0],
  ['no price', tokens, null, null],
  ['cached, but no rate for it', { ...tokens, cachedTokens: 600 }, { prompt: 3, completion: 15 }, null],
  [
    'cache written, but no rate for it',
    { ...tokens, cacheWriteTokens: 1 },
    { prompt: 3, completion: 15 },
    null,
  ],
  ['more cached than there is', { ...tokens, cachedTokens: 1001 }, rates, null],
  ['an unknown prompt', { completionTokens: 1 }, rates, null],
  ['an unknown answer', { promptTokens: 1 }, rates, null],
])('%s', (_name, fields, price, costUsd) => {
  const priced = priceUsage(usage(fields), price);
  expect(priced).toEqual({
    ...usage(fields),
    costUsd: costUsd === null ? null : expect.closeTo(costUsd, 12),
    costSource: costUsd === null ? 'unknown' : 'priced',
  });
});

test('a cost that the provider reported stays, and so does that of nothing', () => {
  const reported = usage({ ...tokens, costUsd: 0.5, costSource: 'reported' });
  expect(priceUsage(reported, rates)).toBe(reported);
  expect(priceUsage(noUsage, rates)).toBe(noUsage);
});

test('cached tokens of an OpenAI-shaped usage are counted once', () => {
  const said = { prompt_tokens: 1000, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 600 } };
  expect(priceUsage(openaiUsage(said), rates)).toMatchObject({
    promptTokens: 1000,
    cachedTokens: 600,
    costUsd: expect.closeTo((400 * 3 + 600 * 0.3) / 1e6, 12),
  });
});
