/** A run whose process is killed leaves a readable record, and resuming it repeats nothing that was done. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { sqliteStore } from '../src/ledger/stores/sqlite.ts';
import type { RunResult } from '../src/protocol/outcome.ts';
import { stateOf } from '../src/run/derive.ts';
import { type Script, type ScriptedProvider, scriptedProvider } from './scripted-provider.ts';

let folder: string;
let provider: ScriptedProvider;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-kill-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
  await provider.close();
});

function start(stall: string, run?: string) {
  const args = ['test/children/run-parts.mjs', provider.url, folder, ...(run === undefined ? [] : [run])];
  const child = spawn(process.execPath, args, {
    env: { STALL: stall },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let out = '';
  const watching: { text: string; resolve: () => void }[] = [];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
    for (const one of watching) if (out.includes(one.text)) one.resolve();
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    said: (text: string) =>
      out.includes(text)
        ? Promise.resolve()
        : new Promise<void>((resolve) => watching.push({ text, resolve })),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async result(): Promise<RunResult> {
      await exited;
      return JSON.parse(out.trim().split('\n').at(-1) ?? '');
    },
  };
}

const call = (id: string, name: string) => ({ id, name, arguments: '' });
const acts = (name: string) => {
  try {
    return readFileSync(join(folder, `${name}.log`), 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
};
const lastMessages = (count: number) =>
  provider.requests
    .at(-1)
    ?.json.messages.slice(-count)
    .map((m: { content: string }) => m.content);

/** The one run of the ledger, as another process sees it. */
async function recorded() {
  const store = sqliteStore({ path: join(folder, 'ledger.sqlite'), clock: systemClock });
  const [run] = await store.runs();
  const events = await store.events(run?.id ?? '');
  const state = stateOf(events, (await store.holder(run?.id ?? '')) !== undefined);
  await store.close();
  expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
  return { run: run?.id ?? '', events, state };
}

async function script(steps: Script) {
  provider = await scriptedProvider(steps);
}

test('killed while the model answers: what was done is not done again, and the same bytes are sent', async () => {
  await script([
    { calls: [call('a', 'look'), call('b', 'book')] },
    { text: 'never ends', ending: 'hang' },
    { text: 'Booked.' },
  ]);
  const first = start('');
  await provider.arrived(2);
  await first.kill();
  const { run, state } = await recorded();
  expect(state).toBe('interrupted');
  const result = await start('', run).result();
  expect(result).toMatchObject({ status: 'completed', answer: 'Booked.', run, turns: 2, toolCalls: 2 });
  expect(result.usage.totalTokens).toBeNull();
  expect([acts('reads'), acts('writes')]).toEqual([1, 1]);
  expect(provider.requests[2]?.raw).toBe(provider.requests[1]?.raw);
});

test('killed after a write acted and before its result was stored: unknown, told to the model, never repeated', async () => {
  await script([
    { calls: [call('a', 'look'), call('b', 'book'), call('c', 'look')] },
    { text: 'I must look first.' },
  ]);
  const first = start('write');
  await first.said('acted write');
  await first.kill();
  const { run, state } = await recorded();
  expect(state).toBe('interrupted');
  const result = await start('', run).result();
  expect(result).toMatchObject({ status: 'completed', answer: 'I must look first.' });
  expect(acts('writes')).toBe(1);
  expect(lastMessages(3)).toEqual([
    'look done',
    expect.stringMatching(/^failed\(tool\.outcome-unknown\): .*do not repeat it\. Read writes\.log\.$/),
    'look done',
  ]);
  expect((await recorded()).state).toBe('completed');
});

test('killed while a read was at work: the read runs again, the finished write does not', async () => {
  await script([{ calls: [call('a', 'book'), call('b', 'look')] }, { text: 'Done.' }]);
  const first = start('read');
  await first.said('acted read');
  await first.kill();
  const { run } = await recorded();
  expect(await start('', run).result()).toMatchObject({ status: 'completed', answer: 'Done.' });
  expect([acts('reads'), acts('writes')]).toEqual([2, 1]);
});

test('a living run cannot be resumed by another process', async () => {
  await script([{ text: 'never ends', ending: 'hang' }]);
  const first = start('');
  await provider.arrived(1);
  const { run, state } = await recorded();
  expect(state).toBe('running');
  const second = start('', run);
  await expect(second.result()).rejects.toThrow();
  expect((await recorded()).state).toBe('running');
  await first.kill();
});
