/** The probe `project-marker`: does a project of some kind, known by a file's name, lie in, above or below the workspace? */

import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { systemCode } from '../../errors.ts';
import { ComposeError } from '../errors.ts';
import type { Fact, Probe } from '../facts.ts';
import { readGit } from './git.ts';

/** The three questions asked of the disk; tests put failures in their place. */
export interface Disk {
  realpath(path: string): Promise<string>;
  stat(path: string): Promise<{
    readonly dev: bigint;
    readonly ino: bigint;
    isFile(): boolean;
    isDirectory(): boolean;
  }>;
  list(path: string): Promise<readonly Pick<Dirent, 'name' | 'isFile'>[]>;
}

interface MarkerOptions {
  /** Names of the files that mark a project. */
  readonly files: readonly string[];
  /** Names of folders that are not entered; `.git` never is. */
  readonly skip: readonly string[];
}

/** Folders that are searched below one candidate before the answer becomes "could not tell". */
export const foldersMax = 2_000;

const source = 'probe project-marker';

const realDisk: Disk = {
  realpath,
  stat: (path) => stat(path, { bigint: true }),
  list: (path) => readdir(path, { withFileTypes: true }),
};

export const projectMarker: Probe = {
  name: 'project-marker',
  async run(options, { workspace, signal }) {
    const checked = checkOptions(options);
    if (workspace === null) return unknown('no workspace was given');
    const { root } = await readGit(workspace);
    return findMarker(root === null ? [workspace] : [workspace, root], checked, realDisk, signal);
  },
};

function checkOptions(options: Readonly<Record<string, unknown>>): MarkerOptions {
  const { files, skip = [], ...rest } = options;
  const isName = (name: unknown) =>
    typeof name === 'string' && /^[^/\\\0]+$/.test(name) && !/^\.\.?$/.test(name);
  const areNames = (list: unknown): list is string[] => Array.isArray(list) && list.every(isName);
  if (!areNames(files) || files.length === 0 || !areNames(skip) || Object.keys(rest).length > 0) {
    throw new ComposeError(
      'compose.probe-options',
      `project-marker takes 'files', a list of file names, and 'skip', a list of folder names; found ${JSON.stringify(options)}.`,
      { next: 'Write options: { files: [name], skip: [name] }.', details: { options } },
    );
  }
  return { files, skip };
}

/**
 * Searches each candidate: itself and all folders above it, then everything below. A marker anywhere is true; one
 * candidate searched completely without any is false; else unknown with the first reason. "Nothing there" is an answer,
 * any other failure leaves its candidate incomplete. The filesystem's root is never searched downwards.
 */
export async function findMarker(
  candidates: readonly [string, ...string[]],
  options: MarkerOptions,
  disk: Disk,
  signal?: AbortSignal,
): Promise<Fact> {
  let doubt = '';
  const seen = new Set<string>();
  let complete = false;
  for (const candidate of candidates) {
    const found = await new Search(options, disk, signal).candidate(candidate, seen);
    if (found === true) return { known: true, value: true, source };
    if (found === undefined) continue;
    if (found === 'complete') complete = true;
    else doubt ||= found.reason;
  }
  if (complete) return { known: true, value: false, source };
  return unknown(doubt);
}

type Outcome = true | 'complete' | { readonly reason: string };

class Search {
  readonly #options: MarkerOptions;
  readonly #skip: ReadonlySet<string>;
  readonly #disk: Disk;
  readonly #signal: AbortSignal | undefined;
  #doubt: string | undefined;

  constructor(options: MarkerOptions, disk: Disk, signal: AbortSignal | undefined) {
    this.#options = options;
    this.#skip = new Set([...options.skip, '.git']);
    this.#disk = disk;
    this.#signal = signal;
  }

  /** Undefined for a candidate that was already searched under another path. */
  async candidate(path: string, seen: Set<string>): Promise<Outcome | undefined> {
    let real: string;
    try {
      real = await this.#disk.realpath(path);
    } catch (thrown) {
      return { reason: `${path} cannot be resolved: ${systemCode(thrown) ?? 'an error without a code'}` };
    }
    if (seen.has(real)) return undefined;
    seen.add(real);
    if (await this.#above(real)) return true;
    if (dirname(real) === real) return { reason: 'the root of the filesystem is not searched downwards' };
    if (await this.#below(real)) return true;
    return this.#doubt === undefined ? 'complete' : { reason: this.#doubt };
  }

  async #above(from: string): Promise<boolean> {
    for (let at = from; ; at = dirname(at)) {
      if (await this.#marked(at)) return true;
      if (dirname(at) === at) return false;
    }
  }

  // Breadth first in the order of names. Links are followed, so folders are told apart by device and inode; that also
  // ends a cycle. Bounded by the number of folders and not by depth, which any real tree goes beyond.
  async #below(from: string): Promise<boolean> {
    const start = await this.#folder(from);
    if (start === undefined) {
      this.#doubt ??= `${from} is not a folder`;
      return false;
    }
    const queue = [from];
    // A link to the root would drag the whole machine in: it is left out, and that leaves a doubt.
    const root = await this.#folder(parse(from).root);
    const visited = new Set([start]);
    for (let entered = 0; entered < queue.length; entered += 1) {
      this.#signal?.throwIfAborted();
      if (entered === foldersMax) {
        this.#doubt ??= `more than ${foldersMax} folders lie below ${from}`;
        return false;
      }
      const at = queue[entered] ?? from;
      // The start was asked on the way up.
      if (entered > 0 && (await this.#marked(at))) return true;
      for (const name of await this.#inside(at)) {
        const path = join(at, name);
        const identity = await this.#folder(path);
        if (identity === undefined || visited.has(identity)) continue;
        if (identity === root) {
          this.#doubt ??= `${path} leads to the root of the filesystem, which is not searched`;
          continue;
        }
        visited.add(identity);
        queue.push(path);
      }
    }
    return false;
  }

  /** The names of what may be a folder or a link to one. */
  async #inside(path: string): Promise<string[]> {
    const entries = await this.#ask(path, () => this.#disk.list(path));
    return (entries ?? [])
      .filter((entry) => !entry.isFile() && !this.#skip.has(entry.name))
      .map((entry) => entry.name)
      .sort();
  }

  async #marked(folder: string): Promise<boolean> {
    for (const name of this.#options.files) {
      const path = join(folder, name);
      if ((await this.#ask(path, () => this.#disk.stat(path)))?.isFile()) return true;
    }
    return false;
  }

  /** Device and inode of a folder; undefined for everything else, a link into nothing included. */
  async #folder(path: string): Promise<string | undefined> {
    const found = await this.#ask(path, () => this.#disk.stat(path));
    if (!found?.isDirectory()) return undefined;
    return `${found.dev}:${found.ino}`;
  }

  async #ask<T>(path: string, question: () => Promise<T>): Promise<T | undefined> {
    try {
      return await question();
    } catch (thrown) {
      const code = systemCode(thrown) ?? 'an error without a code';
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.#doubt ??= `${path} could not be asked: ${code}`;
      return undefined;
    }
  }
}

function unknown(reason: string): Fact {
  return { known: false, reason, source };
}
