/** `writ run` against a real server: the task word for word, the answer alone, the record, the budget, the ways to end. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Script, type ScriptedProvider, scriptedProvider } from '../../../test/scripted-provider.ts';
import { agentFolder, type CallOptions, call, writeFiles } from '../call.cases.ts';

let cwd: string;
let provider: ScriptedProvider;
let closed: Promise<void> | undefined;
beforeEach(async () => {
  cwd = await agentFolder('model: local/scripted-1\nbudget: { turns: 9 }');
});
afterEach(async () => {
  await provider?.close();
  await rm(cwd, { recursive: true, force: true });
  closed = undefined;
});

async function run(script: Script, argv: readonly string[], more: Partial<CallOptions> = {}) {
  if (closed === undefined) await provider?.close().catch(() => {});
  provider = await scriptedProvider(script);
  return call(['run', 'a', '--base-url', provider.url, ...argv], { cwd, ...more });
}

const read = (path: string) => ({
  id: `call-${path}`,
  name: 'project_read',
  arguments: JSON.stringify({ path }),
});
const taskSent = () => provider.requests[0]?.json.messages.at(-1).content;

describe('the task', () => {
  test.each([
    [['--', '- list the files'], '- list the files'],
    [['--', '--version'], '--version'],
    [['--', '--'], '--'],
    [['--', '--help', '--json'], '--help --json'],
    [['--', 'two', 'words'], 'two words'],
    [['--', ' spaced\n\nlines '], ' spaced\n\nlines '],
  ])('%j arrives word for word', async (argv, task) => {
    expect(await run([{ text: 'Yes.' }], argv)).toMatchObject({ code: 0, stdout: 'Yes.\n' });
    expect(taskSent()).toBe(task);
  });

  test('comes from a file or from standard input, with its last line break', async () => {
    await writeFile(join(cwd, 'task.txt'), '\ufeffFrom a file.\n');
    await run([{ text: 'Yes.' }], ['--task-file', 'task.txt']);
    expect(taskSent()).toBe('\ufeffFrom a file.\n');
    await run([{ text: 'Yes.' }], ['--task-file', '-'], { stdin: '--from stdin\n' });
    expect(taskSent()).toBe('--from stdin\n');
  });

  test.each([
    [[], 'run.task-empty'],
    [['--'], 'run.task-empty'],
    [['--task-file', 'none.txt'], 'cli.unreadable'],
    [['--task-file', 'none.txt', '--', 'x'], 'cli.bad-value'],
    [['--model', '-x', '--', 'x'], 'model.bad-spec'],
    [['--model', '--harness', '--', 'x'], 'model.bad-spec'],
    [['--model', 'openrouter/-x', '--', 'x'], 'model.bad-spec'],
    [['--budget', 'turn=3', '--', 'x'], 'cli.bad-value'],
    [['--budget', 'turns=1.5', '--', 'x'], 'cli.bad-value'],
    [['--budget', 'turns', '--', 'x'], 'cli.bad-value'],
    [['--session', 'session_none', '--', 'x'], 'run.unknown-session'],
  ])('%j is bad input and nothing is sent', async (argv, code) => {
    const result = await run([], argv);
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code: 2, stdout: '' });
    expect(result.stderr).toContain(`error ${code}: `);
    expect(provider.requests).toEqual([]);
  });
});

describe('the end', () => {
  test('the answer alone is on stdout; lines on stderr tell what happened and end with the way to the record', async () => {
    const script = [
      { text: 'I look.', calls: [read('notes.txt'), read('gone.txt')] },
      { text: 'It is green.' },
    ];
    const { code, stdout, stderr } = await run(script, ['--', 'Which colour?']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'It is green.\n' });
    const shown = stderr
      .replaceAll(/run_\w+/g, 'RUN')
      .replaceAll(/session_\w+/g, 'SESSION')
      .replaceAll(/prompt \w+/g, 'prompt P')
      .replaceAll(/[\d.]+ m?s\b/g, 'T')
      .split('\n');
    // The two reads run at the same time, so either may end first.
    shown.push(...shown.splice(5, 2).sort(), ...shown.splice(5));
    expect(shown).toEqual([
      'RUN · tester on local/scripted-1 · prompt P',
      'turn 1',
      '  | I look.',
      '  1 project_read {"path":"notes.txt"}',
      '  2 project_read {"path":"gone.txt"}',
      '  1 project_read ok · 89 bytes · T',
      expect.stringMatching(/^ {2}2 project_read failed \(tool\.not-found\) · \d+ bytes · T$/),
      'turn 2',
      'completed · 2 turns · 2 calls · 30 tokens · cost unknown · T',
      'session: SESSION',
      'record: writ runs show RUN',
      '',
    ]);
  });

  test('--json gives the whole result as one object and keeps stderr quiet', async () => {
    const { code, stdout, stderr } = await run([{ text: 'Yes.' }], ['--json', '--', 'Well?']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'completed',
      answer: 'Yes.',
      agent: 'tester',
      model: 'local/scripted-1',
      error: null,
    });
  });

  test('a provider that refuses is a failed run: exit 1, the error, the record', async () => {
    const { code, stdout, stderr } = await run([{ status: 401 }], ['--', 'x']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.match(/scripted 401/g)).toHaveLength(1);
    expect(stderr).toMatch(
      /error model\.unauthorized: .+\nnext: .+\nfailed · .+\nsession: session_\w+\nrecord: writ runs show run_\w+\n$/,
    );
  });

  test('a cancelled run settles, is recorded, and exits with 130', async () => {
    const stop = new AbortController();
    provider = await scriptedProvider([{ text: 'I begin', ending: 'hang' }]);
    const running = call(['run', 'a', '--base-url', provider.url, '--', 'x'], { cwd, signal: stop.signal });
    await provider.arrived(1);
    stop.abort('Ctrl-C');
    const { code, stdout, stderr } = await running;
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr.match(/cancel/g)).toHaveLength(1);
    expect(stderr).toMatch(
      /\nturn 1\ncancelled: Ctrl-C · 1 turn · 0 calls · .+\nsession: session_\w+\nrecord: writ runs show run_\w+\n$/,
    );
    expect((await call(['runs', 'list'], { cwd })).stdout).toMatch(/^run_\w+ {2}cancelled /);
  });
});

describe('the budget', () => {
  test('flags lie over agent.yaml, and none lifts a limit', async () => {
    await writeFiles(cwd, {
      'a/agent.yaml': (await readFile(join(cwd, 'a/agent.yaml'), 'utf8')).replace(
        'turns: 9',
        'turns: 1, costUsd: 1',
      ),
    });
    const refused = await run([], ['--', 'x']);
    // No price is known for the model, so the limit in agent.yaml cannot be kept.
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toContain('error run.limit-unkeepable');
    const spent = await run(
      [{ calls: [read('notes.txt')] }],
      ['--budget', 'costUsd=none', '--json', '--', 'x'],
    );
    expect(spent.code).toBe(1);
    expect(JSON.parse(spent.stdout)).toMatchObject({
      error: { code: 'budget.exhausted', details: { counter: 'turns', limit: 1 } },
    });
    const raised = ['--budget', 'costUsd=none', '--budget', 'turns=2', '--json', '--', 'x'];
    const done = await run([{ calls: [read('notes.txt')] }, { text: 'Yes.' }], raised);
    expect(JSON.parse(done.stdout)).toMatchObject({
      status: 'completed',
      budget: { turns: { limit: 2, used: 2 } },
    });
  });

  test('a run that nothing limits says so once, unless whoever started it lifted the limit', async () => {
    const told =
      'Nothing limits the turns, tokens, cost or time of this run: neither agent.yaml nor --budget does. Give a limit with --budget turns=12, or write budget: { turns: 12 } into agent.yaml.';
    const notices = async (...argv: readonly string[]) =>
      JSON.parse((await run([{ text: 'Yes.' }], [...argv, '--json', '--', 'x'])).stdout).notices;
    expect(await notices()).toEqual([]);
    expect(await notices('--budget', 'turns=none')).toEqual([]);
    await writeFiles(cwd, {
      'a/agent.yaml': (await readFile(join(cwd, 'a/agent.yaml'), 'utf8')).replace('turns: 9', 'toolCalls: 9'),
    });
    expect(await notices()).toEqual([told]);
    expect(await notices('--budget', 'wallTimeMs=60000')).toEqual([]);
    const events = await call(['runs', 'show', 'last'], { cwd });
    expect(events.stdout).not.toContain('Nothing limits');
  });

  test('--max-tokens reaches the server', async () => {
    await run([{ text: 'Yes.' }], ['--max-tokens', '77', '--', 'x']);
    expect(provider.requests[0]?.json.max_tokens).toBe(77);
  });
});

test('a session goes on: the same instructions, the earlier task and answer before the new one', async () => {
  const first = JSON.parse((await run([{ text: 'One.' }], ['--json', '--', 'First?'])).stdout);
  await writeFiles(cwd, { 'a/instructions/base.md': 'You changed.\n' });
  const second = await run([{ text: 'Two.' }], ['--session', first.session, '--json', '--', 'Second?']);
  expect(JSON.parse(second.stdout)).toMatchObject({
    session: first.session,
    prompt: first.prompt,
    notices: [expect.stringContaining('composes differently now')],
  });
  expect(provider.requests[0]?.json.messages.map((one: { content: string }) => one.content)).toEqual([
    'You answer tests.\n',
    'First?',
    'One.',
    'Second?',
  ]);
});

test('a key never reaches the record or a message, also where a provider repeats it', async () => {
  const env = { CANARY_KEY: 'sk-canary-0123456789' };
  const body = JSON.stringify({ error: { message: `Wrong key ${env.CANARY_KEY} given`, code: 'bad' } });
  const script = [{ status: 401, body }];
  const { code, stderr } = await run(script, ['--key-env', 'CANARY_KEY', '--', 'x'], { env });
  expect(code).toBe(1);
  expect(provider.requests[0]?.headers.authorization).toBe(`Bearer ${env.CANARY_KEY}`);
  const record = await readFile(join(cwd, '.writ/ledger.sqlite'), 'latin1');
  const { stdout } = await call(['runs', 'events', 'last', '--json'], { cwd });
  for (const text of [stderr, record, stdout]) expect(text).not.toContain('canary-0123');
});

test.each([
  ['deliver: { intent: context }', 'deliver.intent: context'],
  ['tools: [project_read: { workspace: /etc }]', undefined],
])('%s is not passed over in silence', async (line, key) => {
  const yaml = await readFile(join(cwd, 'a/agent.yaml'), 'utf8');
  const kept = yaml.replace(key === undefined ? /^tools: .*$/m : /$^/, '');
  await writeFiles(cwd, { 'a/agent.yaml': `${kept}\n${line}\n` });
  const { code, stderr } = await run([], ['--', 'x']);
  expect(code).toBe(key === undefined ? 2 : 3);
  expect(stderr).toContain(key === undefined ? "no option 'workspace'" : `agent.yaml sets ${key}`);
});

test('without a model it says how to give one', async () => {
  const yaml = await readFile(join(cwd, 'a/agent.yaml'), 'utf8');
  await writeFiles(cwd, { 'a/agent.yaml': yaml.replace('model: local/scripted-1', '') });
  const { code, stderr } = await run([], ['--', 'x']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error cli\.no-model: .+\nnext: Give one with --model/);
});

test('a ledger that is named is used, and the way to the record names it', async () => {
  const { stderr } = await run([{ text: 'Yes.' }], ['--ledger', 'other place/', '--', 'x']);
  const shown = /record: writ runs show (run_\w+) --ledger '(.+)'\n$/.exec(stderr);
  expect(shown?.[2]).toBe(join(cwd, 'other place/ledger.sqlite'));
  expect((await call(['runs', 'show', shown?.[1] ?? '', '--ledger', 'other place/'], { cwd })).code).toBe(0);
});
