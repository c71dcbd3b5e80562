// Enumerating sixteen boolean facts in one group, unknown included: 3^16 points, beside a bare count to that number.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAgent, spaceOf, vocabulary } from '../dist/index.js';

const facts = Array.from({ length: 16 }, (_, i) => `f${i}`);
const pairs = Array.from({ length: 8 }, (_, i) => [`f${2 * i}`, `f${2 * i + 1}`]);
const links = {
  'a pair or another': pairs.map(([a, b]) => `(${a} && ${b})`).join(' || '),
  parity: facts.reduce((all, one) => `(${all} != ${one})`),
  'pairs that agree': pairs.map(([a, b]) => `${a} == ${b}`).join(' && '),
};

function bareCount() {
  const started = performance.now();
  let hits = 0;
  for (let point = 0; point < 3 ** 16; point += 1) if (point % 3 === 0) hits += 1;
  if (hits === 0) throw new Error('nothing was counted');
  return performance.now() - started;
}

async function spaceMs(link) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  try {
    mkdirSync(join(folder, 'instructions'));
    const declared = facts.map((name) => `  ${name}: { type: bool }\n`).join('');
    writeFileSync(
      join(folder, 'agent.yaml'),
      `key: bench\nprofiles: { default: [link] }\nfacts:\n${declared}`,
    );
    writeFileSync(
      join(folder, 'instructions', 'link.md'),
      `---\nwhen: ${JSON.stringify(link)}\n---\nA rule.\n`,
    );
    const agent = await loadAgent(folder, vocabulary);
    const started = performance.now();
    const space = await spaceOf(agent, 'default', new Set());
    if (!space.complete) throw new Error('not enumerated');
    return performance.now() - started;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function main() {
  bareCount();
  const bare = bareCount();
  console.log(`bare count to 3^16: ${bare.toFixed(0)} ms`);
  for (const [name, link] of Object.entries(links)) {
    const ms = await spaceMs(link);
    console.log(
      `${name}: ${ms.toFixed(0)} ms, ${(ms / bare).toFixed(1)} × the bare count (target: 2,000 ms)`,
    );
  }
}
