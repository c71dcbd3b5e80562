/** What every sandbox must do, run over each of them; and a check that no test leaves a process behind. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Locator } from './locator.ts';
import { type CommandSpec, exitCodeOf, type Sandbox } from './sandbox.ts';
import { startCommand } from './start-command.ts';
import { membersOf } from './supervisor/process-tree.ts';

export const never = new AbortController().signal;

/** A workspace, a folder for the state of commands, and the sandboxes opened on them; all ended by `close`. */
export interface Rig {
  readonly workspace: string;
  readonly folder: string;
  readonly sandbox: Sandbox;
  locator(): Locator;
  spec(script: string, more?: Partial<CommandSpec>): CommandSpec;
  /** Starts it and returns its locator; fails the test if it did not start. */
  start(script: string, more?: Partial<CommandSpec>): Promise<Locator>;
  /** Waits for its end and returns all output. */
  finish(locator: Locator): ReturnType<Sandbox['read']>;
  /** Ends everything, and proves that nothing is left. */
  close(): Promise<void>;
}

let made = 0;

export async function openRig(
  open: (folders: { readonly workspace: string; readonly folder: string }) => Sandbox,
  place: () => Pick<Locator, 'route'> = () => ({}),
): Promise<Rig> {
  const base = await mkdtemp(join(tmpdir(), 'writ-sandbox-'));
  const workspace = join(base, 'workspace');
  const folder = join(base, 'commands');
  await mkdir(workspace);
  const sandbox = open({ workspace, folder });
  const locators: Locator[] = [];
  const rig: Rig = {
    workspace,
    folder,
    sandbox,
    locator() {
      made += 1;
      const locator = { sandbox: sandbox.name, id: `c_${process.pid}_${made}_${'x'.repeat(8)}`, ...place() };
      locators.push(locator);
      return locator;
    },
    spec: (script, more = {}) => ({
      argv: ['/bin/sh', '-c', script],
      cwd: '',
      env: {},
      stdin: false,
      lifetimeMs: 60_000,
      outputBytesMax: 1024 * 1024,
      owner: 'test',
      ...more,
    }),
    async start(script, more = {}) {
      const locator = rig.locator();
      const outcome = await startCommand(sandbox, rig.spec(script, more), {
        locator,
        beforeDispatch: async () => {},
        signal: never,
      });
      expect(outcome).toEqual({ outcome: 'started', locator });
      return locator;
    },
    finish: (locator) =>
      sandbox.read(
        locator,
        { stdout: 0, stderr: 0, bytesMax: 1024 * 1024, waitMs: 20_000, until: 'end' },
        never,
      ),
    async close() {
      for (const locator of locators)
        await sandbox.cancel(locator, { graceMs: 0 }, never).catch(() => undefined);
      await sandbox.close();
      const left = locators.flatMap(({ id }) => membersOf({ leader: null, mark: `WRIT_COMMAND=${id}` }));
      await rm(base, { recursive: true, force: true });
      expect(left).toEqual([]);
    },
  };
  return rig;
}

/** `place` says where a command goes, for a sandbox with more than one place. */
export function sandboxCases(
  name: string,
  open: Parameters<typeof openRig>[0],
  place?: Parameters<typeof openRig>[1],
): void {
  describe(`${name} as a sandbox`, () => {
    let rig: Rig;
    beforeAll(async () => {
      rig = await openRig(open, place);
    });
    afterAll(() => rig.close());

    const statusOf = (locator: Locator) => rig.sandbox.status(locator, never);
    const exited = async (locator: Locator) => {
      const { status, stdout, stderr } = await rig.finish(locator);
      if (status.state !== 'ended') throw new Error(`expected its end, found ${status.state}`);
      return { code: exitCodeOf(status.receipt), out: stdout.text, err: stderr.text, ...status };
    };

    test('a command runs in the workspace, and its output, end and exit code are told', async () => {
      await mkdir(join(rig.workspace, 'deep'), { recursive: true });
      const locator = await rig.start('pwd; echo bad >&2; exit 7', { cwd: 'deep' });
      const { code, out, err, receipt } = await exited(locator);
      expect({ code, out, err }).toEqual({ code: 7, out: `${rig.workspace}/deep\n`, err: 'bad\n' });
      expect(receipt).toMatchObject({
        ran: true,
        refusal: null,
        exit: { code: 7, signal: null },
        by: 'itself',
        leftovers: [],
        survivors: [],
        stdout: { bytes: out.length, dropped: 0 },
        stderr: { bytes: 4, dropped: 0 },
      });
      expect(await statusOf(locator)).toEqual({ state: 'ended', receipt });
    });

    test('of our environment it gets what is allowed, and what it was given', async () => {
      const locator = await rig.start('env', { env: { GIVEN: 'a value' } });
      const { out } = await exited(locator);
      expect(out).toContain('GIVEN=a value\n');
      expect(out).toMatch(/^PATH=/m);
      expect(out).not.toContain('canary');
    });

    test('a process ended by a signal has 128 and its number', async () => {
      expect(await exited(await rig.start('kill -9 $$'))).toMatchObject({ code: 137 });
    });

    test('a locator is spent by its start: a second one is unknown, and nothing runs again', async () => {
      const locator = await rig.start('echo once >> runs');
      await rig.finish(locator);
      const again = await startCommand(rig.sandbox, rig.spec('echo twice >> runs'), {
        locator,
        beforeDispatch: async () => {},
        signal: never,
      });
      expect(again).toMatchObject({ outcome: 'unknown', locator });
      expect(await exited(await rig.start('cat runs; rm runs'))).toMatchObject({ out: 'once\n' });
    });

    test('what never started is absent, which proves nothing', async () => {
      expect(await statusOf(rig.locator())).toEqual({ state: 'absent' });
    });

    test('a place is taken with proof that nothing ever starts in it, and what was started never proves that', async () => {
      const free = rig.locator();
      const never1 = (locator: Locator, spend: boolean) => rig.sandbox.neverStarts(locator, { spend }, never);
      expect(await never1(free, false)).toBe(false);
      expect([await never1(free, true), await never1(free, false)]).toEqual([true, true]);
      const late = await startCommand(rig.sandbox, rig.spec('echo ran >> never'), {
        locator: free,
        beforeDispatch: async () => {},
        signal: never,
      });
      expect(late).toMatchObject({ outcome: 'unknown' });
      const ran = await rig.start('cat never');
      expect(await exited(ran)).toMatchObject({ code: 1 });
      expect([await never1(ran, false), await never1(ran, true)]).toEqual([false, false]);
    });

    test('the commands of an owner are listed in their order, and no others', async () => {
      const owner = `owner-${rig.locator().id}`;
      const first = await rig.start('exit 3', { owner });
      const { receipt } = await exited(first);
      const second = await rig.start('sleep 30', { owner });
      const listed = await rig.sandbox.list(owner, never);
      expect(listed.map(({ locator: { id }, status }) => [id, status.state])).toEqual([
        [first.id, 'ended'],
        [second.id, 'running'],
      ]);
      expect(listed[0]?.status).toEqual({ state: 'ended', receipt });
      expect(await rig.sandbox.cancel(second, { graceMs: 0 }, never)).toMatchObject({ done: true });
      await rig.sandbox.acknowledge(first, receipt.id, never);
      expect((await rig.sandbox.list(owner, never)).map(({ locator: { id } }) => id)).toEqual([second.id]);
    });

    test('input is taken from its offset, once, and nowhere else', async () => {
      const locator = await rig.start('cat', { stdin: true });
      const write = (offset: number, text: string, end = false) =>
        rig.sandbox.write(locator, { offset, bytes: Buffer.from(text), end }, never);
      expect(await write(0, '€')).toEqual({ accepted: true, received: 3 });
      expect(await write(0, '€')).toEqual({ accepted: false, received: 3, reason: 'offset' });
      expect(await statusOf(locator)).toMatchObject({ state: 'running', stdinBytes: 3 });
      expect(await write(3, 'x', true)).toEqual({ accepted: true, received: 4 });
      expect(await exited(locator)).toMatchObject({ code: 0, out: '€x' });
      expect(await write(4, 'late')).toEqual({ accepted: false, received: 4, reason: 'ended' });
    });

    test('input of a command that takes none is refused, and so is more than it reads', async () => {
      const closed = await rig.start('sleep 30');
      const bytes = Buffer.alloc(700 * 1024);
      const write = (locator: Locator, offset: number) =>
        rig.sandbox.write(locator, { offset, bytes, end: false }, never);
      expect(await write(closed, 0)).toEqual({ accepted: false, received: 0, reason: 'closed' });
      const deaf = await rig.start('sleep 30', { stdin: true });
      expect(await write(deaf, 0)).toMatchObject({ accepted: true });
      expect(await write(deaf, bytes.length)).toEqual({
        accepted: false,
        received: bytes.length,
        reason: 'full',
      });
      for (const locator of [closed, deaf]) await rig.sandbox.cancel(locator, { graceMs: 0 }, never);
    });

    test('a signal reaches it', async () => {
      const locator = await rig.start('trap "echo heard; exit 3" INT; echo ready; sleep 30 & wait');
      const first = await rig.sandbox.read(
        locator,
        { stdout: 0, stderr: 0, bytesMax: 1024, waitMs: 10_000, until: 'output' },
        never,
      );
      expect(first).toMatchObject({ status: { state: 'running' }, stdout: { text: 'ready\n', eof: false } });
      expect(await rig.sandbox.signal(locator, 'SIGINT', never)).toMatchObject({ sent: true });
      expect(await exited(locator)).toMatchObject({ code: 3, out: 'ready\nheard\n' });
      expect(await rig.sandbox.signal(locator, 'SIGINT', never)).toEqual({ sent: false, state: 'ended' });
    });

    test('cancel asks, and what does not obey and forks is gone before it says so', async () => {
      const polite = await rig.start('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done');
      const deaf = await rig.start(
        'trap "" TERM HUP; while :; do (trap "" TERM; sleep 20) & sleep 0.01; done',
      );
      await rig.sandbox.read(
        polite,
        { stdout: 0, stderr: 0, bytesMax: 64, waitMs: 9_000, until: 'output' },
        never,
      );
      expect(await rig.sandbox.cancel(polite, { graceMs: 3_000 }, never)).toMatchObject({
        done: true,
        receipt: { by: 'cancel', exit: { code: 0, signal: null } },
      });
      expect((await rig.finish(polite)).stdout.text).toBe('up\nbye\n');
      const end = await rig.sandbox.cancel(deaf, { graceMs: 100 }, never);
      expect(end).toMatchObject({ done: true, receipt: { by: 'cancel', ran: true, survivors: [] } });
      expect(membersOf({ leader: null, mark: `WRIT_COMMAND=${deaf.id}` })).toEqual([]);
      expect(await rig.sandbox.cancel(deaf, { graceMs: 100 }, never)).toEqual(end);
    });

    test('a child in the background that holds the pipes blocks nothing, and does not outlive the command', async () => {
      const before = performance.now();
      const locator = await rig.start('sleep 600 & setsid sleep 601 & echo done');
      const { code, out } = await exited(locator);
      expect({ code, out }).toEqual({ code: 0, out: 'done\n' });
      expect(performance.now() - before).toBeLessThan(8_000);
      expect(membersOf({ leader: null, mark: `WRIT_COMMAND=${locator.id}` })).toEqual([]);
    });

    test('a lifetime ends it', async () => {
      const locator = await rig.start('sleep 60', { lifetimeMs: 200 });
      expect((await exited(locator)).receipt).toMatchObject({ by: 'lifetime', survivors: [] });
    });

    test('a large output comes in pages of whole characters; beyond its bound it is counted', async () => {
      const locator = await rig.start('i=0; while [ $i -lt 20000 ]; do echo "€uro"; i=$((i+1)); done', {
        outputBytesMax: 100_001,
      });
      const { receipt } = await exited(locator);
      expect(receipt.stdout).toEqual({ bytes: 100_001, dropped: 140_000 - 100_001 });
      let text = '';
      for (let at = 0, eof = false; !eof; ) {
        const page = await rig.sandbox.read(
          locator,
          { stdout: at, stderr: 0, bytesMax: 1000, waitMs: 0, until: 'end' },
          never,
        );
        expect(Buffer.byteLength(page.stdout.text)).toBeLessThanOrEqual(1002);
        text += page.stdout.text;
        at = page.stdout.next;
        eof = page.stdout.eof;
      }
      expect(text.slice(0, -1)).toBe('€uro\n'.repeat(20_000).slice(0, text.length - 1));
    });

    test('an end is acknowledged by its receipt only; then its output is given up and it stays ended', async () => {
      const locator = await rig.start('echo kept');
      const { receipt } = await exited(locator);
      const acknowledge = (id: string) => rig.sandbox.acknowledge(locator, id, never);
      expect(await acknowledge('0'.repeat(32))).toBe(false);
      expect((await rig.finish(locator)).stdout.text).toBe('kept\n');
      expect([await acknowledge(receipt.id), await acknowledge(receipt.id)]).toEqual([true, true]);
      expect(await rig.finish(locator)).toMatchObject({
        status: { state: 'ended', receipt },
        stdout: { text: '', eof: true },
      });
    });

    test('a start that is cancelled before it is sent leaves nothing', async () => {
      const locator = rig.locator();
      const stop = new AbortController();
      const outcome = await startCommand(rig.sandbox, rig.spec('echo ran > ran'), {
        locator,
        beforeDispatch: async () => stop.abort(),
        signal: stop.signal,
      });
      expect(outcome).toMatchObject({ outcome: 'not-dispatched', why: 'cancelled' });
      expect(await statusOf(locator)).toEqual({ state: 'absent' });
    });

    test('a command whose keeping fails between acceptance and release never ran', async () => {
      const locator = rig.locator();
      const outcome = await startCommand(rig.sandbox, rig.spec('echo ran > ran'), {
        locator,
        beforeDispatch: async () => {},
        retain: async () => {
          throw new Error('the disk is full');
        },
        signal: never,
      });
      expect(outcome).toMatchObject({
        outcome: 'not-dispatched',
        nonDispatch: { proof: 'not-dispatched', message: 'the disk is full' },
      });
      expect(await statusOf(locator)).toMatchObject({ state: 'ended', receipt: { ran: false } });
    });

    test('a folder that is not beneath the workspace is refused before anything', async () => {
      for (const cwd of ['..', '/etc', 'a/../../b', 'nowhere']) {
        const outcome = await startCommand(rig.sandbox, rig.spec('true', { cwd }), {
          locator: rig.locator(),
          beforeDispatch: async () => expect.unreachable(),
          signal: never,
        });
        expect(outcome, cwd).toMatchObject({ outcome: 'not-dispatched', why: 'invalid' });
      }
    });
  });
}
