/** Finds a program on PATH and asks it for its version, without giving it keys, input or more than a moment. */
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Environment } from '../context.ts';

export interface FoundProgram {
  readonly path: string;
  /** The first line that it printed; null where it gave none. */
  readonly version: string | null;
  /** Why there is no version; null where there is one. */
  readonly fault: string | null;
}

export interface AskOptions {
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** By default five seconds. */
  readonly timeoutMs?: number;
}

/** What a program needs to start. Keys, tokens and proxies are not among it. */
const passedOn = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TMPDIR', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME'];
const outputBytesMax = 4096;

/** Runs `name --version`; undefined where PATH has no such program. The whole process group is gone afterwards. */
export async function programVersion(name: string, options: AskOptions): Promise<FoundProgram | undefined> {
  const path = findOnPath(name, options.env);
  if (path === undefined) return undefined;
  return { path, ...(await askVersion(path, options)) };
}

/** Only absolute folders count: a relative one would run what happens to lie in the current folder. */
export function findOnPath(name: string, env: Environment): string | undefined {
  return (env.PATH ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function askVersion(
  path: string,
  { env, signal, timeoutMs = 5_000 }: AskOptions,
): Promise<Omit<FoundProgram, 'path'>> {
  return new Promise((resolve) => {
    const given = passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
    // A group of its own, so that whatever it starts ends with it; and not in a folder whose settings it might read.
    const child = spawn(path, ['--version'], {
      env: { ...Object.fromEntries(given), NO_COLOR: '1' },
      cwd: tmpdir(),
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let out = '';
    const end = (fault: string | null) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      child.stdout.destroy();
      killGroup(child.pid);
      const version = out.trim().split('\n')[0]?.trim() ?? '';
      const answered = fault === null && version !== '';
      resolve({
        version: answered ? version : null,
        fault: answered ? null : (fault ?? 'it printed nothing'),
      });
    };
    const onAbort = () => end('it was stopped');
    const timer = setTimeout(() => end(`it did not answer within ${timeoutMs / 1000} s`), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      if (out.length < outputBytesMax) out += chunk.toString('utf8', 0, outputBytesMax);
    });
    child.once('error', (error) => end(error.message));
    child.once('close', (code) => end(code === 0 ? null : `it ended with code ${code}`));
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
