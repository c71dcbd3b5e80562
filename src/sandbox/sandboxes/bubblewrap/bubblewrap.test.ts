/** bubblewrap: its exact words, the refusal where it does not work, and, where it does, the contract and what it really confines. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SandboxError } from '../../errors.ts';
import { never, openRig, sandboxCases } from '../../sandbox.cases.ts';
import { startCommand } from '../../start-command.ts';
import { membersOf } from '../../supervisor/process-tree.ts';
import { bubblewrap } from './bubblewrap.ts';
import { bubblewrapArgv } from './bubblewrap-argv.ts';

const env = { PATH: process.env.PATH, API_KEY: 'canary-1' };
const base = mkdtempSync(join(tmpdir(), 'writ-bwrap-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const folders = { workspace: base, folder: join(base, 'commands') };

/** Why it does not work on this machine; null where it does. */
const missing = (() => {
  try {
    bubblewrap({ ...folders, env });
    return null;
  } catch (thrown) {
    if (thrown instanceof SandboxError && thrown.code === 'sandbox.unavailable') return thrown.message;
    throw thrown;
  }
})();

test('its words are these', () => {
  const words = bubblewrapArgv(
    '/usr/bin/bwrap',
    {
      workspace: '/home/me/project',
      cwd: '/home/me/project/src',
      network: false,
      hidden: ['.writ'],
      covered: ['.x'],
    },
    ['make', '--', '-j2'],
  );
  const readable = (...paths: string[]) => paths.flatMap((path) => ['--ro-bind-try', path, path]);
  expect(words).toEqual([
    ...['/usr/bin/bwrap', '--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...readable('/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'),
    ...readable('/etc/alternatives', '/etc/ca-certificates', '/etc/group', '/etc/ld.so.cache'),
    ...readable('/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/localtime', '/etc/nsswitch.conf'),
    ...readable('/etc/passwd', '/etc/ssl/certs', '/etc/ssl/openssl.cnf'),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...['--bind', '/home/me/project', '/home/me/project', '--tmpfs', '/home/me/project/.writ'],
    ...['--ro-bind', '/dev/null', '/home/me/project/.x'],
    ...['--remount-ro', '/', '--chdir', '/home/me/project/src', '--'],
    ...['/bin/sh', '-c', 'printf . >&3; exec 3>&-; exec "$@"', 'sh', 'make', '--', '-j2'],
  ]);
  expect(words).not.toContain('--share-net');
  const shared = bubblewrapArgv(
    '/usr/bin/bwrap',
    { workspace: '/w', cwd: '/w', network: true, hidden: [], covered: [] },
    ['true'],
  );
  expect(shared).toContain('--share-net');
  expect(shared.filter((word) => word === '/etc/resolv.conf')).toHaveLength(2);
});

describe('where it does not work', () => {
  const planted = (script: string) => {
    const bin = mkdtempSync(join(base, 'bin-'));
    writeFileSync(join(bin, 'bwrap'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, 'bwrap'), 0o755);
    return bin;
  };

  test.each([
    ['there is no such program', () => mkdtempSync(join(base, 'empty-')), /no program bwrap on PATH/],
    ['it is only in a relative folder', () => '.:bin', /no program bwrap on PATH/],
    [
      'it may not make namespaces',
      () => planted('echo "No permissions to create namespace" >&2; exit 1'),
      /No permissions/,
    ],
    ['it runs nothing', () => planted('exit 3'), /ended with 3/],
  ])('%s: refused, and nothing is run without it', (_why, path, words) => {
    const thrown = (() => {
      try {
        return bubblewrap({ ...folders, env: { PATH: path() } });
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toMatchObject({
      code: 'sandbox.unavailable',
      kind: 'refused',
      message: expect.stringMatching(words),
      next: expect.stringContaining('sandbox: local'),
    });
  });

  test('a sandbox that breaks after it was opened rejects the start, and the command does not run', async () => {
    // It works once, for the probe, and then breaks as if namespaces had been forbidden meanwhile.
    const bin = planted(
      `[ -e ${base}/broken ] && { echo "setting up uid map: Permission denied" >&2; exit 1; }\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"`,
    );
    const rig = await openRig((places) => bubblewrap({ ...places, env: { PATH: bin } }));
    try {
      writeFileSync(join(base, 'broken'), '');
      const locator = rig.locator();
      const outcome = await startCommand(rig.sandbox, rig.spec('echo ran > ran'), {
        locator,
        beforeDispatch: async () => {},
        signal: never,
      });
      expect(outcome).toEqual({
        outcome: 'rejected',
        code: 'invalid-argument',
        message: 'setting up uid map: Permission denied',
      });
      expect(await rig.sandbox.status(locator, never)).toMatchObject({ receipt: { ran: false } });
    } finally {
      await rig.close();
    }
  });
});

describe.skipIf(missing !== null)('where it works', () => {
  const open = (places: { workspace: string; folder: string }) => bubblewrap({ ...places, env });
  sandboxCases('bubblewrap', open);

  test('a command changes its workspace and nothing else, and sees no other files, processes or network', async () => {
    const rig = await openRig(open);
    const secret = join(base, 'secret');
    writeFileSync(secret, 'canary-2');
    mkdirSync(join(rig.workspace, '.writ'));
    writeFileSync(join(rig.workspace, '.writ/ledger.sqlite'), 'canary-3');
    symlinkSync(secret, join(rig.workspace, 'link'));
    try {
      const locator = await rig.start(
        `echo mine > made; cat ${secret} link .writ/*; touch /usr/x /etc/x ${base}/x; cat /etc/shadow;
         ls /proc | grep -c '^[0-9]'; grep -c : /proc/net/dev; env`,
      );
      const { status, stdout, stderr } = await rig.finish(locator);
      expect(status).toMatchObject({ state: 'ended' });
      expect(stdout.text + stderr.text).not.toContain('canary');
      const [processes, interfaces] = stdout.text.split('\n').map(Number);
      expect(processes).toBeLessThan(6);
      expect(interfaces).toBe(1);
      expect(stderr.text.match(/No such file|Read-only|Permission denied/g)?.length).toBeGreaterThanOrEqual(
        7,
      );
      expect((await rig.finish(await rig.start('cat made'))).stdout.text).toBe('mine\n');
    } finally {
      await rig.close();
    }
  });

  test('no command can put a .writ into a workspace that has none, and none is left of what keeps it from that', async () => {
    const rig = await openRig(open);
    const at = join(rig.workspace, '.writ');
    const planted =
      'mkdir .writ; echo "identity: evil" > .writ; ln -s / .writ; mv .writ gone; rm -rf .writ; ls -a';
    try {
      const holding = await rig.start('echo up; sleep 60');
      await rig.sandbox.read(
        holding,
        { stdout: 0, stderr: 0, bytesMax: 64, waitMs: 9_000, until: 'output' },
        never,
      );
      const { stdout, stderr } = await rig.finish(await rig.start(planted));
      expect(stdout.text).toBe('.\n..\n.writ\n');
      expect(stderr.text.match(/exists|denied|busy/g)?.length).toBeGreaterThanOrEqual(4);
      const there = lstatSync(at);
      expect([there.isFile(), there.size]).toEqual([true, 0]);
      // With the file the mount of the command that still runs would go.
      await open(rig).close();
      expect(existsSync(at)).toBe(true);
      await rig.sandbox.cancel(holding, { graceMs: 0 }, never);
      await rig.sandbox.close();
      expect(readdirSync(rig.workspace)).toEqual([]);
      writeFileSync(at, '');
      await open(rig).close();
      expect(existsSync(at), 'an empty file of somebody else stays').toBe(true);
    } finally {
      await rig.close();
    }
  });

  test('a process that clears its environment, leaves its session and loses its parent does not outlive it', async () => {
    const rig = await openRig(open);
    try {
      const locator = await rig.start(
        'env -i setsid sh -c "sleep 7261 & exit" > /dev/null 2>&1; sleep 0.2; echo started; sleep 60',
      );
      await rig.sandbox.read(
        locator,
        { stdout: 0, stderr: 0, bytesMax: 64, waitMs: 9_000, until: 'output' },
        never,
      );
      expect(await rig.sandbox.cancel(locator, { graceMs: 50 }, never)).toMatchObject({ done: true });
      const { stdout } = await rig.finish(locator);
      expect(stdout.text).toBe('started\n');
      expect(spawnSync('pgrep', ['-f', 'sleep 7261'], { encoding: 'utf8' }).stdout).toBe('');
      expect(membersOf({ leader: null, mark: `WRIT_COMMAND=${locator.id}` })).toEqual([]);
    } finally {
      await rig.close();
    }
  });
});
