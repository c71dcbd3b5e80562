/** `writ run --spec`: the world decides whether a run has met it, and what a model says of it counts for nothing. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Script, type ScriptedProvider, scriptedProvider } from '../../../test/scripted-provider.ts';
import { call } from '../call.cases.ts';

let cwd: string;
let provider: ScriptedProvider | undefined;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'writ-spec-'));
  mkdirSync(join(cwd, 'a', 'instructions'), { recursive: true });
  const yaml = [
    'key: writer',
    'name: Writer',
    'join: blocks',
    'profiles: { default: [base] }',
    'capabilities: { from: none, edit: true, plan: true, plan.checkpoint: true }',
    'tools: [file_write]',
    'model: local/scripted-1',
    'budget: { turns: 9 }',
  ];
  writeFileSync(join(cwd, 'a', 'agent.yaml'), `${yaml.join('\n')}\n`);
  writeFileSync(join(cwd, 'a', 'instructions', 'base.md'), 'You write.\n');
});
afterEach(async () => {
  await provider?.close();
  provider = undefined;
  rmSync(cwd, { recursive: true });
});

const requirement = (id: string, kind: string, args: object, more: object = {}) => ({
  id,
  assertion: { kind, version: 1, args },
  ...more,
});
const spec = (...requirements: object[]) => ({ schemaVersion: 1, subject: 'the changes', requirements });
const written = requirement('written', 'file-contains', { path: 'CHANGES.md', text: 'new' });
const write = (id: string, content: string, more: object = {}) => ({
  calls: [{ id, name: 'file_write', arguments: JSON.stringify({ path: 'CHANGES.md', content, ...more }) }],
});
const said = (index: number): string => provider?.requests[index]?.json.messages.at(-1).content;

async function run(script: Script, given: unknown, words: readonly string[] = [], task = 'Write it.') {
  provider = await scriptedProvider(script);
  writeFileSync(join(cwd, 'done.json'), typeof given === 'string' ? given : JSON.stringify(given));
  const flags = ['--spec', 'done.json', '--base-url', provider.url, '--ledger', 'ledger', ...words];
  return call(['run', 'a', ...flags, '--', task], { cwd });
}
const show = (...words: string[]) => call(['runs', 'show', 'last', '--ledger', 'ledger', ...words], { cwd });

test('a model that says it is done is held against the world, asked again, and accepted when it is so', async () => {
  const script = [
    { text: 'Done: CHANGES.md is written.' },
    write('c1', 'new things\n'),
    { text: 'Now it is.' },
  ];
  const paused = await run(script, spec(written), ['--approve', 'pause', '--json']);
  expect(paused.code).toBe(5);
  const { run: id, ticket } = JSON.parse(paused.stdout);
  await call(['runs', 'approve', id, ticket.id, '--ledger', 'ledger'], { cwd });
  const ended = await call(['runs', 'resume', id, '--ledger', 'ledger', '--json'], { cwd });
  const result = JSON.parse(ended.stdout);
  expect(result).toMatchObject({ status: 'completed', answer: 'Now it is.' });
  expect(result.spec).toEqual({
    spec: expect.stringMatching(/^[0-9a-f]{64}$/),
    attempts: 2,
    accepted: true,
    results: [{ id: 'written', severity: 'required', status: 'passed', reason: 'It was seen to be so.' }],
  });
  expect(said(0)).toContain('- written: The file at "path" holds "text". {"path":"CHANGES.md","text":"new"}');
  expect(said(1)).toBe(
    'It was looked after, and this is not met:\n- written: missing. There is nothing to be seen yet.\nMend it, then answer again.',
  );
  expect(readFileSync(join(cwd, 'CHANGES.md'), 'utf8')).toBe('new things\n');
  expect((await show()).stdout).toMatch(
    /\nSPEC met after 2 answers · \w+\n {2}passed {8}written: It was seen to be so\.\n/,
  );
  expect(JSON.parse((await show('--json')).stdout).spec).toEqual(result.spec);
});

test('what is never met fails the run after two repairs: exit 1, and each requirement with what was seen', async () => {
  const claim = { text: 'I have written CHANGES.md. It holds new.' };
  const optional = requirement('nice', 'file-exists', { path: 'NICE.md' }, { severity: 'optional' });
  const answer = requirement('says', 'answer-contains', { text: 'CHANGES.md' });
  const { code, stdout, stderr } = await run([claim, claim, claim], spec(written, optional, answer));
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/\nspecification not met: nice missing, written missing\n/);
  expect(stderr).toMatch(
    /error spec\.not-met: After 3 answers the specification is not met: written \(missing: /,
  );
  expect(stderr).toMatch(
    /\nSPEC not met after 3 answers · \w+\n {2}missing {7}nice \(optional\): .+\n {2}passed {8}says: .+\n {2}missing {7}written: .+\nsession: /,
  );
  expect((await show()).stdout).toContain('\nSPEC not met after 3 answers');
});

test('a decision and a plan are held against it too, and not taken up again', async () => {
  const direct = { text: '{"mode":"direct","answer":"Done."}' };
  const decided = await run([direct], spec(written), ['--root', 'decide', '--json']);
  expect(decided.code).toBe(1);
  expect(JSON.parse(decided.stdout)).toMatchObject({
    error: { code: 'spec.not-met' },
    spec: { attempts: 1 },
  });
  const plan = {
    steps: [
      { op: 'checkpoint', label: 'here' },
      { op: 'final', value: { total: 7 } },
    ],
  };
  writeFileSync(join(cwd, 'plan.json'), JSON.stringify(plan));
  writeFileSync(
    join(cwd, 'done.json'),
    JSON.stringify(spec(requirement('total', 'answer-is-json', { member: 'total' }))),
  );
  const words = ['plan', 'run', 'plan.json', '--agent', 'a', '--spec', 'done.json', '--ledger', 'ledger'];
  const planned = await call([...words, '--json'], { cwd });
  expect(planned.code).toBe(0);
  expect(JSON.parse(planned.stdout).spec).toMatchObject({ accepted: true, attempts: 1 });
});

test.each([
  ['what is no JSON', '{', 'spec.unreadable'],
  ['an unknown member', { ...spec(written), run: 'rm' }, 'spec.unreadable'],
  ['an unknown assertion', spec(requirement('x', 'tests-pass', {})), 'spec.unknown-assertion'],
  ['other arguments', spec(requirement('x', 'file-exists', { path: 7 })), 'spec.bad-arguments'],
  ['a path that leads out', spec(requirement('x', 'file-exists', { path: '../x' })), 'spec.bad-arguments'],
  ['a closed file', spec(requirement('x', 'file-exists', { path: '.env' })), 'spec.bad-arguments'],
  ['a claim as evidence', spec({ ...written, evidence: { trust: ['model_claim'] } }), 'spec.policy-empty'],
])('%s is refused before anything is sent, and the file is named', async (_, given, code) => {
  const ran = await run([], given);
  expect([ran.code, ran.stderr]).toEqual([
    code === 'spec.policy-empty' ? 3 : 2,
    expect.stringContaining(`error ${code}: done.json: `),
  ]);
});

const named = () => appendFileSync(join(cwd, 'a', 'agent.yaml'), 'spec: done.json\n');

test('the one that agent.yaml names holds without a flag, and stays what it was when the run began', async () => {
  named();
  writeFileSync(join(cwd, 'a', 'done.json'), JSON.stringify(spec(written)));
  provider = await scriptedProvider([write('c1', 'new things\n'), { text: 'Done.' }]);
  const words = ['run', 'a', '--base-url', provider.url, '--ledger', 'ledger', '--json'];
  const paused = await call([...words, '--approve', 'pause', '--', 'Write it.'], { cwd });
  const { run: id, ticket } = JSON.parse(paused.stdout);
  writeFileSync(
    join(cwd, 'a', 'done.json'),
    JSON.stringify(spec(requirement('x', 'file-exists', { path: 'x' }))),
  );
  await call(['runs', 'approve', id, ticket.id, '--ledger', 'ledger'], { cwd });
  const ended = await call(['runs', 'resume', id, '--ledger', 'ledger', '--json'], { cwd });
  expect([ended.code, JSON.parse(ended.stdout).spec.results]).toEqual([
    0,
    [{ id: 'written', severity: 'required', status: 'passed', reason: 'It was seen to be so.' }],
  ]);
});

test('--spec takes the place of the one that agent.yaml names', async () => {
  named();
  const ended = await run([{ text: 'seven' }], spec(requirement('x', 'answer-contains', { text: 'seven' })));
  expect([ended.code, ended.stdout]).toEqual([0, 'seven\n']);
});

test.each([
  ['is not there', 'spec: done.json', 2, /error cli\.unreadable: spec in agent\.yaml /],
  [
    'lies outside of the folder',
    'spec: ../done.json',
    2,
    /error compose\.wrong-value: .*a path inside the folder/,
  ],
  ['lies outside of the folder by a way round', 'spec: x/../../done.json', 2, /error compose\.wrong-value/],
  ['is given by its whole path', 'spec: /done.json', 2, /error compose\.wrong-value/],
])('one of agent.yaml that %s is refused before anything is sent', async (_, line, code, said) => {
  appendFileSync(join(cwd, 'a', 'agent.yaml'), `${line}\n`);
  provider = await scriptedProvider([]);
  const ended = await call(['run', 'a', '--base-url', provider.url, '--', 'Write it.'], { cwd });
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(said)]);
});

test('an agent program is not given that of agent.yaml in silence', async () => {
  named();
  const ended = await call(['run', 'a', '--harness', 'codex', '--lower', 'all', '--', 'Write.'], { cwd });
  expect([ended.code, ended.stderr]).toEqual([
    3,
    expect.stringContaining('error cli.unsupported: agent.yaml has spec, which codex does not keep.'),
  ]);
});

test('an agent program is not given one in silence', async () => {
  const ran = await run([], spec(written), ['--harness', 'codex', '--lower', 'all']);
  expect([ran.code, ran.stderr]).toEqual([
    3,
    expect.stringContaining('error cli.unsupported: --spec is for the native harness'),
  ]);
});
