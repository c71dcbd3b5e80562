/** Sentences of Markdown: where they end, what is layout, and that identities and offsets are stable. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sentencesOf } from './sentences.ts';

const said = (text: string) => sentencesOf(text).map((sentence) => sentence.text);

describe('where a sentence ends', () => {
  test.each([
    ['One. Two! Three?', ['One.', 'Two!', 'Three?']],
    [
      'Use e.g. Python. See Fig. 3, Dr. Smith, cf. Adams and J. Doe.',
      ['Use e.g. Python.', 'See Fig. 3, Dr. Smith, cf. Adams and J. Doe.'],
    ],
    ['Take No. 5 of them. No. That is wrong.', ['Take No. 5 of them.', 'No.', 'That is wrong.']],
    ['Version 1.2 is out. It costs $3.50 now.', ['Version 1.2 is out.', 'It costs $3.50 now.']],
    ['**Stop.** Then go. _Now!_ Then.', ['**Stop.**', 'Then go.', '_Now!_', 'Then.']],
    ['Read first. `sql_query` runs `a. B` once.', ['Read first.', '`sql_query` runs `a. B` once.']],
    ['He said "No." Then he left.', ['He said "No."', 'Then he left.']],
    ['wait. then go', ['wait. then go']],
    ['你好。再见！', ['你好。', '再见！']],
    ['no end', ['no end']],
  ])('%j', (text, sentences) => expect(said(text)).toEqual(sentences));
});

describe('what is layout', () => {
  test.each([
    ['# A heading\n\nText.\n', ['Text.']],
    ['Title of it\n===\n\nText.\n', ['Text.']],
    ['- One.\n* Two.\n+ Three.\n12. Four.\n> Five.\n', ['One.', 'Two.', 'Three.', 'Four.', 'Five.']],
    ['One line\nwrapped over\n  three.', ['One line wrapped over three.']],
    ['- item one\n  goes on\n- item two', ['item one goes on', 'item two']],
    ['The year was\n1986. It was cold.', ['The year was 1986.', 'It was cold.']],
    ['A.\n\n---\n\n***\n\nB.', ['A.', 'B.']],
    ['\ufeffOne.\r\nTwo.\r\n', ['One.', 'Two.']],
    ['', []],
    [' \n\n', []],
  ])('%j', (text, sentences) => expect(said(text)).toEqual(sentences));

  test('a code block is one unit, a row of a table another', () => {
    const text =
      'See.\n\n```py\nx = 1. Y = "\\n"\n\n# no heading\n```\n\n| a | b |\n|---|:-:|\n|  1 |2|\n~~~\nopen\n';
    expect(sentencesOf(text).map(({ kind, text: one }) => [kind, one])).toEqual([
      ['sentence', 'See.'],
      ['code', '```py\\nx = 1. Y = "\\\\n"\\n\\n# no heading\\n```'],
      ['row', '| a | b |'],
      ['row', '| 1 | 2 |'],
      ['code', '~~~\\nopen'],
    ]);
  });

  test('three backticks on one line open no block', () => {
    expect(said('```a``` is code.\nNext. More.')).toEqual(['```a``` is code.', 'Next.', 'More.']);
  });
});

test('an identity is what is said and the how-manieth of it', () => {
  const [a, b, c] = sentencesOf('Say it.\n\n- Say\n  it.\n\nSay it!');
  expect(a?.identity.replace('#1', '#2')).toBe(b?.identity);
  expect(c?.identity).not.toBe(a?.identity);
  expect(sentencesOf('Other. Say   it.')[1]?.identity).toBe(a?.identity);
});

test('offsets and lines point into the source', () => {
  const text = 'A b.\n\n- C\n  d. E.\n';
  expect(sentencesOf(text).map(({ start, end, line }) => [text.slice(start, end), line])).toEqual([
    ['A b.', 1],
    ['C\n  d.', 3],
    ['E.', 4],
  ]);
});

const markdown = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '# H\n',
        '- a. B\n',
        '\n',
        '```\n',
        '~~~~\n',
        '| x |\n',
        '1. c\n',
        '> d\n',
        '---\n',
        '`',
        '**e.** F\r\n',
      ),
      fc.string({ unit: 'binary' }),
    ),
  )
  .map((parts) => parts.join(''));

test('for any text: offsets are in order and inside, and identities are unique', () => {
  fc.assert(
    fc.property(markdown, (text) => {
      const all = sentencesOf(text);
      let at = 0;
      for (const { start, end } of all) {
        expect(start).toBeGreaterThanOrEqual(at);
        expect(end).toBeGreaterThan(start);
        at = end;
      }
      expect(at).toBeLessThanOrEqual(text.length);
      expect(new Set(all.map((one) => one.identity)).size).toBe(all.length);
    }),
  );
});

test('two megabytes in one paragraph take seconds, not minutes', () => {
  expect(sentencesOf('a` b. C '.repeat(250_000)).length).toBeGreaterThan(1);
  expect(sentencesOf('Some sentence here is fine. '.repeat(75_000))).toHaveLength(75_000);
}, 30_000);
