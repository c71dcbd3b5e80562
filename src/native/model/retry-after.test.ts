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
  ['seconds of ten digits', { 'retry-after': '10000000000' }, 10_000_000_000_000],
  ['seconds without end', { 'retry-after': '9'.repeat(400) }, Number.MAX_SAFE_INTEGER],
  ['milliseconds of ten digits', { 'retry-after-ms': '10000000000' }, 10_000_000_000],
  ['a date of RFC 850', { 'retry-after': 'Wednesday, 21-Oct-26 07:28:30 GMT' }, 30_000],
  ['a date of RFC 850 of the century before', { 'retry-after': 'Sunday, 06-Nov-94 08:49:37 GMT' }, 0],
  ['a date of asctime', { 'retry-after': 'Wed Oct 21 07:28:30 2026' }, 30_000],
  ['a date of asctime with one digit', { 'retry-after': 'Sun Nov  1 07:28:00 2026' }, 11 * 86_400_000],
  [
    'a far date',
    { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' },
    Date.UTC(9999, 11, 31, 23, 59, 59) - now,
  ],
  ['a date of RFC 850 that cannot be', { 'retry-after': 'Wednesday, 99-Oct-26 07:28:30 GMT' }, null],
  ['nothing', {}, null],
  ['a negative number', { 'retry-after': '-1' }, null],
  ['a word', { 'retry-after': 'soon' }, null],
  ['a word with a number', { 'retry-after': 'in 5' }, null],
  ['a date that cannot be', { 'retry-after': 'Wed, 99 Oct 2026 07:28:30 GMT' }, null],
  ['an empty text', { 'retry-after': '' }, null],
])('%s', (_name, headers, ms) => {
  expect(retryAfterMs(headers, now)).toBe(ms);
});
