/** An agent as it stood at a git revision: read from git's objects, with nothing of the repository executed. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemCode } from '../../errors.ts';
import type { Agent } from '../agent.ts';
import { ComposeError } from '../errors.ts';
import type { Environment } from '../facts.ts';
import { ProofError } from '../proof/errors.ts';
import { loadAgent, type Vocabulary } from './agent.ts';

export interface AtRevision {
  readonly agent: Agent;
  /** The commit's whole id. */
  readonly commit: string;
}

/**
 * Loads the agent that a folder held at a revision. Neither the work tree nor the index is read or written. Throws
 * `proof.no-git`, `proof.no-revision`, or `proof.bad-revision` where the agent of that revision does not load.
 */
export async function loadRevision(
  folder: string,
  revision: string,
  vocabulary: Vocabulary,
  env: Environment,
): Promise<AtRevision> {
  const git = gitIn(folder, env);
  const prefix = (await git(['rev-parse', '--show-prefix'])).toString('utf8').replace(/\n$/, '');
  const commit = await commitOf(git, revision, folder);
  const files = await filesOf(git, commit, prefix, revision);
  const draft = await mkdtemp(join(tmpdir(), 'writ-revision-'));
  try {
    for (const [path, bytes] of files) {
      await mkdir(dirname(join(draft, path)), { recursive: true });
      await writeFile(join(draft, path), bytes);
    }
    const agent = await loadAgent(draft, vocabulary);
    return { agent: { ...agent, folder }, commit };
  } catch (cause) {
    if (!(cause instanceof ComposeError)) throw cause;
    const message = cause.message.replaceAll(`${draft}/`, `${revision}:`).replaceAll(draft, revision);
    throw new ProofError('proof.bad-revision', `The agent at ${revision} cannot be read: ${message}`, {
      next: 'Name a revision in which the agent is whole.',
      details: { revision, commit },
      cause,
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The commit that last changed a file of the folder, or undefined. Throws `proof.no-git`. */
export async function lastChange(
  folder: string,
  file: string,
  env: Environment,
): Promise<string | undefined> {
  const git = gitIn(folder, env);
  const found = await git(['rev-list', '-1', 'HEAD', '--', file]).catch((thrown) => {
    // A repository without a commit has no head.
    if (thrown instanceof ProofError) return Buffer.alloc(0);
    throw thrown;
  });
  return found.toString('utf8').trim() || undefined;
}

type Git = (args: readonly string[], input?: string) => Promise<Buffer>;

// Only commands that read objects are used: no filter, text conversion or signature program takes part in them. What a
// repository's settings could name besides is taken away here; objects that are missing from a partial clone would be
// fetched by a helper, so no protocol is allowed below.
const quiet = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

function gitIn(folder: string, env: Environment): Git {
  const allowed = Object.fromEntries(
    ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'TMPDIR', 'SystemRoot'].flatMap((name) =>
      env[name] === undefined ? [] : [[name, env[name]]],
    ),
  );
  const fixed = {
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    // Each alone keeps a missing object from being fetched; older versions of git know the second only.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_REPLACE_OBJECTS: '1',
  };
  return (args, input) =>
    new Promise((done, fail) => {
      const child = execFile(
        'git',
        ['--no-pager', '--literal-pathspecs', ...quiet, ...args],
        {
          cwd: folder,
          env: { ...allowed, ...fixed },
          encoding: 'buffer',
          maxBuffer: 256 * 2 ** 20,
          timeout: 60_000,
        },
        (fault, stdout, stderr) => {
          if (fault === null) done(stdout);
          else fail(gitFault(folder, fault, stderr.toString('utf8')));
        },
      );
      child.stdin?.on('error', () => {});
      child.stdin?.end(input ?? '');
    });
}

function gitFault(folder: string, fault: Error, stderr: string): ProofError {
  const missing = systemCode(fault) === 'ENOENT';
  const said = stderr.trim().split('\n')[0] || fault.message.split('\n')[0];
  return new ProofError(
    'proof.no-git',
    missing
      ? 'The program git was expected on the PATH and is not there.'
      : `Git was expected to read the repository of ${folder}, and said: ${said}`,
    {
      next: missing
        ? 'Install git, or compare with file:FILE.'
        : 'Give an agent folder inside a git repository.',
      details: { folder },
    },
  );
}

async function commitOf(git: Git, revision: string, folder: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`];
  try {
    return (await git(args)).toString('utf8').trim();
  } catch (cause) {
    throw new ProofError('proof.no-revision', `The repository of ${folder} has no revision '${revision}'.`, {
      next: 'Name a commit, tag or branch that git log knows here.',
      details: { revision },
      cause,
    });
  }
}

/** The regular files of the agent folder in a commit, as loading needs them; links and submodules are left out. */
async function filesOf(
  git: Git,
  commit: string,
  prefix: string,
  revision: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const tree = `${commit}:${prefix.replace(/\/$/, '')}`;
  const listed = await git(['ls-tree', '-r', '-z', '--full-tree', tree]).catch((cause) => {
    throw new ProofError('proof.no-revision', `The revision '${revision}' has no folder ${prefix || '.'}.`, {
      next: 'Name a revision in which the agent exists.',
      details: { revision, commit },
      cause,
    });
  });
  const entries = listed
    .toString('utf8')
    .split('\0')
    .flatMap((entry) => {
      const found = /^100\d{3} blob ([0-9a-f]+)\t(.+)$/s.exec(entry);
      const path = found?.[2] ?? '';
      const wanted =
        /^(agent\.ya?ml|instructions\/[^/]+\.md|tools\/[^/]+\.mjs|skills\/[^/]+\/SKILL\.md)$/.test(path);
      return found?.[1] !== undefined && wanted ? [{ id: found[1], path }] : [];
    });
  const blobs = await git(['cat-file', '--batch'], entries.map(({ id }) => `${id}\n`).join(''));
  return new Map(readBatch(blobs).map((bytes, i) => [entries[i]?.path ?? '', bytes]));
}

// Each answer is `ID TYPE SIZE`, a newline, so many bytes, a newline.
function readBatch(batch: Buffer): Uint8Array[] {
  const blobs: Uint8Array[] = [];
  for (let at = 0; at < batch.length; ) {
    const line = batch.indexOf(10, at);
    const size = Number(batch.toString('latin1', at, line).split(' ')[2]);
    if (line < 0 || !Number.isSafeInteger(size)) break;
    blobs.push(batch.subarray(line + 1, line + 1 + size));
    at = line + 1 + size + 1;
  }
  return blobs;
}
