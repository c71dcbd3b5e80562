/** A new agent folder, all of it or nothing, and the key that it is made with. */
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCode, WritError } from '../../errors.ts';
import { CliError } from '../errors.ts';
import { count } from '../view/figures.ts';

const keyPattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** A key made of a folder's or a file's name. */
export function keyFrom(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[._-]+|-+$/g, '') || 'agent';
}

/** The key as it was given. Throws `cli.bad-value`. */
export function readKey(key: string): string {
  if (keyPattern.test(key)) return key;
  throw new CliError('cli.bad-value', `--key expected letters, digits, dot, _ and -, found '${key}'.`, {
    next: 'Choose a key like sales-analyst; the display name in agent.yaml may be anything.',
    details: { option: '--key' },
  });
}

/**
 * Everything is written into a draft first. A new folder is the draft under its final name; into a folder that exists
 * the parts are moved one by one, because somebody's shell may stand in it. A failure takes all of it back.
 * `prove` sees the draft before anything of it stands in its place; what it throws is a failure too.
 */
export async function makeAgent(
  folder: string,
  agent: ReadonlyMap<string, string>,
  id: string,
  prove: (draft: string) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const exists = await isFreeFolder(folder);
  // The record stays out of version control from its first day.
  const files = new Map([...agent, ['.writ/.gitignore', '*\n']]);
  const above = dirname(folder);
  // The draft bears the id alone: with the folder's name it could be longer than a name may be.
  const draft = join(exists ? folder : above, `.${id}`);
  const moved: string[] = [];
  let firstMade: string | undefined;
  try {
    firstMade = await mkdir(above, { recursive: true });
    await mkdir(draft);
    for (const [path, text] of files) {
      await mkdir(dirname(join(draft, path)), { recursive: true });
      await writeFile(join(draft, path), text, { flag: 'wx' });
    }
    await prove(draft);
    if (!exists) await rename(draft, folder);
    else {
      for (const name of await readdir(draft)) {
        await rename(join(draft, name), join(folder, name));
        moved.push(join(folder, name));
      }
      await rmdir(draft);
    }
  } catch (cause) {
    for (const path of [draft, ...moved]) await rm(path, { recursive: true, force: true }).catch(() => {});
    if (firstMade !== undefined) await removeEmpty(above, firstMade);
    throw cause instanceof WritError ? cause : unwritable(folder, cause);
  }
  return [...files.keys()];
}

// From the inside out, and only as far as the folders are empty: others may have begun to use them.
async function removeEmpty(from: string, to: string): Promise<void> {
  for (let at = from; at.length >= to.length; at = dirname(at)) {
    const gone = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!gone) return;
  }
}

/** True for an empty folder, false where nothing is there; anything else is refused. */
async function isFreeFolder(folder: string): Promise<boolean> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (cause) {
    const code = systemCode(cause) ?? 'unknown';
    if (code === 'ENOENT') return false;
    if (code !== 'ENOTDIR') throw unwritable(folder, cause);
    throw notFree(folder, 'a file');
  }
  if (names.length > 0) throw notFree(folder, `${count(names.length, 'thing')} in it`);
  return true;
}

function notFree(folder: string, found: string): CliError {
  return new CliError(
    'cli.folder-not-empty',
    `Expected a new or empty folder at ${folder}, found ${found}; nothing was changed.`,
    { next: 'Name another folder.', details: { folder } },
  );
}

function unwritable(folder: string, cause: unknown): CliError {
  return new CliError(
    'cli.unwritable',
    `Expected to make ${folder}, found a fault (${systemCode(cause) ?? 'unknown'}); nothing was left behind.`,
    { next: 'Name a folder that you may write to.', details: { folder }, cause },
  );
}
