/** Bodies that were compressed: what unfolds, and what is too large to. */
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { plainBytes } from './plain-bytes.ts';

// Its best quality takes seconds for this much.
const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const ways = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', (bytes: string | Uint8Array) => brotliCompressSync(bytes, quick)],
] as const;

test.each(ways)('%s unfolds up to the limit, and not beyond', (encoding, compress) => {
  expect(Buffer.from(plainBytes(compress('{"a":1}'), encoding)).toString()).toBe('{"a":1}');
  const large = Buffer.alloc(64 * 1024 * 1024 + 1);
  expect(plainBytes(compress(large.subarray(1)), encoding)).toHaveLength(large.length - 1);
  expect(() => plainBytes(compress(large), encoding)).toThrow(RangeError);
});
