/** The built command line as a real process in a folder of its own, for tests of what crosses processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

export const bin = resolve('dist/cli/bin.js');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly end: Promise<Ended>;
}

/** Starts `writ …` in a folder that is its home too; nothing of the surroundings but the way to programs. */
export function startCli(
  cwd: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Started {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [bin, ...argv], {
    cwd,
    env: { PATH, HOME: cwd, ...env },
    stdio: 'pipe',
  });
  const read = (stream: NodeJS.ReadableStream) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString('utf8');
  };
  const [stdout, stderr] = [read(child.stdout), read(child.stderr)];
  child.stdin.end();
  const end = new Promise<Ended>((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => done({ code, stdout: stdout(), stderr: stderr() }));
  });
  return { child, end };
}

export const cli = (...parameters: Parameters<typeof startCli>) => startCli(...parameters).end;
