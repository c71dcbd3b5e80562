/** Which files are opened, how they are made, and that what is not ours is left exactly as it was. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../digest.ts';
import { begin, notice, sessionRecord } from '../store.cases.ts';
import { sqliteStore } from './sqlite.ts';

let root: string;
let folder: string;
let path: string;
let whole: Buffer;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'writ-file-'));
  whole = await ledgerBytes(join(root, 'whole.sqlite'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  folder = mkdtempSync(join(root, 'case-'));
  path = join(folder, 'ledger.sqlite');
});

/** A closed ledger with a few hundred events. */
async function ledgerBytes(at: string): Promise<Buffer> {
  const store = sqliteStore({ path: at });
  const lease = await begin(store);
  await store.append(
    lease,
    Array.from({ length: 300 }, (_, i) => notice(`${i} ${'x'.repeat(200)}`)),
  );
  await store.close();
  return readFileSync(at);
}

function sqliteFile(sql: string): Buffer {
  const file = join(folder, 'made.sqlite');
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
  const bytes = readFileSync(file);
  rmSync(file);
  return bytes;
}

const files: readonly [what: string, code: string, found: RegExp, bytes: () => Buffer | string][] = [
  ['a text file', 'ledger.not-a-ledger', /not an SQLite file/, () => 'notes of mine\n'.repeat(50)],
  ['a short text file', 'ledger.not-a-ledger', /not an SQLite file/, () => 'x'],
  [
    "another program's database",
    'ledger.not-a-ledger',
    /another program/,
    () => sqliteFile('create table t (a); insert into t values (1)'),
  ],
  [
    'a newer ledger',
    'ledger.newer-schema',
    /schema 99; this Writ reads up to 1/,
    () => sqliteFile('pragma application_id = 0x57524954; pragma user_version = 99; create table t (a)'),
  ],
  ['an empty file', 'ledger.damaged', /is empty/, () => ''],
  ['zeros', 'ledger.damaged', /begins with zeros/, () => Buffer.alloc(8192)],
  ['a ledger cut in its header', 'ledger.damaged', /cut off after 60 bytes/, () => whole.subarray(0, 60)],
  ['a ledger cut in the middle', 'ledger.damaged', /has 20000 of \d+ bytes/, () => whole.subarray(0, 20_000)],
  [
    'a ledger without its tables',
    'ledger.damaged',
    /inconsistent/,
    () => Buffer.concat([whole.subarray(0, 100), Buffer.alloc(whole.length - 100)]),
  ],
];

test.each(files)('%s is refused as %s and stays as it was', (_what, code, found, bytes) => {
  writeFileSync(path, bytes());
  const before = [sha256(readFileSync(path)), statSync(path).mtimeMs];
  expect(() => sqliteStore({ path })).toThrow(
    expect.objectContaining({
      name: 'LedgerError',
      code,
      message: expect.stringMatching(found),
      next: expect.any(String),
    }),
  );
  expect([sha256(readFileSync(path)), statSync(path).mtimeMs]).toEqual(before);
  expect(readdirSync(folder)).toEqual(['ledger.sqlite']);
});

test('a cut ledger beside a journal stays as it was, journal included', async () => {
  const live = sqliteStore({ path });
  const lease = await begin(live);
  await live.append(
    lease,
    Array.from({ length: 300 }, () => notice('x'.repeat(200))),
  );
  const db = new DatabaseSync(path);
  db.exec('pragma wal_checkpoint(truncate)');
  db.close();
  await live.append(lease, [notice('in the journal only')]);
  const copy = join(folder, 'copy.sqlite');
  for (const tail of ['', '-wal']) writeFileSync(`${copy}${tail}`, readFileSync(`${path}${tail}`));
  await live.close();
  truncateSync(copy, 20_000);
  const bytes = () => ['', '-wal'].map((tail) => sha256(readFileSync(`${copy}${tail}`)));
  const before = bytes();
  expect(() => sqliteStore({ path: copy })).toThrow(expect.objectContaining({ code: 'ledger.damaged' }));
  expect(bytes()).toEqual(before);
});

test('a journal without its file is not taken into a new one', () => {
  writeFileSync(`${path}-wal`, 'left over');
  expect(() => sqliteStore({ path })).toThrow(expect.objectContaining({ code: 'ledger.damaged' }));
  expect([existsSync(path), readFileSync(`${path}-wal`, 'utf8')]).toEqual([false, 'left over']);
});

test('a folder is refused', () => {
  mkdirSync(path);
  expect(() => sqliteStore({ path })).toThrow(
    expect.objectContaining({ code: 'ledger.not-a-ledger', message: expect.stringContaining('is a folder') }),
  );
});

test('what is neither file nor folder is refused, not waited for', () => {
  expect(() => sqliteStore({ path: '/dev/null' })).toThrow(
    expect.objectContaining({ code: 'ledger.not-a-ledger' }),
  );
});

test('a place where nothing can be made is a typed error', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => sqliteStore({ path: join(folder, 'file', 'ledger.sqlite') })).toThrow(
    expect.objectContaining({ code: 'ledger.unwritable', next: expect.any(String) }),
  );
  expect(readdirSync(folder)).toEqual(['file']);
});

test('a new ledger and its folders are for their owner only, and nothing else is left there', async () => {
  const deep = join(folder, 'a', 'b', 'ledger.sqlite');
  const store = sqliteStore({ path: deep });
  await begin(store);
  const modes = [dirname(dirname(deep)), dirname(deep), deep, `${deep}-wal`].map(
    (at) => statSync(at).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o700, 0o600, 0o600]);
  await store.close();
  expect(readdirSync(dirname(deep)).filter((name) => !name.startsWith('ledger.sqlite'))).toEqual([]);
});

test('after close the file alone holds everything', async () => {
  const bytes = await ledgerBytes(path);
  const copy = join(folder, 'copy.sqlite');
  writeFileSync(copy, bytes);
  const store = sqliteStore({ path: copy });
  expect(await store.events('run_a')).toHaveLength(300);
  await store.close();
});

test('what was forgotten is gone from the bytes', async () => {
  const store = sqliteStore({ path });
  const lease = await begin(store);
  const text = 'a private sentence';
  await store.append(lease, [notice(text)], { blobs: [{ digest: sha256(text), bytes: text }] });
  await store.release(lease);
  await store.forget('session_a');
  const stored = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
  expect(stored.some((bytes) => bytes.includes(text))).toBe(false);
  await store.close();
});

test('a ledger from before there were namespaces gets one when it is written, and can be looked at without', async () => {
  await ledgerBytes(path);
  const db = new DatabaseSync(path);
  db.exec('drop table namespace');
  db.close();
  const reader = sqliteStore({ path, readOnly: true });
  expect(await reader.namespace()).toEqual({ id: '', epoch: 0 });
  expect(await reader.events('run_a')).toHaveLength(300);
  await reader.close();
  const [a, b] = [sqliteStore({ path }), sqliteStore({ path })];
  expect((await a.namespace()).id).toMatch(/^ledger_/);
  expect(await b.namespace()).toEqual(await a.namespace());
  await Promise.all([a.close(), b.close()]);
});

test('two makers at once share one file', async () => {
  const [a, b] = [sqliteStore({ path }), sqliteStore({ path })];
  await begin(a);
  expect(await b.run('run_a')).toBeDefined();
  await Promise.all([a.close(), b.close()]);
});

test('damage that shows only in use is a typed error', async () => {
  const bytes = Buffer.from(whole);
  // Everything behind the first pages, where the schema lies, is overwritten.
  bytes.fill(0xff, 4096 * 12);
  writeFileSync(path, bytes);
  const store = sqliteStore({ path });
  await expect(store.events('run_a')).rejects.toMatchObject({
    ...{ name: 'LedgerError', code: 'ledger.damaged' },
    next: expect.stringContaining('restore a copy'),
  });
  await store.close();
});

describe('a store to look only', () => {
  test('reads all, beside one that writes, and refuses to write', async () => {
    const writer = sqliteStore({ path });
    const lease = await begin(writer);
    const reader = sqliteStore({ path, readOnly: true });
    await writer.append(lease, [notice('newest')]);
    expect(await reader.events('run_a')).toMatchObject([{ text: 'newest' }]);
    const refused = expect.objectContaining({ name: 'LedgerError', code: 'ledger.unwritable' });
    await expect(reader.append(lease, [notice('x')])).rejects.toEqual(refused);
    await expect(reader.createSession(sessionRecord('session_b'), [])).rejects.toEqual(refused);
    await reader.close();
    await writer.close();
  });

  test('makes nothing where nothing is', () => {
    expect(() => sqliteStore({ path, readOnly: true })).toThrow(
      expect.objectContaining({
        code: 'ledger.not-a-ledger',
        message: expect.stringContaining('is not there'),
      }),
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test('takes no file of another program', () => {
    new DatabaseSync(path).exec('create table t (a)');
    expect(() => sqliteStore({ path, readOnly: true })).toThrow(
      expect.objectContaining({ code: 'ledger.not-a-ledger' }),
    );
  });
});
