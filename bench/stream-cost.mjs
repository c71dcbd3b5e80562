// CPU of one streamed turn of 2,000 small deltas: ours beside a hand-written loop and the AI SDK, on one loopback server.
import { execFileSync, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const ways = ['http', 'writ, model', 'writ, model, Anthropic', 'writ, whole run', 'streamText'];
const rounds = 3;
const runs = 60;

/** Medians over interleaved rounds, so that a slow moment of the machine does not fall on one way alone. */
export async function streamCost() {
  const server = fork(here('./stream-server.mjs'));
  const { port } = await new Promise((resolve) => server.once('message', resolve));
  const taken = new Map(ways.map((way) => [way, []]));
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const way of ways) {
        const args = [here('./stream-loops.mjs'), way, String(port), String(runs)];
        taken.get(way).push(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })));
      }
    }
  } finally {
    server.kill();
  }
  return Object.fromEntries([...taken].map(([way, list]) => [way, list.sort((a, b) => a - b)[1]]));
}

export async function main() {
  console.log(
    'CPU milliseconds of a streamed turn of 2,000 deltas (median of 3 interleaved rounds), and as a ratio to bare node:http:\n',
  );
  const ms = await streamCost();
  const width = Math.max(...ways.map((way) => way.length));
  for (const way of ways) {
    console.log(
      `${way.padEnd(width)}  ${`${ms[way].toFixed(2)} (${(ms[way] / ms.http).toFixed(2)})`.padStart(16)}`,
    );
  }
  console.log(
    `whole run ${(ms['writ, whole run'] / ms.http).toFixed(2)} × bare node:http (target ≤ 2), ${(ms['writ, whole run'] / ms.streamText).toFixed(2)} × streamText`,
  );
}
