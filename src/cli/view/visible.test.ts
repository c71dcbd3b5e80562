/** What a terminal is shown of foreign text: nothing that moves, hides or reorders, and never more columns than there are. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellsOf, fitCells, visible, visibleLine } from './visible.ts';

test.each([
  ['plain ünïcode 猫', 'plain ünïcode 猫'],
  ['a\tb\nc', 'a\tb\nc'],
  ['a\r\nb', 'a\nb'],
  ['over\rwrite', 'over\\x0dwrite'],
  ['\x1b[2J\x1b]0;title\x07', '\\x1b[2J\\x1b]0;title\\x07'],
  ['\x9b31m\x7f\x00', '\\x9b31m\\x7f\\x00'],
  ['user\u202etxt.exe', 'user\\u{202e}txt.exe'],
  ['zero\u200bwidth\u2028line', 'zero\\u{200b}width\\u{2028}line'],
  ['half \ud800', 'half \\u{d800}'],
])('%j is shown as %j', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test('one line stays one line, and what was cut is said to be cut', () => {
  expect(visibleLine('two\nlines\tand\x1b', 80)).toBe('two\\nlines and\\x1b');
  expect(visibleLine('abcdefgh', 5)).toBe('abcd…');
  expect(fitCells('猫猫猫', 5)).toBe('猫猫…');
});

test('whatever the text, a line holds no control character and fits', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.integer({ min: 4, max: 60 }),
      (text, cells) => {
        const line = visibleLine(text, cells);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        expect([...line].reduce((sum, one) => sum + (one === '…' ? 1 : cellsOf(one)), 0)).toBeLessThanOrEqual(
          cells,
        );
      },
    ),
  );
});
