/** A program that grades: started apart from the agent, given one JSON value, ended with all it started. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemCode } from '../../errors.ts';

export interface ChildRequest {
  readonly program: string;
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type ChildEnd =
  | { readonly end: 'exit'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly end: 'no-exit'; readonly reason: string };

/** More output than this is cut off: a grader says little. */
const outputBytesMax = 1024 * 1024;

/** Runs the program to its end. Never rejects: a program that cannot be started or does not end is an answer too. */
export async function runChild(request: ChildRequest): Promise<ChildEnd> {
  const { program, words, cwd, env, input, timeoutMs, signal } = request;
  if (signal?.aborted) return { end: 'no-exit', reason: 'cancelled' };
  // A group of its own, so that what it starts ends with it.
  const child = spawn(program, words, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let stopped: string | undefined;
  const stop = (reason: string) => {
    stopped ??= reason;
    endGroup(child.pid);
  };
  const timer = setTimeout(() => stop(`no end within ${timeoutMs} ms`), timeoutMs);
  const onAbort = () => stop('cancelled');
  signal?.addEventListener('abort', onAbort, { once: true });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  // A program that does not read its input closes the pipe, which is its right.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  try {
    const [code, ended] = (await once(child, 'close')) as [number | null, string | null];
    if (stopped !== undefined) return { end: 'no-exit', reason: stopped };
    if (code === null) return { end: 'no-exit', reason: `ended by ${ended}` };
    return { end: 'exit', code, stdout: stdout(), stderr: stderr() };
  } catch (thrown) {
    return { end: 'no-exit', reason: `cannot be started: ${systemCode(thrown) ?? 'no code'}` };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    // Whatever it left behind in its group goes with it.
    endGroup(child.pid);
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes < outputBytesMax) chunks.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).subarray(0, outputBytesMax).toString('utf8');
}
