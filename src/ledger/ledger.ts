/** The ledger as everything else uses it: a store that never gets to see the value of a known secret. */
import type { ErrorJson } from '../errors.ts';
import { cleanError, cleanEvent, cleanSession } from './clean-record.ts';
import type { RedactedStream, Redactor, Secret } from './secrets.ts';
import { redactor } from './secrets.ts';
import type { Store, StoredBlob } from './store.ts';

export interface Ledger extends Store {
  /** The text as it would be stored: for logs, streams and whatever else leaves the process beside the record. */
  redact(text: string): string;
  /** The same for an error, whose code stays, and for a text that arrives in pieces. */
  redactError(error: ErrorJson): ErrorJson;
  redactStream(): RedactedStream;
}

export interface LedgerOptions {
  /** Owned by the ledger from now on and closed with it. */
  readonly store: Store;
  readonly secrets?: readonly Secret[];
}

/**
 * Every method is the store's own (see its contract). In the free texts of events and in blobs known secrets are replaced
 * by `[secret NAME]` before they are stored; a blob keeps the digest of the bytes as they were. A secret in what a session
 * is opened again with throws `ledger.secret-in-record`, and nothing is stored.
 */
export function openLedger({ store, secrets = [] }: LedgerOptions): Ledger {
  const redact = redactor(secrets);
  return {
    ...store,
    redact: redact.text,
    redactError: (error) => cleanError(error, redact),
    redactStream: redact.stream,
    createSession: async (session, blobs) =>
      store.createSession(cleanSession(session, redact), cleanBlobs(blobs, redact)),
    append: async (lease, events, options = {}) =>
      store.append(
        lease,
        events.map((event) => cleanEvent(event, redact)),
        {
          ...options,
          ...(options.blobs === undefined ? {} : { blobs: cleanBlobs(options.blobs, redact) }),
        },
      ),
  };
}

function cleanBlobs(blobs: readonly StoredBlob[], redact: Redactor): readonly StoredBlob[] {
  return blobs.map((blob) => {
    const bytes = redact.bytes(blob.bytes);
    return bytes === blob.bytes ? blob : { digest: blob.digest, bytes, redacted: true };
  });
}
