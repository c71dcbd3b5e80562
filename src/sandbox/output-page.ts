/** A part of a stream that lies in a file, cut between characters. */
import { type FileHandle, open } from 'node:fs/promises';
import { systemCode } from '../errors.ts';
import type { StreamPage } from './sandbox.ts';

/** Below this a page could hold no whole character and never get on. */
export const pageBytesMin = 64;

/**
 * Reads from a byte offset. While more may come, an unfinished character at the end is left for the next page; after the
 * end it reads as U+FFFD. A file that is gone is an empty stream, which nothing follows.
 */
export async function readStream(
  path: string,
  from: number,
  { bytesMax, ended }: { readonly bytesMax: number; readonly ended: boolean },
): Promise<StreamPage> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return { text: '', from, next: from, eof: ended };
    throw thrown;
  }
  try {
    const { size } = await file.stat();
    const at = Math.min(from, size);
    const bytes = Buffer.alloc(Math.min(Math.max(bytesMax, pageBytesMin), size - at));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, at);
    const last = at + bytesRead >= size;
    const page = wholeCharacters(bytes.subarray(0, bytesRead), ended && last);
    const next = at + page.length;
    return { text: page.toString('utf8'), from: at, next, eof: ended && next >= size };
  } finally {
    await file.close();
  }
}

/** The bytes without a character at the end of which more may follow; all of them where nothing can. */
export function wholeCharacters(bytes: Buffer, final: boolean): Buffer {
  if (final) return bytes;
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
