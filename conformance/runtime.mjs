// The deterministic suite of the runtime: each case is a real run against a server on this machine, held to its budget. Behind it
// the depth experiment, whose qualities are those of its tasks, and which asks no model.
//   node conformance/runtime.mjs [--json] [CASE…]
// Ends with 0 if all hold, 1 if one does not, 2 for a case that there is not. Time is measured and holds nothing.
import * as writ from '../dist/index.js';
import { agentCases } from './agents.mjs';
import { depthCases, promotion } from './depth.mjs';
import { recordOf, runOn, serve } from './runtime-rig.mjs';

/** Cases of the benchmark that this suite follows which have nothing here to be run on, by their number there. */
export const notOurs = [
  {
    number: 13,
    name: 'graph_checkpoint_resume',
    why: 'There are no graphs here; a killed plan is resumed by test/plan-kill.test.ts.',
  },
  { number: 16, name: 'mcp_dual_facade', why: 'Writ is a client of MCP servers and is none itself.' },
  { number: 14, name: 'fresh_root_artifact', experiment: true, why: 'There are no artifacts here.' },
];

const ref = (name) => ({ ref: 'var', name });
const field = (name, key) => ({ ref: 'field', value: ref(name), key });
const final = (value) => ({ op: 'final', value });
const look = (action) => ({ op: 'context', action, bind: 'seen' });
const model = (prompt, bind) => ({ op: 'model', prompt, bind });
const text = Array.from({ length: 400 }, (_, n) =>
  `line ${n} ${n === 300 ? 'needle ' : ''}`.padEnd(69, '.'),
).join('\n');
const terms = {
  kind: 'terms',
  items: Array.from({ length: 40 }, (_, n) => ({ row: n, name: `row ${n}` })),
};
const long = 'a long task. '.repeat(13_847);

/** Limits of a case: what it may use at most. The first nine bear their numbers in the benchmark; the last is our own. */
const cases = [
  context(
    'context_peek',
    { type: 'peek', selector: { type: 'tail', count: 40 } },
    65_536,
    (value) => value.length === 40,
  ),
  context(
    'context_search',
    { type: 'search', pattern: 'needle' },
    65_536,
    ({ hits }) => hits.length === 1 && hits[0].index === 300,
  ),
  context(
    'context_partition',
    { type: 'partition', how: { type: 'fixed', size: 10 } },
    65_536,
    (value) => value.length === 4,
    terms,
  ),
  context(
    'context_map',
    { type: 'map', how: 'length' },
    4096,
    (value) => value.length === 32 && value[0] > 0,
    terms,
  ),
  context('context_reduce', { type: 'reduce', how: 'count' }, 4096, (value) => value === 40, terms),
  decided('direct_depth_0', ['{"mode":"direct","answer":"done"}'], {
    modelCalls: 1,
    totalTokens: 32,
    costUsd: 0.0012,
    depth: 0,
  }),
  decided(
    'rlm_depth_1',
    [
      plan(
        { op: 'recurse', plan: { steps: [model('Go.', 'x'), final(field('x', 'text'))] }, bind: 'y' },
        final(ref('y')),
      ),
      'done',
    ],
    { modelCalls: 2, totalTokens: 64, costUsd: 0.0036, depth: 1 },
  ),
  decided(
    'rlm_depth_2',
    [
      plan(
        {
          op: 'recurse',
          plan: {
            steps: [
              model('Go.', 'x'),
              {
                op: 'recurse',
                plan: { steps: [model(field('x', 'text'), 'z'), final(field('z', 'text'))] },
                bind: 'w',
              },
              final(ref('w')),
            ],
          },
          bind: 'y',
        },
        final(ref('y')),
      ),
      'first',
      'done',
    ],
    { modelCalls: 3, totalTokens: 96, costUsd: 0.0068, depth: 2 },
  ),
  {
    name: 'structured_plan_rejection',
    category: 'plan',
    limits: { modelCalls: 0, toolCalls: 0, depth: 0 },
    root: 'plan',
    task: writ.planTask(plan({ op: 'shell', run: 'ls' }, final(1))),
    expect: ({ thrown }) => thrown?.code === 'plan.invalid',
  },
  {
    name: 'plan_parallel_budget',
    category: 'plan',
    limits: { modelCalls: 2, contextOps: 4, depth: 0 },
    budget: { modelCalls: 2, contextOps: 4 },
    root: 'plan',
    answers: ['a', 'b'],
    task: writ.planTask(
      plan(
        {
          op: 'parallel',
          bind: 'all',
          plans: [0, 1].map((n) => ({
            steps: [
              look({ type: 'slice', start: n, length: 1 }),
              model(`Say ${n}.`, 'x'),
              final(field('x', 'text')),
            ],
          })),
        },
        final(ref('all')),
      ),
    ),
    expect: ({ answer }) => ['["a","b"]', '["b","a"]'].includes(answer),
  },
].map((one, at) => (at < 9 ? { ...one, number: at + 1 } : one));

function plan(...steps) {
  return JSON.stringify({ steps });
}

function context(name, action, bytesInspected, right, source = text) {
  return {
    name,
    category: 'context',
    limits: { modelCalls: 0, toolCalls: 0, contextOps: 1, depth: 0 },
    bytesInspected,
    root: 'plan',
    source,
    task: writ.planTask(plan(look(action), final(field('seen', 'value')))),
    expect: ({ answer }) =>
      right(
        answer.startsWith('{') || answer.startsWith('[') || /^\d+$/.test(answer)
          ? JSON.parse(answer)
          : answer,
      ),
    action,
  };
}

function decided(name, answers, limits) {
  return {
    name,
    category: 'recursion',
    limits,
    root: 'decide',
    answers,
    task: 'Work on the input.',
    source: long,
    expect: ({ answer }) => answer === 'done',
  };
}

function sourceOf(source) {
  return typeof source === 'string' ? { kind: 'text', text: source } : source;
}

async function inspected({ action, source }) {
  if (action === undefined) return 0;
  const contexts = writ.openContexts();
  await contexts.register('input', sourceOf(source));
  const { type, how, selector, ...rest } = action;
  const answer = await contexts[type]('input', how ?? selector ?? rest);
  await contexts.close();
  return answer.ok ? answer.bytesInspected : Number.POSITIVE_INFINITY;
}

async function runCase(one) {
  if (one.run !== undefined) return one.run();
  const server = await serve(one.answers ?? []);
  const given = one.source ?? text;
  const contexts = [{ alias: 'input', source: sourceOf(given) }];
  const native = { contexts, root: one.root };
  const ran = await runOn(server, { native, limits: one.budget ?? {}, task: one.task });
  await server.close();
  const right = one.expect({ answer: ran.result?.answer ?? '', thrown: ran.thrown });
  const most = one.bytesInspected === undefined ? {} : { contextBytes: one.bytesInspected };
  const metrics = { contextBytes: await inspected({ ...one, source: given }), contextItems: 1 };
  const limits = { ...one.limits, ...most };
  return recordOf({ ...one, limits }, ran, { quality: right ? 1 : 0, right, metrics });
}

async function runAll(cases, names) {
  const records = [];
  for (const one of cases)
    if (names.length === 0 || names.includes(one.name)) records.push(await runCase(one));
  const passed = records.filter(({ status }) => status === 'passed').length;
  const quality = records.reduce((sum, record) => sum + record.quality, 0) / (records.length || 1);
  return { planned: records.length, passed, failed: records.length - passed, quality, records };
}

const suite = [...cases, ...agentCases];
export const caseNames = [...suite, ...depthCases].map(({ name }) => name);

/** Runs the named cases, or all; undefined for a name that there is not. */
export async function runSuite(names = []) {
  if (names.some((name) => !caseNames.includes(name))) return undefined;
  const report = await runAll(suite, names);
  const experiment = await runAll(depthCases, names);
  // A decision over some of the cases would be none.
  const decided = names.length === 0 ? { promotion: promotion(experiment.records) } : {};
  return { ...report, experiment: { ...experiment, ...decided }, notOurs };
}

if (import.meta.filename === process.argv[1]) {
  const names = process.argv.slice(2).filter((word) => word !== '--json');
  const report = await runSuite(names);
  if (report === undefined) {
    console.error(`There is no such case. Choose from: ${caseNames.join(', ')}.`);
    process.exit(2);
  }
  if (process.argv.includes('--json')) console.log(JSON.stringify(report, null, 2));
  else {
    draw(report);
    const { experiment } = report;
    if (experiment.planned > 0)
      console.log('\nThe depth experiment (quality of the task; no model is asked):\n');
    draw(experiment);
    if (experiment.promotion !== undefined) {
      const { decision, found, missing } = experiment.promotion;
      console.log(
        `\nA deeper default: ${decision}. ${found.liveTrials} live trials; missing: ${missing.join(', ') || 'nothing'}.`,
      );
      console.log('\nNot run here:');
      for (const { number, name, why } of notOurs)
        console.log(`${String(number).padStart(3)}  ${name}: ${why}`);
    }
    const planned = report.planned + experiment.planned;
    console.log(`\n${report.passed + experiment.passed} of ${planned} hold`);
  }
  process.exitCode = report.failed + report.experiment.failed === 0 ? 0 : 1;
}

function draw({ records }) {
  for (const { name, number, status, quality, metrics, breaches, details } of records) {
    const { modelCalls, contextOps, totalTokens, costUsd, depth, latencyMs } = metrics;
    const worth = quality === 1 ? '' : `, quality ${quality.toFixed(2)}`;
    console.log(
      `${String(number ?? '').padStart(3)}  ${status.padEnd(7)} ${name.padEnd(28)} ${modelCalls} calls, ${contextOps} looks, ${totalTokens} tokens, $${costUsd.toFixed(4)}, depth ${depth}, ${latencyMs} ms${worth}`,
    );
    for (const { name: what, limit, found } of breaches)
      console.log(`     ${what}: at most ${limit}, found ${found}`);
    if (Object.keys(details).length > 0) console.log(`     ${JSON.stringify(details)}`);
  }
}
