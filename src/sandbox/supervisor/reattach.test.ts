/** Processes that are killed: a second Writ finds the command, its true end and all its output; a dead supervisor hides nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { never, openRig, type Rig } from '../sandbox.cases.ts';
import type { EndReceipt } from '../sandbox.ts';
import { exitCodeOf } from '../sandbox.ts';
import { local } from '../sandboxes/local/local.ts';
import { startCommand } from '../start-command.ts';
import { neverStarts } from './forestall.ts';
import { sweepCommands } from './observe.ts';
import { isAlive, membersOf, processId } from './process-tree.ts';
import { readState } from './state-file.ts';

let rig: Rig;
let writs: ChildProcess[] = [];
beforeEach(async () => {
  rig = await openRig((folders) => local({ ...folders, env: { PATH: process.env.PATH } }));
});
afterEach(async () => {
  for (const writ of writs) writ.kill('SIGKILL');
  writs = [];
  await rig.close();
});

const from = (path: string) => JSON.stringify(pathToFileURL(`dist/sandbox/${path}.js`).href);

/** Another process that starts a command as Writ does, says so at `until`, and then only lives. */
async function startElsewhere(script: string, until: 'idle' | 'started', more: object = {}) {
  const locator = rig.locator();
  const spec = rig.spec(script, more);
  const folders = { workspace: rig.workspace, folder: rig.folder, env: { PATH: process.env.PATH } };
  const program = `
    const { local } = await import(${from('sandboxes/local/local')});
    const { startCommand } = await import(${from('start-command')});
    const hold = () => new Promise(() => setInterval(() => {}, 1000));
    const outcome = await startCommand(local(${JSON.stringify(folders)}), ${JSON.stringify(spec)}, {
      locator: ${JSON.stringify(locator)}, beforeDispatch: async () => {}, signal: new AbortController().signal,
      retain: async () => { if (${until === 'idle'}) { console.log('idle'); await hold(); } },
    });
    console.log(outcome.outcome);
    await hold();`;
  const writ = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  writs.push(writ);
  const [said] = await once(writ.stdout, 'data');
  expect(String(said)).toBe(`${until}\n`);
  return { locator, writ };
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const read = (locator: { sandbox: string; id: string }, waitMs: number, until: 'end' | 'output' = 'end') =>
  rig.sandbox.read(locator, { stdout: 0, stderr: 0, bytesMax: 1024 * 1024, waitMs, until }, never);

test('after SIGKILL of the Writ that started it, another one reports all output and the true exit code', async () => {
  const { locator, writ } = await startElsewhere(
    'echo before; read line; echo "got $line" >&2; exit 9',
    'started',
    {
      stdin: true,
    },
  );
  await read(locator, 5_000, 'output');
  await kill(writ);
  expect(await rig.sandbox.list('test', never)).toMatchObject([{ locator, status: { state: 'running' } }]);
  const bytes = Buffer.from('€\n');
  expect(await rig.sandbox.write(locator, { offset: 0, bytes, end: false }, never)).toEqual({
    accepted: true,
    received: 4,
  });
  const { status, stdout, stderr } = await read(locator, 10_000);
  expect({ stdout: stdout.text, stderr: stderr.text }).toEqual({ stdout: 'before\n', stderr: 'got €\n' });
  expect(status).toMatchObject({ state: 'ended', receipt: { by: 'itself', stdinBytes: 4 } });
  expect(exitCodeOf((status as { receipt: EndReceipt }).receipt)).toBe(9);
});

test('a command whose Writ is killed before its release never runs, and its record proves it', async () => {
  const { locator, writ } = await startElsewhere('echo ran > ran', 'idle');
  expect(await rig.sandbox.status(locator, never)).toEqual({ state: 'idle' });
  await expect(rig.sandbox.release(locator, never)).rejects.toMatchObject({
    code: 'sandbox.not-launched-here',
  });
  await kill(writ);
  expect((await read(locator, 5_000)).status).toMatchObject({
    state: 'ended',
    receipt: { ran: false, by: 'never-released' },
  });
  expect(() => readFileSync(join(rig.workspace, 'ran'))).toThrow('ENOENT');
});

test('a command whose start cannot be written down is not run, and an idle record alone proves nothing', async () => {
  const locator = rig.locator();
  const folder = join(rig.folder, locator.id);
  const outcome = await startCommand(rig.sandbox, rig.spec('echo ran > ran'), {
    locator,
    beforeDispatch: async () => {},
    // Its place is taken: no state can be written any more, as on a full disk.
    retain: async () => mkdirSync(join(folder, 'state.json.new')),
    signal: never,
  });
  expect(outcome).toMatchObject({
    outcome: 'rejected',
    message: expect.stringContaining('could not be written down: EISDIR'),
  });
  expect(await rig.sandbox.status(locator, never)).toMatchObject({ state: 'ended', receipt: { ran: false } });
  process.kill(readState(folder)?.supervisor.pid ?? 0, 'SIGKILL');
  await expect.poll(() => rig.sandbox.status(locator, never)).toMatchObject({ state: 'lost' });
  expect(existsSync(join(rig.workspace, 'ran'))).toBe(false);
  expect(readState(folder)).toMatchObject({ phase: 'idle', receipt: null });
  expect(await neverStarts(folder, never)).toBe(false);
  rmSync(join(folder, 'state.json.new'), { recursive: true });
  expect(await rig.sandbox.cancel(locator, { graceMs: 0 }, never)).toMatchObject({
    done: true,
    receipt: { ran: true, by: 'cancel', exit: { code: null, signal: null } },
  });
  expect(await neverStarts(folder, never)).toBe(false);
});

test.each(['writeFileSync', 'renameSync'])(
  'a start that is killed on the way to its claim (before %s) has spent nothing, and is proven to have never begun',
  async (point) => {
    const { id } = rig.locator();
    const program = `
      const fs = (await import('node:fs')).default;
      const real = fs.${point};
      fs.${point} = (...args) => {
        if (String(args[0]).includes('/.aside-')) process.kill(process.pid, 'SIGKILL');
        return real(...args);
      };
      (await import('node:module')).syncBuiltinESMExports();
      const { claimFolder } = await import(${from('supervisor/forestall')});
      claimFolder(${JSON.stringify(join(rig.folder, id))});`;
    const writ = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
    expect(await once(writ, 'exit')).toEqual([null, 'SIGKILL']);
    expect(readdirSync(rig.folder)).toEqual([expect.stringMatching(/^\.aside-/)]);
    expect(await neverStarts(join(rig.folder, id), never)).toBe(true);
    sweepCommands(rig.folder, Date.now() + 1);
    expect(readdirSync(rig.folder)).toEqual([id]);
  },
);

test('another process can cancel it, and a cancel is seen by all', async () => {
  const { locator, writ } = await startElsewhere(
    'trap "" TERM; echo up; sleep 600 & wait; sleep 600',
    'started',
  );
  await read(locator, 5_000, 'output');
  await kill(writ);
  const end = await rig.sandbox.cancel(locator, { graceMs: 50 }, never);
  expect(end).toMatchObject({
    done: true,
    receipt: { by: 'cancel', exit: { code: null, signal: 'SIGKILL' } },
  });
});

test('a command whose supervisor was killed is lost, not ended; what is left of it is ended by cancel', async () => {
  const locator = await rig.start('trap "" PIPE; echo up; while :; do sleep 0.1; done');
  await read(locator, 5_000, 'output');
  const { supervisor } = readState(join(rig.folder, locator.id)) ?? { supervisor: processId(0) };
  process.kill(supervisor.pid, 'SIGKILL');
  const lost = await read(locator, 5_000);
  expect(lost).toMatchObject({ status: { state: 'lost' }, stdout: { text: 'up\n' } });
  const mark = `WRIT_COMMAND=${locator.id}`;
  expect(membersOf({ leader: null, mark })).not.toEqual([]);
  const end = await rig.sandbox.cancel(locator, { graceMs: 100 }, never);
  expect(end).toMatchObject({
    done: true,
    receipt: {
      ran: true,
      by: 'cancel',
      exit: { code: null, signal: null },
      stdout: { bytes: 3, dropped: 0 },
    },
  });
  expect(membersOf({ leader: null, mark })).toEqual([]);
  expect(await rig.sandbox.status(locator, never)).toMatchObject({ state: 'ended' });
  await expect(
    rig.sandbox.write(locator, { offset: 0, bytes: Buffer.from('x'), end: false }, never),
  ).resolves.toMatchObject({ accepted: false, reason: 'ended' });
});

test('a supervisor that hangs leaves input unknown, and a cancel without proof is not called done', async () => {
  const locator = await rig.start('cat', { stdin: true });
  const { supervisor } = readState(join(rig.folder, locator.id)) ?? { supervisor: processId(0) };
  process.kill(supervisor.pid, 'SIGSTOP');
  try {
    const soon = () => AbortSignal.timeout(300);
    const input = { offset: 0, bytes: Buffer.from('abc'), end: false };
    await expect(rig.sandbox.write(locator, input, soon())).rejects.toMatchObject({
      code: 'sandbox.input-unknown',
      details: { command: locator.id, offset: 0, bytes: 3 },
    });
    expect(await rig.sandbox.cancel(locator, { graceMs: 0 }, soon())).toMatchObject({ done: false });
  } finally {
    process.kill(supervisor.pid, 'SIGCONT');
  }
  // What was sent arrived after all: whoever looks sees it.
  expect((await read(locator, 2_000)).status).toMatchObject({ state: 'ended', receipt: { stdinBytes: 3 } });
});

test('input that reaches a supervisor as it leaves is refused where its record proves it, and unknown elsewhere', async () => {
  const locator = await rig.start('cat', { stdin: true });
  const write = (offset: number, text: string, end = false) =>
    rig.sandbox.write(locator, { offset, bytes: Buffer.from(text), end }, never);
  await write(0, 'abcd', true);
  await read(locator, 10_000);
  const socket = join(rig.folder, locator.id, 's');
  await expect.poll(() => existsSync(socket)).toBe(false);
  // It still listens, and ends before it reads what it was asked.
  const leaving = createServer((client) => client.destroy()).listen(socket);
  await once(leaving, 'listening');
  try {
    expect(await write(4, 'late')).toEqual({ accepted: false, received: 4, reason: 'ended' });
    await expect(write(2, 'cd')).rejects.toMatchObject({ code: 'sandbox.input-unknown' });
  } finally {
    leaving.close();
  }
});

test('the output of ends that are old enough is swept, never the end itself, and no id leads out of the folder', async () => {
  const ended = await rig.start('echo out; exit 3');
  const running = await rig.start('sleep 60');
  await read(ended, 5_000);
  expect(sweepCommands(rig.folder, Date.now() - 60_000)).toBe(0);
  expect([1, 2].map(() => sweepCommands(rig.folder, Date.now() + 1))).toEqual([1, 0]);
  expect(await read(ended, 0)).toMatchObject({
    status: { state: 'ended', receipt: { exit: { code: 3 } } },
    stdout: { text: '', eof: true },
  });
  // Who asks later what became of it finds its place taken, so that it is never started again.
  expect(await neverStarts(join(rig.folder, ended.id), never)).toBe(false);
  expect(await rig.sandbox.status(running, never)).toMatchObject({ state: 'running' });
  for (const id of ['../workspace', 'x', ''])
    await expect(rig.sandbox.status({ sandbox: 'local', id }, never)).rejects.toMatchObject({
      code: 'sandbox.not-found',
    });
  await expect(rig.sandbox.cancel(rig.locator(), { graceMs: 0 }, never)).rejects.toMatchObject({
    code: 'sandbox.not-found',
  });
});

test('output that cannot be read is lost sight of, not an end', async () => {
  const locator = await rig.start('sleep 60');
  mkdirSync(join(rig.folder, 'c_unreadable/stdout'), { recursive: true });
  await expect(read({ sandbox: 'local', id: 'c_unreadable' }, 0)).rejects.toMatchObject({
    code: 'sandbox.lost-sight',
    kind: 'unknown',
  });
  expect(await rig.sandbox.status(locator, never)).toMatchObject({ state: 'running' });
});

test('a process is told from a later one with its id', () => {
  const self = processId(process.pid);
  expect(isAlive(self)).toBe(true);
  expect(isAlive({ pid: self.pid, start: (self.start ?? 0) - 1 })).toBe(false);
  // The id of the leader belongs to another process by now: its group is none of ours.
  expect(membersOf({ leader: { pid: process.ppid, start: 1 }, mark: 'WRIT_COMMAND=none' })).toEqual([]);
});
