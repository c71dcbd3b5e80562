/** What changed in a folder between two looks, by size and time of its files: a change is believed when it is seen. */
import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isGenerated } from './reread.ts';

export interface WorkspaceChanges {
  /** Paths from the folder, sorted; at most `filesMax` of them. */
  readonly files: readonly string[];
  /** How many there are beside those. */
  readonly more: number;
}

export interface WorkspaceWatch {
  /** What was made, changed or removed since the last look; nothing where the folder has grown too large since. */
  changes(): Promise<WorkspaceChanges>;
}

/** So many files are looked at; a folder with more is not watched, since each turn would wait for it. */
export const entriesMax = 10_000;
const filesMax = 64;

/**
 * Looks once and waits to be asked; undefined for a folder that is too large to look through after each turn. What builds
 * write (`generated`) is not looked at, and links are not followed.
 */
export async function watchWorkspace(
  root: string,
  generated: readonly string[],
  most = entriesMax,
): Promise<WorkspaceWatch | undefined> {
  let before = await look(root, generated, most);
  if (before === undefined) return undefined;
  return {
    async changes() {
      const now = await look(root, generated, most);
      const was = before;
      before = now;
      if (was === undefined || now === undefined) return { files: [], more: 0 };
      const changed = [...now].flatMap(([path, stamp]) => (was.get(path) === stamp ? [] : [path]));
      const gone = [...was.keys()].filter((path) => !now.has(path));
      const files = [...changed, ...gone].sort();
      return { files: files.slice(0, filesMax), more: Math.max(0, files.length - filesMax) };
    },
  };
}

/** Each file's path and stamp. A folder that cannot be read, or vanishes meanwhile, has none. */
async function look(
  root: string,
  generated: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, string> | undefined> {
  const stamps = new Map<string, string>();
  const waiting = [''];
  let entries = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const inside = await list(join(root, folder));
    entries += inside.length;
    if (entries > most) return undefined;
    const files: string[] = [];
    for (const entry of inside) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!isGenerated(`${path}/`, generated)) waiting.push(path);
      } else if (!isGenerated(path, generated)) files.push(path);
    }
    await Promise.all(
      files.map(async (path) => {
        const stamp = await stampOf(join(root, path));
        if (stamp !== undefined) stamps.set(path, stamp);
      }),
    );
  }
  return stamps;
}

async function list(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs, mode } = await lstat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${mode}`;
  } catch {
    return undefined;
  }
}
