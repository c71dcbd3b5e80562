/** What a kill, a full disk or a lost write left at the end of the journal is told, once; what is only old is not taken for it. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { begin, notice, sessionRecord, testClock } from '../store.cases.ts';
import { sqliteStore } from './sqlite.ts';

const frameBytes = 24 + 4096;
const clock = testClock();

let folder: string;
let file: Buffer;
let journal: Buffer;
let cases = 0;
const next = () => join(folder, `${++cases}.sqlite`);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'writ-tail-'));
  const path = next();
  const store = sqliteStore({ path });
  const lease = await begin(store);
  for (let i = 1; i <= 12; i += 1) await store.append(lease, [notice(`${i} ${'x'.repeat(300)}`)]);
  file = readFileSync(path);
  journal = readFileSync(`${path}-wal`);
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What three openings in a row tell, each after the one before wrote something, and a look without writing. */
async function told(bytes: Uint8Array) {
  const path = next();
  writeFileSync(path, file);
  writeFileSync(`${path}-wal`, bytes);
  const answers = [];
  for (let i = 0; i < 3; i += 1) {
    const store = sqliteStore({ path, clock });
    answers.push(await store.torn());
    await store.createSession(sessionRecord(`session_${i}`), []);
    await store.close();
  }
  const reader = sqliteStore({ path, readOnly: true });
  answers.push(await reader.torn());
  await reader.close();
  expect(answers.slice(1)).toEqual(answers.slice(0, -1));
  return answers[0];
}

const tail = (bytes: number, found: 'torn' | 'zeros') => [{ at: clock.now(), bytes, found }];

test('a whole journal has none, and so has one that was closed', async () => {
  expect(await told(journal)).toEqual([]);
  expect(await told(new Uint8Array())).toEqual([]);
});

test('a record that was not written to its end', async () => {
  const frames = (journal.length - 32) / frameBytes;
  for (const within of [1, 24, 700, frameBytes - 1]) {
    const cut = 32 + (frames - 1) * frameBytes + within;
    const found = await told(journal.subarray(0, cut));
    expect(found).toEqual(tail(found?.[0]?.bytes ?? 0, 'torn'));
    // The frames before it that belong to the same record are no whole record either.
    expect((found?.[0]?.bytes ?? 0) % frameBytes).toBe(within);
  }
});

test('a record that was written half over', async () => {
  const mixed = Buffer.from(journal);
  mixed.fill(0x55, journal.length - 900, journal.length - 400);
  const found = await told(mixed);
  expect(found).toEqual(tail(found?.[0]?.bytes ?? 0, 'torn'));
});

test('zeros', async () => {
  expect(await told(Buffer.concat([journal, Buffer.alloc(3 * frameBytes)]))).toEqual(
    tail(3 * frameBytes, 'zeros'),
  );
  expect(await told(Buffer.alloc(500))).toEqual(tail(500, 'zeros'));
});

test('a journal whose head is gone', async () => {
  expect(await told(journal.subarray(0, 20))).toEqual(tail(20, 'torn'));
  const headless = Buffer.from(journal);
  headless.fill(0x55, 0, 32);
  expect(await told(headless)).toEqual(tail(journal.length, 'torn'));
});

test('what is left of an older journal behind a newer one is none', async () => {
  const path = next();
  const store = sqliteStore({ path });
  const lease = await begin(store);
  for (let i = 1; i <= 30; i += 1) await store.append(lease, [notice('x'.repeat(300))]);
  const db = new DatabaseSync(path);
  db.exec('pragma wal_checkpoint(restart)');
  db.close();
  await store.append(lease, [notice('begun anew')]);
  const copy = next();
  copyFileSync(path, copy);
  copyFileSync(`${path}-wal`, `${copy}-wal`);
  await store.close();
  const after = sqliteStore({ path: copy });
  expect(await after.torn()).toEqual([]);
  expect((await after.events('run_a')).at(-1)).toMatchObject({ text: 'begun anew' });
  await after.close();
});

test('beside a process that is at work nothing is taken for torn, and nobody is waited for', async () => {
  const path = next();
  const store = sqliteStore({ path });
  const lease = await begin(store);
  for (let i = 1; i <= 20; i += 1) {
    await store.append(lease, [notice(`${i}`)]);
    const other = sqliteStore({ path });
    expect(await other.torn()).toEqual([]);
    await other.close();
  }
  const writer = new DatabaseSync(path);
  writer.exec('begin immediate');
  const other = sqliteStore({ path, busyMs: 5_000 });
  expect(await other.torn()).toEqual([]);
  writer.exec('rollback');
  writer.close();
  await other.close();
  await store.close();
});
