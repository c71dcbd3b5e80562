/** Every SQL statement of the SQLite store, prepared once for a connection. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite';

const selectHead = `select id, session, epoch, holder, expires,
  (select max(seq) from event where run = run.id) as last from run`;

const selectRun = `select run.id, session.id as session, run.created_at, run.place, run.parent
  from run join session on session.n = run.session`;

export type Statements = ReturnType<typeof prepareAll>;

export function prepareAll(db: DatabaseSyncInstance) {
  return {
    addSession: db.prepare('insert or ignore into session (id, agent, body) values (?, ?, ?)'),
    session: db.prepare('select body from session where id = ?'),
    sessionNumber: db.prepare('select n from session where id = ?'),
    addRun: db.prepare(
      `insert or ignore into run (id, session, created_at, place, parent, epoch)
       values (?, ?, ?, ?, ?, (select epoch from namespace))`,
    ),
    namespace: db.prepare('select id, epoch from namespace'),
    raiseEpoch: db.prepare(
      'update namespace set epoch = max(epoch, (select max(epoch) from run where session = ?))',
    ),
    run: db.prepare(`${selectRun} where run.id = ?`),
    runs: db.prepare(
      `${selectRun} where (? is null or session.id = ?) and (? is null or session.agent = ?)
       order by run.created_at desc, run.rowid desc limit ?`,
    ),
    head: db.prepare(`${selectHead} where id = ?`),
    heads: db.prepare(`${selectHead} where session = ?`),
    take: db.prepare('update run set epoch = ?, holder = ?, expires = ? where id = ?'),
    renew: db.prepare('update run set expires = ? where id = ? and epoch = ? and holder = ?'),
    release: db.prepare("update run set holder = '', expires = 0 where id = ? and epoch = ? and holder = ?"),
    addEvent: db.prepare('insert into event (run, seq, at, epoch, type, body) values (?, ?, ?, ?, ?, ?)'),
    events: db.prepare('select seq, at, epoch, body from event where run = ? and seq > ? order by seq'),
    addBlob: db.prepare('insert or ignore into blob (digest, redacted, bytes) values (?, ?, ?)'),
    blob: db.prepare('select bytes from blob where digest = ?'),
    addLink: db.prepare('insert into link (session, digest) values (?, ?)'),
    dropBlobs: db.prepare(
      `delete from blob where digest in
       (select digest from link where session = ? except select digest from link where session <> ?)`,
    ),
    dropEvents: db.prepare('delete from event where run in (select id from run where session = ?)'),
    dropLinks: db.prepare('delete from link where session = ?'),
    dropRuns: db.prepare('delete from run where session = ?'),
    dropSession: db.prepare('delete from session where n = ?'),
  };
}
