/** One start of an agent program: in a group of its own, its input written whole, its lines read, and nothing of it left. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { messageOf, systemCode } from '../../errors.ts';
import type { ProcessName } from '../../sandbox/sandbox.ts';
import { endAll, membersOf, type ProcessId, processId } from '../../sandbox/supervisor/process-tree.ts';
import type { Conversation } from '../adapter.ts';
import { openDiagnostics } from './diagnostics.ts';
import { openLines } from './lines.ts';

export interface ProgramStart {
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** All that the program gets of the surroundings. */
  readonly env: Readonly<Record<string, string>>;
  /** Written whole, then closed; null for a closed input. */
  readonly stdin: string | null;
  /** `NAME=value` of `env`: by it what left the group is found again. */
  readonly mark: string;
}

export interface ProgramWatch {
  /** Called once when the program runs, before anything of it is read. */
  readonly onStart: (leader: ProcessId) => Promise<void> | void;
  /** Whole lines of stdout, in order. The next are read when it has resolved. What it throws ends the program. */
  readonly onLines: (lines: readonly string[]) => Promise<void>;
  /**
   * Talks with the program in the place of input and lines. When it has resolved the program has no more to do and is
   * ended.
   */
  readonly converse?: (streams: Pick<Conversation, 'input' | 'output'>) => Promise<void>;
  /** Ends the program and all that it started. */
  readonly signal: AbortSignal;
}

export type ProgramEnd =
  /** Nothing ran. `code` is the system's: ENOENT, EACCES, E2BIG; null where it was ended before it began. */
  | { readonly started: false; readonly code: string | null; readonly message: string }
  | {
      readonly started: true;
      /** Both null where it could not be ended. */
      readonly exit: { readonly code: number | null; readonly signal: string | null };
      /** True where a conversation with it came to its end. */
      readonly isDone: boolean;
      /** The end and the beginning of stderr. */
      readonly stderr: string;
      /** Why the input was not taken whole; null if it was. */
      readonly inputFault: string | null;
      /** Lines that were too long to be read. */
      readonly linesDropped: number;
      /** Processes that outlived the program and were ended after it. */
      readonly leftovers: readonly ProcessName[];
      /** Processes that could not be ended. */
      readonly survivors: readonly ProcessName[];
    };

/** Between TERM and KILL, and for KILL: together less than a run waits for an aborted effect. */
const graceMs = 1_000;
const killMs = 600;
/** What left the group and hides may hold the pipe for ever; what was printed before is read within this time. */
const drainMs = 200;

/**
 * Resolves when nothing of the program runs any more, or with the names of what could not be ended. Rejects only with
 * what `watch` throws, after the program was ended.
 */
export async function runProgram(start: ProgramStart, watch: ProgramWatch): Promise<ProgramEnd> {
  if (watch.signal.aborted) return { started: false, code: null, message: 'It was ended before it began.' };
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(start.program, [...start.argv], {
      cwd: start.cwd,
      env: { ...start.env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
  } catch (thrown) {
    return { started: false, code: systemCode(thrown) ?? null, message: messageOf(thrown) };
  }
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const fault = await new Promise<Error | null>((resolve) => {
    child.once('spawn', () => resolve(null)).once('error', resolve);
  });
  // Later errors are about signals that came too late.
  child.on('error', () => {});
  if (fault !== null) return { started: false, code: systemCode(fault) ?? null, message: messageOf(fault) };
  return attend(child, exited, start, watch);
}

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

async function attend(
  child: ChildProcessWithoutNullStreams,
  exited: Promise<Exit>,
  { stdin, mark }: ProgramStart,
  { onStart, onLines, converse, signal }: ProgramWatch,
): Promise<ProgramEnd> {
  const leader = processId(child.pid ?? 0);
  const tree = { leader, mark };
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  // A rejection is told at the end; until then the program is being ended for it.
  let thrown: { readonly cause: unknown } | undefined;
  const failed = (cause: unknown) => {
    thrown ??= { cause };
    stop();
  };
  const input = converse === undefined ? feed(child, stdin) : { fault: () => null };
  const diagnostics = openDiagnostics();
  child.stderr.setEncoding('utf8').on('data', (text: string) => diagnostics.add(text));
  child.stderr.on('error', () => {});
  const lines = openLines();
  const at: Reading = { chunks: 0, waiting: false };
  let isDone = false;
  const reading = (async () => {
    await onStart(leader);
    if (converse === undefined) return read(child.stdout, lines, onLines, at);
    at.waiting = true;
    isDone = await talk(child, converse, exited);
    stop();
  })().catch(failed);
  try {
    const ended = await Promise.race([exited, endWhen(stopped.signal, tree)]);
    const leftovers = ended === 'stopped' ? [] : membersOf(tree);
    const survivors = await endAll(tree, { graceMs: 0, killMs, wrapper: null });
    await readOut(reading, at);
    const exit = await Promise.race([exited, after(drainMs).then(() => ({ code: null, signal: null }))]);
    child.stdout.destroy();
    child.stderr.destroy();
    child.stdin.destroy();
    await reading;
    if (thrown !== undefined) throw thrown.cause;
    return {
      started: true,
      exit,
      isDone,
      stderr: diagnostics.text(),
      inputFault: input.fault(),
      linesDropped: lines.dropped(),
      leftovers,
      survivors,
    };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Ends the tree once the signal aborts. Resolves after that; never where it does not abort. */
async function endWhen(signal: AbortSignal, tree: Parameters<typeof endAll>[0]): Promise<'stopped'> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await endAll(tree, { graceMs, killMs, wrapper: null });
  return 'stopped';
}

/** True if the conversation came to its end; a program that ends in the middle of one leaves nobody to wait for. */
async function talk(
  child: ChildProcessWithoutNullStreams,
  converse: NonNullable<ProgramWatch['converse']>,
  exited: Promise<unknown>,
): Promise<boolean> {
  child.stdin.on('error', () => {});
  const streams = {
    input: Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    output: Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  };
  const left = exited.then(drained).then(() => false);
  return Promise.race([converse(streams).then(() => true), left]);
}

interface Reading {
  /** Chunks that came so far. */
  chunks: number;
  /** False while the lines of one are being taken. */
  waiting: boolean;
}

async function read(
  stdout: Readable,
  lines: ReturnType<typeof openLines>,
  onLines: ProgramWatch['onLines'],
  at: Reading,
): Promise<void> {
  const take = async (found: readonly string[]) => {
    if (found.length > 0) await onLines(found);
  };
  const chunks: AsyncIterator<string> = stdout.setEncoding('utf8')[Symbol.asyncIterator]();
  for (;;) {
    at.waiting = true;
    let chunk: IteratorResult<string>;
    try {
      chunk = await chunks.next();
    } catch {
      // It was closed from here, or the pipe broke: what came before counts.
      break;
    }
    at.waiting = false;
    at.chunks += 1;
    if (chunk.done) break;
    await take(lines.add(chunk.value));
  }
  at.waiting = false;
  await take(lines.end());
}

/** Resolves when all is read, or nothing more came for a while although it was waited for. */
async function readOut(reading: Promise<void>, at: Reading): Promise<void> {
  let done = false;
  void reading.then(() => {
    done = true;
  });
  for (let seen = -1; !done && (seen !== at.chunks || !at.waiting); ) {
    seen = at.chunks;
    await Promise.race([reading, drained()]);
  }
}

/** Writes all of it. Node waits for a slow reader; one that closes its end early, or ends, is no crash and is told of. */
function feed(child: ChildProcessWithoutNullStreams, text: string | null) {
  let reason = '';
  let flushed = text === null || text === '';
  child.stdin.on('error', (error) => {
    reason = ` (${systemCode(error) ?? messageOf(error)})`;
  });
  // The callback of `end` is also called where it failed.
  child.stdin.once('finish', () => {
    flushed = true;
  });
  child.stdin.end(text ?? '');
  const bytes = Buffer.byteLength(text ?? '');
  return {
    fault: () => (flushed ? null : `it closed its input before all ${bytes} bytes were written${reason}`),
  };
}

/**
 * Resolves when what was printed by now has been read. Time alone does not tell: where this process got none of it, the
 * timer comes before the pipe, and an immediate comes behind it.
 */
async function drained(): Promise<void> {
  await after(drainMs);
  await new Promise((resolve) => setImmediate(resolve));
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
