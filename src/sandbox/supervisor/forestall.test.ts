/** The place of a command: taken whole, given up whole, never freed by a sweep, and proof of no start only where nobody can start it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimFolder, discardFolder, neverStarts, sweepAside } from './forestall.ts';

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'writ-forestall-'));
  folder = join(root, 'c_12345678');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a place is taken once, and is free again once it was given up', () => {
  expect([claimFolder(folder), claimFolder(folder)]).toEqual([true, false]);
  discardFolder(folder);
  expect(readdirSync(root)).toEqual([]);
  expect(claimFolder(folder)).toBe(true);
});

test('a place without a record proves nothing while its launcher lives, and everything once that is gone', async () => {
  claimFolder(folder);
  expect(await neverStarts(folder, AbortSignal.abort())).toBe(false);
  // No system has a process of this id.
  writeFileSync(join(folder, 'launcher'), JSON.stringify({ pid: 4_194_304, start: 1 }));
  expect(await neverStarts(folder, AbortSignal.abort())).toBe(true);
});

test('a process that is killed while it gives up a place has given it up', async () => {
  claimFolder(folder);
  const program = `
    const fs = (await import('node:fs')).default;
    fs.rmSync = () => process.kill(process.pid, 'SIGKILL');
    (await import('node:module')).syncBuiltinESMExports();
    const { discardFolder } = await import(${JSON.stringify(pathToFileURL('dist/sandbox/supervisor/forestall.js').href)});
    discardFolder(${JSON.stringify(folder)});`;
  const writ = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
  expect(await once(writ, 'exit')).toEqual([null, 'SIGKILL']);
  expect(readdirSync(root)).toEqual([expect.stringMatching(/^\.aside-/)]);
  expect(claimFolder(folder)).toBe(true);
});

test('a sweep takes what was put aside long ago, and neither what was a moment ago nor a command', () => {
  mkdirSync(join(root, '.aside-0123'));
  claimFolder(folder);
  sweepAside(root, Date.now() - 60_000);
  expect(readdirSync(root).sort()).toEqual(['.aside-0123', 'c_12345678']);
  sweepAside(root, Date.now() + 1_000);
  expect(readdirSync(root)).toEqual(['c_12345678']);
});
