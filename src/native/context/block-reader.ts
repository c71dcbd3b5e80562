/** Reads of one operation into a source: a block that was fetched is kept while the operation is near it, and counted once. */
import type { ByteSource } from './bytes.ts';
import type { Work } from './operations.ts';
import type { Read } from './text-index.ts';

const blockBytes = 64 * 1024;
/** A piece of a search, the blocks beside it, and that of the place where it began. */
const blocksLeast = 8;

/** Reads by whole blocks. An operation that goes forward through a source fetches none of them twice. */
export function blockReader(source: ByteSource, work: Work): Read {
  const blocksMax = blocksLeast + Math.ceil(work.limits.bytesMax / blockBytes);
  // In the order of their last use, the oldest first.
  const kept = new Map<number, Buffer>();
  const block = async (number: number): Promise<Buffer> => {
    const start = number * blockBytes;
    const end = Math.min(source.size, start + blockBytes);
    const here = kept.get(number);
    kept.delete(number);
    if (here === undefined) work.inspect(end - start);
    const bytes = here ?? (await source.read(start, end));
    kept.set(number, bytes);
    for (const oldest of kept.keys()) {
      if (kept.size <= blocksMax) break;
      kept.delete(oldest);
    }
    return bytes;
  };
  return async (start, end) => {
    const parts: Buffer[] = [];
    for (let number = Math.floor(start / blockBytes); number * blockBytes < end; number += 1) {
      const offset = number * blockBytes;
      parts.push((await block(number)).subarray(Math.max(0, start - offset), end - offset));
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  };
}

/** Reads just what is asked for: for one look at a place that is known. */
export function exactReader(source: ByteSource, work: Work): Read {
  return (start, end) => {
    work.inspect(end - start);
    return source.read(start, end);
  };
}
