/** `writ deliver` and `writ harness`: plans and the table are printed, refusals end with 3, and nothing is touched. */
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cellFor, requestFor } from '../../deliver/conformance.cases.ts';
import { adapter as pi } from '../../deliver/harnesses/pi/pi.ts';
import { sha256 } from '../../digest.ts';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder();
  await writeFiles(cwd, {
    'plain/agent.yaml': 'key: plain\nprofiles: { default: [base] }\n',
    'plain/instructions/base.md': 'You are the canary.\n',
  });
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const key = { ANTHROPIC_API_KEY: 'sk-secret-canary', OPENAI_API_KEY: 'sk-secret-canary' };
const deliver = (...argv: string[]) => call(['deliver', ...argv], { cwd, env: key });
const everything = async () => (await readdir(cwd, { recursive: true })).sort();

test('the plan as JSON: the file, the flag, the task, and nothing on disk afterwards', async () => {
  const before = await everything();
  const { code, stdout, stderr } = await deliver(
    'plain',
    '--harness',
    'claude-code',
    '--json',
    '--',
    '--version',
  );
  expect([code, stderr]).toEqual([0, '']);
  const plan = JSON.parse(stdout);
  expect(plan).toMatchObject({
    harness: 'claude-code',
    intent: 'append',
    fidelity: 'base',
    program: 'claude',
    files: [{ path: 'prompt.md', text: 'You are the canary.\n', until: 'run' }],
    workspace: cwd,
    home: join(cwd, '.local', 'state', 'writ', 'homes', 'SESSION'),
  });
  expect(plan.controls[0]).toMatchObject({
    control: '--append-system-prompt-file',
    sha256: sha256('You are the canary.\n'),
  });
  expect(JSON.parse(plan.stdin).message.content).toBe('--version');
  expect(stdout).not.toContain('sk-secret-canary');
  expect(await everything()).toEqual(before);
});

test('the plan for a person names controls, command, sizes and what was measured, and holds no prompt', async () => {
  const { code, stdout } = await deliver(
    'plain',
    '--harness',
    'gemini',
    '--intent',
    'replace',
    '--model',
    'gemini-2.5-pro',
  );
  // Logging in without a key was never measured.
  expect([code, stdout]).toEqual([3, '']);
  const keyed = await call(
    ['deliver', 'plain', '--harness', 'pi', '--intent', 'replace', '--model', 'gemini-2.5-pro'],
    { cwd, env: { GEMINI_API_KEY: 'k' } },
  );
  expect(keyed.code).toBe(0);
  expect(keyed.stdout).toMatch(/^pi: replace, base\n/);
  expect(keyed.stdout).toContain('replace: --system-prompt (file, 20 bytes, sha256 ');
  expect(keyed.stdout).toContain('prompt.md  20 bytes, until the run ends');
  expect(keyed.stdout).not.toContain('canary');
});

test.each([
  [['plain', '--harness', 'codex', '--intent', 'append'], 'deliver.no-control', 'intent'],
  // What the agent lists stands against every intent, so it is told first.
  [['a', '--harness', 'codex', '--intent', 'append'], 'deliver.dimension-unsupported', 'tools'],
  [['a', '--harness', 'codex', '--intent', 'developer'], 'deliver.dimension-unsupported', 'tools'],
  [
    ['plain', '--harness', 'claude-code', '--intent', 'replace', '--harness-version', '99.0.0'],
    'deliver.unmeasured',
    'intent',
  ],
  [
    ['plain', '--harness', 'claude-code', '--intent', 'replace', '--fidelity', 'exact'],
    'deliver.residue',
    'fidelity',
  ],
  [['plain', '--harness', 'acp'], 'deliver.unmeasured', 'intent'],
])('%j is refused: %s', async (argv, errorCode, field) => {
  const before = await everything();
  const { code, stdout } = await deliver(...argv, '--json');
  expect(code).toBe(3);
  expect(await everything()).toEqual(before);
  expect(JSON.parse(stdout).error).toMatchObject({ code: errorCode, kind: 'refused', details: { field } });
});

test('an unmeasured version is used where the caller says so, which the plan notes', async () => {
  const { code, stdout } = await deliver(
    ...['plain', '--harness', 'claude-code', '--intent', 'replace', '--harness-version', '99.0.0'],
    ...['--unmeasured', 'warn', '--json'],
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    cell: null,
    notices: [expect.stringContaining('Nobody measured')],
  });
});

test('what this machine measured wins over what ships', async () => {
  const request = requestFor(pi, { version: '0.73.1', intent: 'append' });
  const cell = cellFor(pi, request, { delivered: false, position: null });
  await writeFiles(cwd, { '.local/state/writ/cells.json': JSON.stringify([cell]) });
  const { code, stdout } = await deliver('plain', '--harness', 'pi', '--json');
  expect(code).toBe(3);
  expect(JSON.parse(stdout).error.code).toBe('deliver.not-delivered');
  const table = JSON.parse((await call(['harness', '--json'], { cwd })).stdout);
  const row = table.harnesses.find(({ harness }: { harness: string }) => harness === 'pi');
  expect(row.controls[1].cells[0]).toEqual(cell);
});

test('agent.yaml says the intent, a flag says another', async () => {
  await writeFiles(cwd, {
    'plain/agent.yaml':
      'key: plain\nprofiles: { default: [base] }\ndeliver: { intent: developer, fidelity: base }\n',
  });
  const { stdout } = await deliver('plain', '--harness', 'codex', '--json');
  expect(JSON.parse(stdout).intent).toBe('developer');
  expect((await deliver('plain', '--harness', 'codex', '--intent', 'append')).code).toBe(3);
});

test('the model of agent.yaml is named as the harness names it, or the plan says that it is not used', async () => {
  await writeFiles(cwd, {
    'plain/agent.yaml': 'key: plain\nprofiles: { default: [base] }\nmodel: anthropic/claude-opus-4-8\n',
  });
  const claude = JSON.parse((await deliver('plain', '--harness', 'claude-code', '--json')).stdout);
  expect(claude.argv.slice(-2)).toEqual(['--model', 'claude-opus-4-8']);
  expect(claude.cell.modelFamily).toBe('opus');
  const other = ['plain', '--harness', 'codex', '--intent', 'developer', '--json'];
  const codex = JSON.parse((await deliver(...other)).stdout);
  expect(codex.files[0].text).not.toContain('model =');
  expect(codex.notices.at(-1)).toMatch(/^The model anthropic\/claude-opus-4-8 of agent.yaml is not used: /);
  const named = JSON.parse((await deliver(...other, '--model', 'm')).stdout);
  expect(named.files[0].text).toContain('model = "m"');
  expect(named.notices).toHaveLength(codex.notices.length - 1);
});

const writer = resolve('examples/writer');

test.each([
  [['codex', 'replace'], {}, /^Leave the model out\.$/],
  [['codex', 'replace'], key, /^Name a model of gpt, other with --model, or leave the model out\.$/],
  [['qwen-code', 'replace'], {}, /^Set OPENAI_API_KEY and name a model of .*, or leave the model out\.$/],
  [['gemini', 'replace'], {}, /^Set GEMINI_API_KEY or GOOGLE_API_KEY\.$/],
])('%j in a state like no other: what was measured, and a step that helps', async (asked, env, step) => {
  const [harness = '', intent = ''] = asked;
  const argv = ['deliver', writer, '--harness', harness, '--intent', intent, '--model', 'gemini-2.5-pro'];
  const { code, stdout } = await call([...argv, '--fidelity', 'exact', '--json'], { cwd, env });
  const { error } = JSON.parse(stdout);
  expect([code, error.code]).toEqual([3, 'deliver.unmeasured']);
  expect(error.next).toMatch(step);
  expect(error.message).toMatch(/ It was measured on [\d.]+ with an API key for model families \w/);
  const base = JSON.parse((await call([...argv, '--json'], { cwd, env })).stdout).error;
  expect(base.next).toMatch(/^Accept it with --unmeasured warn, or /);
  expect((await call([...argv, '--unmeasured', 'warn'], { cwd, env })).code).toBe(0);
});

test('another version is measured by a command that asks for the model too', async () => {
  const argv = ['--harness', 'codex', '--intent', 'replace', '--harness-version', '9.9.9', '--json'];
  const next = async (...more: string[]) =>
    JSON.parse((await deliver('plain', ...argv, ...more)).stdout).error.next;
  expect(await next()).toBe(
    'Accept it with --unmeasured warn, or run with --verify, or measure it: writ harness verify codex',
  );
  const asLogin = await call(['deliver', 'plain', ...argv], { cwd, env: {} });
  expect(JSON.parse(asLogin.stdout).error.next).toMatch(/: writ harness verify codex --login$/);
  expect(await next('--model', 'gpt-5')).toMatch(/ measure it: writ harness verify codex --model gpt-5$/);
  expect(await next('--model', 'a;b')).toMatch(/ --model NAME$/);
  const acp = JSON.parse((await deliver('plain', '--harness', 'acp', '--json')).stdout).error;
  expect(acp.next).toBe(
    'Run with --verify, or measure it: writ harness verify acp --bin PATH --bin-arg=WORD',
  );
});

test('tools are told by name, with whom they work, and who can do the whole', async () => {
  const refused = async (intent: string) =>
    JSON.parse((await deliver('a', '--harness', 'claude-code', '--intent', intent, '--json')).stdout).error;
  const { message, next, details } = await refused('append');
  expect(message).toMatch(/^The agent lists tools \(\w+.*\), and claude-code has only its own: /);
  expect(next).toMatch(/^Use an agent without `tools:` in its agent\.yaml, .*, or one of: native\.$/);
  expect(details.able).toEqual(['native']);
  expect((await refused('context')).details.able).toEqual([]);
});

test('a line end that a harness takes off: the next step is an agent.yaml that works', async () => {
  const env = { GEMINI_API_KEY: 'k', OPENAI_API_KEY: 'k' };
  for (const asked of [
    ['--harness', 'gemini', '--intent', 'replace', '--model', 'gemini-2.5-pro'],
    ['--harness', 'codex', '--intent', 'context'],
  ]) {
    const { code, stderr } = await call(['deliver', 'plain', ...asked], { cwd, env });
    expect([code, stderr]).toEqual([3, expect.stringMatching(/\nnext: .*`join: bare`/)]);
    expect(await call(['deliver', writer, ...asked], { cwd, env })).toMatchObject({ code: 0, stderr: '' });
  }
});

test.each([
  ['append', 'native'],
  ['replace', 'native'],
  ['developer', 'codex'],
  ['context', 'codex'],
])('a harness that there is not cannot %s: refused, with those that can', async (intent, able) => {
  const { code, stdout } = await deliver('plain', '--harness', 'never-seen', '--intent', intent, '--json');
  expect(code).toBe(3);
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'deliver.unknown-harness',
    details: {
      harness: 'never-seen',
      field: 'intent',
      able: expect.arrayContaining([able]),
    },
  });
});

test('a misuse is bad input', async () => {
  expect((await deliver('plain')).code).toBe(2);
  expect((await deliver('plain', '--harness', 'codex', '--intent', 'replaces')).code).toBe(2);
});

test('the table: every harness, every intent, what is refused and why', async () => {
  const { code, stdout } = await call(['harness'], { cwd });
  expect(code).toBe(0);
  for (const name of ['native', 'claude-code', 'codex', 'gemini', 'opencode', 'pi', 'qwen-code', 'acp'])
    expect(stdout).toMatch(new RegExp(`^${name}: `, 'm'));
  expect(stdout.match(/^ {2}(replace|append|developer|context) /gm)).toHaveLength(32);
  expect(stdout).toMatch(/append {5}refused: what it adds becomes a developer message/);
  expect(stdout).toContain(
    '; measured on 0.171.0 with an API key, model families default, gpt, other; 0.171.0 with a login, model families default\n',
  );
  expect(stdout).toContain(', model families default, other, qwen, gpt; not measured with a login\n');
  expect(stdout).toContain(
    '_meta.systemPrompt: where the agent puts it; seen not to deliver on gemini --acp 0.61.0 with an API key, model families default; qwen --acp',
  );
  const { harnesses } = JSON.parse((await call(['harness', '--json'], { cwd })).stdout);
  expect(harnesses.map(({ controls }: { controls: unknown[] }) => controls.length)).toEqual(Array(8).fill(4));
});
