/** What git says of a folder, read from its files; git itself is never run. */

import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { messageOf, systemCode } from '../../errors.ts';
import type { Fact, FactValue } from '../facts.ts';

interface GitFacts {
  readonly repository: Fact;
  readonly branch: Fact;
  /** The folder that holds `.git`; null where there is none or it could not be told. */
  readonly root: string | null;
}

const source = 'git';

/**
 * Looks for `.git` in the folder and everything above it. No repository and a detached HEAD are answers: the branch is
 * then known to be absent. Whatever could not be read makes both facts unknown, with the reason.
 */
export async function readGit(workspace: string): Promise<GitFacts> {
  try {
    for (let at = await realpath(workspace); ; at = dirname(at)) {
      const head = await headOf(join(at, '.git'));
      if (head !== undefined) return { ...repositoryFacts(head), root: at };
      if (dirname(at) === at) break;
    }
    return { repository: known(false), branch: absent('git (no repository)'), root: null };
  } catch (thrown) {
    const reason = messageOf(thrown);
    return { repository: unknown(reason), branch: unknown(reason), root: null };
  }
}

function repositoryFacts(head: string): Pick<GitFacts, 'repository' | 'branch'> {
  const repository = known(true);
  const branch = /^ref: refs\/heads\/(\S+)\s*$/.exec(head)?.[1];
  // With the reftable format HEAD is a stand-in of this name, and the branch is in a binary file.
  if (branch !== undefined && branch !== '.invalid') return { repository, branch: known(branch) };
  if (/^[0-9a-f]{40}([0-9a-f]{24})?\s*$/.test(head))
    return { repository, branch: absent('git (detached HEAD)') };
  return { repository, branch: unknown('HEAD names neither a branch nor a commit') };
}

// The text of HEAD; undefined where the path is no repository, so that the search goes on above.
async function headOf(dotGit: string): Promise<string | undefined> {
  const found = await answer(() => stat(dotGit));
  if (found === undefined) return undefined;
  if (found.isDirectory()) return readRegular(join(dotGit, 'HEAD'));
  // A worktree's or submodule's .git is a file that says where the real one is.
  const pointer = /^gitdir: (.+?)\s*$/.exec((await readRegular(dotGit)) ?? '')?.[1];
  if (pointer === undefined) throw new Error('.git is a file without a gitdir line');
  const folder = isAbsolute(pointer) ? pointer : join(dirname(dotGit), pointer);
  const head = await readRegular(join(folder, 'HEAD'));
  if (head === undefined) throw new Error('.git points to a folder without HEAD');
  return head;
}

// A FIFO in place of a file would block for ever.
async function readRegular(path: string): Promise<string | undefined> {
  const found = await answer(() => stat(path));
  return found?.isFile() ? await answer(() => readFile(path, 'utf8')) : undefined;
}

// "Nothing there" is an answer; any other failure is not.
async function answer<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (thrown) {
    const code = systemCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`git files could not be read: ${code ?? 'no code'}`, { cause: thrown });
  }
}

const known = (value: FactValue): Fact => ({ known: true, value, source });
const absent = (from: string): Fact => ({ known: true, value: null, source: from });
const unknown = (reason: string): Fact => ({ known: false, reason, source });
