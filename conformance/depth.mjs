// The depth experiment: does it pay to work on a task at a deeper level? Each case is a plan that really nests so deep, with
// room for just its steps and its levels; what its stages are worth is given by the task, and what a model would have
// cost is modelled, for none is asked. So the experiment shows that depth is kept and counted, and can promote nothing.
import * as writ from '../dist/index.js';
import { recordOf, rights, runOn, serve } from './runtime-rig.mjs';

const final = (value) => ({ op: 'final', value });
const ref = (name) => ({ ref: 'var', name });
const model = (bind) => ({ op: 'model', prompt: 'Go.', bind });

/** What reaching so many stages is worth. A task of stages is done by the part; a trade-off halves what is missing. */
const staged = (stages) => (reached) => Math.min(1, reached / stages);
const tasks = {
  trivial: staged(1),
  two_stage: staged(2),
  three_stage: staged(3),
  tradeoff: (reached) => 1 - 0.2 / 2 ** (reached - 1),
};
const expected = {
  trivial: [1, 1, 1],
  two_stage: [0.5, 1, 1],
  three_stage: [1 / 3, 2 / 3, 1],
  tradeoff: [0.8, 0.9, 0.95],
};
const depths = [0, 1, 2];
const modelledCall = { tokens: 32, costUsd: 0.001 };

/** A plan in which each level does one stage and gives what the levels below it have done. */
function nested(depth, at = 0) {
  if (at === depth) return { steps: [final({ stage: at })] };
  return {
    steps: [
      { op: 'recurse', plan: nested(depth, at + 1), bind: `below${at}` },
      final({ stage: at, below: ref(`below${at}`) }),
    ],
  };
}

function stagesIn(value) {
  return value === undefined ? 0 : 1 + stagesIn(value.below);
}

function depthCase(task, depth, number) {
  const calls = depth + 1;
  const limits = { modelCalls: 0, toolCalls: 0, depth };
  const one = { name: `depth_${task}_${depth}`, number, category: 'depth', limits };
  return {
    ...one,
    async run() {
      const server = await serve([]);
      const plans = {
        limits: { steps: 2 * depth + 1, depth: depth + 1, modelCalls: 0, outputBytes: 65_536, timeMs: 2000 },
      };
      const given = writ.planTask(JSON.stringify(nested(depth)));
      const ran = await runOn(server, { native: { root: 'plan', plans }, task: given });
      await server.close();
      const done = ran.result?.answer == null ? undefined : JSON.parse(ran.result.answer);
      const quality = done === undefined ? 0 : tasks[task](stagesIn(done));
      const right = Math.abs(quality - expected[task][depth]) < 1e-9;
      const modelled = {
        calls,
        totalTokens: calls * modelledCall.tokens,
        costUsd: calls * modelledCall.costUsd,
      };
      return { ...recordOf(one, ran, { quality, right }), task, modelled };
    },
  };
}

/** A child begins, works by itself and ends, and its parent has its answer and its usage. */
const delegated = {
  name: 'delegated_subagent',
  number: 13,
  category: 'depth',
  limits: { modelCalls: 3, totalTokens: 96, depth: 0 },
  async run() {
    const server = await serve([
      { calls: [{ id: 'c1', name: 'subagent', args: { query: 'Count the parts.' } }] },
      'There are 3.',
      'done',
    ]);
    const ran = await runOn(server, {
      native: { tools: [writ.subagent()] },
      capabilities: ['subagents'],
      task: 'How many?',
    });
    await server.close();
    const [end] = ran.events.filter((event) => event.type === 'child-finish');
    const right =
      ran.result?.answer === 'done' && end?.status === 'completed' && end.usage.totalTokens === 32;
    return recordOf(this, ran, { quality: right ? 1 : 0, right });
  },
};

/** What all levels together would need is held against one budget before the first step: three models over two, five steps over four. */
const globalBudget = {
  name: 'global_recursive_budget',
  number: 15,
  category: 'depth',
  limits: { modelCalls: 0, toolCalls: 0, depth: 0 },
  async run() {
    const models = {
      steps: [
        model('a'),
        {
          op: 'recurse',
          plan: {
            steps: [
              model('b'),
              { op: 'recurse', plan: { steps: [model('c'), final(1)] }, bind: 'd' },
              final(1),
            ],
          },
          bind: 'e',
        },
        final(1),
      ],
    };
    const server = await serve([]);
    const refusals = [];
    let ran;
    for (const [plan, limits] of [
      [models, { modelCalls: 2 }],
      [nested(2), { steps: 4 }],
    ]) {
      const task = writ.planTask(JSON.stringify(plan));
      ran = await runOn(server, { native: { root: 'plan', plans: { limits } }, capabilities: rights, task });
      refusals.push([ran.thrown?.code, ran.thrown?.details?.budget ?? ran.thrown?.details?.counter]);
    }
    await server.close();
    const [ofModels, ofSteps] = refusals;
    const right = ofModels[1] === 'modelCalls' && ofSteps[1] === 'steps' && ofModels[0] === ofSteps[0];
    return { ...recordOf(this, ran, { quality: right ? 1 : 0, right }), refusals };
  },
};

export const depthCases = [
  ...Object.keys(tasks).flatMap((task, row) =>
    depths.map((depth) => depthCase(task, depth, row * depths.length + depth + 1)),
  ),
  delegated,
  globalBudget,
];

/** What a deeper default would need: live trials of several tasks in which it is better, not much dearer, and breaks nothing. */
const promotionNeeds = { liveTrials: 20, fixtures: 3, quality: 0.05, costRatio: 1.5, latencyRatio: 2 };

/** The decision from the records: no trial of a model is among them, so that it is always to hold, with all that is missing. */
export function promotion(records) {
  const at = (depth) => records.filter(({ name }) => name.startsWith('depth_') && name.endsWith(`_${depth}`));
  const mean = (list, of) => list.reduce((sum, one) => sum + of(one), 0) / list.length;
  const [flat, deep] = [at(0), at(1)];
  const found = {
    liveTrials: 0,
    fixtures: new Set(records.flatMap(({ task }) => (task === undefined ? [] : [task]))).size,
    quality: mean(deep, ({ quality }) => quality) - mean(flat, ({ quality }) => quality),
    costRatio:
      mean(deep, ({ modelled }) => modelled.costUsd) / mean(flat, ({ modelled }) => modelled.costUsd),
    violations: records.reduce((sum, { breaches }) => sum + breaches.length, 0),
  };
  const missing = [
    ...(found.liveTrials < promotionNeeds.liveTrials ? ['live trials'] : []),
    ...(found.fixtures < promotionNeeds.fixtures ? ['fixtures'] : []),
    ...(found.quality < promotionNeeds.quality ? ['quality'] : []),
    ...(found.costRatio > promotionNeeds.costRatio ? ['cost'] : []),
    ...(found.violations > 0 ? ['no violations'] : []),
  ];
  return { decision: missing.length === 0 ? 'promote' : 'hold', needs: promotionNeeds, found, missing };
}
