/** Usage as programs report it: each message once, totals in the place of sums, unknown never zero. */
import { expect, test } from 'vitest';
import { noUsage } from '../../protocol/usage.ts';
import type { Observed } from '../observed.ts';
import { openUsage } from './usage.ts';

type Report = Extract<Observed, { type: 'usage' }>;

const report = (more: Partial<Report> & { readonly tokens?: readonly [number, number] }): Report => {
  const { tokens = [10, 1], ...rest } = more;
  return {
    type: 'usage',
    id: 'm1',
    scope: 'message',
    costUsd: null,
    costLane: null,
    usage: {
      promptTokens: tokens[0],
      cachedTokens: 4,
      cacheWriteTokens: null,
      completionTokens: tokens[1],
      reasoningTokens: null,
    },
    ...rest,
  };
};

test('three reports of one message, the last with more output, count once with the last values', () => {
  const usage = openUsage(noUsage);
  for (const tokens of [
    [10, 1],
    [10, 1],
    [10, 7],
  ] as const)
    usage.take(report({ tokens }));
  expect(usage.turn()).toMatchObject({ modelCalls: 1, totalTokens: 17 });
  // The same message again, in the transcript of a child.
  usage.take(report({ tokens: [10, 7] }));
  expect(usage.turn()).toBeUndefined();
  expect(usage.run(1)).toMatchObject({ modelCalls: 1, promptTokens: 10, cachedTokens: 4, totalTokens: 17 });
});

test('a total stands in the place of the sum, and one of the session without what was before', () => {
  const usage = openUsage(noUsage);
  usage.take(report({}));
  usage.take(report({ scope: 'run', id: null, tokens: [100, 10] }));
  expect(usage.run(3)).toMatchObject({ modelCalls: 1, totalTokens: 110 });
  const before = { ...noUsage, modelCalls: 2, promptTokens: 60, completionTokens: 5, totalTokens: 65 };
  const later = openUsage(before);
  later.take(report({ scope: 'session', id: null, tokens: [100, 10] }));
  expect(later.run(3)).toMatchObject({
    modelCalls: 3,
    promptTokens: 40,
    completionTokens: 5,
    totalTokens: 45,
  });
  const anew = openUsage(before);
  anew.take(report({ scope: 'session', id: null, tokens: [30, 2] }));
  expect(anew.run(1)).toMatchObject({ promptTokens: 30, totalTokens: 32 });
  const unknown = openUsage({ ...before, promptTokens: null });
  unknown.take(report({ scope: 'session', id: null, tokens: [100, 10] }));
  expect(unknown.run(1)).toMatchObject({ promptTokens: null, completionTokens: 5 });
});

test('a bill and an estimate are two numbers, and neither fills in for the other', () => {
  const usage = openUsage(noUsage);
  usage.take(report({ id: 'a', costUsd: 0.5, costLane: 'billed' }));
  usage.take(report({ id: 'b', costUsd: 0.25, costLane: 'estimated' }));
  expect(usage.run(2)).toMatchObject({ costUsd: null, costSource: 'unknown', estimatedUsd: null });
  const billed = openUsage(noUsage);
  billed.take(report({ id: 'a', costUsd: 0.5, costLane: 'billed' }));
  billed.take(report({ id: 'b', costUsd: 0.25, costLane: 'billed' }));
  expect(billed.run(2)).toMatchObject({ costUsd: 0.75, costSource: 'reported' });
  expect(billed.run(2)).not.toHaveProperty('estimatedUsd');
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('%d is no count and no price', (wrong) => {
  const usage = openUsage(noUsage);
  usage.take(report({ tokens: [wrong, 1], costUsd: wrong, costLane: 'billed' }));
  expect(usage.run(1)).toMatchObject({ promptTokens: null, totalTokens: null, costUsd: null });
});

test('a program that reported nothing used an unknown amount', () => {
  expect(openUsage(noUsage).run(0)).toMatchObject({ modelCalls: 1, totalTokens: null, costUsd: null });
});
