import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../digest.ts';
import { begin, notice } from '../store.cases.ts';
import { sqliteStore } from './sqlite.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-group-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a write that breaks in the middle leaves nothing and costs its neighbours nothing', async () => {
  const store = sqliteStore({ path: join(folder, 'broken.sqlite') });
  const lease = await begin(store);
  const unbindable = { digest: sha256('x'), bytes: { not: 'bytes' } as unknown as string };
  const results = await Promise.allSettled([
    store.append(lease, [notice('a')]),
    store.append(lease, [notice('never')], { blobs: [unbindable] }),
    store.append(lease, [notice('b')], { power: true }),
  ]);
  expect(results).toEqual([
    { status: 'fulfilled', value: [expect.objectContaining({ seq: 1, text: 'a' })] },
    { status: 'rejected', reason: expect.objectContaining({ code: 'ledger.store-failed' }) },
    { status: 'fulfilled', value: [expect.objectContaining({ seq: 2, text: 'b' })] },
  ]);
  expect((await store.events('run_a')).map((event) => 'text' in event && event.text)).toEqual(['a', 'b']);
  await store.close();
});

test('all that waits at one turn of the event loop is one transaction', async () => {
  const path = join(folder, 'turn.sqlite');
  const store = sqliteStore({ path });
  const other = sqliteStore({ path });
  const lease = await begin(store);
  const appends = Array.from({ length: 50 }, (_, i) => store.append(lease, [notice(`${i}`)]));
  const seen = new Set<number>();
  let waiting = true;
  const all = Promise.all(appends).then(() => {
    waiting = false;
  });
  while (waiting) {
    seen.add((await other.events('run_a')).length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await all;
  expect([...seen].filter((count) => count > 0 && count < 50)).toEqual([]);
  expect(await other.events('run_a')).toHaveLength(50);
  await Promise.all([store.close(), other.close()]);
});
