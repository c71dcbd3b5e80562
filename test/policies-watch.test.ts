/** What policies see and note without speaking: changes of the workspace, reads that give the same again, breakers that annotate. */
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { policiesFor } from '../src/compose/policies.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { Tool } from '../src/native/tool/tool.ts';
import type { RunEvent } from '../src/protocol/events.ts';
import { dying } from './dying-store.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
let workspace: string;
let rig: Rig | undefined;
let calls = 0;
let times = 0;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'writ-policies-'));
});
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  rmSync(workspace, { recursive: true });
});

/** Stands for the command tool, with which it shares name, rights and head line: it writes only if the command says so. */
const shell = (): Tool =>
  defineTool<{ readonly command: string }>({
    name: 'command_start',
    description: 'Runs.',
    parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    capability: 'look',
    access: 'write',
    repeat: 'safe',
    execute: ({ command }) => {
      times += 1;
      if (command.startsWith('write ')) appendFileSync(join(workspace, command.slice(6)), 'x');
      return `[command id${times} ended exit=${command.startsWith('fail') ? 1 : 0}]\ntook ${times} ms`;
    },
  });
const yes = async () => ({ decision: 'approved', by: 'ana', reason: '' }) as const;
const asking = { approve: 'ask', ask: yes } as const;
const read = (): Tool =>
  defineTool<{ readonly path: string }>({
    name: 'read',
    description: 'Reads.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    capability: 'look',
    access: 'read',
    execute: ({ path }) => `text of ${path}`,
  });
const step = (name: string, args: object) => {
  calls += 1;
  return { calls: [{ id: `c${calls}`, name, arguments: JSON.stringify(args) }], usage };
};
const sh = (command: string) => step('command_start', { command });
const end = { text: 'end', usage };
async function opened(options: RigOptions): Promise<Rig> {
  rig = await openRig({ tools: [read()], workspace, ...options });
  return rig;
}
const of = <T extends RunEvent['type']>(events: readonly RunEvent[], type: T) =>
  events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type);
const spoken = (events: readonly RunEvent[]) => of(events, 'policy-speak').map(({ policy }) => policy);

describe('changes of the workspace', () => {
  const script = (...commands: string[]) => [...commands.map(sh), end];
  test('are seen whatever made them, and only what is seen counts', async () => {
    const { run, events } = await opened({
      tools: [shell()],
      policies: { starvation: { turns: 2 } },
      script: script('look', 'write a', 'look', 'write b', 'write dist', 'look', 'look'),
    });
    await run('go', asking);
    expect(of(events, 'workspace-change').map(({ turn, files, more }) => [turn, files, more])).toEqual([
      [2, ['a'], 0],
      [4, ['b'], 0],
      [5, ['dist'], 0],
    ]);
    expect(of(events, 'policy-speak').map(({ policy, text }) => [policy, text])).toEqual([
      ['starvation', expect.stringContaining('in the last 2 turns')],
    ]);
  });
  test('are believed of a command that says nothing where no workspace is given', async () => {
    rig = await openRig({
      tools: [shell()],
      policies: { starvation: { turns: 2 } },
      script: script('look', 'look a', 'look b'),
    });
    await rig.run('go', asking);
    expect(spoken(rig.events)).toEqual([]);
  });
  test('are not looked at where no policy asks', async () => {
    const { run, events } = await opened({
      tools: [shell()],
      policies: { 'result-cap': {} },
      script: script('write a'),
    });
    await run('go', asking);
    expect(of(events, 'workspace-change')).toEqual([]);
    expect(of(events, 'tool-result').map(({ seen }) => seen)).toEqual([undefined]);
  });
  test('tell one failure from another, and its numbers do not', async () => {
    const { run, events } = await opened({
      tools: [shell()],
      policies: { repetition: {} },
      script: script('fail', 'look', 'fail', 'look', 'fail'),
    });
    await run('go', asking);
    expect(of(events, 'policy-speak').map(({ text }) => text)).toEqual([
      expect.stringMatching(/^'command_start' has ended as failed 3 times .* give your final answer\.$/),
    ]);
  });
});

describe('a read that gives the same again', () => {
  const reading = (...paths: string[]) => [...paths.map((path) => step('read', { path })), end];
  const results = ({ provider }: Rig): string[] =>
    provider.requests
      .at(-1)
      ?.json.messages.filter(({ role }: { role: string }) => role === 'tool')
      .map(({ content }: { content: string }) => content);
  test('says so below its whole result, and not of what builds write', async () => {
    const one = await opened({
      policies: { 're-read': {} },
      script: reading('a', 'b', 'a', 'dist/a', 'dist/a'),
    });
    await one.run('go');
    expect(results(one)).toEqual([
      'text of a',
      'text of b',
      'text of a\n[Unchanged: turn 1 read exactly this already.]',
      'text of dist/a',
      'text of dist/a',
    ]);
  });
  test('says so after a kill too', async () => {
    const one = await opened({ policies: { 're-read': {} }, script: reading('a', 'a') });
    const died = await one.run('go', {
      store: dying(one.store, (_, event) => event.type === 'model-request' && event.turn === 2),
    });
    await one.resume(died.run);
    expect(results(one)[1]).toContain('[Unchanged: turn 1');
  });
  test('is not told of a tool that is there to be asked again', async () => {
    const one = await opened({
      tools: [{ ...read(), schema: { ...read().schema, name: 'command_read' } }],
      policies: { 're-read': {} },
      script: [step('command_read', { path: 'a' }), step('command_read', { path: 'a' }), end],
    });
    await one.run('go');
    expect(results(one)).toEqual(['text of a', 'text of a']);
  });
  test('says nothing where the policy is not named, or other generated paths are', async () => {
    const unnamed = await opened({ script: reading('a', 'a') });
    await unnamed.run('go');
    expect(results(unnamed)).toEqual(['text of a', 'text of a']);
    await unnamed.close();
    const own = await opened({
      policies: { 're-read': { generated: ['.gen'] } },
      script: reading('dist/a', 'dist/a', 'a.gen', 'a.gen'),
    });
    await own.run('go');
    expect(results(own).map((text) => text.includes('[Unchanged'))).toEqual([false, true, false, false]);
  });
});

describe('breakers that annotate', () => {
  const same = (count: number) => [...Array.from({ length: count }, () => step('read', { path: 'a' })), end];
  test('record what they would have done, and the model reads nothing of it', async () => {
    const { run, events, provider } = await opened({
      policies: {
        repetition: { mode: 'annotate', nudge: 2, check: 3, stop: 4 },
        starvation: { mode: 'annotate', turns: 3 },
      },
      script: same(6),
    });
    expect((await run('go')).status).toBe('completed');
    expect(of(events, 'policy-note').map(({ policy, would, text }) => [policy, would, text])).toEqual([
      ['repetition', 'speak', expect.stringContaining('2 times in a row')],
      ['starvation', 'speak', expect.stringContaining('last 3 turns')],
      ['repetition', 'speak', expect.stringContaining('3 times in a row')],
      ['repetition', 'stop', expect.stringContaining('4 times in a row')],
      ['starvation', 'speak', expect.stringContaining('last 6 turns')],
      ['repetition', 'speak', expect.stringContaining('6 times in a row')],
    ]);
    expect(spoken(events)).toEqual([]);
    expect(provider.requests.at(-1)?.raw).not.toContain('in a row');
  });
  test('leave the turn to those that speak', async () => {
    const { run, events } = await opened({
      policies: { repetition: { nudge: 2 }, starvation: { mode: 'annotate', turns: 2 } },
      script: same(2),
    });
    await run('go');
    expect([spoken(events), of(events, 'policy-note').map(({ policy }) => policy)]).toEqual([
      ['repetition'],
      ['starvation'],
    ]);
  });
  test('note each thing once, also after a kill', async () => {
    const { run, resume, store } = await opened({
      policies: { repetition: { mode: 'annotate', nudge: 2 } },
      script: same(2),
    });
    const died = await run('go', {
      store: dying(store, (_, event) => event.type === 'turn-start' && event.turn === 3),
    });
    expect(of(await store.events(died.run), 'policy-note')).toHaveLength(1);
    await resume(died.run);
    expect(of(await store.events(died.run), 'policy-note')).toHaveLength(1);
  });
});

test('with a completion contract every word to the model offers its token', async () => {
  const { run, events, provider } = await opened({
    policies: { completion: { token: 'FERTIG' }, repetition: { nudge: 2 } },
    script: [step('read', { path: 'a' }), step('read', { path: 'a' }), { text: 'x\nFERTIG', usage }],
  });
  expect((await run('go')).answer).toBe('x');
  expect(of(events, 'policy-speak').map(({ text }) => text)).toEqual([
    expect.stringMatching(/If the task is finished, give your final answer with FERTIG as its last line\.$/),
  ]);
  expect(provider.requests[2]?.json.messages.at(-1).content).toContain('FERTIG');
});

test('with a person in the conversation the breakers annotate, and nobody asks for a token', () => {
  const all = {
    completion: {},
    starvation: { turns: 3 },
    repetition: { mode: 'armed', stop: 4 },
    're-read': {},
    'idle-done': {},
    'result-cap': { bytes: 9 },
  } as const;
  expect(policiesFor(all, true)).toEqual({
    starvation: { turns: 3, mode: 'annotate' },
    repetition: { stop: 4, mode: 'annotate' },
    'result-cap': { bytes: 9 },
  });
  expect(policiesFor(all, false)).toBe(all);
});
