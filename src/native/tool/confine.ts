/** Paths beneath one root: refused as text, resolved through links, and checked again on what was really opened. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import type { ToolErrorCode } from './errors.ts';

/** Why a path is not opened; `code` and `message` are for the model. */
export interface PathRefusal {
  readonly ok: false;
  readonly code: ToolErrorCode;
  readonly message: string;
}

export interface OpenedPath {
  readonly ok: true;
  /** The caller closes it. */
  readonly file: FileHandle;
  readonly stats: Stats;
  /** The path with every link resolved. */
  readonly real: string;
  /** `real` as seen from the root, with `/`; empty for the root itself. */
  readonly inside: string;
}

/** What is wrong with a path as text, before the disk is asked; null if nothing is. `.` alone names the root. */
export function pathFault(path: string): string | null {
  if (path === '.') return null;
  if (path === '') return 'it is empty';
  if (path.includes('\0')) return 'it holds a NUL character';
  if (path.includes('\\')) return 'it holds a backslash; separate with /';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'it is absolute; start at the workspace root';
  const segments = path.replace(/\/$/, '').split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    return "it has an empty, '.' or '..' segment";
  return null;
}

/** Resolves every link of a relative path and says where it ends beneath the root, or why it does not. */
export async function resolveBeneath(
  root: string,
  path: string,
): Promise<PathRefusal | { readonly ok: true; readonly real: string; readonly inside: string }> {
  const fault = pathFault(path);
  if (fault !== null) return refuse('tool.path-refused', `The path is refused: ${fault}.`);
  try {
    const real = await realpath(resolve(root, path));
    const inside = insideOf(root, real);
    return inside === null ? outside(path) : { ok: true, real, inside };
  } catch (thrown) {
    return openFault(path, thrown);
  }
}

/**
 * Opens a file or folder beneath `root` (itself a resolved path) for reading, never blocking and never creating.
 *
 * Two races are closed. What lies at the path may become a pipe or device after it was looked at: O_NONBLOCK makes the
 * open return, and the kind is asked again of the descriptor. A component may become a link that leads out between
 * resolving and opening: O_NOFOLLOW covers the last one, and for those before it the descriptor itself is asked where
 * it lies (`/proc/self/fd`), which no later swap can change. Without /proc the path is resolved again and must lead to
 * the same device and inode; there an attacker who swaps a folder twice in that instant is not seen.
 */
export async function openBeneath(root: string, path: string): Promise<PathRefusal | OpenedPath> {
  const found = await resolveBeneath(root, path);
  if (!found.ok) return found;
  let file: FileHandle | undefined;
  try {
    // Opening some devices acts on them: look first.
    const before = await lstat(found.real);
    if (!before.isFile() && !before.isDirectory()) return wrongKind(path);
    file = await open(found.real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    const refusal = !(stats.isFile() || stats.isDirectory())
      ? wrongKind(path)
      : (await liesBeneath(root, file, stats, found.real))
        ? null
        : outside(path);
    if (refusal === null) return { ok: true, file, stats, real: found.real, inside: found.inside };
    await file.close();
    return refusal;
  } catch (thrown) {
    await file?.close();
    return openFault(path, thrown);
  }
}

/**
 * A path to what was opened: by its descriptor where the system allows it, so that what takes its place meanwhile is not
 * met instead.
 */
export function placeOf({ file, real }: Pick<OpenedPath, 'file' | 'real'>): string {
  return process.platform === 'linux' ? `/proc/self/fd/${file.fd}` : real;
}

async function liesBeneath(root: string, file: FileHandle, stats: Stats, real: string): Promise<boolean> {
  const opened = await readlink(`/proc/self/fd/${file.fd}`).catch(() => null);
  if (opened !== null) return opened === real;
  const again = await realpath(real);
  const now = await stat(again);
  return insideOf(root, again) !== null && now.dev === stats.dev && now.ino === stats.ino;
}

/** A resolved path as seen from the root, with `/`; empty for the root, null for what lies outside. */
export function insideOf(root: string, real: string): string | null {
  if (real === root) return '';
  const prefix = root.endsWith(sep) ? root : root + sep;
  return real.startsWith(prefix) ? relative(root, real).split(sep).join('/') : null;
}

function refuse(code: ToolErrorCode, message: string): PathRefusal {
  return { ok: false, code, message };
}

function outside(path: string): PathRefusal {
  return refuse(
    'tool.path-refused',
    `${path} leads out of the workspace. Read only what lies beneath its root.`,
  );
}

function wrongKind(path: string): PathRefusal {
  return refuse('tool.not-readable', `${path} is neither a file nor a folder but a pipe, socket or device.`);
}

function openFault(path: string, thrown: unknown): PathRefusal {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown';
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return refuse('tool.not-found', `There is no ${path}. Read "." or a folder to see the names.`);
  if (code === 'ELOOP')
    return refuse('tool.path-refused', `${path} is a link that changes or leads in circles.`);
  // The system's message holds the absolute path, which is no business of the model.
  return refuse('tool.not-readable', `${path} cannot be opened (${code}).`);
}
