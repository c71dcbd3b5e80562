/** Text files of the agent: read strictly as UTF-8, with offsets turned into lines and columns. */

import { readFile, stat } from 'node:fs/promises';
import { systemCode } from '../../errors.ts';
import { ComposeError, type ComposeErrorCode, TextFault } from '../errors.ts';

/** A file's text without a byte-order mark at its start, and the errors that point into it. */
export class SourceText {
  readonly file: string;
  readonly text: string;

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text.startsWith('\ufeff') ? text.slice(1) : text;
  }

  /** Line and column from 1; columns count characters. */
  position(offset: number): { line: number; column: number } {
    const before = this.text.slice(0, offset);
    const lineStart = before.lastIndexOf('\n') + 1;
    return { line: before.split('\n').length, column: [...before.slice(lineStart)].length + 1 };
  }

  error(code: ComposeErrorCode, offset: number, message: string, next: string): ComposeError {
    const { line, column } = this.position(offset);
    return new ComposeError(code, `${this.file}:${line}:${column}: ${message}.`, {
      next,
      details: { file: this.file, line, column },
    });
  }

  /** Runs work on a part of the text; its fault becomes a located error. `offsetOf` maps the part's offsets here. */
  within<T>(code: ComposeErrorCode, offsetOf: (offset: number) => number, work: () => T): T {
    try {
      return work();
    } catch (thrown) {
      if (!(thrown instanceof TextFault)) throw thrown;
      throw this.error(code, offsetOf(thrown.offset), thrown.message, thrown.next);
    }
  }
}

/** Reads a regular file. Throws `compose.unreadable` for everything that is not UTF-8 text, a missing file included. */
export async function readSource(file: string): Promise<SourceText> {
  const bytes = await readBytes(file);
  try {
    // ignoreBOM keeps the mark, so that offsets are ours to count.
    return new SourceText(file, new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    throw new ComposeError('compose.unreadable', `${file} should be UTF-8 text and is not.`, {
      next: 'Save the file as UTF-8.',
      details: { file },
      cause,
    });
  }
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    // A FIFO or a device would block or never end, so nothing but a regular file is opened.
    if ((await stat(file)).isFile()) return await readFile(file);
  } catch (cause) {
    const missing = systemCode(cause) === 'ENOENT';
    throw new ComposeError(
      'compose.unreadable',
      missing
        ? `${file} was expected and is not there.`
        : `${file} cannot be read: ${systemCode(cause) ?? 'no code'}.`,
      { next: missing ? 'Create the file.' : 'Make the file readable.', details: { file }, cause },
    );
  }
  throw new ComposeError('compose.unreadable', `${file} should be a regular file and is none.`, {
    next: 'Put a text file in its place.',
    details: { file },
  });
}
