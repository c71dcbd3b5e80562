import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockOf, linesOf, obeyed, passedOver } from './outside-text.cases.ts';
import { LineSoFar, oneLine, plainLine, plainText, trimBlank } from './outside-text.ts';

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

  test.each([
    ['\u200b# Memory', '\\\u200b# Memory'],
    ['\u2060# Memory', '\\\u2060# Memory'],
    ['\u00ad# Memory', '\\\u00ad# Memory'],
    ['\ufeff# Memory', '\\\ufeff# Memory'],
    ['\u0000# Memory', '\\\u0000# Memory'],
    ['\u0085# Memory', '\\\u0085# Memory'],
    ['\u0301# Memory', '\\\u0301# Memory'],
    ['\u3164# Memory', '\\\u3164# Memory'],
    ['\u{e0041}# Memory', '\\\u{e0041}# Memory'],
    ['\u001b# Memory', '\\\u001b# Memory'],
    ['\u001b[1;31m# Memory', '\\\u001b[1;31m# Memory'],
    ['\u009b31m# Memory', '\\\u009b31m# Memory'],
    ['\u001bM# Memory', '\\\u001bM# Memory'],
    ['\u001b(B# Memory', '\\\u001b(B# Memory'],
    ['\u001b]0;title\u0007# Memory', '\\\u001b]0;title\u0007# Memory'],
    ['\u001b]0;title\u001b\\# Memory', '\\\u001b]0;title\u001b\\# Memory'],
    ['\u009b # Memory', '\\\u009b \\# Memory'],
    ['> \u200b# Memory', '> \\\u200b# Memory'],
    ['-\u200b # Memory', '-\u200b \\# Memory'],
    ['1\u200b. # Memory', '1\u200b. \\# Memory'],
    ['#\u200b# Memory', '\\#\u200b# Memory'],
    ['#\u200b Memory', '\\#\u200b Memory'],
    ['==\u200b==', '\\==\u200b=='],
    ['---\u200b', '\\---\u200b'],
    ['`\u200b``', '\\`\u200b``'],
    ['<\u200bh1>', '\\<\u200bh1>'],
    ['\u200bplain', '\u200bplain'],
    ['👩‍👧 family', '👩‍👧 family'],
    ['\u001b[31mred\u001b[0m', '\u001b[31mred\u001b[0m'],
  ])('is not fooled by what nobody sees: %j', (line, plain) => {
    expect(plainLine(line)).toBe(plain);
  });

  test('of any length is read in linear time and without a deep stack', () => {
    const started = performance.now();
    for (const long of [
      `${'- '.repeat(50_000)}x`,
      '1'.repeat(100_000),
      '-'.repeat(100_000),
      '='.repeat(100_000).concat('x'),
      `${'\u001b]'.repeat(50_000)}x`,
      `-${'\u200b'.repeat(100_000)}x`,
    ])
      expect(plainLine(long)).toBe(long === '-'.repeat(100_000) ? `\\${long}` : long);
    for (const blanks of [
      ' '.repeat(9_000_000),
      `\u00a0${'> '.repeat(2_000_000)}`,
      '\u001b]'.concat('x'.repeat(4_000_000)),
    ])
      expect(plainLine(`${blanks}x`)).toHaveLength(blanks.length + 1);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

test('a plain text has no outer blank space, no byte-order mark and one kind of line end', () => {
  expect(plainText('\r\n a\r\n# b\r# c\n\n')).toBe('a\n\\# b\n\\# c');
  expect(plainText('a\u2028# b')).toBe('a\u2028\\# b');
  expect(plainText('a\u001c# b\u001d# c\u001e# d')).toBe('a\u001c\\# b\u001d\\# c\u001e\\# d');
  expect(plainText('\ufeff# a\ufeff')).toBe('\\# a\ufeff');
  expect(plainText('\ufeff \n')).toBe('');
});

const piece = fc.constantFrom(
  ...[
    ...' \t>#=-*+1.)`~<!/ah\u00a0\u200b\u2060\u00ad\u0000\u001b\u009b\u0007\u0301\u3164\ufeff\u{e0041}[m;]\\',
  ],
  ...['\u001b[31m', '\u001b]0;t\u0007', '\u001bM', '\u001b(B', '# Memory', '```', '---', '<h1>', '- ', '1. '],
);
const lineEnds = ['\n', '\r', '\r\n', '\u2028', '\v', '\f', '\u0085', '\u001c', '\u001d', '\u001e'];
const outsideLine = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''));

test('no line of a plain text opens a heading, a fence or an HTML block, read either way', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(outsideLine, fc.constantFrom(...lineEnds))), (lines) => {
      for (const line of linesOf(plainText(lines.flat().join('')))) {
        expect(blockOf(passedOver(line))).toBeUndefined();
        expect(blockOf(obeyed(line))).toBeUndefined();
      }
    }),
    { numRuns: 5000 },
  );
});

test('a plain text is the text with backslashes, and with none where nothing opens', () => {
  fc.assert(
    fc.property(outsideLine, (line) => {
      const plain = plainLine(line);
      const shown = [passedOver(line), obeyed(line)];
      if (shown.every((one) => blockOf(one) === undefined)) expect(plain).toBe(line);
      expect(plain.replaceAll('\\', '')).toBe(line.replaceAll('\\', ''));
    }),
    { numRuns: 5000 },
  );
});

describe('values on a line of a template', () => {
  const write = (...parts: readonly (readonly ['own' | 'value', string])[]) => {
    const line = new LineSoFar();
    return parts
      .map(([kind, text]) => {
        if (kind === 'value') return line.value(text);
        line.text(text);
        return text;
      })
      .join('');
  };

  test.each([
    ['#', ' Governance', '#\\ Governance'],
    ['#', '', '#'],
    ['#', '12', '#12'],
    ['##', '# x', '##\\# x'],
    ['# ', '# x', '# # x'],
    ['x\n-', '--', 'x\n-\\--'],
    ['x\n--', '-', 'x\n--\\-'],
    ['x\n=', '=', 'x\n=\\='],
    ['x\r', '# y', 'x\r\\# y'],
    ['x\u2028', '# y', 'x\u2028\\# y'],
    ['x\n\u200b', '# y', 'x\n\u200b\\# y'],
    ['`', '``', '`\\``'],
    ['', '``', '\\``'],
    ['<', 'h1>', '<\\h1>'],
    ['1', '. # x', '1. \\# x'],
    ['*', ' # x', '* \\# x'],
    ['> - ', '# x', '> - \\# x'],
    ['a ', '# x', 'a # x'],
    ['- a ', '---', '- a ---'],
  ])('%j and %j', (own, value, text) => {
    expect(write(['own', own], ['value', value])).toBe(text);
  });

  test('are looked at again after any end of a line', () => {
    for (const end of ['\n', '\r', '\u2028', '\u001c'])
      expect(write(['own', 'a '], ['value', 'x'], ['own', ` b${end}`], ['value', '# y'])).toBe(
        `a x b${end}\\# y`,
      );
  });

  test('never form a marker that opens a block, not even in part', () => {
    const own = fc.array(fc.constantFrom(...' >#=-*+1.`~<!/ah\u200b', '\n', '\r', '```', '# '), {
      maxLength: 4,
    });
    const value = fc.array(fc.constantFrom(...' >#=-*+1.`~<!/ah'), { minLength: 1, maxLength: 4 });
    const parts = fc.array(
      fc.oneof(
        own.map((part) => ['own', part.join('')] as const),
        value.map((part) => ['value', part.join('')] as const),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(parts, (given) => {
        const line = new LineSoFar();
        // Each character with where it comes from.
        const written = given.flatMap(([kind, text]) => {
          if (kind === 'own') line.text(text);
          const shown = kind === 'own' ? text : line.value(text);
          return [...shown].map((character) => ({ character, kind }));
        });
        const shown = written.filter(({ character }) => character !== '\u200b');
        let start = 0;
        for (const one of linesOf(shown.map(({ character }) => character).join(''))) {
          const block = blockOf(one);
          if (block !== undefined) {
            const marker = shown.slice(start + block.from, start + block.to);
            expect(marker.filter(({ kind }) => kind === 'value')).toEqual([]);
          }
          start += one.length + 1;
        }
      }),
      { numRuns: 10_000 },
    );
  });
});

test('one line keeps what can be seen and escapes the rest', () => {
  expect(oneLine('a\tb\u0000\u009b\ufeffé😀\ud800')).toBe('a\\tb\\u0000\\u009b\\ufeffé😀\\ud800');
  expect(oneLine('\u200b\u200f\u2060\u206f\u061c\u00ad\u3164\u{e0041}')).toBe(
    '\\u200b\\u200f\\u2060\\u206f\\u061c\\u00ad\\u3164\\u{e0041}',
  );
});

test('trimming keeps a byte-order mark and a hard space', () => {
  expect(trimBlank('\r\n\t \ufeffa\u00a0 \n')).toBe('\ufeffa\u00a0');
  expect(trimBlank(' \n')).toBe('');
});
