import { expect, test } from 'vitest';
import { systemClock, timeSortedId } from './clock.ts';

test('an id is its prefix, ten characters of time and sixteen of chance', () => {
  expect(timeSortedId('run', 0, new Uint8Array(10))).toBe(`run_${'0'.repeat(26)}`);
  expect(timeSortedId('run', 2 ** 48 - 1, new Uint8Array(10).fill(255))).toBe(
    'run_7zzzzzzzzzzzzzzzzzzzzzzzzz',
  );
});

test('ids of different milliseconds sort by time, and none comes twice', () => {
  expect(
    timeSortedId('a', 1000, new Uint8Array(10).fill(255)) < timeSortedId('a', 1001, new Uint8Array(10)),
  ).toBe(true);
  const ids = Array.from({ length: 5000 }, () => systemClock.id('x'));
  expect(new Set(ids).size).toBe(5000);
});

test('a sleep ends at its time or at once when the signal aborts, before or during', async () => {
  const stop = new AbortController();
  const asleep = systemClock.sleep(60_000, stop.signal);
  stop.abort();
  await asleep;
  await systemClock.sleep(60_000, stop.signal);
  await systemClock.sleep(1);
});
