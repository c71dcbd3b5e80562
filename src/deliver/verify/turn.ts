/** One turn of an agent program by a plan: its files, the process in a group of its own, a deadline, and nothing left. */
import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../errors.ts';
import type { DeliveryPlan } from '../../protocol/delivery.ts';

export interface TurnOptions {
  /** The path of the program, or its name on the `PATH` of `env`. */
  readonly program: string;
  /** What the child may have of the surroundings; the plan's own variables come on top. Nothing else is passed on. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface TurnEnd {
  /** Null where a signal ended it. */
  readonly exitCode: number | null;
  /** Why it was ended from here, or could not be started; null where it ended by itself. */
  readonly stopped: string | null;
  readonly stdout: string;
  /** The last of it. */
  readonly stderr: string;
}

const stdoutCharsMax = 8 * 1024 * 1024;
const stderrCharsMax = 4_000;

type PlannedTurn = Pick<DeliveryPlan, 'argv' | 'env' | 'files' | 'home' | 'workspace' | 'stdin'>;

/**
 * Writes the plan's files, runs the program, and removes the files of the run. Resolves however the program ends; rejects
 * where a file of the home cannot be written. After it no process of the turn's group is left.
 */
export async function runTurn(plan: PlannedTurn, options: TurnOptions): Promise<TurnEnd> {
  try {
    for (const { path, text } of plan.files) await writePrivate(join(plan.home, path), text);
    return await spawnTurn(plan, options);
  } finally {
    for (const { path, until } of plan.files) {
      if (until === 'run') await rm(join(plan.home, path), { force: true });
    }
  }
}

async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // A file of an earlier turn of the session may stand there.
  await rm(path, { force: true });
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
}

function spawnTurn(plan: PlannedTurn, { program, env, timeoutMs, signal }: TurnOptions): Promise<TurnEnd> {
  return new Promise((resolve) => {
    let stdout = '';
    let stderr = '';
    let stopped: string | null = null;
    const child = spawn(program, [...plan.argv], {
      cwd: plan.workspace,
      env: { ...env, ...plan.env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const stop = (why: string) => {
      stopped ??= why;
      killGroup(child.pid);
      // What left the group may hold the pipes; the end of the child is enough.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const timer = setTimeout(() => stop(`it did not end within ${timeoutMs / 1000} s`), timeoutMs);
    const onAbort = () => stop('it was cancelled');
    signal.addEventListener('abort', onAbort, { once: true });
    const end = (exitCode: number | null) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      // Workers of some programs outlive the process that was started.
      killGroup(child.pid);
      resolve({ exitCode, stopped, stdout, stderr });
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < stdoutCharsMax) stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-stderrCharsMax);
    });
    child.once('error', (error) => {
      stopped ??= `it could not be started: ${messageOf(error)}`;
      end(null);
    });
    child.once('close', end);
    // A program that reads nothing closes its end; that is its right.
    child.stdin.on('error', () => {});
    child.stdin.end(plan.stdin ?? '');
    if (signal.aborted) onAbort();
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}
