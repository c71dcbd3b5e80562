/** What the ledger keeps beside events: sessions, runs, blobs. */

export interface SessionRecord {
  readonly id: string;
  readonly createdAt: number;
  readonly agent: string;
  readonly harness: string;
  readonly model: string | null;
  /** The composition's digest: SHA-256 of its text. */
  readonly prompt: string;
  /** Digest of the blob that holds the whole Composition as JSON. */
  readonly composition: string;
  /** Digest of the blob that holds the tool projection, byte for byte as the model gets it. */
  readonly projection: string;
  readonly capabilities: readonly string[];
  /** What is needed to open the session again: agent folder, workspace, profile, tool options. Never a secret. */
  readonly origin: { readonly [name: string]: unknown };
}

export interface RunRecord {
  readonly id: string;
  readonly session: string;
  readonly createdAt: number;
  /** Its place among the runs of its session, from 1. */
  readonly index: number;
  readonly parent: string | null;
}

/** Content-addressed bytes. `digest` is of the bytes as they were sent or read, even where a stored secret was replaced. */
export interface Blob {
  readonly digest: string;
  readonly bytes: Uint8Array | string;
}
