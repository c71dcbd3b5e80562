// 20,000 permutations and 20,000 cluster bootstraps of 540 trials, beside R's boot and NumPy on the same trials.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

const rounds = 25;
const resamples = 20_000;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const dataFile = here('../src/prove/statistics/reference/data.json');

function rowsOf(items) {
  return items.flatMap((item) =>
    ['control', 'treatment'].flatMap((side) =>
      item[side].passed.map((value, at) => ({ item: item.item, side, repeat: at + 1, value })),
    ),
  );
}

/** Ours from the rows on: matching, sums, both resamplings with their p and interval. */
async function ours(items) {
  const { blocksOf, clusterBootstrap, pairTrials, signFlip } = await import('../dist/index.js');
  const rows = rowsOf(items);
  const micro = { kind: 'micro' };
  const taken = [];
  let found;
  for (let round = 0; round < rounds + 2; round += 1) {
    const began = performance.now();
    const pairs = blocksOf(pairTrials(rows, { kind: 'refuse' }), micro);
    const test = signFlip(pairs, { seed: round, resamples });
    const drawn = performance.now();
    const { intervals } = clusterBootstrap(pairs, { seed: round, resamples });
    const ended = performance.now();
    found = { p: test.p, low: intervals[0].low, high: intervals[0].high };
    // The first two warm the compiler up, as R's byte compiler and NumPy's import do before they are timed.
    if (round >= 2) taken.push({ permutationMs: drawn - began, bootstrapMs: ended - drawn });
  }
  return { ...best(taken), ...found };
}

// The best round: whatever else runs on the machine can only add to one.
function best(taken) {
  const least = (name) => Math.min(...taken.map((one) => one[name]));
  return { permutationMs: least('permutationMs'), bootstrapMs: least('bootstrapMs') };
}

/** Another program's best rounds; undefined where it is not installed. */
function other(command, args) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    // On some machines these slow NumPy down, and they are not ours to give.
    env: { ...process.env, OPENBLAS_CORETYPE: undefined, OPENBLAS_L2_SIZE: undefined },
  });
  if (error !== undefined || status === 77) return undefined;
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
  const { program, taken, p, low, high } = JSON.parse(stdout);
  return { program, ...best(taken), p, low, high };
}

export async function statisticsCost() {
  const items = JSON.parse(readFileSync(dataFile, 'utf8'));
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  try {
    // The sums of both arms by item, so that R needs no package to read them.
    const sums = join(folder, 'sums.csv');
    const total = (list) => list.reduce((all, one) => all + one, 0);
    writeFileSync(
      sums,
      items.map(({ control, treatment }) => `${total(control.passed)},${total(treatment.passed)}\n`).join(''),
    );
    const python = ['/usr/bin/python3', 'python3'].find((name) => !name.startsWith('/') || existsSync(name));
    return {
      ours: await ours(items),
      "R's boot": other('Rscript', [here('./statistics.R'), sums, String(resamples), String(rounds)]),
      NumPy: other(python, [here('./statistics.py'), sums, String(resamples), String(rounds)]),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function main() {
  const ways = await statisticsCost();
  const all = ({ permutationMs, bootstrapMs }) => permutationMs + bootstrapMs;
  console.log(
    `540 trials, ${resamples} resamples each, best of ${rounds} rounds in one warm process each.\n`,
  );
  for (const [name, way] of Object.entries(ways)) {
    if (way === undefined) {
      console.log(`${name}: not installed, so not compared.`);
      continue;
    }
    const times = `permutation ${way.permutationMs.toFixed(1)} ms, bootstrap ${way.bootstrapMs.toFixed(1)} ms`;
    const ratio =
      name === 'ours' ? '' : `; ${(all(way) / all(ways.ours)).toFixed(1)} × ours (${way.program})`;
    const found = `p ${way.p.toFixed(3)}, interval ${way.low.toFixed(3)} to ${way.high.toFixed(3)}`;
    console.log(`${name}: ${times}, together ${all(way).toFixed(1)} ms${ratio}; ${found}`);
  }
}
