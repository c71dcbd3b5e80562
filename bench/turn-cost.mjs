// CPU per turn of a tool loop: ours with both ledgers beside a hand-written loop and the AI SDK, on one loopback server.
import { execFileSync, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const ways = ['http', 'fetch', 'generateText', 'writ, memory ledger', 'writ, SQLite ledger'];
const rounds = 3;

async function serve(turns) {
  const server = fork(here('./loopback-server.mjs'), [String(turns)]);
  const [{ port }] = await new Promise((resolve) => server.once('message', (message) => resolve([message])));
  return { port, stop: () => server.kill() };
}

/** Medians over interleaved rounds, so that a slow moment of the machine does not fall on one way alone. */
export async function turnCost() {
  const rows = [];
  for (const turns of [1, 10, 50]) {
    const server = await serve(turns);
    const runs = Math.ceil(600 / turns);
    const taken = new Map(ways.map((way) => [way, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const way of ways) {
        const out = execFileSync(
          process.execPath,
          [here('./turn-loops.mjs'), way, String(server.port), String(turns), String(runs)],
          { encoding: 'utf8' },
        );
        taken.get(way).push(JSON.parse(out));
      }
    }
    server.stop();
    rows.push({
      turns,
      ms: Object.fromEntries([...taken].map(([way, list]) => [way, list.sort((a, b) => a - b)[1]])),
    });
  }
  return rows;
}

export async function main() {
  console.log('CPU milliseconds per turn (median of 3 interleaved rounds), and as a ratio to bare fetch:\n');
  const rows = await turnCost();
  const width = Math.max(...ways.map((way) => way.length));
  console.log(`${''.padEnd(width)}  ${rows.map((row) => `${row.turns} turns`.padStart(16)).join('')}`);
  for (const way of ways) {
    const cells = rows.map(({ ms }) =>
      `${ms[way].toFixed(3)} (${(ms[way] / ms.fetch).toFixed(2)})`.padStart(16),
    );
    console.log(`${way.padEnd(width)}  ${cells.join('')}`);
  }
  for (const { turns, ms } of rows) {
    const memory = ms['writ, memory ledger'];
    console.log(
      `${turns} turns: memory ledger ${(memory / ms.fetch).toFixed(2)} × fetch (target ≤ 1), ${(memory / ms.generateText).toFixed(2)} × generateText (target ≤ 0.33); ` +
        `SQLite ledger ${(ms['writ, SQLite ledger'] / ms.generateText).toFixed(2)} × generateText (target < 1)`,
    );
  }
}
