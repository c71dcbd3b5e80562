// What Writ adds to the start of an agent program: from the call to the first event, beside the same program started bare.
// The programs are those of conformance/; where none is installed a stand-in that takes as long to begin is started.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { adapters, memoryStore, outside, plainComposition, planDelivery, startRun, systemClock } from 'writ';
import { startScriptedModel } from '../dist/deliver/recorder/scripted-model.js';

const bins = fileURLToPath(new URL('../conformance/node_modules/.bin/', import.meta.url));
const rounds = Number(process.env.WRIT_BENCH_ROUNDS ?? 9);
const programs = [
  { name: 'codex', bin: 'codex', intent: 'developer', model: 'gpt-5.1' },
  { name: 'pi', bin: 'pi', intent: 'append', model: 'm1' },
];
const lowered = {
  budget: 'observed',
  approval: 'none',
  effects: 'observed',
  resume: 'observed',
  cancel: 'observed',
};

export async function main() {
  const all = await Promise.all(adapters.map((part) => part.load()));
  const model = await startScriptedModel(() => ({ text: 'Done.' }));
  try {
    for (const one of programs) {
      const program = join(bins, one.bin);
      if (existsSync(program)) await compare(one, program, all, `${model.url}/v1`);
      else console.log(`${one.name}: not installed (npm ci in conformance/)`);
    }
    await compare(
      programs[1],
      await standIn(),
      all,
      `${model.url}/v1`,
      'a stand-in that begins after 500 ms',
    );
  } finally {
    await model.stop();
  }
}

async function compare({ name, intent, model }, program, all, baseUrl, shown = name) {
  const adapter = all.find((one) => one.name === name);
  const bare = [];
  const ours = [];
  for (let round = 0; round < rounds; round += 1) {
    const root = await mkdtemp(join(tmpdir(), 'writ-bench-'));
    const workspace = join(root, 'workspace');
    await mkdir(workspace);
    const env = { PATH: process.env.PATH, HOME: root, OPENAI_API_KEY: 'bench' };
    const options = {
      adapter,
      adapters: all,
      program,
      version: null,
      intent,
      fidelity: 'base',
      dimensions: { model },
      baseUrl,
      workspace,
      homes: join(root, 'homes'),
      env,
      unmeasured: 'warn',
    };
    bare.push(await startBare(options, join(root, 'bare')));
    ours.push(await startOurs(options));
    await rm(root, { recursive: true, force: true });
  }
  const median = (list) => list.sort((a, b) => a - b)[rounds >> 1];
  const [floor, writ] = [median(bare), median(ours)];
  console.log(
    `${shown}: ${writ.toFixed(0)} ms to the first event, bare ${floor.toFixed(0)} ms: ratio ${(writ / floor).toFixed(3)} (target ≤ 1.1)`,
  );
}

/** The same files, arguments, variables and input, started by hand and read until the first line. */
async function startBare(options, home) {
  const plan = planDelivery(options.adapter.name, requestOf(options, home), {
    adapters: options.adapters,
    measured: [],
    unmeasured: 'warn',
  });
  for (const { path, text } of plan.files) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  const started = performance.now();
  const child = spawn(options.program, [...plan.argv], {
    cwd: plan.workspace,
    env: { ...options.env, NO_COLOR: '1', ...plan.env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.end(plan.stdin ?? '');
  const first = await new Promise((resolve) =>
    child.stdout.once('data', () => resolve(performance.now() - started)),
  );
  child.stdout.resume();
  await new Promise((resolve) => child.once('close', resolve));
  return first;
}

async function startOurs(options) {
  const store = memoryStore({ clock: systemClock });
  const started = performance.now();
  let first;
  const result = await startRun({
    store,
    harness: outside(options),
    clock: systemClock,
    holder: 'bench:1:1',
    approve: 'deny',
    lowered,
    composition: plainComposition('bench', 'You answer in one word.'),
    capabilities: [],
    limits: {},
    task: 'Say done.',
    origin: {},
    onEvents: (events) => {
      if (events.some(({ type }) => type === 'vendor-session')) first ??= performance.now() - started;
    },
  });
  await store.close();
  if (result.status !== 'completed') throw new Error(`${options.adapter.name}: ${result.error?.message}`);
  return first;
}

function requestOf({ workspace, intent, fidelity, dimensions, baseUrl }, home) {
  return {
    ...dimensions,
    intent,
    fidelity,
    text: 'You answer in one word.',
    task: 'Say done.',
    version: null,
    authMode: 'api-key',
    home,
    workspace,
    platform: process.platform,
    resume: null,
    baseUrl,
  };
}

async function standIn() {
  const folder = await mkdtemp(join(tmpdir(), 'writ-stand-in-'));
  const path = join(folder, 'pi');
  const recorded = new URL('../src/deliver/harnesses/pi/recorded/usage.jsonl', import.meta.url);
  const text = JSON.stringify(await readFile(recorded, 'utf8'));
  await writeFile(
    path,
    `#!${process.execPath}\nrequire('node:fs').readFileSync(0); setTimeout(() => process.stdout.write(${text}), 500);\n`,
  );
  chmodSync(path, 0o755);
  return path;
}
