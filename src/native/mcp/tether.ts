/** Ties a process group to this process: a waiting shell kills it once we are gone, however we went. */
import { spawn } from 'node:child_process';

/**
 * Reads until the pipe that only we hold open is closed: by the system, if we died. The group first gets a moment to end by
 * itself. A shell is the smallest program there is everywhere that outlives us; it costs 1 MB and no time.
 */
const script = 'read -r _; sleep "$2"; kill -s TERM -- "-$1"; sleep "$2"; kill -s KILL -- "-$1"';

/** How long the group has after our death, and again after SIGTERM, in seconds. */
const graceSeconds = 1;

/**
 * `untie` must be called as soon as the group is known to be gone, so that nobody else's group is meant. Where no shell can be
 * started nothing ties, and the group has only its closed input to go by.
 */
export function tether(group: number): { readonly untie: () => void } {
  // In a group of its own: a Ctrl-C that ends us must not end it first.
  const watcher = spawn('/bin/sh', ['-c', script, 'sh', String(group), String(graceSeconds)], {
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.on('error', () => {});
  watcher.stdin.on('error', () => {});
  watcher.unref();
  return {
    untie() {
      watcher.kill('SIGKILL');
      watcher.stdin.destroy();
    },
  };
}
