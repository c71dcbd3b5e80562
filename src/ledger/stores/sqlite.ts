/** The store in one SQLite file: several processes may share it, and a kill at any moment loses nothing acknowledged. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { Clock } from '../../clock.ts';
import { systemClock } from '../../clock.ts';
import type { EventBody, RunEvent } from '../../protocol/events.ts';
import type { RunRecord, SessionRecord } from '../../protocol/record.ts';
import { alreadyExists, closed, fenced, leaseHeld, noRun, noSession } from '../errors.ts';
import { isHeld } from '../holder.ts';
import { digestsIn, recordText } from '../record-text.ts';
import type { Store, StoredBlob } from '../store.ts';
import { groupCommit } from './group-commit.ts';
import { openLedgerFile, storeFault } from './sqlite-file.ts';

export interface SqliteStoreOptions {
  /** Made with its folder where it does not exist. */
  readonly path: string;
  readonly clock?: Clock;
  /** How long a lock of another process is waited for; 5 seconds. */
  readonly busyMs?: number;
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
}
interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly body: string;
}

/** Opens the file at once: throws the LedgerErrors of `openLedgerFile`, and `ledger.busy` if it stays locked. */
export function sqliteStore({ path, clock = systemClock, busyMs = 5000 }: SqliteStoreOptions): Store {
  const fault = (error: unknown) => storeFault(error, path);
  const db = openLedgerFile(path, busyMs, clock.id('new'));
  const sql = prepareAll(db, fault);
  const group = groupCommit(db, { clock, busyMs, fault });
  let closing: Promise<void> | undefined;

  function read<T>(work: () => T): Promise<T> {
    if (closing !== undefined) throw closed('sqlite');
    return group.read(work);
  }

  function write<T>(work: () => T, power = false): Promise<T> {
    if (closing !== undefined) throw closed('sqlite');
    return group.write(work, power);
  }

  function headOf(run: string): HeadRow {
    const head: HeadRow | undefined = sql.head.get(run);
    if (head === undefined) throw noRun(run);
    return head;
  }

  function sessionNumber(id: string): number | undefined {
    const row: { readonly n: number } | undefined = sql.sessionNumber.get(id);
    return row?.n;
  }

  function keep(session: number, blobs: readonly StoredBlob[], digests: ReadonlySet<string>): void {
    for (const { digest, bytes, redacted } of blobs) {
      sql.addBlob.run(
        digest,
        redacted === true ? 1 : 0,
        typeof bytes === 'string' ? Buffer.from(bytes) : bytes,
      );
      if (!digests.has(digest)) sql.addLink.run(session, digest);
    }
    for (const digest of digests) sql.addLink.run(session, digest);
  }

  return {
    name: 'sqlite',

    async createSession(session, blobs) {
      const text = recordText(session);
      await write(() => {
        const { changes, lastInsertRowid } = sql.addSession.run(session.id, session.agent, text);
        if (changes === 0) throw alreadyExists(`session ${session.id}`);
        keep(Number(lastInsertRowid), blobs, digestsIn(text));
      });
    },

    async session(id) {
      const row: { readonly body: string } | undefined = await read(() => sql.session.get(id));
      return row === undefined ? undefined : (JSON.parse(row.body) as SessionRecord);
    },

    async createRun(run) {
      await write(() => {
        const session = sessionNumber(run.session);
        if (session === undefined) throw noSession(run.session);
        const { changes } = sql.addRun.run(run.id, session, run.createdAt, run.index, run.parent);
        if (changes > 0) return;
        const sameId = sql.head.get(run.id) !== undefined;
        throw alreadyExists(sameId ? `run ${run.id}` : `run ${run.index} of session ${run.session}`);
      });
    },

    async run(id) {
      const row: RunRow | undefined = await read(() => sql.run.get(id));
      return row === undefined ? undefined : runRecord(row);
    },

    async runs(filter = {}) {
      const session = filter.session ?? null;
      const agent = filter.agent ?? null;
      const rows: readonly RunRow[] = await read(() =>
        sql.runs.all(session, session, agent, agent, filter.limit ?? -1),
      );
      return rows.map(runRecord);
    },

    async acquire(run, holder, ttlMs) {
      return write(() => {
        const head = headOf(run);
        const now = clock.now();
        if (isHeld(head, now)) throw leaseHeld(run, head.holder, head.expires);
        const epoch = head.epoch + 1;
        sql.take.run(epoch, holder, now + ttlMs, run);
        return { run, epoch, holder };
      });
    },

    async renew(lease, ttlMs) {
      await write(() => {
        const { changes } = sql.renew.run(clock.now() + ttlMs, lease.run, lease.epoch, lease.holder);
        if (changes === 0) throw fenced(lease, headOf(lease.run).epoch);
      });
    },

    async release(lease) {
      await write(() => sql.release.run(lease.run, lease.epoch, lease.holder));
    },

    async holder(run) {
      const head: HeadRow | undefined = await read(() => sql.head.get(run));
      if (head === undefined || !isHeld(head, clock.now())) return undefined;
      return { run, epoch: head.epoch, holder: head.holder };
    },

    async append(lease, events, { blobs = [], power = false } = {}) {
      const records = events.map((event) => ({ type: event.type, text: recordText(event) }));
      const at = clock.now();
      const first = await write(() => {
        const { session, epoch } = headOf(lease.run);
        if (epoch !== lease.epoch) throw fenced(lease, epoch);
        const { last }: { readonly last: number | null } = sql.lastSeq.get(lease.run);
        let seq = last ?? 0;
        for (const { type, text } of records) sql.addEvent.run(lease.run, ++seq, at, epoch, type, text);
        keep(session, blobs, digestsIn(records.map(({ text }) => text).join()));
        return (last ?? 0) + 1;
      }, power);
      return records.map(({ text }, i) => runEvent(text, lease.run, first + i, at, lease.epoch));
    },

    async events(run, after = 0) {
      const rows: readonly EventRow[] = await read(() => sql.events.all(run, after));
      return rows.map(({ body, seq, at, epoch }) => runEvent(body, run, seq, at, epoch));
    },

    async blob(digest) {
      const row: { readonly bytes: Uint8Array } | undefined = await read(() => sql.blob.get(digest));
      return row?.bytes;
    },

    async forget(id) {
      await write(() => {
        const session = sessionNumber(id);
        if (session === undefined) return;
        const held: readonly (HeadRow & { readonly id: string })[] = sql.heads.all(session);
        const living = held.find((head) => isHeld(head, clock.now()));
        if (living !== undefined) throw leaseHeld(living.id, living.holder, living.expires);
        sql.dropBlobs.run(session, session);
        sql.dropEvents.run(session);
        for (const drop of [sql.dropLinks, sql.dropRuns, sql.dropSession]) drop.run(session);
      });
      // The journal still has the old pages. Where a reader is in the way, or this store was closed since, the next
      // checkpoint takes them out.
      if (db.isOpen) db.exec('pragma wal_checkpoint(truncate)');
    },

    close() {
      closing ??= group.drain().then(() => db.close());
      return closing;
    },
  };
}

function prepareAll(db: DatabaseSyncInstance, fault: (error: unknown) => Error) {
  try {
    return {
      addSession: db.prepare('insert or ignore into session (id, agent, body) values (?, ?, ?)'),
      session: db.prepare('select body from session where id = ?'),
      sessionNumber: db.prepare('select n from session where id = ?'),
      addRun: db.prepare(
        'insert or ignore into run (id, session, created_at, place, parent) values (?, ?, ?, ?, ?)',
      ),
      run: db.prepare(`${selectRun} where run.id = ?`),
      runs: db.prepare(
        `${selectRun} where (? is null or session.id = ?) and (? is null or session.agent = ?)
         order by run.created_at desc, run.rowid desc limit ?`,
      ),
      head: db.prepare('select session, epoch, holder, expires from run where id = ?'),
      heads: db.prepare('select id, session, epoch, holder, expires from run where session = ?'),
      take: db.prepare('update run set epoch = ?, holder = ?, expires = ? where id = ?'),
      renew: db.prepare('update run set expires = ? where id = ? and epoch = ? and holder = ?'),
      release: db.prepare(
        "update run set holder = '', expires = 0 where id = ? and epoch = ? and holder = ?",
      ),
      lastSeq: db.prepare('select max(seq) as last from event where run = ?'),
      addEvent: db.prepare('insert into event (run, seq, at, epoch, type, body) values (?, ?, ?, ?, ?, ?)'),
      events: db.prepare('select seq, at, epoch, body from event where run = ? and seq > ? order by seq'),
      addBlob: db.prepare('insert or ignore into blob (digest, redacted, bytes) values (?, ?, ?)'),
      blob: db.prepare('select bytes from blob where digest = ?'),
      addLink: db.prepare('insert or ignore into link (session, digest) values (?, ?)'),
      dropBlobs: db.prepare(
        `delete from blob where digest in
         (select digest from link where session = ? except select digest from link where session <> ?)`,
      ),
      dropEvents: db.prepare('delete from event where run in (select id from run where session = ?)'),
      dropLinks: db.prepare('delete from link where session = ?'),
      dropRuns: db.prepare('delete from run where session = ?'),
      dropSession: db.prepare('delete from session where n = ?'),
    };
  } catch (error) {
    db.close();
    throw fault(error);
  }
}

const selectRun = `select run.id, session.id as session, run.created_at, run.place, run.parent
  from run join session on session.n = run.session`;

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
