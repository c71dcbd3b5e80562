/** Where the bytes of a text context lie: in memory, in the user's file, or in a private file that has no name. */
import type { Stats } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../digest.ts';
import { openBeneath } from '../tool/confine.ts';
import { ContextError } from './errors.ts';

/** Bytes that are read by ranges. */
export interface ByteSource {
  readonly size: number;
  /** Exactly these bytes, `0 <= start <= end <= size`. Throws `context.changed` where they are no longer there. */
  read(start: number, end: number): Promise<Buffer>;
  /** Throws `context.changed` if positions found earlier may no longer hold. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Bytes held in memory; they are not copied. */
export function memoryBytes(bytes: Buffer): ByteSource {
  return {
    size: bytes.length,
    read: async (start, end) => bytes.subarray(start, end),
    check: async () => {},
    close: async () => {},
  };
}

/** By what a file is known again. */
export interface FileStamp {
  readonly bytes: number;
  readonly mtimeMs: number;
  /** Digest of the first 64 KiB. */
  readonly head: string;
}

const headBytes = 64 * 1024;

export interface FileBytes extends ByteSource {
  readonly stamp: FileStamp;
}

/**
 * A regular file beneath `root`, opened without following links that lead out. What is appended later is not part of it;
 * a file that is rewritten or cut short afterwards is `context.changed`. Throws `context.file-refused`.
 */
export async function openFileBytes(root: string, path: string): Promise<FileBytes> {
  const opened = await openBeneath(root, path);
  if (!opened.ok) throw refused(opened.message);
  const { file, stats } = opened;
  if (!stats.isFile()) {
    await file.close();
    throw refused(`${path} is a folder.`);
  }
  try {
    const stamp = await stampOf(file, stats);
    return { ...handleBytes(file, stats.size), stamp, check: () => mustBeSame(file, stamp, path) };
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

/** The stamp of a file as it is now. Throws `context.file-refused`. */
export async function fileStamp(root: string, path: string): Promise<FileStamp> {
  const bytes = await openFileBytes(root, path);
  await bytes.close();
  return bytes.stamp;
}

function refused(found: string): ContextError {
  return new ContextError('context.file-refused', `Expected a readable text file, found none: ${found}`, {
    next: 'Name a regular file; save what comes from a pipe into one.',
  });
}

async function stampOf(file: FileHandle, { size, mtimeMs }: Stats): Promise<FileStamp> {
  return { bytes: size, mtimeMs, head: sha256(await readRange(file, 0, Math.min(size, headBytes))) };
}

// A log that only grows keeps every position. The head tells growth from a file that was written anew.
async function mustBeSame(file: FileHandle, stamp: FileStamp, path: string): Promise<void> {
  const { size, mtimeMs } = await file.stat();
  if (size === stamp.bytes && mtimeMs === stamp.mtimeMs) return;
  if (size > stamp.bytes) {
    const head = sha256(await readRange(file, 0, Math.min(stamp.bytes, headBytes)));
    if (head === stamp.head) return;
  }
  throw changed(
    `${path} had ${stamp.bytes} bytes when it was registered and was rewritten since; it has ${size} now.`,
  );
}

function changed(message: string): ContextError {
  return new ContextError('context.changed', message, {
    next: 'Do not use positions found earlier; start a new session to read the file as it is now.',
  });
}

/** Writes bytes into a private file that loses its name at once, so that nothing is left behind however we end. */
export async function spillBytes(bytes: Buffer): Promise<ByteSource> {
  const folder = await mkdtemp(join(tmpdir(), 'writ-context-'));
  try {
    const file = await open(join(folder, 'bytes'), 'wx+', 0o600);
    try {
      await file.writeFile(bytes);
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
    return handleBytes(file, bytes.length);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The bytes of an open file, up to a size; closing them closes the file. */
export function handleBytes(file: FileHandle, size: number): ByteSource {
  let closing: Promise<void> | undefined;
  return {
    size,
    read: (start, end) => readRange(file, start, end),
    check: async () => {},
    close: () => {
      closing ??= file.close();
      return closing;
    },
  };
}

async function readRange(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(end - start);
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, start + filled);
    if (bytesRead === 0)
      throw changed(`The file ends at byte ${start + filled}; it was longer when it was registered.`);
    filled += bytesRead;
  }
  return buffer;
}
