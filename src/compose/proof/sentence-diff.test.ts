/** Sentence differences: exact as an ordered difference and as a multiset, and plain about mere layout. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countsLine, diffLines, sentenceDiff } from './sentence-diff.ts';

const changes = (before: string, after: string) => {
  const { removed, added, moved, kept } = sentenceDiff(before, after);
  const texts = (list: typeof removed) => list.map((one) => one.text);
  return { removed: texts(removed), added: texts(added), moved: texts(moved), kept };
};

test('what went, came, moved and stayed', () => {
  expect(changes('A one. B two. C three. D four.', 'C three. A one. E five. D four.')).toEqual({
    removed: ['B two.'],
    added: ['E five.'],
    moved: ['C three.'],
    kept: 2,
  });
});

test('a sentence that stands twice counts twice', () => {
  expect(changes('Same. Same. End.', 'Same. End.')).toEqual({
    removed: ['Same.'],
    added: [],
    moved: [],
    kept: 2,
  });
  expect(changes('Same.', 'Same. Same. Same.').added).toEqual(['Same.', 'Same.']);
});

test('the view puts what went before what came in its place, with line numbers', () => {
  expect(
    diffLines(sentenceDiff('One. Old two. Three.\n\nFour.', 'One. New two. Three.\n\nFive.\n\nOne.')),
  ).toEqual([
    '@@ line 1 before @@',
    '- Old two.',
    '@@ line 1 now @@',
    '+ New two.',
    '@@ line 3 before @@',
    '- Four.',
    '@@ line 3 now @@',
    '+ Five.',
    '@@ line 5 now @@',
    '+ One.',
    '',
    '2 removed, 3 added, 0 moved, 2 kept',
  ]);
  expect(diffLines(sentenceDiff('A.\n\nB.', 'B.\n\nA.'))).toEqual([
    '@@ line 3 moved to line 1 @@',
    '~ B.',
    '',
    '0 removed, 0 added, 1 moved, 1 kept',
  ]);
});

describe('where no sentence differs it says in what the texts do', () => {
  test.each([
    ['A.\nB.', 'A.\nB.', null],
    ['A.\nB.\n', 'A.\r\nB.\r\n', 'line endings'],
    ['```\na\nb\n```\n', '```\r\na\r\nb\r\n```\r\n', 'line endings'],
    ['A b.\n', 'A\n  b.\n\n', 'white space'],
    ['# One\n\nA.', '## Two\n\n- A.', 'layout'],
    ['A.', 'A.\n\n# Added heading', 'layout'],
    ['A.', 'B.', null],
    ['', '', null],
  ])('%j → %j', (before, after, only) => {
    const diff = sentenceDiff(before, after);
    expect({ only: diff.only, identical: diff.identical }).toEqual({ only, identical: before === after });
  });

  test('in words', () => {
    expect(diffLines(sentenceDiff('A.\n', 'A.\r\n'))).toEqual(['No sentence differs: line endings only.']);
    expect(diffLines(sentenceDiff('A.', 'A.'))).toEqual(['The texts are the same bytes.']);
  });

  test('other blanks inside a code block are a change, not white space', () => {
    expect(sentenceDiff('```\na\n```', '```\n  a\n```')).toMatchObject({
      only: null,
      removed: [{}],
      added: [{}],
    });
  });
});

const sentence = fc.constantFrom<string[]>('A.', 'B.', 'C.', 'D.', 'E.');
const sentences = fc.array(sentence, { maxLength: 12 });

// The textbook table, for texts in which each sentence is paired with its twin of the same count.
function longestCommon(a: readonly string[], b: readonly string[]): number {
  const row = Array.from({ length: b.length + 1 }, () => 0);
  for (const x of a) {
    let diagonal = 0;
    for (let j = 1; j <= b.length; j += 1) {
      const above = row[j] ?? 0;
      row[j] = x === b[j - 1] ? diagonal + 1 : Math.max(above, row[j - 1] ?? 0);
      diagonal = above;
    }
  }
  return row[b.length] ?? 0;
}

const numbered = (list: readonly string[]) =>
  list.map((one, i) => `${one}${list.slice(0, i).filter((other) => other === one).length}`);

test('for any two texts: the multisets add up, and no longer common order exists', () => {
  fc.assert(
    fc.property(sentences, sentences, (a, b) => {
      const diff = changes(a.join('\n\n'), b.join('\n\n'));
      const left = [...a];
      for (const gone of diff.removed) left.splice(left.indexOf(gone), 1);
      expect([...left, ...diff.added].sort()).toEqual([...b].sort());
      expect(diff.removed.some((one) => diff.added.includes(one))).toBe(false);
      expect(diff.kept).toBe(longestCommon(numbered(a), numbered(b)));
      expect(diff.kept + diff.moved.length + diff.removed.length).toBe(a.length);
    }),
  );
});

test('twenty thousand sentences in reverse take seconds', () => {
  const list = Array.from({ length: 20_000 }, (_, i) => `Sentence number ${i}.\n\n`);
  const diff = sentenceDiff(list.join(''), [...list].reverse().join(''));
  expect(countsLine(diff)).toBe('0 removed, 0 added, 19999 moved, 1 kept');
}, 20_000);
