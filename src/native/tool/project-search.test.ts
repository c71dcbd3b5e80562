/** `project_search` over a real folder: what it finds, in which order, and what it leaves closed. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { refusedReader } from '../context/reader.ts';
import { readArguments } from './arguments.ts';
import { projectSearch } from './project-search.ts';

let outer: string;
let root: string;

beforeAll(() => {
  outer = realpathSync(mkdtempSync(join(tmpdir(), 'writ-search-')));
  root = join(outer, 'work');
  for (const folder of ['src/deep', '.git', '.writ', 'node_modules/x', '.ssh', 'many'])
    mkdirSync(join(root, folder), { recursive: true });
  const hit = 'before\nthe needle is here\n';
  for (const path of [
    'b.txt',
    'a.md',
    'src/z.ts',
    'src/deep/ü.ts',
    '.git/HEAD',
    '.writ/notes',
    'node_modules/x/i.js',
    '.env',
    '.ssh/config',
  ])
    writeFileSync(join(root, path), hit);
  writeFileSync(join(root, 'latin1.txt'), Buffer.from('needle \xe9', 'latin1'));
  writeFileSync(join(root, 'binary'), Buffer.from('\0needle'));
  writeFileSync(join(root, 'long.txt'), `${'x'.repeat(300_000)} needle ${'y'.repeat(300_000)}`);
  writeFileSync(join(outer, 'secret.txt'), hit);
  symlinkSync(outer, join(root, 'up'));
  symlinkSync('.env', join(root, 'innocent'));
  for (let i = 0; i < 60; i += 1) writeFileSync(join(root, `many/${i}.txt`), 'match\n'.repeat(10));
});
afterAll(() => rmSync(outer, { recursive: true, force: true }));

async function search(args: object, options: object = {}, signal = AbortSignal.timeout(10_000)) {
  const tool = projectSearch({ workspace: root, ...options });
  const checked = readArguments(JSON.stringify(args), tool);
  if (!checked.ok) throw new Error(checked.message);
  const context = { signal, clock: systemClock, idempotencyKey: 'k', context: refusedReader };
  const output = await tool.execute(checked.value, context);
  return output.status === 'succeeded' ? output.value : output;
}

test('finds lines by path and number, in the order of names, and nothing of what is closed', async () => {
  expect(await search({ query: 'needle is' })).toEqual({
    matches: ['a.md', 'b.txt', 'src/deep/ü.ts', 'src/z.ts'].map((path) => `${path}:2:the needle is here`),
    files: 65,
    skipped: 2,
    truncated: false,
  });
});

test('an expression, a folder, one file', async () => {
  expect(await search({ query: '^the n.*e$', regex: true, path: 'src' })).toMatchObject({
    matches: ['src/deep/ü.ts:2:the needle is here', 'src/z.ts:2:the needle is here'],
    files: 2,
  });
  expect(await search({ query: 'before', path: 'a.md' })).toMatchObject({
    matches: ['a.md:1:before'],
    files: 1,
  });
  expect(await search({ query: 'nowhere to be found' })).toMatchObject({ matches: [], truncated: false });
});

test('a long line is shown around the match, and that is said', async () => {
  const found = await search({ query: 'needle', path: 'long.txt' });
  expect(found).toMatchObject({
    matches: [expect.stringMatching(/^long\.txt:1:x+ needle y+$/)],
    truncated: true,
  });
  expect(JSON.stringify(found).length).toBeLessThan(1200);
});

test('ends with the 200th match, and says that there are more', async () => {
  const found = await search({ query: 'match', path: 'many' });
  expect(found).toMatchObject({ truncated: true });
  expect(found).toHaveProperty('matches.length', 200);
  expect(await search({ query: 'match', path: 'many/1.txt' })).toMatchObject({ truncated: false });
});

test.each([
  ['../secret.txt', 'tool.path-refused'],
  ['up', 'tool.path-refused'],
  ['.env', 'tool.path-refused'],
  ['innocent', 'tool.path-refused'],
  ['.writ', 'tool.path-refused'],
  ['none', 'tool.not-found'],
])('%s is refused', async (path, code) => {
  expect(await search({ query: 'needle', path })).toMatchObject({ status: 'failed', code });
});

test('credentials are open only where the option says so; a bad expression is a failure', async () => {
  expect(await search({ query: 'needle', path: '.env' }, { secrets: true })).toMatchObject({ files: 1 });
  expect(await search({ query: '(', regex: true })).toMatchObject({ code: 'context.invalid-pattern' });
  expect(() => projectSearch({ workspace: join(root, 'none') })).toThrow(/existing folder/);
});

test('stops when the call is cancelled', async () => {
  await expect(search({ query: 'x' }, {}, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
});
