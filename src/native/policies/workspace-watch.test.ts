import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { generatedUsual } from './reread.ts';
import { watchWorkspace } from './workspace-watch.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'writ-watch-'));
});
afterEach(() => rmSync(root, { recursive: true }));
const write = (path: string, text = 'x') => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
};
const opened = async (most?: number) => {
  const watch = await watchWorkspace(root, generatedUsual, most);
  if (watch === undefined) throw new Error('not watched');
  return watch;
};

test('sees what was made, changed and removed, each once', async () => {
  write('keep');
  write('a/change');
  write('gone');
  const watch = await opened();
  write('a/change', 'xy');
  write('a/b/new');
  rmSync(join(root, 'gone'));
  expect(await watch.changes()).toEqual({ files: ['a/b/new', 'a/change', 'gone'], more: 0 });
  expect(await watch.changes()).toEqual({ files: [], more: 0 });
});

test('sees a file of the same size that was written again', async () => {
  write('a', 'one');
  utimesSync(join(root, 'a'), 1, 1);
  const watch = await opened();
  write('a', 'two');
  expect(await watch.changes()).toEqual({ files: ['a'], more: 0 });
});

test('passes over what builds write, and follows no link', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'writ-outside-'));
  symlinkSync(outside, join(root, 'link'));
  const watch = await opened();
  write('dist/x.js');
  write('node_modules/a/b.js');
  write('run.log');
  write('.writ/ledger');
  write('data.sqlite-wal');
  writeFileSync(join(outside, 'x'), 'x');
  expect(await watch.changes()).toEqual({ files: [], more: 0 });
  rmSync(outside, { recursive: true });
});

test('names so many and counts the others', async () => {
  const watch = await opened();
  for (let i = 0; i < 70; i += 1) write(`f${String(i).padStart(2, '0')}`);
  const { files, more } = await watch.changes();
  expect([files.length, files.at(-1), more]).toEqual([64, 'f63', 6]);
});

test('a folder that is not there is empty, and one that is too large is not watched', async () => {
  expect(await watchWorkspace(join(root, 'nowhere'), generatedUsual)).toBeDefined();
  const watch = await opened(3);
  for (let i = 0; i < 4; i += 1) write(`f${i}`);
  expect(await watchWorkspace(root, generatedUsual, 3)).toBeUndefined();
  expect(await watch.changes()).toEqual({ files: [], more: 0 });
});
