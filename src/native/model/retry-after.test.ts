/** What a provider's wish to wait means in milliseconds. */
import { expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');

test.each<[string, Record<string, string>, number | null]>([
  ['seconds', { 'retry-after': '120' }, 120_000],
  ['part of a second', { 'retry-after': ' 0.5 ' }, 500],
  ['zero', { 'retry-after': '0' }, 0],
  ['a date', { 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT' }, 30_000],
  ['a date that has passed', { 'retry-after': 'Wed, 21 Oct 2026 07:00:00 GMT' }, 0],
  ['milliseconds first', { 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  ['unreadable milliseconds', { 'retry-after-ms': 'x', 'retry-after': '9' }, 9_000],
  ['nothing', {}, null],
  ['a negative number', { 'retry-after': '-1' }, null],
  ['a word', { 'retry-after': 'soon' }, null],
  ['a word with a number', { 'retry-after': 'in 5' }, null],
  ['a date that cannot be', { 'retry-after': 'Wed, 99 Oct 2026 07:28:30 GMT' }, null],
  ['an empty text', { 'retry-after': '' }, null],
])('%s', (_name, headers, ms) => {
  expect(retryAfterMs(headers, now)).toBe(ms);
});
