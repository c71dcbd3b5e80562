/** Digests of bytes and of JSON values: SHA-256 in lower-case hex, JSON in the canonical form of RFC 8785. */
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** 64 lower-case hex digits. */
export type Digest = string;

/** SHA-256 of the bytes; a string stands for its UTF-8 bytes. */
export function sha256(bytes: string | Uint8Array): Digest {
  return hash('sha256', bytes, 'hex');
}

/**
 * One text for one JSON value, whatever the order of its keys. The value must be closed JSON (no `undefined`, function,
 * Map, NaN or bigint): such a value has no canonical form and throws a TypeError.
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('The value has no JSON form.');
  return text;
}

/** SHA-256 of the canonical JSON. */
export function jsonDigest(value: unknown): Digest {
  return sha256(canonicalJson(value));
}

/** Bytes with their digest, as a record keeps them. */
export function blobOf<Bytes extends string | Uint8Array>(
  bytes: Bytes,
): { readonly digest: Digest; readonly bytes: Bytes } {
  return { digest: sha256(bytes), bytes };
}
