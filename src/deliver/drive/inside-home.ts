/** Paths inside a home. Its program can write there, and may have put a link where a folder was. */
import { lstat, mkdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { systemCode } from '../../errors.ts';

/** The full path of a file of a home; null where it does not stand below real folders, so that nothing there is ours. */
export async function insideHome(home: string, path: string): Promise<string | null> {
  if (!staysInside(path)) return null;
  for (const folder of foldersAbove(home, path)) if (!(await isFolder(folder))) return null;
  return join(home, path);
}

/** The full path of a file of a home, below private folders that are made where there are none. Throws where one is a link. */
export async function makeInsideHome(home: string, path: string): Promise<string> {
  if (!staysInside(path)) throw new Error(`${path} leads out of the home`);
  for (const folder of foldersAbove(home, path)) {
    await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error;
    });
    if (!(await isFolder(folder)))
      throw new Error(`${folder} was expected to be a folder, found a link or a file`);
  }
  return join(home, path);
}

/** Whether a path is a plain relative one, written with slashes, that cannot lead out of a home by its words. */
function staysInside(path: string): boolean {
  return (
    !isAbsolute(path) &&
    !path.includes('\\') &&
    path.split('/').every((part) => !['', '.', '..'].includes(part))
  );
}

/** The home itself and each folder down to the file. */
function foldersAbove(home: string, path: string): readonly string[] {
  const names = path.split('/').slice(0, -1);
  return [home, ...names.map((_, i) => join(home, ...names.slice(0, i + 1)))];
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
