/** The bytes of a body as they were before its sender compressed them. */
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/** `encoding` is the header's value. Throws for one that is not known here, and for bytes that are not of it. */
export function plainBytes(bytes: Uint8Array, encoding = 'identity'): Uint8Array {
  switch (encoding.trim().toLowerCase()) {
    case 'identity':
      return bytes;
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(bytes);
    case 'deflate':
      return inflateSync(bytes);
    case 'br':
      return brotliDecompressSync(bytes);
    default:
      throw new Error(`the body is compressed as ${encoding}, which is not known here`);
  }
}
