/** The head of a journal: how many lines it has at least, kept beside it, so that lines missing at its end show. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Digest } from '../digest.ts';
import { systemCode } from '../errors.ts';
import { isRecord } from '../protocol/json.ts';

export interface JournalHead {
  /** Lines that were on the disk when it was written; there may be more by now, never fewer. */
  readonly n: number;
  /** The hash of line `n`; empty where that is 0. */
  readonly hash: Digest;
}

const fileName = 'journal.head';

/** Undefined where there is none, or none that can be read. */
export async function readHead(folder: string): Promise<JournalHead | undefined> {
  try {
    const head: unknown = JSON.parse(await readFile(join(folder, fileName), 'utf8'));
    if (!isRecord(head) || typeof head.n !== 'number' || typeof head.hash !== 'string') return undefined;
    return { n: head.n, hash: head.hash };
  } catch (cause) {
    if (cause instanceof SyntaxError || systemCode(cause) !== undefined) return undefined;
    throw cause;
  }
}

/** Replaces the head as a whole, so that a kill leaves the old one or the new one. */
export async function writeHead(folder: string, { n, hash }: JournalHead): Promise<void> {
  const path = join(folder, fileName);
  const draft = `${path}.new`;
  await writeFile(draft, `${JSON.stringify({ n, hash })}\n`, { flush: true });
  await rename(draft, path);
}
