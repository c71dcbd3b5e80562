// Searching 50 MB: a context on disk beside a bare streaming scan, and beside ripgrep and grep where they are installed.
import { spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { openContexts } from '../dist/index.js';

const rounds = 5;
const cases = [
  { name: 'plain text', pattern: 'needle-4711', regex: false },
  { name: 'expression with a plain part', pattern: 'needle-\\d+ .*end$', regex: true },
  { name: 'expression without one', pattern: '(needle|nothing)-\\d+', regex: true },
];

function makeFile(folder) {
  const path = join(folder, 'large.log');
  const file = openSync(path, 'w');
  let bytes = 0;
  for (let i = 0; bytes < 50e6; ) {
    const lines = [];
    for (let n = 0; n < 5000; n += 1, i += 1)
      lines.push(
        `2026-01-${String((i % 28) + 1).padStart(2, '0')} INFO worker-${i % 97} request ${(i * 2654435761) >>> 0} took ${i % 1000} ms\n`,
      );
    bytes += writeSync(file, lines.join(''));
  }
  writeSync(file, 'ERROR needle-4711 at the end\n');
  return path;
}

/** The least that a search can do: read the file in order, cut it into lines, test each with V8's own expression. */
async function bareScan(path, { pattern, regex }) {
  const test = regex ? RegExp.prototype.test.bind(new RegExp(pattern)) : (line) => line.includes(pattern);
  let rest = '';
  let hits = 0;
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024 })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) if (test(line)) hits += 1;
  }
  return hits;
}

function program(name, expression) {
  if (spawnSync(name, ['--version']).error !== undefined) return undefined;
  return (path, { pattern, regex }) => {
    const { stdout } = spawnSync(name, ['-c', regex ? expression : '-F', pattern, path], {
      encoding: 'utf8',
    });
    return Number(stdout.trim());
  };
}

export async function searchCost() {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  const contexts = openContexts({ limits: { timeMs: 60_000 } });
  try {
    const path = makeFile(folder);
    const began = performance.now();
    await contexts.register('input', { kind: 'file', root: folder, path: 'large.log' });
    const indexMs = performance.now() - began;
    const ways = {
      context: async (_, request) => (await contexts.search('input', request)).value.hits.length,
      'bare scan': bareScan,
      ripgrep: program('rg', '-e'),
      grep: program('grep', '-P'),
    };
    const rows = [];
    for (const request of cases) {
      const taken = new Map();
      for (let round = 0; round < rounds; round += 1) {
        for (const [way, search] of Object.entries(ways)) {
          if (search === undefined) continue;
          const started = performance.now();
          const hits = await search(path, request);
          if (hits !== 1) throw new Error(`${way} found ${hits} lines with ${request.pattern}`);
          taken.set(way, [...(taken.get(way) ?? []), performance.now() - started]);
        }
      }
      const ms = Object.fromEntries(
        [...taken].map(([way, list]) => [way, list.sort((a, b) => a - b)[Math.floor(rounds / 2)]]),
      );
      rows.push({ name: request.name, ms });
    }
    return { indexMs, rows };
  } finally {
    await contexts.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function main() {
  const { indexMs, rows } = await searchCost();
  console.log(
    `50 MB, medians of ${rounds} interleaved rounds; the index takes ${indexMs.toFixed(0)} ms once.\n`,
  );
  for (const { name, ms } of rows) {
    const cells = Object.entries(ms).map(([way, one]) => `${way} ${one.toFixed(0)} ms`);
    const ratios = Object.keys(ms)
      .filter((way) => way !== 'context')
      .map((way) => `${(ms.context / ms[way]).toFixed(2)} × ${way}`);
    console.log(`${name}: ${cells.join(', ')}; context is ${ratios.join(', ')}`);
  }
  for (const missing of ['ripgrep', 'grep'].filter((way) => rows[0].ms[way] === undefined))
    console.log(`${missing} is not installed.`);
}
