import { describe, expect, test } from 'vitest';
import { asserts, withoutToken } from './completion.ts';

describe('the token', () => {
  test.each([
    ['alone', 'DONE'],
    ['below an answer', 'All is well.\nDONE'],
    ['with line ends of Windows', 'a\r\nDONE\r\n'],
    ['with old line ends', 'a\rDONE\r'],
    ['before white space', 'a\nDONE  \n\n\t\n'],
    ['behind a closed fence', '```js\nx\n```\nDONE'],
    ['behind a fence closed by a longer one', '~~~\nx\n~~~~~\nDONE'],
    ['behind code in a line', '```not`a fence\nDONE'],
    ['behind a block of HTML that ended', '<div>\na\n</div>\n\nDONE'],
    ['behind a comment that ended', '<!-- a -->\nDONE'],
    ['behind a tag in a paragraph', 'see\n<b>\nDONE'],
    ['behind an indented fence that is code', '    ```\nDONE'],
  ])('counts %s', (_what, text) => expect(asserts(text, 'DONE')).toBe(true));

  test.each([
    ['in other case', 'a\nDone'],
    ['indented', 'a\n DONE'],
    ['with punctuation', 'a\nDONE.'],
    ['in bold', 'a\n**DONE**'],
    ['as code', 'a\n`DONE`'],
    ['in a sentence', 'It is DONE'],
    ['before another line', 'DONE\nand more'],
    ['in an open fence', '```\nDONE'],
    ['in a fence that a shorter one does not close', '````\n```\nDONE'],
    ['in a fence that another character does not close', '```\n~~~\nDONE'],
    ['in a fence whose closing has words', '```\n``` js\nDONE'],
    ['in a block of HTML', '<div>\nDONE'],
    ['in a comment', '<!-- a\nDONE'],
    ['in preformatted text, over an empty line', '<pre>\n\nDONE'],
    ['in a block of another tag', 'a\n\n<custom-tag>\nDONE'],
    ['never', ''],
  ])('does not count %s', (_what, text) => expect(asserts(text, 'DONE')).toBe(false));

  test('is taken off an answer that has it, and off no other', () => {
    expect(withoutToken('All is well.\r\n\r\nDONE\n', 'DONE')).toBe('All is well.');
    expect(withoutToken('DONE', 'DONE')).toBe('');
    expect(withoutToken('Not DONE \n', 'DONE')).toBe('Not DONE \n');
  });
});
