/** Broken lines: they fit, nothing is lost, and words stay whole where they can. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visible } from './visible.ts';
import { widthOf, wrapItems, wrapLine } from './wrap.ts';

test.each([
  ['', 5, ['']],
  ['short', 10, ['short']],
  ['one two three', 8, ['one two', 'three']],
  ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
  ['ab abcdefgh', 4, ['ab', 'abcd', 'efgh']],
  ['  set in', 8, ['  set in']],
  ['猫猫猫 猫', 5, ['猫猫', '猫 猫']],
])('%j in %i columns', (text, cells, lines) => {
  expect(wrapLine(text, cells)).toEqual(lines);
});

test('items stay together', () => {
  expect(wrapItems(['9 turns', '13 model calls', '$0.2'], ' · ', 24)).toEqual([
    '9 turns · 13 model calls',
    '$0.2',
  ]);
  expect(wrapItems([], ' · ', 24)).toEqual([]);
});

test('whatever the text, every line fits and only blanks at a break are lost', () => {
  const lineText = fc
    .string({ unit: 'grapheme', maxLength: 120 })
    .map((text) => visible(text).replace(/[\n\t]/g, ' '));
  fc.assert(
    fc.property(lineText, fc.integer({ min: 2, max: 40 }), (text, cells) => {
      const lines = wrapLine(text, cells);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(cells);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    }),
  );
});
