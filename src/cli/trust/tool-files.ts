/** The files of an agent's `tools/`: read once, digested as read, and put where nobody else can change them before they run. */
import { rmSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, open, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Digest, sha256 } from '../../digest.ts';
import { systemCode } from '../../errors.ts';
import { CliError } from '../errors.ts';

export interface ToolFile {
  /** Below the agent folder, with `/`: `tools/mail.mjs`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly digest: Digest;
  readonly executable: boolean;
}

export interface PrivateCopy {
  /** Holds `tools/` as it was read. */
  readonly folder: string;
  remove(): Promise<void>;
}

const filesMax = 5_000;
const bytesMax = 64 * 1024 * 1024;

/**
 * Reads every file below `tools/`, in the order of their paths; none where there is no such folder. Links are followed as
 * long as they end inside `tools/`. Throws `cli.tools-unreadable` for anything else that is no regular file, and for more
 * than 5,000 files or 64 MiB.
 */
export async function readToolFiles(agentFolder: string): Promise<readonly ToolFile[]> {
  const root = join(agentFolder, 'tools');
  const base = await realpath(agentFolder);
  const real = await realpath(root).catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') return undefined;
    throw unreadable('tools', `cannot be read (${systemCode(cause) ?? 'no code'})`);
  });
  if (real === undefined) return [];
  if (real !== join(base, 'tools')) throw unreadable('tools', 'is a link to another place');
  const files: ToolFile[] = [];
  let bytes = 0;
  for (const path of await pathsBelow(base, 'tools')) {
    const file = await readOne(base, path);
    bytes += file.bytes.length;
    if (bytes > bytesMax) throw unreadable('tools', `holds more than ${bytesMax} bytes`);
    files.push(file);
  }
  return files;
}

async function pathsBelow(base: string, folder: string): Promise<string[]> {
  const paths: string[] = [];
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of await readdir(join(base, at), { withFileTypes: true })) {
      const path = `${at}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(path);
      else paths.push(path);
      if (paths.length > filesMax) throw unreadable('tools', `holds more than ${filesMax} files`);
    }
  }
  return paths.sort();
}

// What is swapped in between looking and opening is read, digested and run as that: nothing runs that was not digested.
async function readOne(base: string, path: string): Promise<ToolFile> {
  const full = join(base, path);
  const found = await lstat(full);
  const real = found.isSymbolicLink() ? await realpath(full).catch(() => '') : full;
  if (!real.startsWith(join(base, 'tools') + sep)) throw unreadable(path, 'is a link that leaves tools/');
  if (!(await lstat(real)).isFile()) throw unreadable(path, 'is neither a file nor a link to one');
  const handle = await open(real, 'r');
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > bytesMax) throw unreadable(path, 'is no file of a size to read');
    const bytes = await handle.readFile();
    return { path, bytes, digest: sha256(bytes), executable: (stats.mode & 0o100) !== 0 };
  } finally {
    await handle.close();
  }
}

/**
 * Writes the bytes that were read into a new folder that only this user can enter. Packages are found from there as from
 * the agent folder, and after those Writ itself and its Zod, so that a tool file needs no installation.
 */
export async function copyPrivately(files: readonly ToolFile[], agentFolder: string): Promise<PrivateCopy> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'writ-tools-')));
  // An exit that waits for nothing, such as a second Ctrl-C, still takes the copy away.
  const onExit = () => rmSync(base, { recursive: true, force: true });
  process.once('exit', onExit);
  const remove = async () => {
    process.off('exit', onExit);
    await rm(base, { recursive: true, force: true });
  };
  try {
    await linkOurs(join(base, 'node_modules'));
    let folder = base;
    for (const packages of await packagesAbove(agentFolder)) {
      folder = join(folder, 'up');
      await mkdir(folder);
      await symlink(packages, join(folder, 'node_modules'));
    }
    for (const { path, bytes, executable } of files) {
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, bytes, { mode: executable ? 0o500 : 0o400 });
    }
    return { folder, remove };
  } catch (fault) {
    await remove();
    throw fault;
  }
}

async function linkOurs(folder: string): Promise<void> {
  await mkdir(folder);
  await symlink(fileURLToPath(new URL('../../..', import.meta.url)), join(folder, 'writ'));
  await symlink(dirname(createRequire(import.meta.url).resolve('zod/package.json')), join(folder, 'zod'));
}

/** The `node_modules` folders that a file of the agent folder sees, the farthest first. */
async function packagesAbove(agentFolder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let at = await realpath(agentFolder); ; at = dirname(at)) {
    const packages = join(at, 'node_modules');
    const isFolder = await lstat(packages).then(
      (stats) => stats.isDirectory() || stats.isSymbolicLink(),
      () => false,
    );
    if (isFolder) found.unshift(packages);
    if (at === dirname(at)) return found;
  }
}

function unreadable(path: string, found: string): CliError {
  return new CliError(
    'cli.tools-unreadable',
    `${path} of the agent folder ${found}; nothing of it was run.`,
    {
      next: 'Keep only regular files in tools/, and packages in node_modules beside it.',
      details: { path },
    },
  );
}
