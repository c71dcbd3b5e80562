// What a ledger costs: events appended per second, against bare inserts of the same bytes into the same SQLite with the same
// durability. One at a time each waits for the one before; at once, 64 are waiting and share a transaction.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { memoryStore, openLedger, sqliteStore, thisHolder } from '../dist/index.js';

const rounds = 5;
const atOnce = 64;
const event = (i) => ({
  type: 'tool-call',
  turn: 1,
  position: i,
  callId: `call_${i}`,
  tool: 'project_read',
  arguments: `{"path":"notes/${i}.txt","note":"${'x'.repeat(150)}"}`,
});

export async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  let made = 0;
  const path = () => join(folder, `${++made}.sqlite`);
  const ledger = (power) => ledgerOn(() => sqliteStore({ path: path() }), power);
  const cases = [
    [
      'process-safe, one at a time',
      3_000,
      { 'bare insert': bare(path, 'normal', 1), ledger: ledger(false) },
      1,
    ],
    [
      'process-safe, 64 at once',
      12_000,
      { 'bare insert': bare(path, 'normal', atOnce), ledger: ledger(false) },
      atOnce,
    ],
    ['power-safe, one at a time', 400, { 'bare insert': bare(path, 'full', 1), ledger: ledger(true) }, 1],
    [
      'power-safe, 64 at once',
      6_000,
      { 'bare insert': bare(path, 'full', atOnce), ledger: ledger(true) },
      atOnce,
    ],
    ['in memory, 64 at once', 20_000, { ledger: ledgerOn(() => memoryStore(), false) }, atOnce],
  ];
  try {
    for (const [name, count, ways, group] of cases) {
      const taken = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
      // Interleaved, so that a slow moment of the machine does not fall on one way alone.
      for (let round = -1; round < rounds; round += 1)
        for (const [way, run] of Object.entries(ways)) {
          const ms = await run(count, group);
          if (round >= 0) taken[way].push(count / (ms / 1000));
        }
      const middle = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
      const rates = Object.entries(taken).map(([way, list]) => [way, middle(list)]);
      const [[, first]] = rates;
      const shown = rates.map(([way, rate]) => `${way} ${Math.round(rate).toLocaleString('en-US')}/s`);
      const ratio = rates.length === 1 ? '' : `, ${(rates[1][1] / first).toFixed(2)} x bare`;
      console.log(`${name.padEnd(30)} ${shown.join(', ')}${ratio}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Inserts with the ledger's own table and settings, so many in a transaction, and nothing else. */
function bare(path, synchronous, group) {
  return async (count) => {
    const db = new DatabaseSync(path());
    db.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}; pragma secure_delete = on;
      create table event (run text not null, seq integer not null, at integer not null, epoch integer not null,
        type text not null, body text not null, primary key (run, seq)) without rowid, strict`);
    const [begin, insert, commit] = [
      'begin immediate',
      'insert into event values (?, ?, ?, ?, ?, ?)',
      'commit',
    ].map((sql) => db.prepare(sql));
    const before = performance.now();
    for (let i = 0; i < count; i += group) {
      begin.run();
      for (let at = i; at < Math.min(i + group, count); at += 1)
        insert.run('run_a', at + 1, Date.now(), 1, 'tool-call', JSON.stringify(event(at)));
      commit.run();
    }
    const ms = performance.now() - before;
    db.close();
    return ms;
  };
}

function ledgerOn(open, power) {
  return async (count, group) => {
    const ledger = openLedger({ store: open(), secrets: [{ name: 'KEY', value: 'canary-of-a-benchmark' }] });
    const digest = 'd'.repeat(64);
    await ledger.createSession(
      {
        ...{
          id: 's',
          createdAt: 1,
          agent: 'a',
          harness: 'native',
          model: null,
          capabilities: [],
          origin: {},
        },
        ...{ prompt: digest, composition: digest, projection: digest },
      },
      [],
    );
    await ledger.createRun({ id: 'run_a', session: 's', createdAt: 1, index: 1, parent: null });
    const lease = await ledger.acquire('run_a', thisHolder(), 600_000);
    const before = performance.now();
    for (let i = 0; i < count; i += group) {
      const waiting = [];
      for (let at = i; at < Math.min(i + group, count); at += 1)
        waiting.push(ledger.append(lease, [event(at)], { power }));
      await Promise.all(waiting);
    }
    const ms = performance.now() - before;
    await ledger.close();
    return ms;
  };
}
