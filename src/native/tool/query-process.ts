/** The owner of the query process: starts it when needed, asks it one thing at a time, kills it, and never leaves one behind. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../../errors.ts';
import { exactJsonText, isRecord, parseExactJson } from '../../protocol/json.ts';
import type { DatabaseFile } from './database-file.ts';
import { ToolError } from './errors.ts';
import type { SqlReply, SqlRequest } from './sql-query-child.ts';

/** How a request ended; anything but `replied` means that the process is gone. */
export type QueryEnd =
  | { readonly end: 'replied'; readonly reply: SqlReply }
  | { readonly end: 'stopped' }
  | { readonly end: 'died'; readonly how: string };

export interface QueryProcess {
  /**
   * Sends a request to the process, which is started if there is none for this very file. Calls wait for each other in order. When the
   * signal aborts, the process is killed with SIGKILL and this resolves once it is really gone.
   */
  ask(request: Omit<SqlRequest, 'id'>, database: DatabaseFile, signal: AbortSignal): Promise<QueryEnd>;
  /** The process id; undefined while none runs. */
  pid(): number | undefined;
  /** Kills the process and waits until it is gone. Later requests are stopped at once. */
  close(): Promise<void>;
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

interface Running {
  readonly child: Child;
  readonly database: DatabaseFile;
  readonly lines: AsyncIterator<string>;
  readonly gone: Promise<string>;
}

/** Where the built program lies, seen from the sources as well as from the package. Throws `tool.no-child`. */
export function childProgram(from: string = import.meta.url): string {
  try {
    return createRequire(from).resolve('#child/sql-query-child');
  } catch (cause) {
    throw new ToolError('tool.no-child', 'Expected the built program of the query process, found none.', {
      next: 'Run npm run build.',
      cause,
    });
  }
}

/** Nothing is started before the first request. */
export function queryProcess(program: string): QueryProcess {
  let running: Running | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let requests = 0;
  const closing = new AbortController();

  const kill = async () => {
    const it = running;
    running = undefined;
    if (it === undefined) return;
    // An idle process does not keep ours alive; its end, which is awaited here, must.
    hold(it.child, true);
    it.child.kill('SIGKILL');
    await it.gone;
  };

  const askNow: QueryProcess['ask'] = async (request, database, signal) => {
    const stop = AbortSignal.any([signal, closing.signal]);
    if (stop.aborted) return { end: 'stopped' };
    if (running !== undefined && (!isSame(running.database, database) || hasEnded(running.child)))
      await kill();
    running ??= start(program, database);
    const it = running;
    requests += 1;
    hold(it.child, true);
    const { promise: stopped, dispose } = aborted(stop);
    try {
      it.child.stdin.write(`${exactJsonText({ id: requests, ...request })}\n`);
      const line = it.lines.next().then((next) => (next.done === true ? null : next.value));
      const first = await Promise.race([line, stopped]);
      if (first === 'aborted') {
        await kill();
        return { end: 'stopped' };
      }
      const reply = first === null ? null : readReply(first, requests);
      if (reply !== null) return { end: 'replied', reply };
      await kill();
      return { end: 'died', how: await it.gone };
    } finally {
      dispose();
      hold(it.child, false);
    }
  };

  return {
    ask(request, database, signal) {
      const before = last;
      const turn = before.then(() => askNow(request, database, signal));
      last = turn.catch(() => {});
      // Whoever waits for its turn is stopped at once; whoever had it, once its process is gone.
      const { promise: stopped, dispose } = aborted(signal);
      return Promise.race([before, stopped])
        .then((first) => (first === 'aborted' ? ({ end: 'stopped' } as const) : turn))
        .finally(dispose);
    },
    pid: () => running?.child.pid,
    async close() {
      closing.abort();
      await last;
      await kill();
    },
  };
}

function isSame(one: DatabaseFile, other: DatabaseFile): boolean {
  return one.path === other.path && one.identity === other.identity;
}

function start(program: string, database: DatabaseFile): Running {
  // Nothing of our environment: neither credentials nor NODE_OPTIONS reach a process that a model's text drives.
  const child = spawn(process.execPath, ['--no-warnings', program, database.path, database.identity], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { LANG: 'C.UTF-8' },
    cwd: '/',
  });
  // A write to a process that just died; what matters then is that it died.
  child.stdin.on('error', () => {});
  const gone = once(child, 'exit').then(
    ([code, signal]) => (signal === null ? `exit code ${code}` : `signal ${signal}`),
    messageOf,
  );
  return { child, database, gone, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

/** An idle query process must not keep ours alive; a working one must. */
function hold(child: Child, held: boolean): void {
  for (const part of [child, child.stdin, child.stdout]) {
    if (part !== child && !(part instanceof Socket)) continue;
    if (held) part.ref();
    else part.unref();
  }
}

function aborted(signal: AbortSignal): { readonly promise: Promise<'aborted'>; dispose(): void } {
  let finish = () => {};
  const promise = new Promise<'aborted'>((resolve) => {
    finish = () => resolve('aborted');
  });
  if (signal.aborted) finish();
  signal.addEventListener('abort', finish, { once: true });
  return { promise, dispose: () => signal.removeEventListener('abort', finish) };
}

function hasEnded(child: Child): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Null for half a line, which is what a process leaves that dies while it writes. */
function readReply(line: string, id: number): SqlReply | null {
  try {
    const reply: unknown = parseExactJson(line);
    // Written by our own program, by the type that both sides share.
    return isRecord(reply) && reply.id === id ? (reply as unknown as SqlReply) : null;
  } catch {
    return null;
  }
}
