// Runs the example of a paired experiment whole, in this one process and on this machine alone, and keeps what came out:
//   node scripts/experiment.mjs [EVIDENCE-FILE [ITEMS [REPEATS]]]
// Without words it is 54 items, 5 repeats, 540 trials, kept in docs/evidence/experiment-540.json.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { main } from '../dist/cli/main.js';

const root = resolve(import.meta.dirname, '..');
const [out = join(root, 'docs/evidence/experiment-540.json'), items = '54', repeats = '5'] =
  process.argv.slice(2);
const example = join(root, 'examples/experiments/protocol');
const folder = mkdtempSync(join(tmpdir(), 'writ-experiment-'));
const { startModel } = await import(join(example, 'model.mjs'));
const model = await startModel();

/** One command in this process; its one JSON object. */
async function writ(...words) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end();
  const [said, complained] = [text(stdout), text(stderr)];
  const code = await main(
    ['experiment', ...words, '--json'],
    { PATH: process.env.PATH, HOME: folder },
    { stdin, stdout, stderr },
    folder,
  );
  stdout.end();
  stderr.end();
  if (code !== 0) throw new Error(`writ experiment ${words[0]} ended with ${code}: ${await complained}`);
  return JSON.parse(await said);
}

try {
  cpSync(example, folder, { recursive: true });
  const edit = (name, change) => {
    const path = join(folder, name);
    writeFileSync(path, stringify(change(parse(readFileSync(path, 'utf8')))));
  };
  edit('items.yaml', (all) => Object.fromEntries(Object.entries(all).slice(0, Number(items))));
  edit('experiment.yaml', ({ arms, ...rest }) => {
    const agent = join(root, 'examples/builder');
    return {
      ...rest,
      repeats: Number(repeats),
      arms: { control: { ...arms.control, agent }, treatment: { ...arms.treatment, agent } },
    };
  });

  const seconds = {};
  const timed = async (name, ...words) => {
    const began = performance.now();
    const value = await writ(name, ...words);
    seconds[name] = Math.round((performance.now() - began) / 100) / 10;
    return value;
  };
  const date = new Date().toISOString().slice(0, 10);
  await timed('register', 'experiment.yaml');
  const ran = await timed('run', 'experiment.yaml', '--base-url', model.baseUrl, '--ledger', 'ledger.sqlite');
  await timed('report', 'experiment.yaml');
  const verified = await timed('verify', 'experiment.record/report.json');
  const report = JSON.parse(readFileSync(join(folder, 'experiment.record/report.json'), 'utf8'));
  const { analysis, claims, registration, registrationDigest, tableDigest, notVerified } = report;
  const evidence = {
    date,
    build: registration.build,
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    },
    processes: 1,
    items: registration.items.length,
    repeats: registration.repeats,
    trials: ran.done,
    complete: ran.complete,
    answersOfTheModel: model.answered(),
    seconds,
    outcomes: { control: analysis.arms.control.outcomes, treatment: analysis.arms.treatment.outcomes },
    verdict: claims.map((claim) => claim.text),
    notVerified,
    verified: { ok: verified.ok, numbers: verified.numbers },
    registrationDigest,
    tableDigest,
  };
  writeFileSync(resolve(out), `${JSON.stringify(evidence, null, 2)}\n`);
  process.stdout.write(`${evidence.trials} trials in ${seconds.run} s: ${resolve(out)}\n`);
} finally {
  await model.stop();
  rmSync(folder, { recursive: true, force: true });
}
