/** What is not known is null in what programs read, and what is known in part stays. */
import { expect, test } from 'vitest';
import { unknownIsNull } from './unknown-is-null.ts';

const line = { limit: null, used: 0, reserved: 0, left: null, overrun: 0 };

test('null where the use is unknown and nothing of it was told, in runs and in what they hold', () => {
  const run = {
    usage: { totalTokens: 30, costUsd: null },
    known: { totalTokens: 30, costUsd: 0 },
    budget: { tokens: { ...line, used: 30 }, costUsd: line },
  };
  const shown = {
    usage: { totalTokens: 30, costUsd: null },
    known: { totalTokens: 30, costUsd: null },
    budget: { tokens: { ...line, used: 30 }, costUsd: { ...line, used: null } },
  };
  expect(unknownIsNull({ ...run, children: [run] })).toEqual({ ...shown, children: [shown] });
});

test('what a child spent is as unknown as its use', () => {
  const finish = {
    usage: { totalTokens: null, costUsd: null },
    spent: { modelCalls: 1, tokens: 0, costUsd: 0 },
  };
  expect(unknownIsNull(finish)).toEqual({ ...finish, spent: { modelCalls: 1, tokens: null, costUsd: null } });
});

test('what was told in part, and a zero that is known, stay', () => {
  const part = {
    usage: { costUsd: null },
    known: { costUsd: 0.5 },
    budget: { costUsd: { ...line, used: 0.5 } },
  };
  const free = { usage: { costUsd: 0 }, known: { costUsd: 0 }, budget: { costUsd: line } };
  expect([unknownIsNull(part), unknownIsNull(free)]).toEqual([part, free]);
});
