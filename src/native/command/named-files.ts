/** Which files of the workspace a shell command names, and what they hold: an approval of the command counts for these only. */
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BoundFile } from '../../protocol/ticket.ts';
import { insideOf, openBeneath } from '../tool/confine.ts';

/** Of a longer command the rest is not looked at, and of a larger file only its size and time of change. */
const wordsMax = 1_000;
const foldersMax = 16;
const bytesMax = 64 * 1024 * 1024;

/**
 * The regular files beneath `root` (itself a resolved path) that words of the command name, seen from `cwd` or from a folder
 * that the command names, by path. What the shell would first have to work out (a variable, a pattern) names nothing here.
 */
export async function namedFiles(root: string, command: string, cwd = ''): Promise<readonly BoundFile[]> {
  const names = [...new Set(wordsOf(command).flatMap(namesIn))].slice(0, wordsMax);
  const start = resolve(root, cwd);
  const folders = new Set([start]);
  for (const name of names) {
    const folder = resolve(start, name);
    if (folders.size < foldersMax && (await isFolder(folder))) folders.add(folder);
  }
  const found = new Map<string, BoundFile>();
  for (const folder of folders) {
    for (const name of names) {
      const file = await boundFile(root, resolve(folder, name));
      if (file !== undefined) found.set(file.path, file);
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The words of a shell command, and those of a command in quotes, as in `sh -c 'sh build.sh'`. */
function wordsOf(command: string, depth = 0): readonly string[] {
  const words: string[] = [];
  for (const [raw] of command.matchAll(/(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s;&|<>()`'"\\])+/g)) {
    const word = raw.replace(/'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])/g, (_, plain, quoted, one) => {
      return plain ?? one ?? quoted.replace(/\\([$`"\\])/g, '$1');
    });
    words.push(word);
    if (/[\s;&|<>()`]/.test(word) && depth < 3) words.push(...wordsOf(word, depth + 1));
  }
  return words;
}

/** A word, and the name in it where it is an option or an assignment: `--file=a.mk`, `-fa.mk`, `@body.json`. */
function namesIn(word: string): readonly string[] {
  const names = [word, word.slice(word.indexOf('=') + 1), word.replace(/^(?:-[A-Za-z]|@)/, '')];
  return names.filter((name) => name !== '' && !name.includes('\0'));
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

async function boundFile(root: string, path: string): Promise<BoundFile | undefined> {
  const real = await realpath(path).catch(() => undefined);
  const inside = real === undefined ? null : insideOf(root, real);
  if (inside === null || inside === '') return undefined;
  const opened = await openBeneath(root, inside);
  if (!opened.ok) return undefined;
  const { file, stats } = opened;
  try {
    if (!stats.isFile()) return undefined;
    const hash = createHash('sha256');
    if (stats.size > bytesMax) hash.update(`${stats.size} bytes, changed at ${stats.mtimeMs}`);
    else for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk);
    return { path: inside, digest: hash.digest('hex') };
  } catch {
    // It went away or cannot be read; what takes its place is another.
    return undefined;
  } finally {
    await file.close();
  }
}
