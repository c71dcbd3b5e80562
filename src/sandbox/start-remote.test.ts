/** Starts over a real TLS connection: whatever the router answers, loses or pretends, a start is sent at most once. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Locator } from './locator.ts';
import { probeReadiness } from './probe.ts';
import { type RemoteOptions, remote } from './remote.cases.ts';
import { openRouter, type Router } from './remote-router.cases.ts';
import { never, sandboxCases } from './sandbox.cases.ts';
import type { CommandSpec } from './sandbox.ts';
import { local } from './sandboxes/local/local.ts';
import { startCommand } from './start-command.ts';
import { rejectionCodes } from './start-outcome.ts';

const base = mkdtempSync(join(tmpdir(), 'writ-remote-'));
const made = spawnSync(
  'openssl',
  ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    .concat(['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1'])
    .concat(['-keyout', join(base, 'key.pem'), '-out', join(base, 'cert.pem')]),
);

describe.skipIf(made.status !== 0)('over TLS', async () => {
  const pem = (name: string) => (made.status === 0 ? readFileSync(join(base, name), 'utf8') : '');
  const tls = { key: pem('key.pem'), cert: pem('cert.pem') };
  const routers: Router[] = [];
  const env = { PATH: process.env.PATH };
  const box = (name: string) => {
    mkdirSync(join(base, name, 'workspace'), { recursive: true });
    return local({ workspace: join(base, name, 'workspace'), folder: join(base, name, 'commands'), env });
  };
  const open = async (at?: number) => {
    const router = await openRouter(tls, at);
    routers.push(router);
    router.put('box-1', box('box-1'));
    return router;
  };
  const client = (router: Pick<Router, 'port' | 'token' | 'route'>, more: Partial<RemoteOptions> = {}) =>
    remote({ port: router.port, ca: tls.cert, token: router.token, route: router.route, ...more });
  afterAll(async () => {
    for (const router of routers) await router.close();
    rmSync(base, { recursive: true, force: true });
  });

  let router: Router;
  let made1 = 0;
  beforeEach(async () => {
    router = await open();
  });
  const locator = (): Locator => {
    made1 += 1;
    return { sandbox: 'remote', id: `r_${process.pid}_${made1}_xxxxxxxx` };
  };
  const spec: CommandSpec = {
    argv: ['/bin/sh', '-c', 'echo ran >> runs'],
    cwd: '',
    env: {},
    stdin: false,
    lifetimeMs: 20_000,
    outputBytesMax: 16 * 1024 * 1024,
    owner: 'test',
  };
  const start = (
    sandbox = client(router),
    at = locator(),
    signal: AbortSignal = never,
    more: Partial<CommandSpec> = {},
  ) => startCommand(sandbox, { ...spec, ...more }, { locator: at, beforeDispatch: async () => {}, signal });

  const conforming = await open();
  sandboxCases(
    'remote',
    (folders) => {
      conforming.put('box-c', local({ ...folders, env }));
      return client(conforming);
    },
    () => ({ route: conforming.route() }),
  );

  test('where a start was sent to is not known, nobody says that it never happens', async () => {
    const at = locator();
    expect(await client(router).neverStarts(at, { spend: true }, never)).toBe(false);
    expect(await client(router).status(at, never)).toEqual({ state: 'absent' });
  });

  test.each([...rejectionCodes])('the answer %s rejects, after one start', async (code) => {
    router.break('start', { answer: { status: code.toUpperCase().replaceAll('-', '_'), message: 'no' } });
    expect(await start()).toEqual({ outcome: 'rejected', code, message: 'no' });
    expect([router.count('start'), router.count('release')]).toEqual([1, 0]);
  });

  test.each([
    ['UNAVAILABLE', 'getaddrinfo ENOTFOUND box.example'],
    ['UNAVAILABLE', 'connect ECONNREFUSED 127.0.0.1:1'],
    ['DEADLINE_EXCEEDED', 'too late'],
    ['UNKNOWN', ''],
    ['INTERNAL', 'could not be serialized'],
    ['CANCELLED', 'not-dispatched'],
    ['ABORTED', ''],
    ['RESOURCE_EXHAUSTED', ''],
    ['FAILED_PRECONDITION', ''],
    ['ALREADY_EXISTS', 'it exists already'],
    ['OUT_OF_RANGE', ''],
    ['DATA_LOSS', ''],
    ['not_found', 'in small letters'],
    [undefined, 'without a status'],
  ])('the answer %s (%s) leaves it unknown, after one start', async (status, message) => {
    router.break('start', { answer: { status, message } });
    const at = locator();
    expect(await start(client(router), at)).toMatchObject({ outcome: 'unknown', locator: at });
    expect([router.count('start'), router.count('release')]).toEqual([1, 0]);
  });

  test('a wrong token is an answer; a wrong certificate reaches nobody', async () => {
    expect(await start(client(router, { token: 'other' }))).toMatchObject({
      outcome: 'not-dispatched',
      why: 'invalid',
    });
    expect(await start(client(router, { ca: '' }))).toMatchObject({ outcome: 'unavailable' });
    expect(router.count('start')).toBe(0);
  });

  test.each(['before', 'after'] as const)(
    'a connection that breaks %s the start leaves it unknown, once',
    async (when) => {
      router.break('start', { break: when });
      const at = locator();
      const sandbox = client(router);
      expect(await start(sandbox, at)).toMatchObject({ outcome: 'unknown', locator: at });
      expect(router.count('start')).toBe(1);
      // Whoever looks learns what there is: nothing, which proves nothing, or a command that waits and never ran.
      expect(await sandbox.status(at, never)).toEqual({ state: when === 'before' ? 'absent' : 'idle' });
      const later = await start(sandbox, at);
      expect(later).toMatchObject({ outcome: 'unknown' });
      if (when === 'after')
        expect(await sandbox.cancel(at, { graceMs: 0 }, never)).toMatchObject({
          done: true,
          receipt: { ran: false },
        });
    },
  );

  test('a lost answer to the release is recovered by a look, and nothing is sent again', async () => {
    router.break('release', { break: 'after' });
    const at = locator();
    const sandbox = client(router);
    expect(await start(sandbox, at, never, { argv: ['/bin/sh', '-c', 'exit 5'] })).toEqual({
      outcome: 'started',
      locator: at,
    });
    expect([router.count('start'), router.count('release')]).toEqual([1, 1]);
    const { status } = await sandbox.read(
      at,
      { stdout: 0, stderr: 0, bytesMax: 64, waitMs: 5_000, until: 'end' },
      never,
    );
    expect(status).toMatchObject({ state: 'ended', receipt: { exit: { code: 5 } } });
  });

  test('a cancel while the router is silent leaves it unknown, after one start', async () => {
    router.break('start', { silent: true });
    expect(await start(client(router), locator(), AbortSignal.timeout(200))).toMatchObject({
      outcome: 'unknown',
    });
    expect(router.count('start')).toBe(1);
  });

  describe('while the channel is not ready yet', () => {
    const sockets = new Set<Socket>();
    const deaf = createServer((socket) => sockets.add(socket));
    const toDeaf = async () => {
      if (!deaf.listening) await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
      const { port } = deaf.address() as { port: number };
      return { port, token: '', route: () => ({ instance: 'x', epoch: 1 }) };
    };
    afterAll(() => {
      for (const socket of sockets) socket.destroy();
      deaf.close();
    });
    const recorded = (sandbox: ReturnType<typeof client>, signal: AbortSignal) => {
      let records = 0;
      const outcome = startCommand(sandbox, spec, {
        locator: locator(),
        beforeDispatch: async () => {
          records += 1;
        },
        signal,
      });
      return outcome.then((end) => ({ ...end, records }));
    };

    test('a cancel is proof that nothing was sent, and nobody tries again', async () => {
      const end = await recorded(client(await toDeaf()), AbortSignal.timeout(100));
      expect(end).toMatchObject({ outcome: 'not-dispatched', why: 'cancelled', records: 0 });
    });

    test('so is a close', async () => {
      const sandbox = client(await toDeaf());
      const outcome = recorded(sandbox, never);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await sandbox.close();
      expect(await outcome).toMatchObject({ outcome: 'not-dispatched', why: 'closed', records: 0 });
    });

    test('time that runs out makes it unavailable', async () => {
      expect(await recorded(client(await toDeaf(), { readyMs: 100 }), never)).toMatchObject({
        outcome: 'unavailable',
        records: 0,
      });
    });
  });

  test('readiness starts again under the same id only on proof, and once it was sent only looks', async () => {
    const { port } = router;
    await router.close();
    const at = { port, token: router.token, route: router.route };
    const probing = probeReadiness(client(at), locator().id, { signal: never, budgetMs: 10_000 });
    await new Promise((resolve) => setTimeout(resolve, 350));
    const back = await open(port);
    expect(await probing).toEqual({ ready: true });
    expect(back.count('start')).toBe(1);
    back.break('start', { answer: { status: 'UNAVAILABLE', message: 'getaddrinfo ENOTFOUND box' } });
    const spoofed = await probeReadiness(client(back), locator().id, { signal: never, budgetMs: 700 });
    expect(spoofed).toMatchObject({ ready: false, why: 'no-end' });
    back.break('start', { break: 'after' });
    await probeReadiness(client(back), locator().id, { signal: never, budgetMs: 700 });
    back.break('start', { answer: { status: 'PERMISSION_DENIED', message: 'no' } });
    expect(await probeReadiness(client(back), locator().id, { signal: never })).toEqual({
      ready: false,
      why: 'rejected',
      message: 'no',
    });
    expect(back.count('start')).toBe(4);
    expect(await probeReadiness(client(back), locator().id, { signal: AbortSignal.abort() })).toMatchObject({
      why: 'stopped',
    });
  });

  test('a command stays with its box when the pointer moves; the next one goes to the new box, and an old route starts nothing', async () => {
    const sandbox = client(router);
    const old = { ...locator(), route: router.route() };
    expect(await start(sandbox, old, never, { argv: ['/bin/sh', '-c', 'sleep 20'] })).toMatchObject({
      outcome: 'started',
    });
    router.put('box-2', box('box-2'));
    const stale = { ...locator(), route: old.route };
    expect(await start(sandbox, stale)).toMatchObject({ outcome: 'unknown', message: 'The box was moved.' });
    expect(await sandbox.status(old, never)).toMatchObject({ state: 'running' });
    const next = locator();
    expect(await start(sandbox, next, never, { argv: ['/bin/sh', '-c', 'pwd'] })).toMatchObject({
      outcome: 'started',
    });
    const request = { stdout: 0, stderr: 0, bytesMax: 4096, waitMs: 5_000, until: 'end' } as const;
    expect((await sandbox.read(next, request, never)).stdout.text).toContain('/box-2/workspace\n');
    expect(await sandbox.cancel(old, { graceMs: 0 }, never)).toMatchObject({ done: true });
  });

  test('an observation is read again over a new channel, at most three times; input is never sent again', async () => {
    const sandbox = client(router);
    const at = locator();
    await start(sandbox, at, never, { argv: ['cat'], stdin: true });
    router.break('status', { break: 'before' });
    await expect(sandbox.status(at, never)).rejects.toMatchObject({ code: 'sandbox.lost-sight' });
    expect(router.count('status')).toBe(3);
    router.break('status', null);
    router.break('write', { break: 'after' });
    const input = { offset: 0, bytes: Buffer.from('abc'), end: true };
    await expect(sandbox.write(at, input, never)).rejects.toMatchObject({ code: 'sandbox.input-unknown' });
    expect(router.count('write')).toBe(1);
    const request = { stdout: 0, stderr: 0, bytesMax: 64, waitMs: 5_000, until: 'end' } as const;
    expect(await sandbox.read(at, request, never)).toMatchObject({
      status: { state: 'ended', receipt: { stdinBytes: 3 } },
      stdout: { text: 'abc' },
    });
  });

  test('a backlog of 8 MiB comes in pages, and its end is reached', async () => {
    const sandbox = client(router);
    const at = locator();
    await start(sandbox, at, never, {
      argv: ['/bin/sh', '-c', 'head -c 8388608 /dev/zero | tr "\\0" x; exit 3'],
    });
    let bytes = 0;
    for (let eof = false; !eof; ) {
      const request = {
        stdout: bytes,
        stderr: 0,
        bytesMax: 1024 * 1024,
        waitMs: 10_000,
        until: 'end',
      } as const;
      const { stdout, status } = await sandbox.read(at, request, never);
      expect(status).toMatchObject({ state: 'ended', receipt: { exit: { code: 3 } } });
      bytes = stdout.next;
      eof = stdout.eof;
    }
    expect(bytes).toBe(8 * 1024 * 1024);
  });
});
