/**
 * A child of tests: `LEDGER COUNTER`. Adds a line to the counter file as a once-effect and writes the outcome as JSON.
 * With STOP_AT it is killed at that point of the effect's life.
 */
import { appendFileSync, writeSync } from 'node:fs';
import { thisHolder } from '../ledger/holder.ts';
import { sqliteStore } from '../ledger/stores/sqlite.ts';
import { effectsOf } from './effects.ts';
import { effectCall } from './record.cases.ts';
import { runEffect } from './run-effect.ts';

const [path = '', counter = ''] = process.argv.slice(2);

function point(name: 'before-dispatch' | 'dispatched' | 'acted' | 'observed'): void {
  if (process.env.STOP_AT === name) process.kill(process.pid, 'SIGKILL');
}

const store = sqliteStore({ path });
const lease = await store.acquire('run_a', thisHolder(), 60_000);
const { id } = await store.namespace();
const view = effectsOf(await store.events('run_a'), new Map(), id);
const outcome = await runEffect({
  store: id,
  run: 'run_a',
  view: () => view,
  call: effectCall(),
  async record(events, options) {
    if (events[0]?.type === 'effect-dispatch') point('before-dispatch');
    await store.append(lease, events, options);
    point(events[0]?.type === 'effect-observe' ? 'observed' : 'dispatched');
  },
  recall: (digest) => store.blob(digest),
  async dispatch() {
    appendFileSync(counter, 'acted\n');
    point('acted');
    return { status: 'succeeded', text: 'acted', truncated: false, bytes: 5 };
  },
  signal: new AbortController().signal,
  settleGraceMs: 1000,
});
await store.close();
writeSync(1, `${JSON.stringify(outcome)}\n`);
