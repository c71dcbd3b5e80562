/** The end of a journal that holds no whole record: seen when the ledger is opened, and noted before it is written over. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { TornTail } from '../store.ts';
import { beginningOf } from './locked-file.ts';

// Made only where something was found, so that no whole ledger has it.
const table = `
  create table if not exists torn (journal text not null primary key, at integer not null, bytes integer not null, found text not null) strict;
`;

/**
 * Notes what stands behind the last whole record of the journal. Whoever has the file open has done so when they opened it,
 * so nobody is waited for; and a ledger that cannot be written to is opened all the same.
 */
export function noteTornTail(db: DatabaseSyncInstance, path: string, at: number): void {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  try {
    // With the lock nobody is in the middle of a record.
    db.exec('pragma busy_timeout = 0; begin immediate');
    const tail = tailOf(path);
    if (tail === undefined) {
      db.exec('rollback');
      return;
    }
    db.exec(table);
    const { journal, bytes, found } = tail;
    db.prepare('insert or ignore into torn values (?, ?, ?, ?)').run(journal, at, bytes, found);
    // What is left of the tail behind this very record must not be found again.
    db.exec('commit; pragma wal_checkpoint(truncate)');
  } catch {
    if (db.isTransaction) db.exec('rollback');
  }
}

/** All that was ever noted, oldest first. */
export function tornTails(db: DatabaseSyncInstance): readonly TornTail[] {
  if (db.prepare("select 1 from sqlite_schema where name = 'torn'").get() === undefined) return [];
  const rows: readonly TornTail[] = db.prepare('select at, bytes, found from torn order by at').all();
  return rows.map(({ at, bytes, found }) => ({ at, bytes, found }));
}

// https://www.sqlite.org/walformat.html: a journal has a head of 32 bytes, then frames, each a head of 24 bytes and a page.
// The index beside it says how many of them SQLite takes for whole, and the salt that these bear.
const headBytes = 32;
const frameHeadBytes = 24;
/** A journal is begun anew under the next salt; what is left of it from before bears an older one. */
const olderMax = 2 ** 20;

function tailOf(
  path: string,
): (Pick<TornTail, 'bytes' | 'found'> & { readonly journal: string }) | undefined {
  const index = beginningOf(`${path}-shm`, 40);
  const head = bytesOf(`${path}-wal`, 0, headBytes);
  if (index.length < 40) return undefined;
  const salt = index.subarray(32, 40);
  const size = statSync(`${path}-wal`).size;
  const whole = isHead(head, salt)
    ? headBytes + nativeNumber(index, 16) * (frameHeadBytes + head.readUInt32BE(8))
    : 0;
  if (size <= whole) return undefined;
  const next = whole === 0 ? head : bytesOf(`${path}-wal`, whole, frameHeadBytes);
  const found = next.length >= frameHeadBytes && next.every((byte) => byte === 0) ? 'zeros' : 'torn';
  const bears = whole === 0 ? next.subarray(16, 24) : next.subarray(8, 16);
  if (found === 'torn' && bears.length === 8 && isOlder(bears, salt)) return undefined;
  return { bytes: size - whole, found, journal: `${salt.toString('hex')}:${size}` };
}

function isHead(head: Buffer, salt: Buffer): boolean {
  return (
    head.length === headBytes &&
    head.readUInt32BE(0) >>> 1 === 0x377f0682 >>> 1 &&
    head.subarray(16, 24).equals(salt)
  );
}

function isOlder(bears: Buffer, salt: Buffer): boolean {
  const steps = (salt.readUInt32BE(0) - bears.readUInt32BE(0)) >>> 0;
  return steps > 0 && steps < olderMax;
}

/** The index is of this machine, and in its order of bytes. */
function nativeNumber(bytes: Buffer, at: number): number {
  return endianness() === 'LE' ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
}

// Nothing locks the journal itself.
function bytesOf(path: string, from: number, count: number): Buffer {
  const bytes = Buffer.alloc(count);
  const descriptor = openSync(path, 'r');
  try {
    return bytes.subarray(0, readSync(descriptor, bytes, 0, count, from));
  } finally {
    closeSync(descriptor);
  }
}
