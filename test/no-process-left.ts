/** Vitest's global setup: whatever a test leaves running when all have ended is named, ended, and fails the run. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LeftProcess, processesOf } from './left-processes.ts';

/** How many were left, for the closing line of the run. */
export const leftVariable = 'WRIT_TESTS_LEFT';
/** What is about to end gets this long. */
const graceMs = 5_000;

/**
 * Gives the run a folder of its own for temporary files. Tests make their workspaces and state there, so every process that
 * they start bears its name in its environment, its arguments, its working folder or an open file; a supervisor does too.
 */
export function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'w-'));
  process.env.TMPDIR = folder;
  delete process.env[leftVariable];
  return async () => {
    const left = await leftOf(folder);
    for (const { pid } of left) kill(pid);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    if (left.length === 0) return;
    process.env[leftVariable] = String(left.length);
    process.exitCode = 1;
    throw new Error(`Tests left processes running, which were ended:\n${left.map(lineOf).join('\n')}`);
  };
}

async function leftOf(folder: string): Promise<readonly LeftProcess[]> {
  if (process.platform !== 'linux') {
    console.log(`Processes that tests left running: not looked for on ${process.platform}.`);
    return [];
  }
  for (const until = Date.now() + graceMs; ; ) {
    // The workers of this run are its own to end.
    const left = processesOf(folder).filter(
      ({ pid, parent }) => pid !== process.pid && parent !== process.pid,
    );
    if (left.length === 0 || Date.now() > until) return left;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function lineOf({ pid, command, seenBy }: LeftProcess): string {
  return `  ${pid} ${command} (known by its ${seenBy})`;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
