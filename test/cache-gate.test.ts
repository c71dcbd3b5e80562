/** The cache gate: fresh sessions that show all tools begin alike for a provider's prompt cache, and what either way costs is counted right. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CacheRow, cacheModes, sessions } from '../bench/cache-modes.mjs';
import {
  blockTokens,
  cachedTokensMin,
  type PrefixCacheServer,
  prefixCacheServer,
} from '../bench/prefix-cache-server.mjs';
import * as writ from '../src/index.ts';

let rows: readonly CacheRow[] = [];
beforeAll(async () => {
  rows = await cacheModes(writ);
});
const row = (wire: CacheRow['wire'], mode: CacheRow['mode']): CacheRow => {
  const found = rows.find((one) => one.wire === wire && one.mode === mode);
  if (found === undefined) throw new Error('not measured');
  return found;
};

describe.each(['openai-chat', 'anthropic'] as const)('ten fresh sessions over %s', (wire) => {
  test('hit the cache in at least 80 % of nine warm requests where all tools are shown', () => {
    const { warm, hits, asked } = row(wire, 'all_tools');
    expect([sessions, warm]).toEqual([10, 9]);
    expect(hits).toBeGreaterThanOrEqual(0.8 * warm);
    // Nearly all of such a prompt is the same in each.
    for (const { prompt, cached } of asked.slice(1)) expect(cached).toBeGreaterThan(0.9 * prompt);
  });
  test('use what the server counted, in either mode', () => {
    for (const mode of ['compiled', 'all_tools'] as const) {
      const { promptTokens, cachedTokens, cacheWriteTokens, asked } = row(wire, mode);
      const sum = (name: 'prompt' | 'cached' | 'written') =>
        asked.reduce((total, one) => total + one[name], 0);
      expect([promptTokens, cachedTokens, cacheWriteTokens]).toEqual([
        sum('prompt'),
        sum('cached'),
        sum('written'),
      ]);
    }
  });
  test('trade length against what is cached', () => {
    const [compiled, all] = [row(wire, 'compiled'), row(wire, 'all_tools')];
    expect(all.promptTokens).toBeGreaterThan(compiled.promptTokens);
    expect(all.cachedTokens / all.promptTokens).toBeGreaterThan(
      compiled.cachedTokens / compiled.promptTokens,
    );
  });
});

test('the cost is that of each kind of token at its own rate', () => {
  const chat = row('openai-chat', 'all_tools');
  const fresh = chat.promptTokens - chat.cachedTokens;
  expect(chat.costUsd).toBeCloseTo((fresh * 2.5 + chat.cachedTokens * 1.25 + sessions * 8 * 10) / 1e6, 9);
  const marked = row('anthropic', 'all_tools');
  const plain = marked.promptTokens - marked.cachedTokens - marked.cacheWriteTokens;
  expect(marked.costUsd).toBeCloseTo(
    (plain * 3 + marked.cachedTokens * 0.3 + marked.cacheWriteTokens * 3.75 + sessions * 8 * 15) / 1e6,
    9,
  );
});

describe('the server', () => {
  let server: PrefixCacheServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  async function asking(path: string, ...bodies: readonly object[]) {
    server = await prefixCacheServer();
    const statuses: number[] = [];
    for (const body of bodies) {
      const response = await fetch(`${server.url}/${path}`, { method: 'POST', body: JSON.stringify(body) });
      await response.text();
      statuses.push(response.status);
    }
    return { statuses, asked: server.asked };
  }
  const of = (name: 'prompt' | 'cached' | 'written', asked: PrefixCacheServer['asked']) =>
    asked.map((one) => one[name]);
  /** A message of so many tokens with its JSON. */
  const message = (tokens: number, letter = 'x') => {
    const around = JSON.stringify({ role: 'user', content: '' }).length;
    return { role: 'user', content: letter.repeat(tokens * 4 - around) };
  };

  test('keeps whole blocks, and none below the least prefix', async () => {
    const below = { messages: [message(cachedTokensMin - 1)] };
    const exact = { messages: [message(cachedTokensMin)] };
    const short = await asking('chat/completions', below, below);
    expect(of('cached', short.asked)).toEqual([0, 0]);
    await server?.close();
    const long = { messages: [message(cachedTokensMin + blockTokens - 1, 'y')] };
    const { asked } = await asking('chat/completions', exact, exact, long, long);
    expect(of('cached', asked)).toEqual([0, cachedTokensMin, 0, cachedTokensMin]);
    expect(of('prompt', asked)[2]).toBe(cachedTokensMin + blockTokens - 1);
  });

  test('finds the part that two prompts begin with, and nothing behind a difference', async () => {
    const head = message(2000);
    const bodies = ['a', 'b'].map((letter) => ({ messages: [head, message(500, letter)] }));
    const { asked } = await asking('chat/completions', ...bodies, {
      tools: [{ type: 'function' }],
      messages: [head],
    });
    expect(of('cached', asked)).toEqual([0, Math.floor(2000 / blockTokens) * blockTokens, 0]);
  });

  const system = (...blocks: readonly object[]) => ({
    system: blocks,
    messages: [{ role: 'user', content: 'q' }],
  });
  const block = (letter: string, marked: boolean) => ({
    type: 'text',
    text: letter.repeat(6000),
    ...(marked ? { cache_control: { type: 'ephemeral' } } : {}),
  });

  test('keeps what ends at a mark, and finds it under a later mark too', async () => {
    const { asked } = await asking(
      'messages',
      system(block('a', true)),
      system(block('a', true)),
      system(block('a', false), block('b', true)),
      system(block('a', false), block('c', false)),
    );
    const one = of('written', asked)[0] ?? 0;
    expect(one).toBeGreaterThan(1500);
    expect(of('cached', asked)).toEqual([0, one, one, 0]);
    expect(of('written', asked)).toEqual([one, 0, expect.any(Number), 0]);
    expect(of('written', asked)[2]).toBeGreaterThan(1500);
  });

  test('refuses a fifth mark, and keeps nothing that is too short', async () => {
    const short = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };
    const { statuses, asked } = await asking(
      'messages',
      system(short, short, short, short, short),
      system(short),
      system(short),
    );
    expect(statuses).toEqual([400, 200, 200]);
    expect([of('cached', asked), of('written', asked)]).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });
});
