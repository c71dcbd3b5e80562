/** The bytes of a body as they were before its sender compressed them. */
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

// A few kilobytes can unfold into gigabytes; what is larger than any record keeps of a body is not read.
const limit = { maxOutputLength: 64 * 1024 * 1024 };

/**
 * `encoding` is the header's value. Throws for one that is not known here, for bytes that are not of it, and for
 * more than 64 MiB of plain bytes.
 */
export function plainBytes(bytes: Uint8Array, encoding = 'identity'): Uint8Array {
  switch (encoding.trim().toLowerCase()) {
    case 'identity':
      return bytes;
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(bytes, limit);
    case 'deflate':
      return inflateSync(bytes, limit);
    case 'br':
      return brotliDecompressSync(bytes, limit);
    default:
      throw new Error(`the body is compressed as ${encoding}, which is not known here`);
  }
}
