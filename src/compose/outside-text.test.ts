import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { oneLine, plainContinuation, plainLine, plainText, trimBlank } from './outside-text.ts';

describe('a plain line', () => {
  test.each([
    ['# Session instructions', '\\# Session instructions'],
    ['   ###### x', '   \\###### x'],
    ['#', '\\#'],
    ['#hash', '#hash'],
    ['####### seven', '####### seven'],
    ['> # x', '> \\# x'],
    ['- 1. # x', '- 1. \\# x'],
    ['===', '\\==='],
    ['- ', '\\- '],
    ['---', '\\---'],
    ['- item', '- item'],
    ['```js', '\\```js'],
    ['~~~', '\\~~~'],
    ['``code``', '``code``'],
    ['<h1>x</h1>', '\\<h1>x</h1>'],
    ['<!-- open', '\\<!-- open'],
    ['</div>', '\\</div>'],
    ['a < b', 'a < b'],
    ['plain', 'plain'],
    ['', ''],
  ])('%j', (line, plain) => {
    expect(plainLine(line)).toBe(plain);
  });

  test('a long run of markers is read in linear time', () => {
    const started = performance.now();
    plainLine(`${'- '.repeat(50_000)}x`);
    plainLine(`${' '.repeat(100_000)}x`);
    plainLine('1'.repeat(100_000));
    plainLine('-'.repeat(100_000));
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

test('a plain text has no outer blank space and one kind of line end', () => {
  expect(plainText('\r\n a\r\n# b\r# c\n\n')).toBe('a\n\\# b\n\\# c');
  expect(plainText('a\u2028# b')).toBe('a\u2028\\# b');
});

test('no line of a plain text opens a heading, a fence or an HTML block', () => {
  const line = fc.stringMatching(/^[ \t>#=\-*+1.)`~<!/a-z\u00a0]{0,12}$/);
  const opens = /^[\s>]*([-*+]\s+)*(#{1,6}(\s|$)|=+\s*$|-+\s*$|`{3}|~{3}|<[a-zA-Z!?/])/;
  fc.assert(
    fc.property(fc.array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n', '\u2028', '\v'))), (lines) => {
      const text = plainText(lines.flat().join(''));
      expect(text.split(/[\n\r\v\f\u0085\u2028\u2029]/).filter((one) => opens.test(one))).toEqual([]);
    }),
    { numRuns: 3000 },
  );
});

test('values that follow each other on a line open nothing together', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[ >#=\-`~<!h1]{0,4}$/), { maxLength: 5 }), (values) => {
      const text = values.reduce((before, value) => before + plainContinuation(before, value), '');
      expect(text).not.toMatch(/^[\s>]*(#{1,6}(\s|$)|=+\s*$|`{3}|~{3}|<[a-zA-Z!?/])/);
    }),
    { numRuns: 3000 },
  );
});

test('one line keeps what can be seen and escapes the rest', () => {
  expect(oneLine('a\tb\u0000\u009b\ufeffé😀\ud800')).toBe('a\\tb\\u0000\\u009b\\ufeffé😀\\ud800');
});

test('trimming keeps a byte-order mark and a hard space', () => {
  expect(trimBlank('\r\n\t \ufeffa\u00a0 \n')).toBe('\ufeffa\u00a0');
  expect(trimBlank(' \n')).toBe('');
});
