// CPU and peak memory of 1,000 runs of five turns, 200 of them at once: ours with both ledgers beside bare node:http and
// the AI SDK, on one loopback server.
import { measure, serve } from './measure.mjs';

const ways = ['http', 'generateText', 'writ, memory ledger', 'writ, SQLite ledger'];
const turns = 5;
const runs = 1000;
const atOnce = 200;
const rounds = 3;
/** What the memory ledger may take of what the AI SDK takes. */
const targets = { cpu: 0.4, memory: 0.65 };

export async function main() {
  console.log(
    `${runs} runs of ${turns} turns, ${atOnce} at once; medians of ${rounds} interleaved rounds, as ratios to generateText:\n`,
  );
  const server = await serve(turns);
  const found = measure(ways, { port: server.port, turns, runs, atOnce, warmUpTurns: 2000, rounds });
  server.stop();
  const sdk = found.generateText;
  const width = Math.max(...ways.map((way) => way.length));
  console.log(
    `${''.padEnd(width)}  ${['CPU per turn', 'peak memory', 'wall time'].map((head) => head.padStart(18)).join('')}`,
  );
  for (const way of ways) {
    const { cpuMs, peakMb, wallMs } = found[way];
    const cells = [
      `${cpuMs.toFixed(3)} ms (${(cpuMs / sdk.cpuMs).toFixed(2)})`,
      `${peakMb.toFixed(0)} MB (${(peakMb / sdk.peakMb).toFixed(2)})`,
      `${(wallMs / 1000).toFixed(1)} s (${(wallMs / sdk.wallMs).toFixed(2)})`,
    ];
    console.log(`${way.padEnd(width)}  ${cells.map((cell) => cell.padStart(18)).join('')}`);
  }
  const ours = found['writ, memory ledger'];
  console.log(
    `memory ledger: ${(ours.cpuMs / sdk.cpuMs).toFixed(2)} × the CPU of generateText (target ≤ ${targets.cpu}), ${(ours.peakMb / sdk.peakMb).toFixed(2)} × its memory (target ≤ ${targets.memory})`,
  );
}
