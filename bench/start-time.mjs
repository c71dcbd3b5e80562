// What `writ --version` takes beside bare node, wall time, medians of interleaved starts.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url));
const time = (args) => {
  const started = process.hrtime.bigint();
  spawnSync(process.execPath, args);
  return Number(process.hrtime.bigint() - started) / 1e6;
};

export async function main() {
  const bare = [];
  const ours = [];
  for (let i = 0; i < 21; i += 1) {
    bare.push(time(['-e', '0']));
    ours.push(time([bin, '--version']));
  }
  const median = (list) => list.sort((a, b) => a - b)[10];
  const [floor, version] = [median(bare), median(ours)];
  console.log(
    `writ --version ${version.toFixed(1)} ms, bare node ${floor.toFixed(1)} ms: ${(version - floor).toFixed(1)} ms above it (target ≤ 30), ratio ${(version / floor).toFixed(2)}`,
  );
}
