/** `--reasoning-effort` and `--decision-effort`: what reaches the model, also after a wait, and what is refused before it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Script, type ScriptedProvider, scriptedProvider } from '../../../test/scripted-provider.ts';
import { call } from '../call.cases.ts';

let cwd: string;
let provider: ScriptedProvider | undefined;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'writ-effort-'));
  mkdirSync(join(cwd, 'a', 'instructions'), { recursive: true });
  const yaml = [
    'key: writer',
    'name: Writer',
    'join: blocks',
    'profiles: { default: [base] }',
    'capabilities: { from: none, edit: true, plan: true, plan.model: true }',
    'tools: [file_write]',
    'model: local/scripted-1',
  ];
  writeFileSync(join(cwd, 'a', 'agent.yaml'), `${yaml.join('\n')}\n`);
  writeFileSync(join(cwd, 'a', 'instructions', 'base.md'), 'You write.\n');
});
afterEach(async () => {
  await provider?.close();
  provider = undefined;
  rmSync(cwd, { recursive: true });
});

async function run(script: Script, words: readonly string[]) {
  provider = await scriptedProvider(script);
  return call(['run', 'a', '--base-url', provider.url, '--ledger', 'ledger', ...words, '--', 'Write.'], {
    cwd,
  });
}
const efforts = () => provider?.requests.map(({ json }) => json.reasoning_effort);
const plan = {
  steps: [
    { op: 'model', prompt: 'Hi.', options: { reasoning_effort: 'max' }, bind: 'said' },
    { op: 'final', value: { ref: 'field', value: { ref: 'var', name: 'said' }, key: 'text' } },
  ],
};

test('the level reaches each request of the run, also of one that went on after a wait', async () => {
  const args = JSON.stringify({ path: 'x', content: 'y' });
  const script = [{ calls: [{ id: 'c1', name: 'file_write', arguments: args }] }, { text: 'Done.' }];
  const paused = await run(script, ['--reasoning-effort', 'low', '--approve', 'pause', '--json']);
  const { run: id, ticket } = JSON.parse(paused.stdout);
  await call(['runs', 'approve', id, ticket.id, '--ledger', 'ledger'], { cwd });
  const ended = await call(['runs', 'resume', id, '--ledger', 'ledger'], { cwd });
  expect([ended.code, ended.stdout, efforts()]).toEqual([0, 'Done.\n', ['low', 'low']]);
});

test('a decision may have a level of its own, and steps have that of the run', async () => {
  const words = ['--root', 'decide', '--reasoning-effort', 'low', '--decision-effort', 'high'];
  const ended = await run([{ text: JSON.stringify(plan) }, { text: 'Ho.' }], words);
  expect([ended.code, ended.stdout, efforts()]).toEqual([0, 'Ho.\n', ['high', 'low']]);
});

test.each([
  ['low', 'low'],
  [undefined, 'max'],
])('writ plan run: the level of the run (%s) beats that of a step', async (given, sent) => {
  provider = await scriptedProvider([{ text: 'Ho.' }]);
  writeFileSync(join(cwd, 'plan.json'), JSON.stringify(plan));
  const words = [
    'plan',
    'run',
    'plan.json',
    '--agent',
    'a',
    '--base-url',
    provider.url,
    '--ledger',
    'ledger',
  ];
  const ended = await call([...words, ...(given === undefined ? [] : ['--reasoning-effort', given])], {
    cwd,
  });
  expect([ended.code, ended.stdout, efforts()]).toEqual([0, 'Ho.\n', [sent]]);
});

test.each([
  ['a level that there is not', ['--reasoning-effort', 'very'], /Allowed choices are none, minimal, low/],
  [
    'a level of a decision without one',
    ['--decision-effort', 'low'],
    /error cli\.bad-value: --decision-effort/,
  ],
  [
    'a level that the protocol has no words for',
    ['--wire', 'anthropic', '--reasoning-effort', 'minimal'],
    /error model\.setting-unsupported: .* over anthropic; found reasoning_effort: "minimal"/,
  ],
  ['a level that no program takes', ['--harness', 'codex', '--reasoning-effort', 'max'], /stop at xhigh/],
])('%s is refused before anything is sent', async (_, words, said) => {
  const ended = await run([], words);
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(said)]);
  expect(provider?.requests).toEqual([]);
});
