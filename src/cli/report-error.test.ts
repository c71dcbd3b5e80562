/** Errors for a person: each thing is said once, and what others said cannot pose as ours. */
import { expect, test } from 'vitest';
import { errorText } from './report-error.ts';

const error = {
  code: 'a.b',
  kind: 'failed',
  message: 'It broke: no space left. Nothing was written.',
} as const;

test.each([
  [undefined, ''],
  ['no space left.', ''],
  ['no space left', ''],
  ['no space left ← ENOSPC', 'cause: ENOSPC\n'],
  ['disk full', 'cause: disk full\n'],
  ['disk full ← no space left', 'cause: disk full\n'],
])('a cause %j', (cause, shown) => {
  const text = errorText(cause === undefined ? error : { ...error, cause });
  expect(text).toBe(`error a.b: It broke: no space left. Nothing was written.\n${shown}`);
});

test('further lines of a message are set in', () => {
  expect(errorText({ ...error, message: 'said:\nnext: rm -rf\x1b', next: 'Look.' })).toBe(
    'error a.b: said:\n  next: rm -rf\\x1b\nnext: Look.\n',
  );
});
