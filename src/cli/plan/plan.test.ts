/** `writ plan`: exit codes, what it prints, and that nothing is touched before a plan is valid. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ScriptedProvider, scriptedProvider } from '../../../test/scripted-provider.ts';
import { call as callMain } from '../call.cases.ts';

let folder: string;
let provider: ScriptedProvider | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-plan-'));
  mkdirSync(join(folder, 'agent', 'instructions'), { recursive: true });
  writeFileSync(
    join(folder, 'agent', 'agent.yaml'),
    [
      'key: planner',
      'name: Planner',
      'join: blocks',
      'profiles: { default: [base] }',
      'capabilities: { from: none, project: true, plan: true, plan.model: true, plan.parallel: true }',
      'tools: [project_read]',
      'model: local/scripted-1',
      'budget: { turns: 4, toolCalls: 4 }',
      '',
    ].join('\n'),
  );
  writeFileSync(join(folder, 'agent', 'instructions', 'base.md'), 'You plan.\n');
  writeFileSync(join(folder, 'notes.txt'), 'the notes');
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await provider?.close();
  provider = undefined;
});

const read = { op: 'tool', name: 'project_read', args: { path: 'notes.txt' }, bind: 'notes' };
const whole = { ref: 'field', value: { ref: 'var', name: 'notes' }, key: 'value' };
const value = { ref: 'field', value: whole, key: 'content' };

function call(words: readonly string[], plan: unknown) {
  writeFileSync(join(folder, 'plan.json'), typeof plan === 'string' ? plan : JSON.stringify(plan));
  return callMain(words, { cwd: folder });
}

test('check: what a plan needs at its worst', async () => {
  const plan = { steps: [read, { op: 'final', value }] };
  const words = ['plan', 'check', 'plan.json', '--agent', 'agent'];
  const shown = await call(words, plan);
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  expect(shown.stdout).toContain('toolCalls   1 of 16');
  const told = JSON.parse((await call([...words, '--json'], plan)).stdout);
  expect(told).toMatchObject({
    valid: true,
    estimate: { steps: 2, depth: 1, concurrency: 1, modelCalls: 0, toolCalls: 1, contextOps: 0 },
    limits: { steps: 64, timeMs: 120_000 },
  });
});

test.each([
  ['an unknown step', { steps: [{ op: 'shell', run: 'SECRET' }] }, 2, 'unknown_or_malformed_step'],
  ['no final', { steps: [read] }, 2, 'final_must_be_unique_and_last'],
  ['no JSON', 'rm -rf SECRET', 2, 'not_one_object'],
  [
    'a tool that is not there',
    {
      steps: [
        { ...read, name: 'SECRET' },
        { op: 'final', value: 1 },
      ],
    },
    2,
    'unknown_tool',
  ],
  [
    'arguments that do not fit',
    {
      steps: [
        { ...read, args: { SECRET: 1 } },
        { op: 'final', value: 1 },
      ],
    },
    2,
    'invalid_tool_arguments',
  ],
  [
    'a right that is not held',
    {
      steps: [
        { op: 'checkpoint', label: 'here' },
        { op: 'final', value: 1 },
      ],
    },
    3,
    'plan.checkpoint',
  ],
])(
  '%s is refused by check and by run, and nothing of it is echoed or recorded',
  async (_, plan, code, named) => {
    for (const verb of ['check', 'run']) {
      const server = verb === 'run' ? ['--base-url', 'http://127.0.0.1:9/v1', '--ledger', 'ledger'] : [];
      const words = ['plan', verb, 'plan.json', '--agent', 'agent', ...server];
      const { code: got, stderr } = await call(words, plan);
      expect([verb, got, stderr.includes(named), stderr.includes('SECRET')]).toEqual([
        verb,
        code,
        true,
        false,
      ]);
    }
    expect((await call(['runs', 'list', '--json', '--ledger', 'ledger'], plan)).stdout).toContain('[]');
  },
);

test('run: the final value on stdout, its steps in the record', async () => {
  provider = await scriptedProvider([{ text: 'They are short.' }]);
  const plan = {
    steps: [
      read,
      { op: 'model', prompt: [{ ref: 'input', name: 'ask' }, value], bind: 'said' },
      { op: 'final', value: { ref: 'field', value: { ref: 'var', name: 'said' }, key: 'text' } },
    ],
  };
  const words = ['plan', 'run', 'plan.json', '--agent', 'agent', '--input', 'ask=How long?'];
  const ran = await call([...words, '--base-url', provider.url, '--ledger', 'ledger'], plan);
  expect([ran.code, ran.stdout]).toEqual([0, 'They are short.\n']);
  expect(JSON.parse(provider.requests[0]?.json.messages[1].content)).toEqual([
    'How long?',
    expect.stringMatching(
      /^<untrusted-result mark="(mark_\w+)" tool="plan:notes">\n.+\nthe notes\n<\/.+ mark="\1">$/,
    ),
  ]);
  expect(ran.stderr).toMatch(/\nplan plan · \w+\n {2}0 tool: ok\nturn 2\n {2}1 model: ok\n {2}2 final: ok\n/);
  const shown = await call(['runs', 'show', 'last', '--ledger', 'ledger'], plan);
  expect(shown.stdout).toContain('0 tool project_read: ok');
  // The turns of a step stand behind the plan, and the task is the plan as it was written.
  expect(shown.stdout.indexOf('TURN 2 (plan#1)')).toBeGreaterThan(shown.stdout.indexOf('\nPLAN plan'));
  expect(shown.stdout).toContain('\nTASK\n  {"steps":[{"op":"tool"');
  expect(shown.stdout).toContain('\n  input ask: "How long?"\n');
  const whole = await call(['runs', 'show', 'last', '--calls', '--ledger', 'ledger'], plan);
  expect(whole.stdout).toContain('├─ 0 tool project_read: ok\n│  ├─ {"path":"notes.txt"}\n│  └─ {');
  expect(whole.stdout).toContain('"content":"the');
});

test('arguments that do not fit are named by the words of the tool, before and in a run', async () => {
  const args = { start_line: 'SECRET', SECRET: 1, more: 2 };
  const plan = {
    steps: [
      { ...read, args },
      { op: 'final', value: 1 },
    ],
  };
  const said =
    "The plan was not accepted: invalid_tool_arguments: The arguments do not fit the tool's parameters. Step: 0. " +
    '/path is missing: expected text. /start_line does not fit: expected a whole number. ' +
    'There are 2 fields that the tool does not have.';
  for (const verb of ['check', 'run']) {
    const shown = await call(['plan', verb, 'plan.json', '--agent', 'agent', '--json'], plan);
    const { error } = JSON.parse(shown.stdout);
    expect([verb, shown.code, error.message]).toEqual([verb, 2, said]);
    expect(error.details.misfits).toEqual([
      { kind: 'missing', place: '/path', expected: 'text' },
      { kind: 'wrong', place: '/start_line', expected: 'a whole number' },
      { kind: 'unexpected', place: '', count: 2 },
    ]);
    expect(shown.stdout + shown.stderr).not.toContain('SECRET');
  }
});

const yaml = () => join(folder, 'agent', 'agent.yaml');
const change = (from: string, to: string) =>
  writeFileSync(yaml(), readFileSync(yaml(), 'utf8').replace(from, to));
const asking = {
  steps: [
    { op: 'model', prompt: 'Hi.', bind: 'said' },
    { op: 'final', value: 1 },
  ],
};
const runWords = ['plan', 'run', 'plan.json', '--agent', 'agent', '--ledger', 'ledger'];

test.each([
  ['no model at all', ''],
  ['a model whose key is not set', 'model: openai/gpt-5-mini'],
  ['a model whose server is not known', 'model: local/scripted-1'],
])('run: a plan that asks no model needs none, with %s', async (_, line) => {
  change('model: local/scripted-1', line);
  change('toolCalls: 4', 'toolCalls: 4, costUsd: 0.01');
  const ran = await call(runWords, { steps: [read, { op: 'final', value }] });
  expect([ran.code, ran.stdout]).toEqual([0, 'the notes\n']);
});

test('run: a plan that waited for a person goes on without a model', async () => {
  change('model: local/scripted-1', '');
  change('project: true', 'project: true, edit: true');
  change('[project_read]', '[file_write]');
  const args = { path: 'out.txt', content: 'written' };
  const plan = {
    steps: [
      { ...read, name: 'file_write', args },
      { op: 'final', value: 'done' },
    ],
  };
  const paused = await call([...runWords, '--approve', 'pause', '--json'], plan);
  expect(paused.code).toBe(5);
  const { run, ticket } = JSON.parse(paused.stdout);
  expect((await call(['runs', 'approve', run, ticket.id, '--ledger', 'ledger'], plan)).code).toBe(0);
  const ended = await call(['runs', 'resume', run, '--ledger', 'ledger'], plan);
  expect([ended.code, ended.stdout]).toEqual([0, 'done\n']);
  expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('written');
  const shown = await call(['runs', 'show', run, '--ledger', 'ledger'], plan);
  expect(shown.stdout).toContain('├─ 0 tool file_write: ok\n│  └─ needed an approval (ticket_');
  expect(shown.stdout).toMatch(/needed an approval \(ticket_\w+\): approved by \w/);
});

test('run: the child of a step is seen while it works', async () => {
  provider = await scriptedProvider([{ text: 'Seven.' }]);
  change('tools: [project_read]', 'tools: [subagent]');
  change('project: true', 'subagents: true');
  const step = { op: 'tool', name: 'subagent', args: { query: 'How many?' }, bind: 'said' };
  const plan = { steps: [step, { op: 'final', value: 1 }] };
  const ran = await call([...runWords, '--base-url', provider.url], plan);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(
    /\n {2}child 1 · run_\w+ begins\n {2}child 1 \| turn 1\n {2}child 1 · completed · 15 tokens · cost unknown\n {2}0 tool: ok\n/,
  );
});

test('run: a plan with a tool that may have a model asked needs one', async () => {
  change('model: local/scripted-1', '');
  change('tools: [project_read]', 'tools: [subagent]');
  change('project: true', 'subagents: true');
  const step = { op: 'tool', name: 'subagent', args: { query: 'Hi.' }, bind: 'said' };
  const ran = await call(runWords, { steps: [step, { op: 'final', value: 1 }] });
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('cli.no-model')]);
});

test.each(['check', 'run'])(
  '%s: a plan that asks a model where none is given says so, after its rights',
  async (verb) => {
    change('model: local/scripted-1', '');
    const words = verb === 'run' ? runWords : ['plan', 'check', 'plan.json', '--agent', 'agent'];
    const none = await call(words, asking);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('cli.no-model')]);
    expect(none.stderr).toContain('The plan asks a model, and none is given: --model.');
    change('plan.model: true, ', '');
    const refused = await call(words, asking);
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('plan.capability-missing')]);
  },
);

test('run: what is to be trusted is accepted by a command that there is', async () => {
  appendFileSync(join(folder, 'agent', 'agent.yaml'), 'mcp: { desk: { command: ./desk } }\n');
  const words = ['plan', 'run', 'plan.json', '--agent', 'agent'];
  const { code, stderr } = await call(words, { steps: [read, { op: 'final', value }] });
  expect({ code, next: /^next: .*$/m.exec(stderr)?.[0] }).toEqual({
    code: 3,
    next: 'next: Read it, then accept it with: writ plan run --trust plan.json --agent agent',
  });
});
