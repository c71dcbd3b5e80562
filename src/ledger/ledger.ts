/** The ledger as everything else uses it: a store that never gets to see the value of a known secret. */
import type { Redactor, Secret } from './secrets.ts';
import { redactor } from './secrets.ts';
import type { Store, StoredBlob } from './store.ts';

export interface Ledger extends Store {
  /** The text as it would be stored: for logs, streams and whatever else leaves the process beside the record. */
  redact(text: string): string;
}

export interface LedgerOptions {
  /** Owned by the ledger from now on and closed with it. */
  readonly store: Store;
  readonly secrets?: readonly Secret[];
}

/**
 * Every method is the store's own (see its contract). In events, session records and blobs known secrets are replaced by
 * `[secret NAME]` before they are stored; a blob keeps the digest of the bytes as they were.
 */
export function openLedger({ store, secrets = [] }: LedgerOptions): Ledger {
  const redact = redactor(secrets);
  return {
    ...store,
    redact: redact.text,
    createSession: async (session, blobs) =>
      store.createSession(redact.json(session), cleanBlobs(blobs, redact)),
    append: async (lease, events, options = {}) =>
      store.append(lease, redact.json(events), {
        ...options,
        ...(options.blobs === undefined ? {} : { blobs: cleanBlobs(options.blobs, redact) }),
      }),
  };
}

function cleanBlobs(blobs: readonly StoredBlob[], redact: Redactor): readonly StoredBlob[] {
  return blobs.map((blob) => {
    const bytes = redact.bytes(blob.bytes);
    return bytes === blob.bytes ? blob : { digest: blob.digest, bytes, redacted: true };
  });
}
