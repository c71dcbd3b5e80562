// CPU per turn of a tool loop: ours with both ledgers beside a hand-written loop and the AI SDK, on one loopback server.
import { measure, serve } from './measure.mjs';

const ways = ['http', 'fetch', 'generateText', 'writ, memory ledger', 'writ, SQLite ledger'];
/** So many turns warm a process up before it is measured: with fewer the compiler's luck decides. */
const warmUpTurns = 2000;
const measuredTurns = 1000;
const rounds = 3;

/** One row for each length of a run. */
export async function turnCost() {
  const rows = [];
  for (const turns of [1, 10, 50]) {
    const server = await serve(turns);
    const runs = Math.ceil(measuredTurns / turns);
    rows.push({
      turns,
      ways: measure(ways, { port: server.port, turns, runs, atOnce: 1, warmUpTurns, rounds }),
    });
    server.stop();
  }
  return rows;
}

export async function main() {
  console.log(
    `CPU milliseconds per turn (median of ${rounds} interleaved rounds), and as a ratio to bare fetch:\n`,
  );
  const rows = (await turnCost()).map(({ turns, ways: found }) => ({
    turns,
    ms: Object.fromEntries(ways.map((way) => [way, found[way].cpuMs])),
  }));
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
