/** A sandbox that is proven unreachable is tried six times; then the run waits, says how to go on, and goes on where it was. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, connect as open, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Clock } from '../src/clock.ts';
import { systemClock } from '../src/clock.ts';
import { commandsFolder } from '../src/native/command/command-seat.ts';
import { commandStart } from '../src/native/command/command-start.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { local } from '../src/sandbox/sandboxes/local/local.ts';
import { openRig, type Rig } from './rig.ts';

let base: string;
let workspace: string;
let rig: Rig | undefined;
let server: Server | undefined;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-setup-'));
  workspace = join(base, 'workspace');
  mkdirSync(workspace);
});
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  server?.close();
  rmSync(base, { recursive: true, force: true });
});

/** Commands run here, but each start first asks a service whether there is room; with nobody there it is refused. */
function behindService(port: () => number) {
  const env = { PATH: process.env.PATH, XDG_STATE_HOME: base };
  const folder = commandsFolder(workspace, { env });
  const box = local({ workspace, folder, env });
  let asked = 0;
  const sandbox: Sandbox = {
    ...box,
    async prepare(spec, signal) {
      asked += 1;
      await new Promise<void>((resolve, reject) => {
        const socket = open(port(), '127.0.0.1', () => resolve()).once('error', reject);
        socket.once('connect', () => socket.destroy());
      });
      await box.prepare(spec, signal);
    },
  };
  return { tool: commandStart({ workspace }, { env, sandbox }), asked: () => asked };
}

async function listen(): Promise<number> {
  const opened = createServer((socket) => socket.destroy());
  server = opened;
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve));
  const address = opened.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('nothing is there, then it is: paused, never failed, and the command runs once', async () => {
  let port = await listen();
  await new Promise((resolve) => server?.close(resolve));
  const { tool, asked } = behindService(() => port);
  const start = { id: 'a', name: 'command_start', arguments: '{"command":"echo ran >> runs; cat runs"}' };
  rig = await openRig({ script: [{ calls: [start] }, { text: 'It ran.' }], tools: [tool] });
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(ms < 5000 ? 1 : ms, signal),
  };
  const approved = {
    ...{ clock, approve: 'ask' as const },
    ask: async () => ({ decision: 'approved' as const, by: 'ana', reason: '' }),
  };

  const paused = await rig.run('Run it.', approved);
  expect(paused).toMatchObject({
    status: 'paused',
    ticket: null,
    answer: null,
    error: {
      code: 'native.setup-unavailable',
      message: expect.stringContaining('It was tried 6 times, and nothing was sent.'),
      next: `Make it available, then go on with: writ runs resume ${paused.run}`,
    },
  });
  expect(asked()).toBe(6);
  const types = rig.events.map(({ type }) => type);
  expect(types.slice(-3)).toEqual(['effect-dispatch', 'effect-not-dispatched', 'run-pause']);
  expect(rig.events.at(-1)).toMatchObject({ ticket: null, error: { code: 'native.setup-unavailable' } });
  expect(existsSync(join(workspace, 'runs'))).toBe(false);

  // Still nothing there: it waits on, and the model has read nothing of it.
  const again = await rig.resume(paused.run, approved);
  expect(again.status).toBe('paused');
  expect([asked(), rig.provider.requests]).toEqual([12, [expect.anything()]]);

  port = await listen();
  expect(await rig.resume(paused.run, approved)).toMatchObject({ status: 'completed', answer: 'It ran.' });
  expect(asked()).toBe(13);
  expect(readFileSync(join(workspace, 'runs'), 'utf8')).toBe('ran\n');
  const attempts = rig.events.flatMap((event) =>
    event.type === 'effect-dispatch' ? [[event.attempt, event.lineage.mode]] : [],
  );
  expect(attempts).toEqual([
    [1, 'initial'],
    [2, 'retry'],
    [3, 'retry'],
  ]);
  // A person allowed this call once.
  expect(rig.events.filter(({ type }) => type === 'approval-request')).toHaveLength(1);
});

test('a cancel while it is tried again ends the run as cancelled, and nothing was sent', async () => {
  const stop = new AbortController();
  const { tool, asked } = behindService(() => {
    if (asked() === 3) stop.abort();
    return 1;
  });
  const start = { id: 'a', name: 'command_start', arguments: '{"command":"echo ran >> runs"}' };
  rig = await openRig({ script: [{ calls: [start] }], tools: [tool] });
  const result = await rig.run('Run it.', {
    approve: 'ask',
    ask: async () => ({ decision: 'approved', by: 'ana', reason: '' }),
    signal: stop.signal,
  });
  expect(result.status).toBe('cancelled');
  expect(asked()).toBe(3);
  expect(existsSync(join(workspace, 'runs'))).toBe(false);
});
