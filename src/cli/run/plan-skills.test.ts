/** `plans` in agent.yaml: which skills a decision and the steps of its plan read, as they were when the run began. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ScriptedProvider, scriptedProvider } from '../../../test/scripted-provider.ts';
import { call } from '../call.cases.ts';

let cwd: string;
let provider: ScriptedProvider | undefined;

function skill(name: string, body: string) {
  mkdirSync(join(cwd, 'a', 'skills', name), { recursive: true });
  const header = `---\nname: ${name}\ndescription: What to do with ${name}.\n---\n`;
  writeFileSync(join(cwd, 'a', 'skills', name, 'SKILL.md'), header + body);
}

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'writ-skills-'));
  mkdirSync(join(cwd, 'a', 'instructions'), { recursive: true });
  const yaml = [
    'key: writer',
    'join: blocks',
    'profiles: { default: [base] }',
    'capabilities: { from: none, edit: true, skills: true, plan: true, plan.model: true }',
    'tools: [skill_read, file_write]',
    'skills: all',
    'model: local/scripted-1',
  ];
  writeFileSync(join(cwd, 'a', 'agent.yaml'), `${yaml.join('\n')}\n`);
  writeFileSync(join(cwd, 'a', 'instructions', 'base.md'), 'You write.\n');
  skill('routing', 'Ask twice.\n');
  skill('report', 'Be brief.\n');
});
afterEach(async () => {
  await provider?.close();
  provider = undefined;
  rmSync(cwd, { recursive: true });
});

const plans = (line: string) => appendFileSync(join(cwd, 'a', 'agent.yaml'), `plans: ${line}\n`);
const systems = (index: number): string[] =>
  provider?.requests[index]?.json.messages
    .filter(({ role }: { role: string }) => role === 'system')
    .map(({ content }: { content: string }) => content);

test('each reads its own, whole, and one that changes while the run waits is read as it was', async () => {
  plans('{ decisionSkills: [routing], stepSkills: [report] }');
  const args = { path: 'x', content: 'y' };
  const steps = [
    { op: 'tool', name: 'file_write', args, bind: 'w' },
    { op: 'model', prompt: 'Hi.', bind: 'said' },
    { op: 'final', value: { ref: 'field', value: { ref: 'var', name: 'said' }, key: 'text' } },
  ];
  provider = await scriptedProvider([{ text: JSON.stringify({ steps }) }, { text: 'Ho.' }]);
  const words = ['run', 'a', '--base-url', provider.url, '--ledger', 'ledger', '--root', 'decide', '--json'];
  const paused = await call([...words, '--approve', 'pause', '--', 'Write.'], { cwd });
  expect(paused.code).toBe(5);
  skill('report', 'Be long.\n');
  const { run: id, ticket } = JSON.parse(paused.stdout);
  await call(['runs', 'approve', id, ticket.id, '--ledger', 'ledger'], { cwd });
  const ended = await call(['runs', 'resume', id, '--ledger', 'ledger'], { cwd });
  expect([ended.code, ended.stdout]).toEqual([0, 'Ho.\n']);
  const [composed, given] = systems(0);
  expect(composed).toContain('- routing: What to do with routing.');
  expect(given).toMatch(/\n\nSKILL routing\nAsk twice\.$/);
  const [step, ...more] = systems(1);
  expect([step?.endsWith('\n\nSKILL report\nBe brief.'), step?.includes('routing'), more]).toEqual([
    true,
    false,
    [],
  ]);
});

test('a name that no skill of the session has is refused before anything is sent', async () => {
  plans('{ stepSkills: [reprot] }');
  provider = await scriptedProvider([]);
  const ended = await call(['run', 'a', '--base-url', provider.url, '--', 'Write.'], { cwd });
  expect([ended.code, ended.stderr]).toEqual([
    2,
    expect.stringMatching(
      /error compose\.unknown-name: No skill is called 'reprot'\.[\s\S]*Write 'report'\./,
    ),
  ]);
});

test('an agent program is not given them in silence', async () => {
  plans('{ stepSkills: [report] }');
  const ended = await call(['run', 'a', '--harness', 'codex', '--lower', 'all', '--', 'Write.'], { cwd });
  expect([ended.code, ended.stderr]).toEqual([
    3,
    expect.stringContaining('error cli.unsupported: agent.yaml has plans, which codex does not keep.'),
  ]);
});
