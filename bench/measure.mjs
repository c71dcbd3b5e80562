// What benchmarks of tool loops share: the loopback server, and each way measured in a process of its own.
import { execFileSync, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** A server that asks for one call a turn and answers in turn number `turns`. */
export async function serve(turns) {
  const server = fork(here('./loopback-server.mjs'), [String(turns)]);
  const { port } = await new Promise((resolve) => server.once('message', resolve));
  return { port, stop: () => server.kill() };
}

/**
 * Measures each way `rounds` times and returns the medians by way. The rounds are interleaved, so that a slow moment of
 * the machine does not fall on one way alone.
 */
export function measure(ways, { port, turns, runs, atOnce, warmUpTurns, rounds }) {
  const taken = new Map(ways.map((way) => [way, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const way of ways) {
      const words = [way, port, turns, runs, atOnce, warmUpTurns].map(String);
      const out = execFileSync(process.execPath, [here('./turn-loops.mjs'), ...words], { encoding: 'utf8' });
      taken.get(way).push(JSON.parse(out));
    }
  }
  const median = (list, name) => list.map((one) => one[name]).sort((a, b) => a - b)[(rounds - 1) >> 1];
  return Object.fromEntries(
    [...taken].map(([way, list]) => [
      way,
      { cpuMs: median(list, 'cpuMs'), wallMs: median(list, 'wallMs'), peakMb: median(list, 'peakMb') },
    ]),
  );
}
