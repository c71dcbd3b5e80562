/** Folders that an experiment brings: their digests, and the fresh copies that trials work in. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, mkdir, readdir, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Digest, jsonDigest, sha256 } from '../digest.ts';
import { systemCode } from '../errors.ts';
import { ProveError } from './errors.ts';

/** What does not belong to an agent or a fixture: packages, versions, and what experiments leave behind. */
const passedOver = /^(node_modules|\.git|\.writ|.*\.record)$/;

/** SHA-256 of a file's bytes. Throws `prove.bad-fixture`. */
export async function fileDigest(file: string): Promise<Digest> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash);
  } catch (cause) {
    throw unusable(file, `a fault (${systemCode(cause) ?? 'no code'})`, cause);
  }
  return hash.digest('hex');
}

/**
 * One digest over all files below a folder and where they lie, so that any change shows. A link counts as where it
 * points, or is refused: through one, a trial could change what its copy was made from. Throws `prove.bad-fixture`.
 */
export async function treeDigest(folder: string, links: 'count' | 'refuse'): Promise<Digest> {
  const rows: string[] = [];
  const walk = async (path: string, below: string): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true }).catch((cause: unknown) => {
      throw unusable(path, `a fault (${systemCode(cause) ?? 'no code'})`, cause);
    });
    for (const entry of entries) {
      const [full, name] = [join(path, entry.name), `${below}${entry.name}`];
      // The experiments about an agent are none of what is measured.
      if (passedOver.test(entry.name) || (links === 'count' && name === 'experiments')) continue;
      if (entry.isDirectory()) await walk(full, `${name}/`);
      else if (entry.isFile()) rows.push(`${name} ${await fileDigest(full)}`);
      else if (entry.isSymbolicLink() && links === 'count') rows.push(`${name} -> ${await readlink(full)}`);
      else throw unusable(full, entry.isSymbolicLink() ? 'a link' : 'something else');
    }
  };
  await walk(folder, '');
  return jsonDigest(rows.sort());
}

/** Digests workspaces, each folder once: most items share one. An item without one has the digest of nothing. */
export function workspaceDigests(): (workspace: string | null) => Promise<Digest> {
  const known = new Map<string | null, Promise<Digest>>();
  return async (workspace) => {
    const digest = known.get(workspace) ?? workspaceDigest(workspace);
    known.set(workspace, digest);
    return digest;
  };
}

async function workspaceDigest(workspace: string | null): Promise<Digest> {
  return workspace === null ? sha256('') : treeDigest(workspace, 'refuse');
}

/** A fresh copy of a workspace for one trial, in place of what an earlier attempt left there. */
export async function freshWorkspace(source: string | null, target: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  if (source === null) return;
  await cp(source, target, { recursive: true, filter: (path) => path === source || !isPassedOver(path) });
}

function isPassedOver(path: string): boolean {
  return passedOver.test(path.slice(path.lastIndexOf('/') + 1));
}

function unusable(path: string, found: string, cause?: unknown): ProveError {
  return new ProveError('prove.bad-fixture', `Expected a plain file or folder at ${path}, found ${found}.`, {
    next: 'Put plain files there.',
    details: { path },
    ...(cause === undefined ? {} : { cause }),
  });
}
