/** The end of a run's commands: before the run's own end is recorded, with proof, or by name where there is none. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import type { Store } from '../src/ledger/store.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { commandId, commandsFolder } from '../src/native/command/command-seat.ts';
import { commandStart } from '../src/native/command/command-start.ts';
import { commandCancel, commandRead, commandWait } from '../src/native/command/command-tools.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { Tool } from '../src/native/tool/tool.ts';
import { readBanner } from '../src/sandbox/banner.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { local } from '../src/sandbox/sandboxes/local/local.ts';
import { endAll, membersOf } from '../src/sandbox/supervisor/process-tree.ts';
import { approved, call, idIn, last } from './asked-calls.ts';
import { openRig, type Rig } from './rig.ts';
import type { Script, SeenRequest } from './scripted-provider.ts';

let base: string;
let workspace: string;
const rigs: Rig[] = [];
const surroundings = () => ({ env: { PATH: process.env.PATH, XDG_STATE_HOME: base } });
const folder = () => commandsFolder(workspace, surroundings());
const alive = (id: string) => membersOf({ leader: null, mark: `WRIT_COMMAND=${id}` });
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-ends-'));
  workspace = join(base, 'workspace');
  mkdirSync(workspace);
});
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
  const ids = existsSync(folder()) ? readdirSync(folder()) : [];
  const left = ids.flatMap(alive);
  for (const id of ids)
    await endAll({ leader: null, mark: `WRIT_COMMAND=${id}` }, { graceMs: 0, killMs: 1_000, wrapper: null });
  rmSync(base, { recursive: true, force: true });
  expect(left).toEqual([]);
});

/** A sandbox that cannot prove the end of anything until `prove` is called. */
function stuckUntilProven() {
  const box = local({ workspace, folder: folder(), env: surroundings().env });
  let proven = false;
  const sandbox: Sandbox = {
    ...box,
    cancel: async (...args) =>
      proven
        ? box.cancel(...args)
        : { done: false, survivors: [], message: 'These processes could not be ended: stuck (7).' },
  };
  return {
    made: { ...surroundings(), sandbox },
    prove: () => {
      proven = true;
    },
  };
}

/** A rig whose store says which processes of this command lived when the end of the run came to it. */
async function open(script: Script, tools: readonly Tool[], store: Store = memoryStore()) {
  const atEnd: (readonly string[])[] = [];
  const watching: Store = {
    ...store,
    append: (lease, events, options) => {
      if (events.some(({ type }) => type === 'run-finish'))
        atEnd.push(
          readdirSync(folder())
            .flatMap(alive)
            .map(({ name }) => name),
        );
      return store.append(lease, events, options);
    },
  };
  const rig = await openRig({ script, tools, store: watching });
  rigs.push(rig);
  return { rig, atEnd };
}

const stubborn = 'trap "" TERM; touch up; sleep 600 & sleep 600';

test('a cancelled run has ended what runs behind its calls, whatever it ignores, before its own end is recorded', async () => {
  const stop = new AbortController();
  const place = { workspace };
  const { rig, atEnd } = await open(
    [
      call('command_start', { command: stubborn, wait_ms: 0 }),
      (seen) => call('command_wait', { command: idIn(seen), wait_ms: 60_000 }),
    ],
    [commandStart(place, surroundings()), commandWait(place, surroundings())],
  );
  const running = rig.run('Wait.', { ...approved, signal: stop.signal });
  const answers = () => rig.events.filter(({ type }) => type === 'model-response').length;
  // Not only asked for: an answer that the cancel meets on its way is no call.
  while (answers() < 2 || !existsSync(join(workspace, 'up'))) await systemClock.sleep(10);
  stop.abort();
  const { status, run, notices } = await running;
  expect({ status, notices }).toEqual({ status: 'cancelled', notices: [] });
  expect(atEnd).toEqual([[]]);
  const types = rig.events.map(({ type }) => type);
  expect(types.slice(types.indexOf('cancel-request'))).toEqual([
    'cancel-request',
    'tool-result',
    'run-finish',
  ]);
  const ended = await local({ workspace, folder: folder(), env: {} }).status(
    { sandbox: 'local', id: commandId(`${run}:1:1`) },
    new AbortController().signal,
  );
  expect(ended).toMatchObject({ state: 'ended', receipt: { by: 'cancel', exit: { signal: 'SIGKILL' } } });
});

test.each([
  ['completes', { text: 'Done.' }, 'completed'],
  ['fails', { text: '' }, 'failed'],
] as const)('so has a run that %s', async (_what, answer, status) => {
  const { rig, atEnd } = await open(
    [call('command_start', { command: 'sleep 600', wait_ms: 0 }), answer],
    [commandStart({ workspace }, surroundings())],
  );
  expect(await rig.run('Serve.', approved)).toMatchObject({ status, notices: [] });
  expect(atEnd).toEqual([[]]);
});

test('what is not proven gone is named before the end, and nothing new begins until it is', async () => {
  const { made, prove } = stuckUntilProven();
  const { rig } = await open(
    [
      call('command_start', { command: 'sleep 600', wait_ms: 0 }),
      { text: 'Done.' },
      call('command_start', { command: 'echo early > early' }),
      () => {
        prove();
        return call('command_start', { command: 'echo late > late' });
      },
      { text: 'Done.' },
    ],
    [commandStart({ workspace }, made), commandRead({ workspace }, made)],
  );
  const first = await rig.run('Serve.', approved);
  const id = commandId(`${first.run}:1:1`);
  const named = `The command local/${id} may still be running. These processes could not be ended: stuck (7).`;
  expect(first).toMatchObject({ status: 'completed', notices: [named] });
  expect(rig.events.slice(-2)).toMatchObject([
    { type: 'notice', code: 'native.left-at-work', text: named },
    { type: 'run-finish', status: 'completed' },
  ]);
  expect(alive(id)).not.toEqual([]);
  const second = await rig.run('Again.', { ...approved, session: first.session });
  const seen = rig.provider.requests.map((request) => last(request));
  expect(seen[3]).toBe(
    `failed(tool.not-dispatched): Nothing was done: ${named} Nothing new begins before; use command_cancel.`,
  );
  expect(readBanner(seen[4] ?? '')).toMatchObject({ state: 'ended', exitCode: 0 });
  expect([existsSync(join(workspace, 'early')), existsSync(join(workspace, 'late'))]).toEqual([false, true]);
  expect(second).toMatchObject({ status: 'completed', notices: [] });
  expect(alive(id)).toEqual([]);
});

test('a cancel without proof is no end: its outcome is unknown to the model, and what is left is named', async () => {
  const { made, prove } = stuckUntilProven();
  const { rig } = await open(
    [
      call('command_start', { command: 'sleep 600', wait_ms: 0 }),
      (seen) => call('command_cancel', { command: idIn(seen) }),
      () => {
        prove();
        return { text: 'Done.' };
      },
    ],
    [commandStart({ workspace }, made), commandCancel({ workspace }, made)],
  );
  await rig.run('Serve.', approved);
  expect(last(rig.provider.requests.at(-1) as SeenRequest)).toMatch(
    /^failed\(tool\.outcome-unknown\): .*could not be ended: stuck \(7\)\./,
  );
});

test('commands that are kept are not ended with their run', async () => {
  const { rig, atEnd } = await open(
    [call('command_start', { command: 'exec sleep 600', wait_ms: 0 }), { text: 'Done.' }],
    [commandStart({ workspace, keep: true }, surroundings())],
  );
  const { run } = await rig.run('Serve.', approved);
  expect(atEnd).toEqual([['sleep']]);
  const id = commandId(`${run}:1:1`);
  const box = local({ workspace, folder: folder(), env: {} });
  const never = new AbortController().signal;
  expect(await box.cancel({ sandbox: 'local', id }, { graceMs: 0 }, never)).toMatchObject({ done: true });
});

test('a tool whose settling breaks is told by name, and so is whatever an author returns', async () => {
  const tool = (name: string, settle: () => never | readonly string[] | undefined) =>
    defineTool({
      name,
      description: 'Leaves something.',
      parameters: { type: 'object' },
      capability: 'own',
      access: 'read',
      execute: () => null,
      settle,
    });
  const rig = await openRig({
    script: [{ text: 'Done.' }],
    tools: [
      tool('breaks', () => {
        throw new Error('gone');
      }),
      tool('quiet', () => undefined),
      tool('honest', () => ['A lamp is still on.']),
    ],
  });
  rigs.push(rig);
  mkdirSync(folder(), { recursive: true });
  expect((await rig.run('Work.')).notices).toEqual([
    'What breaks left at work could not be ended: gone',
    'A lamp is still on.',
  ]);
});
