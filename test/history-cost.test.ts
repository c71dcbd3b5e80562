/** The benchmark of a turn's cost by its history says "linear" only of what is. */
import { expect, test } from 'vitest';
import { isLinear } from '../bench/history-cost.mjs';

const by = (cost: (bytes: number) => number) =>
  isLinear([1, 2, 3, 4, 5, 6, 7, 8].map((bytes) => ({ bytes, cpu: cost(bytes) })));

test.each([
  ['a line', (bytes: number) => 5 + 3 * bytes, true],
  ['a line with some noise', (bytes: number) => 5 + 3 * bytes + (bytes % 2), true],
  ['a square', (bytes: number) => 5 + bytes ** 2, false],
  ['a cube', (bytes: number) => bytes ** 3, false],
  ['noise', (bytes: number) => [3, 9, 1, 7, 2, 8, 4, 6][bytes - 1] ?? 0, false],
])('%s', (_what, cost, linear) => expect(by(cost).linear).toBe(linear));

test('gives the line', () => {
  const { slope, base, explained, steeper } = by((bytes) => 5 + 3 * bytes);
  expect([slope, base, explained, steeper].map((one) => Number(one.toFixed(6)))).toEqual([3, 5, 1, 1]);
});
