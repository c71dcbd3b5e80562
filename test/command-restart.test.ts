/** Commands of a run that was killed: each start is looked at and never guessed, and what still runs ends with the run. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../src/ledger/store.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { commandId, commandsFolder } from '../src/native/command/command-seat.ts';
import { commandStart } from '../src/native/command/command-start.ts';
import type { Tool } from '../src/native/tool/tool.ts';
import type { EventBody } from '../src/protocol/events.ts';
import { readBanner } from '../src/sandbox/banner.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { local } from '../src/sandbox/sandboxes/local/local.ts';
import { claimFolder, isVoid, neverStarts } from '../src/sandbox/supervisor/forestall.ts';
import { endAll, membersOf } from '../src/sandbox/supervisor/process-tree.ts';
import { approved } from './asked-calls.ts';
import { dyingAt } from './dying-store.ts';
import { openRig, type Rig } from './rig.ts';
import type { Script } from './scripted-provider.ts';

let base: string;
let workspace: string;
const rigs: Rig[] = [];
const surroundings = () => ({ env: { PATH: process.env.PATH, XDG_STATE_HOME: base } });
const folder = () => commandsFolder(workspace, surroundings());
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-restart-'));
  workspace = join(base, 'workspace');
  mkdirSync(workspace);
});
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
  const ids = existsSync(folder()) ? readdirSync(folder()) : [];
  const targets = ids.map((id) => ({ leader: null, mark: `WRIT_COMMAND=${id}` }));
  const left = targets.flatMap(membersOf);
  for (const target of targets) await endAll(target, { graceMs: 0, killMs: 1_000, wrapper: null });
  rmSync(base, { recursive: true, force: true });
  expect(left).toEqual([]);
});

const start = (args: object) => ({ id: 'a', name: 'command_start', arguments: JSON.stringify(args) });
const told: Script = ({ json }) => ({ text: String(json.messages.at(-1).content) });
const lines = () => readFileSync(join(workspace, 'runs'), 'utf8').split('\n').length - 1;

async function open(store: Store, script: Script, tool: Tool) {
  const rig = await openRig({ script, tools: [tool], store: { ...store, close: async () => {} } });
  rigs.push(rig);
  return rig;
}

const tool = () => commandStart({ workspace }, surroundings());
/** A tool of a process that dies at once: nobody closes it, so what it started goes on. */
const abandoned = (more: Partial<Tool> = {}): Tool => ({
  ...tool(),
  settle: async () => [],
  close: async () => {},
  ...more,
});

async function killed(args: object, at: EventBody['type'], more: Partial<Tool> = {}) {
  const store = memoryStore();
  const rig = await open(dyingAt(store, at), [{ calls: [start(args)] }], abandoned(more));
  const { run } = await rig.run('Run it.', approved);
  return { store, run };
}
const resumed = async ({ store, run }: { store: Store; run: string }) => {
  const rig = await open(store, told, tool());
  const result = await rig.resume(run, approved);
  return { result, text: result.answer ?? '' };
};

describe('a start that nobody saw end', () => {
  test('and that ran is told with its output and exit code, and not run again', async () => {
    const died = await killed({ command: 'echo ran >> runs; echo out; exit 3' }, 'effect-observe');
    const { result, text } = await resumed(died);
    expect(result.status).toBe('completed');
    expect(readBanner(text)).toEqual({ state: 'ended', command: commandId(`${died.run}:1:1`), exitCode: 3 });
    expect(text).toContain('out\n');
    expect(lines()).toBe(1);
  });

  test('and that still runs is told as running, and ends with the run', async () => {
    const died = await killed({ command: 'echo ran >> runs; sleep 600', wait_ms: 0 }, 'effect-observe');
    const id = commandId(`${died.run}:1:1`);
    expect(membersOf({ leader: null, mark: `WRIT_COMMAND=${id}` })).not.toEqual([]);
    const { text } = await resumed(died);
    expect(readBanner(text)).toEqual({ state: 'running', command: id });
    expect(membersOf({ leader: null, mark: `WRIT_COMMAND=${id}` })).toEqual([]);
    expect(lines()).toBe(1);
  });

  test('and that waits for its release as far as anybody can see stays unknown', async () => {
    const died = await killed({ command: 'echo ran >> runs' }, 'effect-observe');
    const box = local({ workspace, folder: folder(), env: surroundings().env });
    const sandbox: Sandbox = { ...box, status: async () => ({ state: 'idle' }) };
    const rig = await open(died.store, told, commandStart({ workspace }, { ...surroundings(), sandbox }));
    const { answer } = await rig.resume(died.run, approved);
    expect(answer).toMatch(/^failed\(tool\.outcome-unknown\): .*has not said yet whether it runs/);
    expect(lines()).toBe(1);
  });

  test('and that never began is proven so and started now, once, under an id of its own', async () => {
    const execute = () => Promise.reject(new Error('killed on the way'));
    const died = await killed({ command: 'echo ran >> runs; cat runs' }, 'effect-unknown', { execute });
    const { text } = await resumed(died);
    const id = commandId(`${died.run}:1:1`);
    expect(readBanner(text)).toEqual({ state: 'ended', command: `${id}_2`, exitCode: 0 });
    expect(lines()).toBe(1);
    const types = (await died.store.events(died.run)).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('effect-'))).toEqual([
      'effect-dispatch',
      'effect-reconcile',
      'effect-not-dispatched',
      'effect-dispatch',
      'effect-observe',
    ]);
  });
});

test('a resume that calls no command tool ends what the killed process left running', async () => {
  const store = memoryStore();
  const script: Script = [{ calls: [start({ command: 'sleep 600', wait_ms: 0 })] }];
  const rig = await open(dyingAt(store, 'turn-finish'), script, abandoned());
  const { run } = await rig.run('Serve.', approved);
  const mark = `WRIT_COMMAND=${commandId(`${run}:1:1`)}`;
  expect(membersOf({ leader: null, mark })).not.toEqual([]);
  const next = await open(store, [{ text: 'Nothing more.' }], tool());
  expect((await next.resume(run, approved)).status).toBe('completed');
  expect(membersOf({ leader: null, mark })).toEqual([]);
});

test('so does one that is broken off itself, once its tools are let go', async () => {
  const store = memoryStore();
  const script: Script = [{ calls: [start({ command: 'sleep 600', wait_ms: 0 })] }];
  const rig = await open(dyingAt(store, 'turn-finish'), script, abandoned());
  const { run } = await rig.run('Serve.', approved);
  const mark = `WRIT_COMMAND=${commandId(`${run}:1:1`)}`;
  const next = tool();
  const again = await open(dyingAt(store, 'model-request'), [], { ...next, settle: async () => [] });
  expect((await again.resume(run, approved)).status).not.toBe('completed');
  expect(membersOf({ leader: null, mark })).not.toEqual([]);
  await next.close();
  expect(membersOf({ leader: null, mark })).toEqual([]);
});

describe('proof that an id never starts', () => {
  const never = new AbortController().signal;
  const at = (id: string) => join(folder(), id);

  test('takes the place, and holds for whoever asks next', async () => {
    const made = tool();
    expect(await neverStarts(at('c_one_two_three'), never)).toBe(true);
    expect(await neverStarts(at('c_one_two_three'), never)).toBe(true);
    expect([isVoid(at('c_one_two_three')), claimFolder(at('c_one_two_three'))]).toEqual([true, false]);
    await made.close();
  });

  test('is not given where a launch may still be under way', async () => {
    const made = tool();
    expect([claimFolder(at('c_under_way')), claimFolder(at('c_under_way'))]).toEqual([true, false]);
    const soon = AbortSignal.timeout(50);
    expect(await neverStarts(at('c_under_way'), soon)).toBe(false);
    await made.close();
  });
});
