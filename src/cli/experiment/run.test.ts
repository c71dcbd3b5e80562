/** The closing lines of `writ experiment run`: the next command finds the same record. */
import { expect, test } from 'vitest';
import { summaryText } from './run.ts';

const summary = { trials: 2, done: 2, here: 1, complete: true };

test.each([
  [true, undefined, 'writ experiment report e.yaml'],
  [true, 'my rec', "writ experiment report e.yaml --record 'my rec'"],
  [false, 'rec', 'writ experiment run e.yaml --record rec'],
])('complete %s with the record %s', (complete, record, next) => {
  const text = summaryText({ ...summary, complete }, 'e.yaml', record);
  expect(text.endsWith(`: ${next}\n`)).toBe(true);
});
