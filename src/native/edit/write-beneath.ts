/** Replaces or makes one file beneath a root, whole or not at all, and nowhere else whatever is swapped meanwhile. */
import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { systemCode } from '../../errors.ts';
import { openBeneath, type PathRefusal, pathFault, placeOf, resolveBeneath } from '../tool/confine.ts';
import { failed, type ToolEnding } from '../tool/define-tool.ts';
import type { ToolErrorCode } from '../tool/errors.ts';
import { isClosed } from '../tool/project-read.ts';
import type { EditErrorCode } from './errors.ts';

export interface EditRefusal {
  readonly ok: false;
  readonly code: ToolErrorCode | EditErrorCode;
  readonly message: string;
}

/** Where a path leads: a file that is there, or a name that is free. */
export type Target =
  | { readonly ok: true; readonly inside: string; readonly before: Buffer; readonly mode: number }
  | { readonly ok: true; readonly inside: string; readonly before: null; readonly mode: number };

export const fileBytesMax = 4 * 1024 * 1024;

/**
 * What is held while a write of this path is unknown: the file that it leads to now, so that two spellings of one file wait
 * for each other. A path that no call would write stands for itself.
 */
export function fileKey(root: string, path: string): string {
  const parts = pathFault(path) === null ? path.split('/') : [];
  for (let there = parts.length; there > 0; there -= 1) {
    try {
      const real = realpathSync.native(join(root, ...parts.slice(0, there)));
      return `file ${join(relative(root, real), ...parts.slice(there))}`;
    } catch {
      // What is not there yet lies in the folder before it.
    }
  }
  return `file ${path}`;
}

/** Looks at what lies at a path, and refuses what must not be written. Changes nothing. */
export async function targetOf(root: string, path: string): Promise<EditRefusal | Target> {
  const fault = pathFault(path);
  if (fault !== null) return refuse('tool.path-refused', `The path is refused: ${fault}.`);
  if (path.endsWith('/')) return refuse('tool.path-refused', `${path} names a folder, not a file.`);
  if (isShut(path)) return shut(path);
  const opened = await openBeneath(root, path);
  if (!opened.ok) return opened.code === 'tool.not-found' ? freeName(root, path, opened) : opened;
  try {
    // A link with an innocent name may lead to one of these.
    if (isShut(opened.inside)) return shut(path);
    if (!opened.stats.isFile()) return refuse('tool.not-readable', `${path} is a folder, not a file.`);
    if (opened.stats.size > fileBytesMax)
      return refuse(
        'tool.not-readable',
        `${path} holds ${opened.stats.size} bytes; at most ${fileBytesMax} are edited.`,
      );
    // Its folder would let it be replaced; who took the right to write away meant the file.
    if ((opened.stats.mode & 0o222) === 0)
      return refuse('edit.not-writable', `${path} is read-only: nobody may write it.`);
    return {
      ok: true,
      inside: opened.inside,
      before: await opened.file.readFile(),
      mode: opened.stats.mode & 0o777,
    };
  } finally {
    await opened.file.close();
  }
}

/** Why nothing may be written at a path, whoever allows it; undefined for a path inside that is not kept closed. */
export async function pathRefusal(
  root: string,
  path: string,
): Promise<Pick<EditRefusal, 'code' | 'message'> | undefined> {
  const target = await targetOf(root, path);
  if (target.ok || target.code !== 'tool.path-refused') return undefined;
  return { code: target.code, message: target.message };
}

async function freeName(root: string, path: string, absent: PathRefusal): Promise<EditRefusal | Target> {
  // A link that leads nowhere would be replaced by the file, or decide where it comes to lie.
  const there = await lstat(resolve(root, path)).catch(() => null);
  if (there !== null) return refuse('tool.path-refused', `${path} is a link that leads to nothing.`);
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = await resolveBeneath(root, folder);
    if (found.ok) {
      const inside = join(found.inside, path.slice(folder === '.' ? 0 : folder.length + 1));
      return isShut(inside) ? shut(path) : { ok: true, inside, before: null, mode: 0o666 & ~process.umask() };
    }
    if (folder === '.' || found.code !== 'tool.not-found')
      return found.code === 'tool.not-found' ? absent : found;
  }
}

/**
 * Writes the file of a target. Missing folders are made. The bytes go into a file beside it which then takes its name, so
 * that a crash leaves the old file or the new one. Refused if the file is not as the target found it.
 */
export async function writeTarget(
  root: string,
  path: string,
  target: Target,
  bytes: Uint8Array,
): Promise<EditRefusal | { readonly ok: true }> {
  try {
    const parent = await makeFolder(root, dirname(target.inside));
    if (!parent.ok) return parent;
    try {
      // By the descriptor of the folder, which was looked at: a folder swapped for a link meanwhile leads nowhere.
      return (await replace(join(placeOf(parent), basename(target.inside)), target, bytes))
        ? { ok: true }
        : refuse('edit.changed', `${path} was changed by something else meanwhile; nothing was written.`);
    } finally {
      await parent.file.close();
    }
  } catch (thrown) {
    return refuse('edit.not-writable', `${path} could not be written (${systemCode(thrown) ?? 'unknown'}).`);
  }
}

/** False if the file is not as it was. Nothing of the new one is left behind unless it took the name. */
async function replace(at: string, { before, mode }: Target, bytes: Uint8Array): Promise<boolean> {
  const temporary = join(dirname(at), `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(bytes);
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    const now = await readFile(at).catch((thrown) =>
      systemCode(thrown) === 'ENOENT' ? null : Promise.reject(thrown),
    );
    if (before === null ? now !== null : now === null || !before.equals(now)) return false;
    await rename(temporary, at);
    return true;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function makeFolder(root: string, folder: string) {
  const parts = folder === '.' ? [] : folder.split('/');
  let parent = await openBeneath(root, '.');
  for (let depth = 1; parent.ok && depth <= parts.length; depth += 1) {
    try {
      await mkdir(join(placeOf(parent), parts[depth - 1] ?? ''), { mode: 0o777 });
    } catch (thrown) {
      if (systemCode(thrown) !== 'EEXIST') throw thrown;
    } finally {
      await parent.file.close();
    }
    parent = await openBeneath(root, parts.slice(0, depth).join('/'));
  }
  return parent;
}

// What git runs and where it sends lies in .git: to write there would be to run programs without being asked.
function isShut(path: string): boolean {
  return isClosed(path, false) || path.toLowerCase().split('/').includes('.git');
}

function shut(path: string): EditRefusal {
  return refuse(
    'tool.path-refused',
    `${path} is kept closed: it is a place for credentials, for git's own files or for the run's record. Work without it.`,
  );
}

/** The failure for a text with half a character: written as UTF-8 it would silently be another one. */
export function notText(name: string): ToolEnding {
  return failed(
    'edit.misfit',
    `${name} holds half of a character (a lone surrogate), which UTF-8 cannot hold.`,
  );
}

function refuse(code: EditRefusal['code'], message: string): EditRefusal {
  return { ok: false, code, message };
}
