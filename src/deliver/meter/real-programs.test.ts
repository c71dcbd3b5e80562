/** The real agent programs, where they are installed, behind the meter: proven and charged, and ended when a limit is spent. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { plainComposition } from '../../compose/plain.ts';
import { memoryStore } from '../../ledger/stores/memory.ts';
import type { BudgetLimits } from '../../protocol/budget.ts';
import type { RunEvent } from '../../protocol/events.ts';
import type { Intent } from '../../protocol/intent.ts';
import { meterOf } from '../../run/meter-view.ts';
import { startRun } from '../../run/run.ts';
import { adapterNamed, allAdapters, straysOf } from '../drive/drive.cases.ts';
import { installedVersion } from '../drive/installed-version.ts';
import { outside } from '../drive/outside.ts';
import { type ScriptedAnswer, startScriptedModel } from '../recorder/scripted-model.ts';

const modules = resolve('conformance/node_modules');
const platform = `${process.platform}-${process.arch}`;
const all = process.env.WRIT_REAL_AGENTS === '1';

interface Program {
  readonly name: string;
  /** Below the modules. */
  readonly bin: string;
  readonly intent: Intent;
  readonly model?: string;
  /** Where its protocol begins below the scripted model. */
  readonly path: string;
  readonly call: { readonly name: string; readonly arguments: string };
}

const quick: readonly Program[] = [
  {
    name: 'pi',
    bin: '.bin/pi',
    intent: 'append',
    model: 'm1',
    path: '/v1',
    call: { name: 'bash', arguments: '{"command":"true"}' },
  },
  {
    name: 'codex',
    bin: '.bin/codex',
    intent: 'developer',
    model: 'gpt-5.1',
    path: '/v1',
    call: { name: 'exec_command', arguments: '{"cmd":"true"}' },
  },
];
const slow: readonly Program[] = [
  {
    name: 'claude-code',
    bin: `@anthropic-ai/claude-code-${platform}/claude`,
    intent: 'append',
    path: '',
    call: { name: 'Read', arguments: '{"file_path":"/none"}' },
  },
  {
    name: 'gemini',
    bin: '.bin/gemini',
    intent: 'replace',
    model: 'gemini-2.5-pro',
    path: '',
    call: { name: 'list_directory', arguments: '{"dir_path":"."}' },
  },
  {
    name: 'opencode',
    bin: `opencode-${platform}/bin/opencode`,
    intent: 'append',
    model: 'm1',
    path: '/v1',
    call: { name: 'list', arguments: '{}' },
  },
  {
    name: 'qwen-code',
    bin: '.bin/qwen',
    intent: 'append',
    model: 'm1',
    path: '/v1',
    call: { name: 'list_directory', arguments: '{"path":"/"}' },
  },
];

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe.each(all ? [...quick, ...slow] : quick)('$name', (program) => {
  const there = existsSync(join(modules, program.bin));

  test.skipIf(!there)(
    'a call and an answer: the text is proven in each request, resumed too, and the usage is what the server said',
    async () => {
      const { run, events } = await openReal(program);
      const first = await run('Say done.', { modelCalls: 20, tokens: 1_000_000 });
      expect(first).toMatchObject({ status: 'completed', answer: 'Done.', error: null });
      expect(first.usage.modelCalls).toBe(first.budget.modelCalls?.used);
      expect(meterOf(events).meter).toMatchObject({ main: 2, proven: 2, refused: 0 });
      const second = await run('Again.', { modelCalls: 20 }, first.session);
      expect(second).toMatchObject({ status: 'completed', answer: 'Done.' });
      expect(meterOf(events).meter).toMatchObject({ main: 3, proven: 3, refused: 0 });
    },
    120_000,
  );

  test.skipIf(!there)(
    'a spent budget ends it, whatever it makes of the refusal',
    async () => {
      const { run, asked } = await openReal(program, () => ({ text: '', call: program.call }));
      const result = await run('Say done.', { turns: 2 });
      expect(result).toMatchObject({ status: 'failed', error: { code: 'budget.exhausted' } });
      expect(asked()).toBeGreaterThanOrEqual(2);
    },
    120_000,
  );
});

async function openReal(
  { name, bin, intent, model, path, call }: Program,
  script: (nth: number) => ScriptedAnswer = (nth) => (nth === 1 ? { text: '', call } : { text: 'Done.' }),
) {
  const root = await mkdtemp(join(tmpdir(), 'writ-meter-'));
  const workspace = join(root, 'workspace');
  await mkdir(workspace);
  let asked = 0;
  const scripted = await startScriptedModel(({ messages, tools = [] }) => {
    if (JSON.stringify(messages).includes('model_choice'))
      return {
        text: '{"complexity_reasoning":"a","complexity_score":1,"reasoning":"a","model_choice":"flash"}',
      };
    if (tools.length === 0) return { text: 'A title' };
    asked = messages.filter(({ role }) => role === 'tool').length + 1;
    return script(asked);
  });
  const store = memoryStore({ clock: systemClock });
  closers.push(
    () => rm(root, { recursive: true, force: true }),
    async () => expect(await straysOf(root)).toEqual([]),
    () => store.close(),
    () => scripted.stop(),
  );
  const adapter = adapterNamed(name);
  const keys = Object.fromEntries(adapter.keyVariables.slice(0, 1).map((key) => [key, 'writ-test']));
  const env = { PATH: process.env.PATH, HOME: root, XDG_STATE_HOME: join(root, 'state'), ...keys };
  const harness = outside({
    adapter,
    adapters: allAdapters,
    program: join(modules, bin),
    version: await installedVersion(adapter, {
      program: join(modules, bin),
      env,
      signal: AbortSignal.timeout(60_000),
    }),
    intent,
    fidelity: 'base',
    ...(model === undefined ? {} : { dimensions: { model } }),
    meter: { upstream: scripted.url + path },
    workspace,
    homes: join(root, 'homes'),
    env,
  });
  const events: RunEvent[] = [];
  return {
    events,
    asked: () => asked,
    run: (task: string, limits: BudgetLimits, session?: string) =>
      startRun({
        store,
        harness,
        clock: systemClock,
        holder: 'test:1:1',
        approve: 'deny',
        lowered: { approval: 'none', effects: 'observed', resume: 'observed', cancel: 'observed' },
        composition: plainComposition('tester', 'You are canary-7f3a. Answer with one word.'),
        capabilities: [],
        limits,
        task,
        origin: {},
        onEvents: (stored) => events.push(...stored),
        ...(session === undefined ? {} : { session }),
      }),
  };
}
