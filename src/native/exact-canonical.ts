/** One text for JSON with exact integers, whatever the order of its keys: what fingerprints are made of. */
import { canonicalJson } from '../digest.ts';

/** Canonical JSON in which an integer beyond 2^53 stands as an object of its digits, so that none equals another. */
export function exactCanonicalJson(value: unknown): string {
  const exact = JSON.stringify(value, (_key, part) =>
    typeof part === 'bigint' ? { integer: String(part) } : part,
  );
  return canonicalJson(JSON.parse(exact));
}
