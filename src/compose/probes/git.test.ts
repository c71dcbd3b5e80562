import { execFileSync } from 'node:child_process';
import { realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderWith } from '../testing.cases.ts';
import { readGit } from './git.ts';

const known = (value: unknown) => ({ known: true, value, source: 'git' });
const absent = (source: string) => ({ known: true, value: null, source });
const unknown = (part: string) => ({ known: false, reason: expect.stringContaining(part), source: 'git' });

describe('git facts', () => {
  test('of a repository, from a folder below it', async () => {
    const folder = folderWith({ '.git/HEAD': 'ref: refs/heads/feature/x\n', 'a/b/c': '' });
    expect(await readGit(join(folder, 'a/b'))).toEqual({
      repository: known(true),
      branch: known('feature/x'),
      root: realpathSync(folder),
    });
  });

  test('of a real repository and its worktree are what git says', async () => {
    const folder = folderWith({ 'main/x': '' });
    const git = (...args: string[]) =>
      execFileSync(
        'git',
        ['-C', join(folder, 'main'), '-c', 'user.name=n', '-c', 'user.email=e@x', ...args],
        {
          env: { PATH: process.env.PATH, HOME: folder },
          stdio: 'pipe',
        },
      );
    git('init', '-b', 'trunk');
    git('commit', '--allow-empty', '-m', 'first');
    git('worktree', 'add', '-b', 'side', join(folder, 'tree'));
    expect((await readGit(join(folder, 'main'))).branch).toEqual(known('trunk'));
    expect((await readGit(join(folder, 'tree'))).branch).toEqual(known('side'));
    git('checkout', '--detach');
    expect(await readGit(join(folder, 'main'))).toMatchObject({
      repository: known(true),
      branch: absent('git (detached HEAD)'),
    });
  });

  test('of no repository', async () => {
    const folder = folderWith({ 'a/.git/config': '', 'a/b': '' });
    expect(await readGit(join(folder, 'a'))).toEqual({
      repository: known(false),
      branch: absent('git (no repository)'),
      root: null,
    });
  });

  test('of a worktree that is named relatively', async () => {
    const folder = folderWith({ 'tree/.git': 'gitdir: ../store\n', 'store/HEAD': 'ref: refs/heads/side\n' });
    expect((await readGit(join(folder, 'tree'))).branch).toEqual(known('side'));
  });

  test.each([
    [{ '.git/HEAD': 'nonsense' }, 'HEAD names neither'],
    [{ '.git/HEAD': 'ref: refs/heads/.invalid\n' }, 'HEAD names neither'],
    [{ '.git': 'nonsense' }, 'without a gitdir line'],
    [{ '.git': 'gitdir: nowhere\n' }, 'without HEAD'],
  ] as [Record<string, string>, string][])('that cannot be told: %j', async (files, reason) => {
    expect((await readGit(folderWith(files))).branch).toEqual(unknown(reason));
  });

  test('of a folder that is not there, and of files that cannot be read', async () => {
    const missing = await readGit('/does/not/exist');
    expect(missing).toEqual({ repository: unknown('ENOENT'), branch: unknown('ENOENT'), root: null });
    const looped = folderWith({ x: '' });
    symlinkSync('.git', join(looped, '.git'));
    expect((await readGit(looped)).repository).toEqual(unknown('ELOOP'));
  });

  test('a FIFO in place of HEAD does not block', async () => {
    const folder = folderWith({ '.git/x': '' });
    execFileSync('mkfifo', [join(folder, '.git/HEAD')]);
    expect((await readGit(folder)).repository).toEqual(known(false));
  });
});
