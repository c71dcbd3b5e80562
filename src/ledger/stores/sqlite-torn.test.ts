/** A journal that was cut off or overwritten by zeros: what stands before is whole, what follows is numbered on, nothing is glued. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { thisHolder } from '../holder.ts';
import { begin, notice } from '../store.cases.ts';
import { sqliteStore } from './sqlite.ts';

const count = 40;
// A journal has a head of 32 bytes, then frames: a head of 24 bytes and a page.
const frameBytes = 24 + 4096;

let folder: string;
let file: Buffer;
let journal: Buffer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'writ-torn-'));
  const path = join(folder, 'whole.sqlite');
  const store = sqliteStore({ path });
  const lease = await begin(store);
  for (let i = 1; i <= count; i += 1) await store.append(lease, [notice(`${i} ${'x'.repeat(300)}`)]);
  // As a kill leaves them: the journal has not gone into the file.
  file = readFileSync(path);
  journal = readFileSync(`${path}-wal`);
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let cases = 0;
async function after(torn: Buffer) {
  cases += 1;
  const path = join(folder, `${cases}.sqlite`);
  writeFileSync(path, file);
  writeFileSync(`${path}-wal`, torn);
  const store = sqliteStore({ path });
  try {
    const run = await store.run('run_a');
    if (run === undefined) return { kept: 0, run: false };
    const before = await store.events('run_a');
    expect(before.map((event) => ('text' in event ? String(event.text).split(' ')[0] : ''))).toEqual(
      before.map((_, i) => String(i + 1)),
    );
    await store.release({ run: 'run_a', epoch: 1, holder: thisHolder() });
    const lease = await store.acquire('run_a', 'test:1:1', 60_000);
    const added = await store.append(lease, [notice('next'), notice('and on')], { power: true });
    expect(added.map(({ seq }) => seq)).toEqual([before.length + 1, before.length + 2]);
    await store.close();
    const again = sqliteStore({ path });
    const events = await again.events('run_a');
    await again.close();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.at(-1)).toMatchObject({ text: 'and on' });
    return { kept: before.length, run: true };
  } finally {
    await store.close();
    const db = new DatabaseSync(path);
    expect(db.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
    db.close();
  }
}

const frames = () => Math.floor((journal.length - 32) / frameBytes);
const cutsAt = () => {
  const places = [];
  for (let frame = 3; frame < frames(); frame += 9)
    for (const within of [0, 1, 24, 2000, frameBytes - 1]) places.push(32 + frame * frameBytes + within);
  return places;
};

test('cut off anywhere, it holds exactly what stands before', async () => {
  let last = 0;
  for (const at of cutsAt()) {
    const { kept } = await after(journal.subarray(0, at));
    expect(kept).toBeGreaterThanOrEqual(last);
    last = kept;
  }
  expect([last > count / 2, last < count]).toEqual([true, true]);
  expect(await after(journal)).toEqual({ kept: count, run: true });
});

test('a tail of zeros is no record, in the journal or behind it', async () => {
  for (const at of cutsAt()) {
    const zeroed = Buffer.from(journal).fill(0, at);
    expect(await after(zeroed)).toEqual(await after(journal.subarray(0, at)));
  }
  const behind = Buffer.concat([journal, Buffer.alloc(3 * frameBytes)]);
  expect(await after(behind)).toEqual({ kept: count, run: true });
});

test('a frame that was written half over an older one ends the journal there', async () => {
  const at = 32 + (frames() - 2) * frameBytes + 700;
  const mixed = Buffer.from(journal);
  mixed.fill(0x55, at, at + 512);
  const { kept, run } = await after(mixed);
  expect(run).toBe(true);
  expect(kept).toBeLessThan(count);
});
