/** A run whose process is killed leaves a readable record, and resuming it repeats nothing that was done. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { actsIn, killAll, onlyRunIn, startProcess } from './killed-run.ts';
import { type Script, type ScriptedProvider, scriptedProvider } from './scripted-provider.ts';

let folder: string;
let provider: ScriptedProvider;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-kill-'));
});
afterEach(async () => {
  killAll();
  rmSync(folder, { recursive: true });
  await provider.close();
});

const start = (stall: string, ...run: string[]) =>
  startProcess('run-parts.mjs', [provider.url, folder, ...run], stall);
const call = (id: string, name: string) => ({ id, name, arguments: '' });
const acts = (name: string) => actsIn(folder, name);
const lastMessages = (count: number) =>
  provider.requests
    .at(-1)
    ?.json.messages.slice(-count)
    .map((m: { content: string }) => m.content);

async function recorded() {
  const recorded = await onlyRunIn(folder);
  expect(recorded.events.map((event) => event.seq)).toEqual(recorded.events.map((_, i) => i + 1));
  return recorded;
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
