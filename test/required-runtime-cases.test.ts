/**
 * The cases that decisions, plans, rights, the visible surface, children and specifications have to pass, each with the tests
 * that show it or the reason why it cannot arise here.
 */
import { expect, test } from 'vitest';
import { type Case, describeCases } from './shown.ts';

const decision = 'test/plan-decision.test.ts';
const plans = 'test/plans.test.ts';
const required = 'test/required-plans.test.ts';
const check = 'src/native/plan/check-plan.test.ts';
const read = 'src/native/plan/read-plan.test.ts';
const approvals = 'test/approvals.test.ts';
const tickets = 'test/tickets.test.ts';
const surface = 'src/compose/surface/compile-surface.test.ts';
const choose = 'src/compose/surface/choose.test.ts';
const catalogue = 'src/compose/surface/catalogue.test.ts';
const subagents = 'test/subagents.test.ts';
const spec = 'src/native/spec/spec.test.ts';
const suite = 'conformance/runtime.mjs';
const agents = 'conformance/agents.mjs';

const decisions: readonly Case[] = [
  [
    '1.1',
    'a direct answer is one call, without a plan',
    [[decision, 'for a direct answer is one request, without a plan, and the answer is exact']],
  ],
  [
    '1.2',
    'an extra field, an empty answer, another mode',
    [
      [decision, 'invalid_direct_envelope_fields'],
      [decision, 'direct_answer_must_be_nonempty_text'],
      [decision, 'unsupported_root_mode'],
    ],
  ],
  ['1.3', 'the direct answer is offered before the plan', [[decision, '"mode":"direct"\')).toBeLessThan(']]],
  [
    '1.4',
    'a look into a context is executed',
    [[required, 'that asks for a part of a context has that step executed']],
  ],
  [
    '1.5',
    'two finals, then a valid answer',
    [
      [decision, "['two finals', plan(final('SECRET'), final(2)), 'final_must_be_unique_and_last']"],
      [decision, '%s is asked again once, in words of the runtime alone'],
    ],
  ],
  [
    '1.6',
    'twice invalid: it ends, with the usage of both',
    [[required, 'that is twice no plan ends the run, and both answers are counted']],
  ],
  [
    '1.7',
    'a missing right is not mended by asking',
    [[decision, 'a missing right or too large a plan is not asked again']],
  ],
  [
    '1.8',
    'what is missing is told, what was written is not',
    [
      [decision, "repair.includes('SECRET')"],
      [read, 'is never repeated in a fault, which has at most 1,024 characters'],
      ['src/native/tool/argument-misfits.test.ts', 'nothing that was given is ever repeated'],
    ],
  ],
  [
    '1.9',
    'one hop into the result of a tool is asked again, two are accepted',
    [
      [decision, "'one hop into the result of a tool'"],
      [check, "'two hops into a tool'"],
      [check, "'one hop into a tool, within a recursion'"],
    ],
  ],
  [
    '1.10',
    'no more questions than model calls',
    [[decision, 'is asked again only as often as the budget allows']],
  ],
  [
    '1.11',
    'the answer is that of the last step; a failed step has none; text beats reasoning; a call is no decision',
    [
      [decision, 'for a plan carries it out, and the later result is the answer'],
      [decision, 'that reasons its answer out is read where it stands; text that is there wins'],
      [decision, 'a call of a tool is not a decision and runs nothing'],
      [plans, 'that fails on its way keeps its answers, and what it used stays used'],
    ],
  ],
  ['1.12', 'a raw call is one message', 'There is no raw call: whatever asks a model asks by the one loop.'],
  [
    '1.13',
    'in a delegated scope no identity',
    [[decision, 'in a delegated scope says nothing of the agent']],
  ],
  [
    '1.14',
    'a bad name asks nobody',
    [
      [decision, 'refuses %s as a skill before anything is asked'],
      ['src/cli/run/plan-skills.test.ts', 'a name that no skill of the session has is refused'],
    ],
  ],
  [
    '1.15',
    'a skill that is left out takes no other along',
    [
      ['src/compose/skills.test.ts', 'by name, whatever the order of sources'],
      ['src/cli/run/plan-skills.test.ts', 'each reads its own, whole'],
    ],
  ],
  ['1.16', 'a budget of one token asks nobody', [[required, 'for which there is no room is not asked for']]],
  [
    '1.17',
    'the effort of the host beats that of a plan; a bad one asks nobody; none is none',
    [
      [decision, 'reasons as much as the host says, whatever the plan says of its steps'],
      ['src/native/request-parameters.test.ts', 'a harness is not made with %s'],
      ['src/cli/run/effort.test.ts', '%s is refused before anything is sent'],
    ],
  ],
];

const typedPlans: readonly Case[] = [
  ['3.1', 'a search, a count and a final', [[required, 'of a search, a count and a final finds both hits']]],
  ['3.2', 'a plan in a fence', [[read, 'is read whole, in a fence, or between sentences']]],
  ['3.3', 'no step is code', [[read, "op: 'eval', code: 'x'"]]],
  ['3.4', 'without a right no tool is touched', [[plans, "'a right that is not held'"]]],
  ['3.5', 'an unknown tool: nothing is begun', [[plans, "['a tool that is not here'"]]],
  ['3.6', 'another model: nothing is begun', [[plans, "'another model'"]]],
  [
    '3.7',
    'the turns, calls and looks of a model step are charged',
    [[plans, 'is a conversation of its own: its turns are steps, its tools those that it may use']],
  ],
  [
    '3.8',
    'a model step without room binds nothing and keeps its answers',
    [[plans, 'whose value has no room binds nothing: all that it used is charged at once, and both answers']],
  ],
  [
    '3.9',
    'one that fails keeps its answer, and what it used stays used',
    [[plans, 'that fails on its way keeps its answers, and what it used stays used']],
  ],
  [
    '3.10',
    'a second one sees what the first has used',
    [
      [plans, 'holds what it has used while it goes on: no other branch is admitted on it'],
      [plans, 'in each branch asks at the same time, and all usage counts'],
    ],
  ],
  ['3.11', 'without a handler one raw call', 'A model step has one way: a conversation by the one loop.'],
  [
    '3.12',
    'names twice, and names that nobody bound',
    [
      [check, "['a name bound twice'"],
      [check, "'a name before it is bound'"],
    ],
  ],
  ['3.13', 'tries beyond the steps', [[check, "['steps', { steps: 7 }, plan(retry(3, final(1)), final(1))"]]],
  ['3.14', 'deeper than the limit', [[check, "['depth', { depth: 2 }"]]],
  [
    '3.15',
    'bytes inside are counted once',
    [[required, 'counts the bytes of a value inside once, and those around it by themselves']],
  ],
  [
    '3.16',
    'branches give the list of their values',
    [[plans, 'tools, branches, a checkpoint, a model step and values']],
  ],
  ['3.17', 'what tries have used stays used', [[plans, 'go on until one succeeds, on what is left of the']]],
  [
    '3.18',
    'a checkpoint, then a final',
    [
      [plans, 'tools, branches, a checkpoint, a model step and values'],
      ['test/plan-kill.test.ts', 'killed in a try behind a checkpoint'],
    ],
  ],
  ['3.19', 'no mapping is code', [[read, "action: { type: 'map', how: 'eval' }"]]],
  ['3.20', 'a final that is not last', [[check, "['a final that is not last'"]]],
  [
    '3.21',
    'what is inside has its true place, and all usage counts',
    [
      ['src/run/trace.test.ts', 'each span has its parent, its times, its end'],
      [plans, 'in each branch asks at the same time, and all usage counts'],
    ],
  ],
];

const oneMode = 'There is no right that lasts: each approval is for one call.';
const authority: readonly Case[] = [
  [
    '5.1',
    'unless told otherwise a write is asked about',
    [[approvals, 'with nobody to ask is refused at once; the open question is in the record']],
  ],
  ['5.2', 'a child gets no more than its parent', [[subagents, 'never gets what its parent has not: %j']]],
  [
    '5.3',
    'other arguments are another call',
    [
      [approvals, 'the arguments as given tell calls apart, whatever the tool makes of them'],
      ['test/required-approvals.test.ts', 'the order of keys and the id of a call make it no other call'],
    ],
  ],
  [
    '5.4',
    'a missing right, bad arguments and a path that leads out make no question',
    [
      [approvals, 'bad arguments are rejected before anyone is asked'],
      ['test/direct-loop.test.ts', 'a tool whose capability is not held is neither shown nor run'],
      ['test/required-approvals.test.ts', 'a path that leads out is refused without a question'],
    ],
  ],
  [
    '5.5',
    'approved it runs once, denied not at all, changed it needs another answer',
    [
      [approvals, 'asks with the exact arguments, and runs when approved'],
      [approvals, 'denied by a person is a result for the model, and the run goes on'],
      [tickets, 'does not count when it was answered all the same'],
      ['test/bound-files.test.ts', 'changed while the run waits'],
    ],
  ],
  [
    '5.6',
    'of two that race for one approval one runs',
    [[approvals, 'the same effect again in one run gets the first observation and acts once']],
  ],
  ['5.7', 'a mode without questions is bound by all else', oneMode],
  [
    '5.8',
    'many who wait hold nobody up',
    [[approvals, 'waits with its ticket, goes on after an approval with the same prompt, and acts once']],
  ],
  [
    '5.9',
    'what was cancelled while it waited never acts',
    [[approvals, 'can be cancelled: its open call is settled as not run, and the session goes on']],
  ],
  [
    '5.10',
    'an approval and a cancel at once: one of them holds',
    [['test/required-effects.test.ts', 'one comes after the other, and nothing is half there']],
  ],
  [
    '5.11',
    'the history of questions is bounded',
    'Questions and answers are events of their run, kept as long as it and forgotten with it.',
  ],
  [
    '5.12',
    'with the session its rights are gone',
    [[tickets, 'given before its session was forgotten is worth nothing in a run of the same name']],
  ],
  ['5.13', 'decided at once or later it is the same', 'There is one way to decide, and it is asynchronous.'],
];

const surfaces: readonly Case[] = [
  ['8.1', 'a phrase', [[surface, 'a phrase calls for its unit however it is written']]],
  ['8.2', 'verb and object add up', [[surface, 'the weights of verb and object add up, each once']]],
  ['8.3', 'selected without a match', [[surface, 'what was selected is active without a match']]],
  ['8.4', 'negation', [['src/compose/surface/negation.test.ts', 'a task says not to use a unit']]],
  ['8.5', 'conflict', [[choose, 'are won by the higher score, then by the name']]],
  ['8.6', 'supersession', [[choose, 'takes out the older unit whatever the scores']]],
  ['8.7', 'all that is required, over any steps', [[choose, 'come along over any number of steps']]],
  ['8.8', 'what is required is missing', [[choose, 'a missing one rejects the root']]],
  [
    '8.9',
    'not available is not unregistered',
    [[surface, 'that it is not available now is a reason, and it stays registered']],
  ],
  ['8.10', 'a denied tool', [[surface, 'a unit that was denied by its id is told as denied']]],
  ['8.11', 'a need widens nothing', [[surface, 'with a need widens neither capabilities nor scope']]],
  ['8.12', 'the scope of a child', [['src/compose/surface/scope.test.ts', 'below %j may not be %j']]],
  [
    '8.13',
    'a search tells little, and of few',
    [
      [catalogue, 'tells what a unit is, and neither its schema nor its body'],
      [catalogue, 'gives 8 units unless asked for more, and never more than 32'],
    ],
  ],
  ['8.14', 'a need brings in the next tool', [[surface, 'with a need brings in the next tool']]],
  ['8.15', 'units of servers connect nothing', [[surface, 'of MCP units and what they need, with nothing']]],
  [
    '8.16',
    'schemas are charged',
    [['src/compose/surface/pack.test.ts', 'the ledger of sizes charges schemas']],
  ],
  [
    '8.17',
    'what must be shown and does not fit fails',
    [['src/compose/surface/pack.test.ts', 'that do not fit in their smallest forms fail']],
  ],
  [
    '8.18',
    'equal inputs, equal fingerprint',
    [['src/compose/surface/compile-surface.laws.test.ts', 'equal inputs have equal fingerprints']],
  ],
  ['8.19', '5,000 units are 32 before they are packed', [[surface, 'narrows 5,000 units to 32 before']]],
  [
    '8.20',
    'a request holds the schemas that are allowed and no others',
    [
      [required, 'is offered the tools that it may use and no others'],
      ['test/surface.test.ts', 'shows nothing that the session does not hold'],
    ],
  ],
];

const outOfScope = 'Writ has no graphs, no evolution and no artifacts.';
const children: readonly Case[] = [
  [
    '9.1',
    'the same again and no progress are turned back; depth is a gate',
    [
      [subagents, 'is refused what its parent is doing or another child has done, and after three without'],
      [subagents, 'may go as deep as the budget says and no deeper'],
      [check, "'the same recursion twice'"],
    ],
  ],
  [
    '9.2',
    'twenty children on two places, none idle; a parent that stops stops them',
    [
      [agents, "'agent_logical_fanout'"],
      [agents, "'agent_backpressure'"],
      [agents, "'agent_parent_cancel'"],
      [subagents, 'several at once are held by the limit of concurrency'],
    ],
  ],
  ['9.3', 'graphs', outOfScope],
  ['9.4', 'artifacts', outOfScope],
  ['9.5', 'evolution', outOfScope],
  [
    '9.6',
    'what counts as seen: no weaker policy, no claim, no other version, no other state',
    [
      [spec, 'narrows the policy of evidence and never widens it'],
      [spec, 'only what is required decides'],
      [spec, 'evidence of two revisions cannot pass together where it has to be of one'],
      ['src/cli/run/spec.test.ts', 'a claim as evidence'],
    ],
  ],
  [
    '9.7',
    'failed, mended, passed under the same specification; under another it is refused',
    [
      [spec, 'tries again with what is missing, against the same specification'],
      ['test/specs.test.ts', 'a run that waited goes on under its own specification and under no other'],
    ],
  ],
  [
    '9.8',
    'the result of a child is typed; one that is denied is not made',
    [
      [subagents, 'a limit reached in the child is a typed result for the parent, which goes on'],
      [subagents, 'a depth of zero makes no child'],
    ],
  ],
];

const held = (name: string, file = suite): readonly (readonly [string, string])[] => [
  [file, `'${name}'`],
  ['test/conformance-runtime.test.ts', 'every case of the suite holds'],
];
const mcpOf = (version: string): readonly (readonly [string, string])[] => [
  [agents, '_adapter`'],
  [agents, `mcp('${version}'`],
  ['test/conformance-runtime.test.ts', 'every case of the suite holds'],
];
const benchmark: readonly Case[] = [
  ['10.1', 'context_peek', held('context_peek')],
  ['10.2', 'context_search', held('context_search')],
  ['10.3', 'context_partition', held('context_partition')],
  ['10.4', 'context_map', held('context_map')],
  ['10.5', 'context_reduce', held('context_reduce')],
  ['10.6', 'direct_depth_0', held('direct_depth_0')],
  ['10.7', 'rlm_depth_1', held('rlm_depth_1')],
  ['10.8', 'rlm_depth_2', held('rlm_depth_2')],
  ['10.9', 'structured_plan_rejection', held('structured_plan_rejection')],
  ['10.10', 'agent_backpressure', held('agent_backpressure', agents)],
  ['10.11', 'agent_parent_cancel', held('agent_parent_cancel', agents)],
  ['10.12', 'agent_logical_fanout', held('agent_logical_fanout', agents)],
  ['10.13', 'graph_checkpoint_resume', outOfScope],
  ['10.14', 'mcp_2025_adapter', mcpOf('2025')],
  ['10.15', 'mcp_2026_adapter', mcpOf('2026')],
  ['10.16', 'mcp_dual_facade', 'Writ is a client of MCP servers and is none itself.'],
  [
    'depth',
    'the experiment of depth',
    [['test/conformance-runtime.test.ts', 'the depth experiment gives each task its worth']],
  ],
];

describeCases({ decisions, typedPlans, authority, surfaces, children, benchmark });

test('no case is missing', () => {
  const numbers = (cases: readonly Case[]) => cases.map(([number]) => number);
  const upTo = (section: number, last: number) =>
    Array.from({ length: last }, (_, i) => `${section}.${i + 1}`);
  expect(numbers(decisions)).toEqual(upTo(1, 17));
  expect(numbers(typedPlans)).toEqual(upTo(3, 21));
  expect(numbers(authority)).toEqual(upTo(5, 13));
  expect(numbers(surfaces)).toEqual(upTo(8, 20));
  expect(numbers(children)).toEqual(upTo(9, 8));
  expect(numbers(benchmark)).toEqual([...upTo(10, 16), 'depth']);
});
