/** The process of an MCP server on pipes: an environment of named variables, a process group that ends with us, bounded stderr. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { messageOf, systemCode } from '../../errors.ts';
import { tether } from './tether.ts';

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** How long the process may take to end when its input closes, and again after SIGTERM. */
  readonly graceMs?: number;
}

/** The SDK takes a transport with `pid` and `stderr` for a process: silence before the handshake then means an older server. */
export interface ServerProcess extends Transport {
  readonly pid: number | null;
  readonly stderr: null;
  /** Why there is no process any more; undefined while it runs or before it was started. */
  ended(): string | undefined;
  /** The last 8 KiB of what it wrote to stderr. */
  said(): string;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const stderrBytesMax = 8 * 1024;

// An exit of our process, a second Ctrl-C for instance, waits for nothing: what still runs is killed on the way out.
const running = new Set<number>();
const killAll = () => {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
};

/**
 * A transport over a process that `start` begins. The process leads a group of its own, so that Ctrl-C reaches it through
 * us only and its children end with it. `close` ends its input, then signals the group: TERM, and KILL after a grace.
 * If this process dies without a word, the closing input tells the server, and a tether ends the group that does not listen.
 */
export function serverProcess({ command, args, env, cwd, graceMs = 1_000 }: ServerCommand): ServerProcess {
  const buffer = new ReadBuffer();
  let child: Child | undefined;
  let said = Buffer.alloc(0);
  let ended: string | undefined;
  let gone: Promise<void> = Promise.resolve();
  let closing: Promise<void> | undefined;

  const read = (chunk: Buffer) => {
    try {
      buffer.append(chunk);
    } catch (fault) {
      // A message beyond the buffer's limit: what follows could not be told apart any more.
      transport.onerror?.(fault instanceof Error ? fault : new Error(String(fault)));
      void transport.close();
      return;
    }
    for (;;) {
      try {
        const message = buffer.readMessage();
        if (message === null) return;
        transport.onmessage?.(message);
      } catch (fault) {
        // A line that is no message, such as a greeting; the next one may be.
        transport.onerror?.(fault instanceof Error ? fault : new Error(String(fault)));
      }
    }
  };

  const transport: ServerProcess = {
    get pid() {
      return child?.pid ?? null;
    },
    stderr: null,
    ended: () => ended,
    said: () => said.toString('utf8'),
    async start() {
      const started: Child = spawn(command, [...args], { env, cwd, detached: true, stdio: 'pipe' });
      child = started;
      // A write to a process that just ended, a signal that came too late: what counts is the end, which `watch` sees.
      for (const part of [started, started.stdin]) part.on('error', () => {});
      started.stdout.on('data', read);
      started.stderr.on('data', (chunk: Buffer) => {
        said = Buffer.concat([said, chunk]).subarray(-stderrBytesMax);
      });
      gone = watch(started, command).then((how) => {
        ended = how;
        buffer.clear();
        transport.onclose?.();
      });
      await once(started, 'spawn');
    },
    send: (message: JSONRPCMessage) =>
      new Promise((resolve, reject) => {
        if (child === undefined || ended !== undefined)
          reject(new Error(ended ?? 'the server is not running'));
        else child.stdin.write(serializeMessage(message), (fault) => (fault ? reject(fault) : resolve()));
      }),
    close() {
      closing ??= end();
      return closing;
    },
  };

  async function end(): Promise<void> {
    const pid = child?.pid;
    if (child === undefined || pid === undefined) return gone;
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await within(gone, graceMs)) break;
      signalGroup(pid, signal);
    }
    // Not even KILL ends a process that hangs in the system; nobody waits for it for ever.
    await within(gone, graceMs);
  }

  return transport;
}

/** Resolves once the process has ended and what it wrote has been read; the rest of its group is killed. */
async function watch(child: Child, command: string): Promise<string> {
  const { pid } = child;
  const tied = pid === undefined ? undefined : tether(pid);
  if (pid !== undefined) {
    if (running.size === 0) process.on('exit', killAll);
    running.add(pid);
  }
  const how = await once(child, 'exit').then(
    ([code, signal]) => (signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`),
    (fault: unknown) =>
      systemCode(fault) === 'ENOENT' ? `there is no program '${command}'` : messageOf(fault),
  );
  if (pid !== undefined) {
    // A child that the server left behind would hold the pipes open, and keep working for nobody.
    signalGroup(pid, 'SIGKILL');
    tied?.untie();
    running.delete(pid);
    if (running.size === 0) process.off('exit', killAll);
    if (!child.stdout.closed) await within(once(child, 'close'), 250);
  }
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
  return how;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nothing of the group is left.
  }
}

/** True if the promise settles in time. */
async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
