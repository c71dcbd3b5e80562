/** An end that finds no room on the disk: it is told by who saw it, waits for room, and is never lost. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Locator } from '../locator.ts';
import { never, openRig, type Rig } from '../sandbox.cases.ts';
import type { EndReceipt } from '../sandbox.ts';
import { local } from '../sandboxes/local/local.ts';
import { neverStarts } from './forestall.ts';
import { isAlive, processId } from './process-tree.ts';
import { type CommandState, readState } from './state-file.ts';

const env = { PATH: process.env.PATH };
let rig: Rig;
let folder: string;
const open = async (on?: string) => {
  rig = await openRig((folders) => local({ ...folders, env, ...(on === undefined ? {} : { folder: on }) }));
  folder = on ?? rig.folder;
};
const stateOf = ({ id }: Locator): CommandState | null => readState(join(folder, id));
const read = (locator: Locator) =>
  rig.sandbox.read(locator, { stdout: 0, stderr: 0, bytesMax: 1024, waitMs: 20_000, until: 'end' }, never);

/** Everybody hears of this end from the supervisor, and the disk says what it said before. */
async function toldThough(locator: Locator): Promise<EndReceipt> {
  const { status } = await read(locator);
  if (status.state !== 'ended') throw new Error(`expected its end, found ${status.state}`);
  expect(stateOf(locator)).toMatchObject({ phase: 'running', receipt: null });
  expect(await rig.sandbox.status(locator, never)).toEqual(status);
  expect(await rig.sandbox.cancel(locator, { graceMs: 0 }, never)).toEqual({
    done: true,
    receipt: status.receipt,
  });
  expect(await rig.sandbox.signal(locator, 'SIGTERM', never)).toEqual({ sent: false, state: 'ended' });
  expect(await neverStarts(join(folder, locator.id), never)).toBe(false);
  return status.receipt;
}

/** Once there is room it is put down by itself, and who watched it leaves. */
async function putDown(locator: Locator, receipt: EndReceipt): Promise<void> {
  await expect.poll(() => stateOf(locator)?.receipt, { timeout: 10_000 }).toEqual(receipt);
  const { supervisor } = stateOf(locator) ?? { supervisor: processId(0) };
  await expect.poll(() => isAlive(supervisor), { timeout: 10_000 }).toBe(false);
  expect(await rig.sandbox.status(locator, never)).toEqual({ state: 'ended', receipt });
}

test('while its end cannot be written down it is told all the same, and written down later', async () => {
  await open();
  try {
    const locator = await rig.start('echo out; read line; exit 7', { stdin: true });
    // Its place is taken: no state can be written any more.
    const taken = join(folder, locator.id, 'state.json.new');
    mkdirSync(taken);
    await rig.sandbox.write(locator, { offset: 0, bytes: Buffer.from('\n'), end: true }, never);
    const receipt = await toldThough(locator);
    expect(receipt).toMatchObject({ ran: true, by: 'itself', exit: { code: 7 }, stdinBytes: 1 });
    rmdirSync(taken);
    await putDown(locator, receipt);
  } finally {
    await rig.close();
  }
});

test('a supervisor whose folder was removed waits for nothing', async () => {
  await open();
  try {
    const locator = await rig.start('sleep 0.5');
    const { supervisor } = stateOf(locator) ?? { supervisor: processId(0) };
    rmSync(join(folder, locator.id), { recursive: true });
    await expect.poll(() => isAlive(supervisor), { timeout: 10_000 }).toBe(false);
  } finally {
    await rig.close();
  }
});

test('a disk that the command itself filled hides neither its end nor its exit code', async ({ skip }) => {
  const mounted = mkdtempSync(join(tmpdir(), 'writ-tiny-'));
  try {
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', mounted]);
    skip(mount.status !== 0, 'this user may not mount a small disk');
    await open(mounted);
    const locator = await rig.start('head -c 1000000 /dev/zero; exit 7');
    const receipt = await toldThough(locator);
    expect(receipt).toMatchObject({ ran: true, exit: { code: 7 } });
    expect(receipt.stdout.dropped).toBeGreaterThan(900_000);
    rmSync(join(folder, locator.id, 'stdout'));
    await putDown(locator, receipt);
    await rig.close();
  } finally {
    spawnSync('umount', ['-l', mounted]);
    rmSync(mounted, { recursive: true, force: true });
  }
});
