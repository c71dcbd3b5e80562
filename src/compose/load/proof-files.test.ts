/** Files beside an agent: read only from inside its folder, written whole or not at all. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith } from '../testing.cases.ts';
import { readBeside, replaceFile } from './proof-files.ts';

test('a file is replaced whole, and no draft stays', async () => {
  const folder = folderWith({ 'a.json': 'old' });
  await replaceFile(join(folder, 'a.json'), 'new', 'draft-1');
  expect(readFileSync(join(folder, 'a.json'), 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['a.json']);
});

test('where it cannot be replaced, what was there stays, and no draft does', async () => {
  const folder = folderWith({ 'taken/x': 'kept' });
  const taken = replaceFile(join(folder, 'taken'), 'new', 'draft-1');
  await expect(taken).rejects.toMatchObject({ code: 'compose.unwritable', kind: 'failed' });
  expect(readdirSync(folder)).toEqual(['taken']);
  const gone = replaceFile(join(folder, 'gone/a.json'), 'new', 'draft-1');
  await expect(gone).rejects.toMatchObject({ message: expect.stringContaining('ENOENT') });
});

test('a file is read inside the folder only; one that is not there is none', async () => {
  const folder = folderWith({ 'in/a.md': '\ufefftext', 'out.md': 'out' });
  const inside = join(folder, 'in');
  mkdirSync(join(inside, 'sub'));
  expect(await readBeside(inside, 'a.md')).toBe('text');
  expect(await readBeside(inside, './sub/../a.md')).toBe('text');
  expect(await readBeside(inside, 'b.md')).toBeUndefined();
  for (const name of ['../out.md', join(folder, 'out.md'), '.', 'sub'])
    await expect(readBeside(inside, name)).rejects.toMatchObject({ code: 'compose.unreadable' });
});
