// The deterministic suite of the runtime: each case is a real run against a server on this machine, held to its budget.
//   node conformance/runtime.mjs [--json] [CASE…]
// Ends with 0 if all hold, 1 if one does not, 2 for a case that there is not. Time is measured and holds nothing.
import { createServer } from 'node:http';
import * as writ from '../dist/index.js';

const rights = [writ.planCapability, ...Object.values(writ.planCapabilities), 'parts'];
const prices = { 'local/fixed': { prompt: 25, completion: 75 } };
const usage = { prompt_tokens: 24, completion_tokens: 8, total_tokens: 32 };
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

/** Limits of a case: what it may use at most. `quality` is 1 where the answer is right. */
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
];

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

/** A server that gives the answers in the order of the requests, each with the same usage. */
async function serve(answers) {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const content = answers[asked] ?? 'none is scripted';
      asked += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const send = (choices, more = {}) =>
        response.write(`data: ${JSON.stringify({ id: 'c', model: 'fixed', choices, ...more })}\n\n`);
      send([{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]);
      send([{ index: 0, delta: {}, finish_reason: 'stop' }]);
      send([], { usage });
      response.end('data: [DONE]\n\n');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}/v1`, asked: () => asked, close };
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
  const server = await serve(one.answers ?? []);
  const chosen = writ.resolveModel('local/fixed', { env: {}, baseUrl: server.url, prices });
  const events = [];
  const startedMs = performance.now();
  let result;
  let thrown;
  try {
    const source = sourceOf(one.source ?? text);
    result = await writ.startRun({
      harness: writ.native({ model: chosen, contexts: [{ alias: 'input', source }], root: one.root }),
      store: writ.memoryStore(),
      clock: writ.systemClock,
      holder: 'conformance:1:1',
      approve: 'deny',
      composition: writ.plainComposition('suite', 'You work on tasks.'),
      capabilities: rights,
      limits: one.budget ?? {},
      task: one.task,
      origin: {},
      onEvents: (stored) => events.push(...stored),
    });
  } catch (error) {
    thrown = error;
  } finally {
    await chosen.close();
    await server.close();
  }
  const steps = events.filter((event) => event.type === 'plan-step');
  const metrics = {
    modelCalls: server.asked(),
    toolCalls: steps.filter((event) => event.counter === 'toolCalls').length,
    contextOps: steps.filter((event) => event.counter === 'contextOps').length,
    promptTokens: result?.usage.promptTokens ?? 0,
    completionTokens: result?.usage.completionTokens ?? 0,
    totalTokens: result?.usage.totalTokens ?? 0,
    costUsd: result?.usage.costUsd ?? 0,
    latencyMs: Math.round(performance.now() - startedMs),
    depth: Math.max(0, ...steps.map(({ path }) => path.split('/').filter((part) => part === 'r').length)),
    contextBytes: await inspected({ ...one, source: one.source ?? text }),
    contextItems: 1,
  };
  const limits = {
    ...one.limits,
    ...(one.bytesInspected === undefined ? {} : { contextBytes: one.bytesInspected }),
  };
  const breaches = Object.entries(limits)
    .filter(([name, limit]) => !(metrics[name] <= limit + 1e-12))
    .map(([name, limit]) => ({ name, limit, found: metrics[name] }));
  const right = one.expect({ answer: result?.answer ?? '', thrown });
  const status = right && breaches.length === 0 ? 'passed' : 'failed';
  const details = right
    ? {}
    : {
        status: result?.status,
        error: result?.error ?? thrown?.message,
        answer: result?.answer?.slice(0, 200),
      };
  return {
    name: one.name,
    category: one.category,
    status,
    quality: right ? 1 : 0,
    metrics,
    breaches,
    details,
  };
}

/** Runs the named cases, or all; undefined for a name that there is not. */
export async function runSuite(names = []) {
  if (names.some((name) => !cases.some((one) => one.name === name))) return undefined;
  const records = [];
  for (const one of cases)
    if (names.length === 0 || names.includes(one.name)) records.push(await runCase(one));
  const passed = records.filter(({ status }) => status === 'passed').length;
  const quality = records.reduce((sum, record) => sum + record.quality, 0) / records.length;
  return { planned: records.length, passed, failed: records.length - passed, quality, records };
}

if (import.meta.filename === process.argv[1]) {
  const names = process.argv.slice(2).filter((word) => word !== '--json');
  const report = await runSuite(names);
  if (report === undefined) {
    console.error(`There is no such case. Choose from: ${cases.map(({ name }) => name).join(', ')}.`);
    process.exit(2);
  }
  if (process.argv.includes('--json')) console.log(JSON.stringify(report, null, 2));
  else {
    for (const { name, status, metrics, breaches, details } of report.records) {
      const { modelCalls, contextOps, totalTokens, costUsd, depth, latencyMs } = metrics;
      console.log(
        `${status.padEnd(7)} ${name.padEnd(28)} ${modelCalls} calls, ${contextOps} looks, ${totalTokens} tokens, $${costUsd.toFixed(4)}, depth ${depth}, ${latencyMs} ms`,
      );
      for (const { name: what, limit, found } of breaches)
        console.log(`        ${what}: at most ${limit}, found ${found}`);
      if (Object.keys(details).length > 0) console.log(`        ${JSON.stringify(details)}`);
    }
    console.log(`\n${report.passed} of ${report.planned} hold`);
  }
  process.exitCode = report.failed === 0 ? 0 : 1;
}
