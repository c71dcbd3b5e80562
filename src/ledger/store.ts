/** The port of a store: sessions, runs, numbered events, leases and blobs, kept durably. */
import type { EventBody, RunEvent } from '../protocol/events.ts';
import type { Blob, RunRecord, SessionRecord } from '../protocol/record.ts';

/** Who writes a run now. A higher epoch fences every lower one. */
export interface Lease {
  readonly run: string;
  readonly epoch: number;
  readonly holder: string;
}

/** A lease as it was taken. */
export interface TakenLease extends Lease {
  /** When the lease before this one would have run out; 0 where it was given back or there was none. */
  readonly heldUntil: number;
}

/** A blob as it is kept. `redacted`: secrets were replaced in its bytes, so they no longer have its digest. */
export interface StoredBlob extends Blob {
  readonly redacted?: boolean;
}

/** What tells one store from every other, and how far what was forgotten reaches. */
export interface Namespace {
  /** Random, made with the store and kept with it. */
  readonly id: string;
  /** No lease of a run that is made from now on has an epoch at or below this one. */
  readonly epoch: number;
}

/** An end of the store's journal that was no whole record and was left out: its writer was killed, or the disk lost it. */
export interface TornTail {
  /** When it was found, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly bytes: number;
  /** `torn`: a record that was not written to its end. */
  readonly found: 'torn' | 'zeros';
}

export interface RunFilter {
  readonly session?: string;
  readonly agent?: string;
  /** At most this many, newest first. */
  readonly limit?: number;
}

/**
 * Contract, held by `store.cases.ts` over every store:
 * events of a run are numbered from 1 without a gap, in the order in which `append` was called; one call is stored whole
 * or not at all; a promise resolves only when its records survive the death of this process (`power: true`: of the
 * machine); an append under an epoch that is not the run's newest throws `ledger.fenced` and stores nothing. Several
 * processes may use one store. Methods reject with a LedgerError; `close` waits for what was accepted and is idempotent.
 * Writes take effect in the order of their calls. Bytes handed over are not to be changed until the promise settles.
 */
export interface Store {
  readonly name: string;
  namespace(): Promise<Namespace>;
  /** All that was ever found so, oldest first. What stands before it is whole, and what was written after it too. */
  torn(): Promise<readonly TornTail[]>;
  createSession(session: SessionRecord, blobs: readonly StoredBlob[]): Promise<void>;
  session(id: string): Promise<SessionRecord | undefined>;
  createRun(run: RunRecord): Promise<void>;
  run(id: string): Promise<RunRecord | undefined>;
  /** Newest first. */
  runs(filter?: RunFilter): Promise<readonly RunRecord[]>;
  /** Takes the run, or throws `ledger.lease-held` while a living holder has it. */
  acquire(run: string, holder: string, ttlMs: number): Promise<TakenLease>;
  /** Extends the lease; throws `ledger.fenced` if it is no longer the newest. */
  renew(lease: Lease, ttlMs: number): Promise<void>;
  /** Gives the run back; does nothing if another holder took it. */
  release(lease: Lease): Promise<void>;
  /** Who has the run now, a dead or expired holder left out. */
  holder(run: string): Promise<Lease | undefined>;
  append(
    lease: Lease,
    events: readonly EventBody[],
    options?: { readonly blobs?: readonly StoredBlob[]; readonly power?: boolean },
  ): Promise<readonly RunEvent[]>;
  /** Events with a number above `after` (default 0), in order. */
  events(run: string, after?: number): Promise<readonly RunEvent[]>;
  blob(digest: string): Promise<Uint8Array | undefined>;
  /**
   * Removes a session with its runs, events and the blobs nothing else names, and raises the namespace's epoch above all
   * of their leases, so that a run of the same id is not written under one of them. Throws `ledger.lease-held` while a
   * living holder writes one of its runs under another lease than the given ones; does nothing where there is no such
   * session.
   */
  forget(session: string, leases?: readonly Lease[]): Promise<void>;
  close(): Promise<void>;
}
