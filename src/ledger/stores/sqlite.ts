/** The store in one SQLite file: several processes may share it, and a kill at any moment loses nothing acknowledged. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { Clock } from '../../clock.ts';
import { systemClock } from '../../clock.ts';
import type { EventBody, RunEvent } from '../../protocol/events.ts';
import type { RunRecord, SessionRecord } from '../../protocol/record.ts';
import { alreadyExists, closed, fenced, leaseHeld, noRun, noSession } from '../errors.ts';
import { isHeld } from '../holder.ts';
import { digestsIn, recordText } from '../record-text.ts';
import type { Namespace, Store, StoredBlob } from '../store.ts';
import { type GroupCommit, groupCommit } from './group-commit.ts';
import { openLedgerFile, openLedgerFileToRead, storeFault } from './sqlite-file.ts';
import { prepareAll, type Statements } from './sqlite-statements.ts';
import { tornTails } from './torn-tail.ts';

export interface SqliteStoreOptions {
  /** Made with its folder where it does not exist. */
  readonly path: string;
  readonly clock?: Clock;
  /** How long a lock of another process is waited for; 5 seconds. */
  readonly busyMs?: number;
  /** True to look only: the file must exist, and every write rejects with `ledger.unwritable`. */
  readonly readOnly?: boolean;
}

interface Connection {
  readonly db: DatabaseSyncInstance;
  readonly sql: Statements;
  readonly group: GroupCommit;
  /** Nobody else writes during a transaction, so what it has read of a run stays true to its end. */
  readonly heads: Map<string, HeadRow>;
}

// What SELECTs return. Rows have no prototype, so they are copied field by field before they leave the store.
interface RunRow {
  readonly id: string;
  readonly session: string;
  readonly created_at: number;
  readonly place: number;
  readonly parent: string | null;
}
interface HeadRow {
  readonly session: number;
  readonly epoch: number;
  readonly holder: string;
  readonly expires: number;
  /** Number of the newest event; null before the first. */
  readonly last: number | null;
}
interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly body: string;
}

/**
 * Opens the file at once: throws the LedgerErrors of `openLedgerFile` (`openLedgerFileToRead` with `readOnly`), and
 * `ledger.busy` if it stays locked.
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  const { path, clock = systemClock, busyMs = 5000, readOnly = false } = options;
  // SQLite keeps a closed file open until its statements are collected as garbage: so whoever holds the store after
  // `close` must not hold them.
  let connection: Connection | undefined = connect({ path, clock, busyMs, readOnly });
  let closing: Promise<void> | undefined;

  function open(): Connection {
    if (connection === undefined || closing !== undefined) throw closed('sqlite');
    return connection;
  }

  function read<T>(work: (sql: Statements) => T): Promise<T> {
    const { group, sql } = open();
    return group.read(() => work(sql));
  }

  function write<T>(work: (connection: Connection) => T, power = false): Promise<T> {
    const to = open();
    return to.group.write(() => work(to), power);
  }

  return {
    name: 'sqlite',

    async namespace() {
      const row: Namespace | undefined = await read((sql) => sql.namespace.get());
      if (row === undefined) throw new TypeError('A ledger has one namespace.');
      return { id: row.id, epoch: row.epoch };
    },

    async torn() {
      const { group, db } = open();
      return group.read(() => tornTails(db));
    },

    async createSession(session, blobs) {
      const text = recordText(session);
      await write((to) => {
        const { changes, lastInsertRowid } = to.sql.addSession.run(session.id, session.agent, text);
        if (changes === 0) throw alreadyExists(`session ${session.id}`);
        keep(to, Number(lastInsertRowid), blobs, [text]);
      });
    },

    async session(id) {
      const row: { readonly body: string } | undefined = await read((sql) => sql.session.get(id));
      return row === undefined ? undefined : (JSON.parse(row.body) as SessionRecord);
    },

    async createRun(run) {
      await write((to) => {
        const session = sessionNumber(to, run.session);
        if (session === undefined) throw noSession(run.session);
        const { changes } = to.sql.addRun.run(run.id, session, run.createdAt, run.index, run.parent);
        if (changes > 0) return;
        const sameId = to.sql.head.get(run.id) !== undefined;
        throw alreadyExists(sameId ? `run ${run.id}` : `run ${run.index} of session ${run.session}`);
      });
    },

    async run(id) {
      const row: RunRow | undefined = await read((sql) => sql.run.get(id));
      return row === undefined ? undefined : runRecord(row);
    },

    async runs(filter = {}) {
      const session = filter.session ?? null;
      const agent = filter.agent ?? null;
      const rows: readonly RunRow[] = await read((sql) =>
        sql.runs.all(session, session, agent, agent, filter.limit ?? -1),
      );
      return rows.map(runRecord);
    },

    async acquire(run, holder, ttlMs) {
      return write((to) => {
        const head = headOf(to, run);
        const now = clock.now();
        if (isHeld(head, now)) throw leaseHeld(run, head.holder, head.expires);
        const epoch = head.epoch + 1;
        to.sql.take.run(epoch, holder, now + ttlMs, run);
        to.heads.delete(run);
        return { run, epoch, holder, heldUntil: head.holder === '' ? 0 : head.expires };
      });
    },

    async renew(lease, ttlMs) {
      await write((to) => {
        const { changes } = to.sql.renew.run(clock.now() + ttlMs, lease.run, lease.epoch, lease.holder);
        if (changes === 0) throw fenced(lease, headOf(to, lease.run).epoch);
        to.heads.delete(lease.run);
      });
    },

    async release(lease) {
      await write((to) => {
        to.sql.release.run(lease.run, lease.epoch, lease.holder);
        to.heads.delete(lease.run);
      });
    },

    async holder(run) {
      const head: HeadRow | undefined = await read((sql) => sql.head.get(run));
      if (head === undefined || !isHeld(head, clock.now())) return undefined;
      return { run, epoch: head.epoch, holder: head.holder };
    },

    async append(lease, events, { blobs = [], power = false } = {}) {
      const { run, epoch } = lease;
      const at = clock.now();
      const records = events.map((event) => ({
        text: recordText(event),
        // Its number is not known before the transaction.
        event: { ...event, run, seq: 0, at, epoch },
      }));
      await write((to) => {
        const head = headOf(to, run);
        if (head.epoch !== epoch) throw fenced(lease, head.epoch);
        let seq = head.last ?? 0;
        for (const { text, event } of records) {
          event.seq = ++seq;
          to.sql.addEvent.run(run, seq, at, epoch, event.type, text);
        }
        keep(
          to,
          head.session,
          blobs,
          records.map(({ text }) => text),
        );
        to.heads.set(run, { ...head, last: seq });
      }, power);
      return records.map(({ event }) => event);
    },

    async events(run, after = 0) {
      const rows: readonly EventRow[] = await read((sql) => sql.events.all(run, after));
      return rows.map(({ body, seq, at, epoch }) => runEvent(body, run, seq, at, epoch));
    },

    async blob(digest) {
      const row: { readonly bytes: Uint8Array } | undefined = await read((sql) => sql.blob.get(digest));
      return row?.bytes;
    },

    async forget(id, leases = []) {
      await write((to) => {
        const session = sessionNumber(to, id);
        if (session === undefined) return;
        const held: readonly (HeadRow & { readonly id: string })[] = to.sql.heads.all(session);
        const own = (head: HeadRow & { readonly id: string }) =>
          leases.some(({ run, epoch, holder }) => {
            return run === head.id && epoch === head.epoch && holder === head.holder;
          });
        const living = held.find((head) => !own(head) && isHeld(head, clock.now()));
        if (living !== undefined) throw leaseHeld(living.id, living.holder, living.expires);
        to.heads.clear();
        if (held.length > 0) to.sql.raiseEpoch.run(session);
        to.sql.dropBlobs.run(session, session);
        to.sql.dropEvents.run(session);
        for (const drop of [to.sql.dropLinks, to.sql.dropRuns, to.sql.dropSession]) drop.run(session);
      });
      // The old pages are still in the journal.
      if (connection !== undefined) emptyJournal(connection.db);
    },

    close() {
      closing ??= (async () => {
        if (connection === undefined) return;
        await connection.group.drain();
        emptyJournal(connection.db);
        connection.db.close();
        connection = undefined;
      })();
      return closing;
    },
  };
}

/** Where a reader is in the way or the disk is full, everything stays in the journal, and is as safe there. */
function emptyJournal(db: DatabaseSyncInstance): void {
  try {
    db.exec('pragma wal_checkpoint(truncate)');
  } catch {
    // The next checkpoint tries again.
  }
}

function connect({ path, clock, busyMs, readOnly }: Required<SqliteStoreOptions>): Connection {
  const db = readOnly
    ? openLedgerFileToRead(path, busyMs)
    : openLedgerFile(path, busyMs, { token: clock.id('ledger'), now: clock.now() });
  const fault = (error: unknown) => storeFault(error, path);
  const heads = new Map<string, HeadRow>();
  try {
    const group = groupCommit(db, { clock, busyMs, fault, onBegin: () => heads.clear() });
    return { db, sql: prepareAll(db), group, heads };
  } catch (error) {
    db.close();
    throw fault(error);
  }
}

function headOf({ sql, heads }: Connection, run: string): HeadRow {
  const head: HeadRow | undefined = heads.get(run) ?? sql.head.get(run);
  if (head === undefined) throw noRun(run);
  heads.set(run, head);
  return head;
}

function sessionNumber({ sql }: Connection, id: string): number | undefined {
  const row: { readonly n: number } | undefined = sql.sessionNumber.get(id);
  return row?.n;
}

/** Stores blobs, and that the session names them and whatever its texts name. */
function keep(
  { sql }: Connection,
  session: number,
  blobs: readonly StoredBlob[],
  texts: readonly string[],
): void {
  const digests = digestsIn(texts.join());
  for (const { digest, bytes, redacted } of blobs) {
    sql.addBlob.run(
      digest,
      redacted === true ? 1 : 0,
      typeof bytes === 'string' ? Buffer.from(bytes) : bytes,
    );
    digests.add(digest);
  }
  for (const digest of digests) sql.addLink.run(session, digest);
}

function runRecord(row: RunRow): RunRecord {
  return {
    id: row.id,
    session: row.session,
    createdAt: row.created_at,
    index: row.place,
    parent: row.parent,
  };
}

function runEvent(text: string, run: string, seq: number, at: number, epoch: number): RunEvent {
  return { ...(JSON.parse(text) as EventBody), run, seq, at, epoch };
}
