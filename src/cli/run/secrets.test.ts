/** The key of a run: nowhere in what is shown or stored, and no harm to the record where it is an ordinary word. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Script, type ScriptedProvider, scriptedProvider } from '../../../test/scripted-provider.ts';
import { openLedger } from '../../ledger/ledger.ts';
import { memoryStore } from '../../ledger/stores/memory.ts';
import type { LiveDelta, RunEvent } from '../../protocol/events.ts';
import { agentFolder, call } from '../call.cases.ts';
import { redactedProgress } from '../view/redacted.ts';

const canary = 'canary-7f3a/9c1e-55d0';
let cwd: string;
let provider: ScriptedProvider;
beforeEach(async () => {
  cwd = await agentFolder();
});
afterEach(async () => {
  await provider.close();
  await rm(cwd, { recursive: true, force: true });
});

async function run(
  script: Script,
  key: string,
  argv: readonly string[] = ['--', 'x'],
  model = 'local/scripted-1',
) {
  provider = await scriptedProvider(script);
  return again(key, argv, model);
}

const again = (key: string, argv: readonly string[], model = 'local/scripted-1') =>
  call(['run', 'a', '--base-url', provider.url, '--model', model, '--key-env', 'LAB_KEY', ...argv], {
    cwd,
    env: { LAB_KEY: key },
  });

const read = { id: 'call-1', name: 'project_read', arguments: JSON.stringify({ path: canary }) };
const echoes: Script = [{ text: `I use ${canary}.`, calls: [read] }, { text: `It is ${canary}!` }];

describe('a key that the model repeats', () => {
  test('is in no stream and no file', async () => {
    const { code, stdout, stderr } = await run(echoes, canary);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'It is [secret LAB_KEY]!\n' });
    expect(stderr).toContain('I use [secret LAB_KEY].');
    expect(stderr).not.toContain(canary);
    const files = await readdir(join(cwd, '.writ'));
    for (const file of files)
      expect(await readFile(join(cwd, '.writ', file), 'latin1')).not.toContain(canary);
  });

  test('is not in the result as JSON', async () => {
    const { stdout, stderr } = await run(echoes, canary, ['--json', '--', 'x']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', answer: 'It is [secret LAB_KEY]!' });
    expect(stdout + stderr).not.toContain(canary);
  });

  test.each([
    ['as it is', canary],
    ['escaped', canary.replaceAll('/', '\\/')],
    ['percent-encoded', encodeURIComponent(canary)],
    ['in base64', Buffer.from(`:${canary}`).toString('base64')],
  ])('is in no error %s', async (_form, found) => {
    const step = { status: 401, body: `denied ${found}` };
    const { code, stderr } = await run([step], canary);
    expect(code).toBe(1);
    expect(stderr).toMatch(/error model.unauthorized: .*\[secret LAB_KEY\]/);
    expect(stderr).not.toContain(found);
  });
});

describe('a key that is an ordinary word', () => {
  test.each(['effect', 'finish', 'message', 'completed', 'workspace'])(
    '%s leaves the record readable',
    async (word) => {
      const { code } = await run(
        [{ calls: [{ ...read, arguments: '{"path":"notes.txt"}' }] }, { text: 'Yes.' }],
        word,
      );
      expect(code).toBe(0);
      const listed = await call(['runs', 'list', '--json'], { cwd });
      expect(JSON.parse(listed.stdout).runs).toMatchObject([
        { state: 'completed', model: 'local/scripted-1' },
      ]);
      const { stdout } = await call(['runs', 'events', 'last', '--json'], { cwd });
      const events = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as RunEvent);
      expect(events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['run-start', 'tool-result', 'run-finish']),
      );
      expect(events.map(({ type }) => type).join()).not.toContain('secret');
    },
  );

  test('and a part of the name of the model leaves its session usable', async () => {
    const first = await run(
      [{ text: 'One.' }, { text: 'Two.' }],
      'ollama',
      ['--json', '--', 'x'],
      'ollama/qwen3',
    );
    const { session, model } = JSON.parse(first.stdout);
    expect(model).toBe('ollama/qwen3');
    const second = await again('ollama', ['--session', session, '--', 'y'], 'ollama/qwen3');
    expect(second).toMatchObject({ code: 0, stdout: 'Two.\n' });
  });
});

test('a key in what a session is opened again with is refused before anything is sent', async () => {
  const { code, stderr } = await run([], canary, ['--fact', `lamp=true`, '--', 'x'], `local/${canary}`);
  expect(code).toBe(2);
  expect(stderr).toContain('error ledger.secret-in-record: ');
  expect(stderr).not.toContain(canary);
  expect((await call(['runs', 'list', '--json'], { cwd })).stdout).toContain('"runs": []');
});

test('a key too short to be found in texts is told', async () => {
  const { code, stderr } = await run([{ text: 'Yes.' }], '12345');
  expect(code).toBe(0);
  expect(stderr).toContain('notice: The value of LAB_KEY has fewer than 6 characters');
});

test('what is said live waits while it may be a key, and is shown before the event that follows', () => {
  const shown: string[] = [];
  const ledger = openLedger({ store: memoryStore(), secrets: [{ name: 'KEY', value: canary }] });
  const progress = redactedProgress(
    {
      onEvents: (events) => void shown.push(...events.map(({ type }) => type)),
      onLive: ({ type, text }) => void shown.push(`${type} ${text}`),
      onChildEvents() {},
      hold: () => () => {},
      close() {},
    },
    ledger,
  );
  const say = (type: LiveDelta['type'], text: string) => progress.onLive({ type, turn: 1, n: 1, text });
  say('text-delta', 'It is cana');
  say('reasoning-delta', canary.slice(0, 9));
  say('text-delta', `${canary.slice(4)}, canary`);
  progress.onEvents([{ type: 'turn-start' } as RunEvent]);
  progress.onEvents([{ type: 'message-finish' } as RunEvent]);
  say('text-delta', '-7f3a');
  expect(shown).toEqual([
    'text-delta It is ',
    'text-delta [secret KEY], ',
    'turn-start',
    'text-delta canary',
    `reasoning-delta ${canary.slice(0, 9)}`,
    'message-finish',
    'text-delta -7f3a',
  ]);
});
