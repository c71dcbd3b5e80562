/** The changelog holds exactly the sentences that changed, each with a reason, or says on which line it does not. */
import { describe, expect, test } from 'vitest';
import { changelogFindings, readChangelog } from './changelog.ts';

const before = 'One. Two. Two.\n';
const after = 'One. Two. Three.\n\n```\na\\b\nc\n```\n';
const page = (...blocks: readonly string[]) => ['# Log', '', '## Since `file:old.md`', ...blocks].join('\n');
const right = ['', 'Because.', '', '```diff', '- Two.', '+ Three.', '+ ```\\na\\\\b\\nc\\n```', '```'];

function check(text: string) {
  const { sections, findings } = readChangelog(text);
  const all = [...findings, ...sections.flatMap((section) => changelogFindings(section, before, after))];
  return all.map(({ rule, line, message, more }) => [rule, line, message, ...more]);
}

test('what is listed is what changed: nothing is found', () => {
  expect(check(page(...right))).toEqual([]);
});

test('the order of the lines and the number of the blocks do not matter', () => {
  const two = [
    '',
    'A.',
    '```diff',
    '+ Three.',
    '```',
    'B.',
    '```diff',
    '+ ```\\na\\\\b\\nc\\n```',
    '- Two.',
    '```',
  ];
  expect(check(page(...two))).toEqual([]);
});

describe('what is wrong is named with its line', () => {
  test('a sentence that did not change, and one that is not listed', () => {
    expect(check(page(...right.map((line) => (line === '+ Three.' ? '+ Four.' : line))))).toEqual([
      ['changelog-not-so', 9, 'this sentence was not added since file:old.md', '+ Four.'],
      ['changelog-unlisted', 3, 'a sentence was added since file:old.md and is not listed', '+ Three.'],
    ]);
  });

  test('a sentence listed twice that changed once', () => {
    expect(check(page(...right.map((line) => (line === '- Two.' ? '- Two.\n- Two.' : line))))).toEqual([
      ['changelog-not-so', 9, 'this sentence was not removed since file:old.md', '- Two.'],
    ]);
  });

  test.each([
    ['no reason', page(...right.filter((line) => line !== 'Because.')), ['changelog-form', 6]],
    ['a second block without one', page(...right, '```diff', '```'), ['changelog-form', 12]],
    [
      'a line of another form',
      page(...right.map((line) => (line === '- Two.' ? '- Two.\n-Two.' : line))),
      ['changelog-form', 9],
    ],
    ['no heading with a baseline', '# Log\n\nBecause.\n\n```diff\n+ x\n```\n', ['changelog-form', 5]],
    ['nothing at all', '', ['changelog-form', 1]],
  ])('%s', (_name, text, place) => {
    expect(check(text).map(([rule, line]) => [rule, line])).toEqual([place]);
  });
});

test('headings name a baseline and a profile; other code is prose', () => {
  const text = '## Since rev:v1.0 (profile:qa)\n\n```sh\n- no list\n```\n\n## Notes\n\n### `file:a/b.md`\n';
  expect(readChangelog(text)).toEqual({
    sections: [
      { baseline: { kind: 'rev', name: 'v1.0' }, profile: 'qa', line: 1, listed: [] },
      { baseline: { kind: 'file', name: 'a/b.md' }, profile: 'default', line: 9, listed: [] },
    ],
    findings: [],
  });
});
