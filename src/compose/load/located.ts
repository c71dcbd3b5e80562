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
    let line = 1;
    let lineStart = 0;
    for (let end = before.indexOf('\n'); end >= 0; end = before.indexOf('\n', lineStart)) {
      line += 1;
      lineStart = end + 1;
    }
    let column = 1;
    for (const _character of before.slice(lineStart)) column += 1;
    return { line, column };
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

/**
 * Reads a file, a regular one unless any kind will do. Throws `compose.unreadable` for everything that is not UTF-8 text, a
 * missing file included.
 */
export async function readSource(file: string, kind: 'regular' | 'any' = 'regular'): Promise<SourceText> {
  const bytes = await readBytes(file, kind);
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

async function readBytes(file: string, kind: 'regular' | 'any'): Promise<Uint8Array> {
  try {
    // A FIFO or a device in an agent folder would block or never end, so nothing but a regular file is opened there.
    if (kind === 'any' || (await stat(file)).isFile()) return await readFile(file);
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
