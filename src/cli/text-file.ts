/** Reads texts that the command line names, and refuses bytes that are none. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemCode } from '../errors.ts';
import type { Context } from './context.ts';
import { CliError } from './errors.ts';
import { givenPath } from './program.ts';

/** The text of a file exactly as it is, a byte order mark and the last line break included. */
export async function readTextFile(context: Context, option: string, file: string): Promise<string> {
  return decode(option, file, await readBytes(context, option, file));
}

/** All of standard input as text. */
export async function readStdin(context: Context, option: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of context.stdin)
    chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return decode(option, 'standard input', Buffer.concat(chunks));
}

function decode(option: string, file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CliError('cli.unreadable', `${option} expected UTF-8 text, found other bytes in ${file}.`, {
      next: 'Save the text as UTF-8.',
      details: { option, file },
      cause,
    });
  }
}

async function readBytes(context: Context, option: string, file: string): Promise<Uint8Array> {
  givenPath(option)(file);
  try {
    return await readFile(resolve(context.cwd, file));
  } catch (cause) {
    const code = systemCode(cause);
    const found =
      code === 'ENOENT' ? 'nothing there' : code === 'EISDIR' ? 'a folder' : `a fault (${String(code)})`;
    throw new CliError('cli.unreadable', `${option} expected a readable file at ${file}, found ${found}.`, {
      next: 'Check the path.',
      details: { option, file },
      cause,
    });
  }
}
