/**
 * A child of tests: `LEDGER RUN APPENDS [contended]`. Appends groups of two events to its run and reports each
 * acknowledged number on its output. Where the run is contended it takes the lease anew for each group.
 */
import { writeSync } from 'node:fs';
import { systemClock } from '../../clock.ts';
import { sha256 } from '../../digest.ts';
import type { EventBody } from '../../protocol/events.ts';
import { LedgerError } from '../errors.ts';
import { thisHolder } from '../holder.ts';
import type { Lease } from '../store.ts';
import { sqliteStore } from './sqlite.ts';

const [path = '', run = '', appends = '0', mode] = process.argv.slice(2);
const store = sqliteStore({ path, busyMs: 30_000 });

async function take(): Promise<Lease> {
  for (;;) {
    try {
      return await store.acquire(run, thisHolder(), 60_000);
    } catch (error) {
      if (!(error instanceof LedgerError && error.code === 'ledger.lease-held')) throw error;
      await systemClock.sleep(systemClock.random() * 5);
    }
  }
}

try {
  let lease = await take();
  for (let i = 0; i < Number(appends); i += 1) {
    if (mode === 'contended' && i > 0) lease = await take();
    const text = `${process.pid} ${i} ${'x'.repeat(500)}`;
    const pair: EventBody[] = [
      { type: 'notice', code: 'first', text },
      { type: 'notice', code: 'second', text },
    ];
    const blobs = [{ digest: sha256(text), bytes: text }];
    const stored = await store.append(lease, pair, { blobs, power: i % 10 === 0 });
    // Synchronous, so that a kill cannot swallow an acknowledgement that was already given.
    for (const { seq } of stored) writeSync(1, `${seq}\n`);
    if (mode === 'contended') await store.release(lease);
  }
  await store.close();
} catch (error) {
  writeSync(2, error instanceof LedgerError ? `${error.code} ${error.next}\n` : `${error}\n`);
  await store.close();
  process.exitCode = 1;
}
