// What plans cost: validation by size, and execution per step beside the same tools called by hand, with both ledgers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as writ from '../dist/index.js';

const rounds = 5;
const look = writ.defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false },
  capability: 'parts',
  access: 'read',
  execute: ({ n }) => n,
});
const rights = [writ.planCapability, ...Object.values(writ.planCapabilities), 'parts'];
const limits = { steps: 10_000, toolCalls: 10_000, outputBytes: 10_000_000, concurrency: 64 };
const final = { op: 'final', value: 1 };
const step = (n) => ({ op: 'tool', name: 'look', args: { n }, bind: `x${n}` });
const inLine = (count) =>
  JSON.stringify({ steps: [...Array.from({ length: count }, (_, n) => step(n)), final] });
const side = (count) =>
  JSON.stringify({
    steps: [
      {
        op: 'parallel',
        plans: Array.from({ length: count }, (_, n) => ({ steps: [step(n), final] })),
        bind: 'all',
      },
      final,
    ],
  });

function median(times) {
  return times.sort((a, b) => a - b)[times.length >> 1];
}

/** Microseconds of CPU for reading and checking a plan of so many steps. */
export function validationCost(count) {
  const text = inLine(count);
  const check = { capabilities: rights, limits: { ...writ.defaultPlanLimits, ...limits }, inputs: [] };
  const repeats = Math.ceil(2000 / count);
  const once = () => {
    const parsed = writ.parsePlan(text);
    if (!parsed.ok || !writ.checkPlan(parsed.plan, check).ok) throw new Error('the plan is invalid');
  };
  for (let i = 0; i < repeats * 3; i += 1) once();
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    for (let i = 0; i < repeats; i += 1) once();
    return process.cpuUsage(before).user / repeats;
  });
  return median(times);
}

/** Milliseconds of CPU of one whole run of a plan. */
export async function executionCost(text, store, repeats) {
  const model = writ.resolveModel('local/none', { env: {}, baseUrl: 'http://127.0.0.1:9/v1' });
  const harness = writ.native({ model, tools: [look], root: 'plan', plans: { limits } });
  const once = async () => {
    const result = await writ.startRun({
      harness,
      store,
      clock: writ.systemClock,
      holder: 'bench:1:1',
      approve: 'deny',
      composition: writ.plainComposition('bench', 'You plan.'),
      capabilities: rights,
      limits: {},
      task: writ.planTask(text),
      origin: {},
    });
    if (result.status !== 'completed') throw new Error(result.error?.message);
  };
  for (let i = 0; i < repeats; i += 1) await once();
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    for (let i = 0; i < repeats; i += 1) await once();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / repeats / 1000);
  }
  await model.close();
  return median(times);
}

async function handCost(count) {
  const context = { signal: new AbortController().signal, clock: writ.systemClock, idempotencyKey: '' };
  const once = async () => {
    for (let n = 0; n < count; n += 1) await look.execute(look.check({ n }).value, context);
  };
  for (let i = 0; i < 200; i += 1) await once();
  const before = process.cpuUsage();
  for (let i = 0; i < 500; i += 1) await once();
  return process.cpuUsage(before).user / 500 / count;
}

export async function main() {
  console.log(`Reading and checking a plan (CPU, median of ${rounds} rounds):\n`);
  for (const count of [4, 16, 64, 256]) {
    const cost = validationCost(count);
    console.log(
      `${String(count).padStart(5)} steps  ${cost.toFixed(0).padStart(6)} µs  ${(cost / count).toFixed(1)} µs a step`,
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  const sqlite = writ.sqliteStore({ path: join(folder, 'ledger.sqlite') });
  console.log(
    `\nCarrying out tool steps (CPU a step; the tool alone by hand: ${(await handCost(48)).toFixed(1)} µs):\n`,
  );
  try {
    for (const [name, store] of [
      ['memory ledger', writ.memoryStore()],
      ['SQLite ledger', sqlite],
    ]) {
      for (const [form, write] of [
        ['in line', inLine],
        ['in branches', side],
      ]) {
        const [few, many] = [
          await executionCost(write(8), store, 10),
          await executionCost(write(48), store, 5),
        ];
        const each = ((many - few) / 40) * 1000;
        console.log(
          `${name}, ${form.padEnd(12)} ${each.toFixed(0).padStart(5)} µs a step  (48 steps: ${many.toFixed(1)} ms)`,
        );
      }
    }
  } finally {
    await sqlite.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
