/** Import: any prompt comes out of its fragments byte for byte. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proveIdentical } from '../load/import-proof.ts';
import { folderWith } from '../testing.cases.ts';
import { importedAgent, partsMax, splitPrompt } from './import-prompt.ts';

const sha = (text: string) => createHash('sha256').update(text).digest('hex');

async function roundTrip(text: string, by: 'headings' | 'marks' = 'headings'): Promise<number> {
  const parts = splitPrompt(text, by);
  expect(parts.map((part) => part.text).join('')).toBe(text);
  const folder = folderWith(Object.fromEntries(importedAgent('imported', parts)));
  await proveIdentical(folder, sha(text));
  rmSync(folder, { recursive: true });
  return parts.length;
}

describe('prompts that could trip a reader', () => {
  test.each([
    ['nothing', '', 0],
    ['one newline', '\n', 1],
    ['no final newline', 'You help.\n\n# One\ntext', 2],
    ['CRLF', '# A\r\n\r\nb\r\n# C\r\nd\r\n', 2],
    ['a byte-order mark', '\ufeff# A\nb\n', 1],
    ['a byte-order mark in the middle', '# A\n\ufeffb\n', 1],
    ['front matter', '---\ntitle: x\nwhen: false\n---\n# A\n', 2],
    ['an open thematic break', '---\n\ntext\n', 1],
    ['a break behind blanks', '  \n\n--- \n\u200b---\ntext', 1],
    ['four hyphens', '----\na: b\n----\n', 1],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a workflow's own braces.
    ['Jinja and workflow braces', '# A\n{% if x %}{{ y | e }}{% endif %} ${{ secrets.KEY }} {{', 1],
    ['HTML', '<!-- c -->\n<div>\n# A\n</div>\n&amp;', 2],
    ['a heading inside code', '```\n# no\n```\n# Yes\n', 2],
    ['the same heading twice', '# A\n# A\n# ÀÉ\n# 日本\n', 4],
    ['only a carriage return', 'a\rb', 1],
    ['YAML names', '# 1.10\n# no\n# ~\n# "x": y\n', 4],
  ])('%s', async (_name, text, parts) => {
    expect(await roundTrip(text)).toBe(parts);
  });
});

test('two megabytes with many headings make few fragments', async () => {
  const many = '# A title\n\nSome words about it that go on for a while.\n\n'.repeat(38_000);
  expect(await roundTrip(many)).toBe(1);
  const levels = `# One\n${'## Two\n\ntext\n'.repeat(partsMax - 2)}${'### Three\n\ntext\n'.repeat(60_000)}`;
  expect(await roundTrip(levels)).toBe(partsMax - 1);
}, 30_000);

const piece = fc.oneof(
  fc.constantFrom(
    '# A\n',
    '## B\r\n',
    '---\n',
    '\ufeff',
    '\n',
    '```\n',
    '{{ x }}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a workflow's own braces.
    '${{ y }}',
    '{% when a %}',
    '<b>',
    ' ',
    '\t',
    '\u200b',
  ),
  fc.constantFrom(
    '<!-- fragment: a -->\n',
    'when: false\n',
    'id: x\n',
    '--- \n',
    '...\n',
    '\r',
    '\u0000',
    '\u2028',
  ),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(text).toString('utf8')),
);

test('for any Markdown: the composition has the bytes of the file', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 20 }).map((parts) => parts.join('')),
      async (text) => {
        await roundTrip(text);
      },
    ),
    { numRuns: 150 },
  );
}, 60_000);

describe('marks', () => {
  test('a mark begins a part, names it and stays in the text', async () => {
    const text =
      'Intro.\n<!-- fragment: who -->\nYou.\n```\n<!-- fragment: code -->\n```\n<!--fragment: end-->\nBye.';
    expect(splitPrompt(text, 'marks').map(({ id }) => id)).toEqual(['start', 'who', 'end']);
    expect(await roundTrip(text, 'marks')).toBe(3);
  });

  test.each([
    ['no marks at all', 'Line 1 of the prompt: the prompt holds no mark.'],
    [
      'a\n<!-- fragment: x y -->',
      "Line 2 of the prompt: 'x y' is no name of letters, digits, dot, underscore and hyphen.",
    ],
    ['<!-- fragment: a -->\n<!-- fragment: A -->', "Line 2 of the prompt: the name 'A' is taken."],
    ['<!-- fragment: start -->', "Line 1 of the prompt: the name 'start' is taken."],
  ])('%j is refused', (text, message) => {
    expect(() => splitPrompt(text, 'marks')).toThrow(
      expect.objectContaining({ code: 'proof.bad-mark', message }),
    );
  });
});

test('an import that does not compose to the prompt is found out', async () => {
  const folder = folderWith(Object.fromEntries(importedAgent('a', splitPrompt('# A\ntext\n', 'headings'))));
  const file = join(folder, 'instructions/01-a.md');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${readFileSync(file, 'utf8')} `);
  await expect(proveIdentical(folder, sha('# A\ntext\n'))).rejects.toMatchObject({
    code: 'proof.not-identical',
  });
});
