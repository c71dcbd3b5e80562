/** Finding and ending what a command started where there is no `/proc` to look into: the process group alone, whole. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { endAll, membersOf, processId, signalAll, type Target } from './process-tree.ts';

const { platform } = process;
const asIf = (name: NodeJS.Platform) => Object.defineProperty(process, 'platform', { value: name });
// A group is there until the system has taken note of the end of its last process, whose parent may be gone.
const patienceMs = 20_000;
const children: ChildProcess[] = [];
afterEach(async () => {
  asIf(platform);
  for (const { pid } of children.splice(0)) {
    const target = { leader: pid === undefined ? null : processId(pid), mark: 'WRIT_COMMAND=c_tree' };
    await endAll(target, { graceMs: 0, killMs: 1_000, wrapper: null });
  }
});

/** A shell that leads a group and has a child, as a supervisor starts one. */
async function group(script: string): Promise<{ readonly target: Target; readonly shell: ChildProcess }> {
  const shell = spawn('/bin/sh', ['-c', script], {
    detached: true,
    env: { PATH: process.env.PATH, WRIT_COMMAND: 'c_tree' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.push(shell);
  await once(shell.stdout as NonNullable<typeof shell.stdout>, 'data');
  return { shell, target: { leader: { pid: shell.pid ?? 0, start: null }, mark: 'WRIT_COMMAND=c_tree' } };
}

test.skipIf(platform !== 'linux')(
  'a group that ignores TERM and forks is gone, all of it',
  { timeout: 30_000 },
  async () => {
    const { target } = await group('trap "" TERM; sleep 600 & sleep 600 & echo up; wait; sleep 600');
    asIf('darwin');
    expect(membersOf(target)).toEqual([{ pid: target.leader?.pid, name: 'process group' }]);
    expect(await endAll(target, { graceMs: 50, killMs: patienceMs, wrapper: null })).toEqual([]);
    expect(membersOf(target)).toEqual([]);
    asIf(platform);
    expect(membersOf({ ...target, leader: null })).toEqual([]);
  },
);

test.skipIf(platform !== 'linux')(
  'a signal reaches the group, and nobody where it is gone',
  { timeout: 30_000 },
  async () => {
    const child = 'trap "echo told; exit" TERM; echo up; while :; do sleep 0.05; done';
    const { target, shell } = await group(`trap "wait; exit 5" TERM; sh -c '${child}' & wait`);
    const said: string[] = [];
    shell.stdout?.on('data', (chunk) => said.push(String(chunk)));
    const closed = once(shell, 'close');
    asIf('darwin');
    expect(signalAll(target, 'SIGTERM', null)).toBe(true);
    expect([await closed, said.join('')]).toEqual([[5, null], 'told\n']);
    await endAll(target, { graceMs: 0, killMs: patienceMs, wrapper: null });
    expect(signalAll(target, 'SIGTERM', null)).toBe(false);
    expect(membersOf({ ...target, leader: null })).toEqual([]);
  },
);
