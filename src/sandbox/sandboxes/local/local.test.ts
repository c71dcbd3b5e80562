/** `local` keeps the contract of a sandbox; its own are the refusals of the system, and what it says that it confines. */
import { mkdirSync } from 'node:fs';
import { chmod, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { gatedSandbox, openGate } from '../../gate.ts';
import { never, openRig, sandboxCases } from '../../sandbox.cases.ts';
import { startCommand } from '../../start-command.ts';
import { local } from './local.ts';

const env = { PATH: process.env.PATH, API_KEY: 'canary-1', NODE_OPTIONS: 'canary-2' };
const open = (folders: { workspace: string; folder: string }) => local({ ...folders, env });

sandboxCases('local', open);

const made: string[] = [];
const temporary = async (prefix: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  made.push(folder);
  return folder;
};
afterAll(() => Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true }))));

test('it says that it confines nothing, and its folder is of this user alone', async () => {
  const rig = await openRig(open);
  try {
    expect(rig.sandbox.confines).toEqual({ files: false, network: false, processes: false });
    expect((await stat(rig.folder)).mode & 0o777).toBe(0o700);
    const locator = await rig.start('echo secret');
    await rig.finish(locator);
    const modes = await Promise.all(
      ['', 'stdout', 'state.json'].map(
        async (name) => (await stat(join(rig.folder, locator.id, name))).mode & 0o077,
      ),
    );
    expect(modes).toEqual([0, 0, 0]);
  } finally {
    await rig.close();
  }
});

test('a program that is not there or may not run is rejected, and nothing ran', async () => {
  const rig = await openRig(open);
  try {
    await writeFile(join(rig.workspace, 'plain'), 'no program');
    await chmod(join(rig.workspace, 'plain'), 0o644);
    const start = async (program: string) => {
      const locator = rig.locator();
      const outcome = await startCommand(rig.sandbox, rig.spec('', { argv: [program] }), {
        locator,
        beforeDispatch: async () => {},
        signal: never,
      });
      return { outcome, status: await rig.sandbox.status(locator, never) };
    };
    expect(await start('no-such-program')).toMatchObject({
      outcome: { outcome: 'rejected', code: 'not-found' },
      status: { state: 'ended', receipt: { ran: false, refusal: expect.stringContaining('ENOENT') } },
    });
    expect(await start(join(rig.workspace, 'plain'))).toMatchObject({
      outcome: { outcome: 'rejected', code: 'permission-denied' },
      status: { state: 'ended', receipt: { ran: false } },
    });
  } finally {
    await rig.close();
  }
});

test('a closed sandbox starts nothing, and a folder too deep for a socket is no obstacle', async () => {
  const deep = join(await temporary('writ-deep-'), 'd'.repeat(120));
  const rig = await openRig(({ workspace }) => open({ workspace, folder: deep }));
  try {
    const locator = await rig.start('sleep 30');
    expect(await rig.sandbox.cancel(locator, { graceMs: 0 }, never)).toMatchObject({ done: true });
    await rig.sandbox.close();
    const outcome = await startCommand(rig.sandbox, rig.spec('true'), {
      locator: rig.locator(),
      beforeDispatch: async () => expect.unreachable(),
      signal: never,
    });
    expect(outcome).toMatchObject({ outcome: 'not-dispatched', why: 'closed' });
  } finally {
    await rig.close();
  }
});

test('a link that leads out of the workspace is no folder to run in, and an open folder is made private', async () => {
  const rig = await openRig((folders) => {
    mkdirSync(folders.folder, { mode: 0o755 });
    return open(folders);
  });
  try {
    expect((await stat(rig.folder)).mode & 0o777).toBe(0o700);
    await symlink('/', join(rig.workspace, 'out'));
    const outcome = await startCommand(rig.sandbox, rig.spec('true', { cwd: 'out/tmp' }), {
      locator: rig.locator(),
      beforeDispatch: async () => expect.unreachable(),
      signal: never,
    });
    expect(outcome).toMatchObject({ outcome: 'not-dispatched', why: 'invalid' });
  } finally {
    await rig.close();
  }
});

test('a workspace or folder that cannot be used is refused when it is opened', async () => {
  const base = await temporary('writ-bad-');
  await writeFile(join(base, 'file'), '');
  const bad = expect.objectContaining({ code: 'sandbox.bad-option' });
  expect(() => open({ workspace: join(base, 'none'), folder: base })).toThrow(bad);
  expect(() => open({ workspace: base, folder: join(base, 'file/x') })).toThrow(bad);
});

test('while the state of a workspace is captured no command begins in it', async () => {
  const gate = openGate();
  const rig = await openRig((folders) => gatedSandbox(open(folders), gate));
  try {
    const seen: string[] = [];
    const capture = gate.capture(async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      seen.push('captured');
    });
    const locator = await rig.start('true');
    seen.push('started');
    await Promise.all([capture, rig.finish(locator)]);
    expect(seen).toEqual(['captured', 'started']);
  } finally {
    await rig.close();
  }
});
