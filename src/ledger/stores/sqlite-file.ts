/** The SQLite file of a ledger: made whole or not at all, recognised before it is opened, never altered if it is not ours. */

import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { constants as system } from 'node:os';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { systemCode } from '../../errors.ts';
import { LedgerError } from '../errors.ts';
import { ledgerMark } from '../mark.ts';
import { beginningOf } from './locked-file.ts';
import { noteTornTail } from './torn-tail.ts';

const schemaVersion = 1;

// Rows of `event` are found by (run, seq) only, so they live in that key's tree. `link` says which digests a session
// names: through its record, its blobs, or an event of its runs.
const schema = `
  create table session (n integer primary key, id text not null unique, agent text not null, body text not null) strict;
  create table run (
    id text not null primary key, session integer not null, created_at integer not null, place integer not null,
    parent text, epoch integer not null default 0, holder text not null default '',
    expires integer not null default 0, unique (session, place)
  ) strict;
  create index run_newest on run (created_at);
  create table event (
    run text not null, seq integer not null, at integer not null, epoch integer not null, type text not null,
    body text not null, primary key (run, seq)
  ) without rowid, strict;
  create table blob (digest text not null primary key, redacted integer not null, bytes blob not null) strict;
  create table link (session integer not null, digest text not null) strict;
`;
const namespace = `
  create table if not exists namespace (one integer primary key check (one = 1), id text not null, epoch integer not null) strict;
`;

/**
 * Opens the ledger file, after making it with its folder where there is none. Throws `ledger.not-a-ledger`,
 * `ledger.newer-schema`, `ledger.damaged` or `ledger.unwritable`; whatever stood at the path is then as it was.
 */
export function openLedgerFile(
  given: string,
  busyMs: number,
  { token, now }: { readonly token: string; readonly now: number },
): DatabaseSyncInstance {
  const path = resolve(given);
  let db: DatabaseSyncInstance | undefined;
  try {
    if (!isLedger(path)) {
      create(path, `${path}.${token}`);
      // Another process may have been faster; then it is that file which must be ours.
      isLedger(path);
    }
    db = new DatabaseSync(path, { timeout: busyMs, enableForeignKeyConstraints: false });
    db.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma secure_delete = on');
    // Digests fall anywhere in their index: with SQLite's usual 2 MB and 1,000 pages, every few runs read and write it anew.
    db.exec('pragma cache_size = -16000; pragma wal_autocheckpoint = 4000');
    noteTornTail(db, path, now);
    db.exec(`pragma busy_timeout = ${busyMs}`);
    nameIt(db, token);
    // From here on a lock is waited for by the callers, because SQLite's own waiting stops the whole process.
    db.exec('pragma busy_timeout = 0');
    return db;
  } catch (error) {
    db?.close();
    throw storeFault(error, path);
  }
}

/**
 * Opens a ledger file that may only be looked at, for instance on a read-only disk; nothing is made or changed beside what
 * SQLite needs to read. Throws as `openLedgerFile` does, and `ledger.not-a-ledger` where there is no file.
 */
export function openLedgerFileToRead(given: string, busyMs: number): DatabaseSyncInstance {
  const path = resolve(given);
  try {
    if (!isLedger(path, constants.R_OK)) throw notLedger(path, 'is not there');
    try {
      return readable(path, busyMs);
    } catch (error) {
      // Where no file may be made beside it, SQLite reads it only if told that nobody can be writing it. A journal with
      // something in it would then be passed over, and newer events with it.
      const journal = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      if (journal > 0 || ![8, 14].includes(resultCode(error))) throw error;
      return readable(`${pathToFileURL(path).href}?immutable=1`, busyMs);
    }
  } catch (error) {
    throw storeFault(error, path);
  }
}

/** Gives a ledger its namespace, once: one that was made before there were any gets it when it is next opened. */
function nameIt(db: DatabaseSyncInstance, id: string): void {
  if (db.prepare("select 1 from sqlite_schema where name = 'namespace'").get() !== undefined) return;
  db.exec('begin immediate');
  try {
    db.exec(namespace);
    db.prepare('insert or ignore into namespace values (1, ?, 0)').run(id);
    db.exec('commit');
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    throw error;
  }
}

function readable(place: string, busyMs: number): DatabaseSyncInstance {
  const db = new DatabaseSync(place, { readOnly: true, timeout: busyMs, enableForeignKeyConstraints: false });
  try {
    // The first read is what fails where the file cannot be read in its mode.
    db.exec('select count(*) from sqlite_schema');
    // It is not ours to name: a file without a namespace gets one for this look, beside it in memory.
    if (db.prepare("select 1 from sqlite_schema where name = 'namespace'").get() === undefined)
      db.exec(
        `${namespace.replace('create table', 'create temp table')} insert into namespace values (1, '', 0)`,
      );
    db.exec('pragma busy_timeout = 0');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** False if nothing is there. The header is read as plain bytes, because SQLite may write to what it opens. */
function isLedger(path: string, rights = constants.R_OK | constants.W_OK): boolean {
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false });
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) {
    // A new file beside an old journal would be filled from it.
    if (wal !== undefined && wal.size > 0) throw damaged(path, 'is missing, but its journal (-wal) is there');
    return false;
  }
  if (!file.isFile()) throw notLedger(path, file.isDirectory() ? 'is a folder' : 'is not a regular file');
  checkHeader(path, file, wal !== undefined && wal.size > 0);
  accessSync(path, rights);
  return true;
}

function checkHeader(path: string, file: Stats, journal: boolean): void {
  const header = Buffer.alloc(100);
  beginningOf(path, 100).copy(header);
  if (file.size === 0) throw damaged(path, 'is empty');
  if (header.every((byte) => byte === 0)) throw damaged(path, 'begins with zeros');
  const magic = Buffer.from('SQLite format 3\0');
  if (file.size < 100 && magic.subarray(0, file.size).equals(header.subarray(0, Math.min(file.size, 16)))) {
    throw damaged(path, `was cut off after ${file.size} bytes`);
  }
  if (!header.subarray(0, 16).equals(magic)) throw notLedger(path, 'is not an SQLite file');
  if (header.readUInt32BE(68) !== ledgerMark) throw notLedger(path, 'is an SQLite file of another program');
  const version = header.readUInt32BE(60);
  if (version > schemaVersion) throw newer(path, version);
  // A page size of 1 stands for 65536.
  const pageBytes = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16);
  const bytes = pageBytes * header.readUInt32BE(28);
  if (file.size >= bytes) return;
  if (!journal) throw damaged(path, `has ${file.size} of ${bytes} bytes`);
  // After a kill in mid-checkpoint the journal still has the missing pages. SQLite can tell, and reading it writes nothing.
  const reader = new DatabaseSync(path, { readOnly: true, timeout: 1000 });
  try {
    const answer: unknown = Object.values(reader.prepare('pragma quick_check(1)').get() ?? {})[0];
    if (answer !== 'ok') throw damaged(path, `has ${file.size} of ${bytes} bytes`);
  } finally {
    reader.close();
  }
}

/** Made under another name and linked into place, so that nobody ever sees half of it and two makers do not clash. */
function create(path: string, draft: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    const db = new DatabaseSync(draft);
    try {
      db.exec(
        `pragma synchronous = full; pragma journal_mode = wal; begin;
        pragma application_id = ${ledgerMark}; pragma user_version = ${schemaVersion}; ${schema}; commit`,
      );
    } finally {
      db.close();
    }
    linkSync(draft, path);
    const descriptor = openSync(folder, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  } finally {
    for (const tail of ['', '-wal', '-shm']) rmSync(`${draft}${tail}`, { force: true });
  }
}

function damaged(path: string, found: string, cause?: unknown): LedgerError {
  return new LedgerError('ledger.damaged', `The ledger ${path} ${found}.`, {
    next: 'Set the file aside with its -wal and -shm files and restore a copy, or start with another --ledger.',
    details: { path },
    cause,
  });
}

function notLedger(path: string, found: string): LedgerError {
  return new LedgerError('ledger.not-a-ledger', `Expected a ledger of Writ, but ${path} ${found}.`, {
    next: 'Name another file with --ledger.',
    details: { path },
  });
}

function newer(path: string, version: number): LedgerError {
  return new LedgerError(
    'ledger.newer-schema',
    `The ledger ${path} has schema ${version}; this Writ reads up to ${schemaVersion}.`,
    {
      next: 'Update Writ, or name another file with --ledger.',
      details: { path, version, known: schemaVersion },
    },
  );
}

// SQLite's primary result codes (https://www.sqlite.org/rescode.html) with its own texts for them: what the binding
// throws from `all` has no code.
const results: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'database table is locked': 6,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'file is not a database': 26,
};

function resultCode(error: unknown): number {
  const code = numberIn(error, 'sqliteCode') & 255;
  return code === 0 && error instanceof Error ? (results[error.message] ?? 0) : code;
}

/** True for "somebody else has it locked", which passes. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === 5 || code === 6;
}

/** Anything that SQLite or the disk threw, as a LedgerError; a LedgerError stays itself. */
export function storeFault(error: unknown, path: string): LedgerError {
  if (error instanceof LedgerError) return error;
  const extra = { details: { path }, cause: error };
  const errno = numberIn(error, 'systemErrno') || -numberIn(error, 'errno');
  const code = resultCode(error);
  if (code === 13 || errno === system.errno.ENOSPC || errno === system.errno.EDQUOT) {
    return new LedgerError('ledger.disk-full', `No room is left to write the ledger ${path}.`, {
      next: 'Free space on that disk, then resume the run.',
      ...extra,
    });
  }
  if (isBusy(error)) {
    return new LedgerError('ledger.busy', `Another process keeps the ledger ${path} locked.`, {
      next: 'End the process that has it locked, then try again.',
      ...extra,
    });
  }
  if (code === 11 || code === 26) return damaged(path, 'is inconsistent inside', error);
  const place = [
    'EACCES',
    'EPERM',
    'EROFS',
    'ENOTDIR',
    'ENOENT',
    'EEXIST',
    'ENAMETOOLONG',
    'ELOOP',
    'ENOTSUP',
  ];
  const isPlace = place.includes(systemCode(error) ?? '');
  if (isPlace || code === 8 || code === 14) {
    return new LedgerError('ledger.unwritable', `The ledger ${path} cannot be created or written.`, {
      next: 'Name a place you may write to with --ledger.',
      ...extra,
    });
  }
  return new LedgerError('ledger.store-failed', `The ledger ${path} could not be read or written.`, {
    next: 'Check the disk, then resume the run.',
    ...extra,
  });
}

function numberIn(error: unknown, field: string): number {
  const value: unknown = error instanceof Error ? Reflect.get(error, field) : undefined;
  return typeof value === 'number' ? value : 0;
}
