/** The supervisor's program: owns one command, outlives the Writ that started it, and leaves the truth about its end on disk. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandSignals, type EndReceipt, type ProcessName } from '../sandbox.ts';
import { type Frame, frameReader, frameText } from './frames.ts';
import { endAll, membersOf, processId, signalAll, type Target } from './process-tree.ts';
import { type CommandState, commandFiles, writeState, writeStateDurably } from './state-file.ts';

/** The first line on its standard input. The environment may hold secrets: it is never written to disk. */
export interface Launch {
  readonly id: string;
  readonly sandbox: string;
  readonly owner: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: boolean;
  readonly lifetimeMs: number;
  readonly outputBytesMax: number;
  /** A program that only wraps the command; it tells by a byte on descriptor 3 that the command is about to run. */
  readonly wrapper: string | null;
}

/** How long one that is never released waits, should its launcher hang. */
const idleMs = 30_000;
/** What the command left behind may end by itself, and what it wrote may still arrive. */
const leftoverGraceMs = 100;
const drainMs = 250;
const killMs = 2_000;
const lifetimeGraceMs = 1_000;
/** Between tries to put down an end for which there is no room. */
const writeAgainMs = 2_000;
/** Bytes that the command has not taken yet. */
const stdinPendingMax = 1024 * 1024;

// The folder is where it was started, so that the socket's path is short however deep the folder lies.
const folder = process.cwd();

function supervise(launch: Launch): (release: Frame) => void {
  const mark = `WRIT_COMMAND=${launch.id}`;
  let state: CommandState = {
    format: 1,
    id: launch.id,
    sandbox: launch.sandbox,
    owner: launch.owner,
    mark,
    wrapper: launch.wrapper,
    supervisor: processId(process.pid),
    leader: null,
    stdinBytes: 0,
    startedAtMs: Date.now(),
    phase: 'idle',
    ending: null,
    receipt: null,
    acknowledged: false,
  };
  const keep = (change: Partial<CommandState>) => {
    state = { ...state, ...change };
    try {
      writeState(folder, state);
    } catch {
      // A full disk: what is known is still told over the socket for as long as this process is asked.
    }
  };
  const outputs = { stdout: outputFile('stdout', launch), stderr: outputFile('stderr', launch) };
  const ended: ((receipt: EndReceipt) => void)[] = [];
  const idle = setTimeout(() => finish({ ran: false, by: 'never-released' }), idleMs);
  let lifetime: NodeJS.Timeout | undefined;
  let child: ChildProcess | undefined;
  let ending: Promise<readonly ProcessName[]> | undefined;

  const target = (): Target | null => (state.leader === null ? null : { leader: state.leader, mark });

  const server = createServer((socket) => {
    socket.on('error', () => {});
    const answer = (frame: Frame) => void socket.end(frameText(frame));
    socket.on(
      'data',
      frameReader((frame) => serve(frame, answer, socket)),
    );
  });
  server.on('error', (fault) => fail(`Its socket could not be opened: ${fault.message}`));
  server.listen(commandFiles.socket, () => {
    keep({});
    say({ ready: true });
  });

  function serve(frame: Frame | null, answer: (frame: Frame) => void, socket: Socket): void {
    switch (frame?.op) {
      case 'status':
        answer({ ok: true, state });
        return;
      case 'signal': {
        const name = commandSignals.find((one) => one === frame.name);
        const at = target();
        const sent = name !== undefined && at !== null && signalAll(at, name, launch.wrapper);
        answer({ ok: true, sent });
        return;
      }
      case 'write':
        answer({ ok: true, ...write(frame) });
        return;
      case 'cancel': {
        // The answer is the receipt, so it comes when the command is gone.
        const graceMs = typeof frame.graceMs === 'number' ? Math.min(Math.max(frame.graceMs, 0), 60_000) : 0;
        if (state.receipt === null) {
          ended.push((receipt) => answer({ ok: true, receipt }));
          stop('cancel', graceMs);
        } else answer({ ok: true, receipt: state.receipt });
        return;
      }
      default:
        answer({ ok: false });
        socket.destroySoon();
    }
  }

  function write(frame: Frame): Frame {
    const received = state.stdinBytes;
    const bytes = Buffer.from(typeof frame.bytes === 'string' ? frame.bytes : '', 'base64');
    const stdin = child?.stdin;
    if (state.phase === 'ended') return { accepted: false, received, reason: 'ended' };
    if (stdin === null || stdin === undefined || !stdin.writable)
      return { accepted: false, received, reason: 'closed' };
    if (frame.offset !== received) return { accepted: false, received, reason: 'offset' };
    if (stdin.writableLength + bytes.length > stdinPendingMax)
      return { accepted: false, received, reason: 'full' };
    // On disk before it is handed over: a repeat after a crash stands at another offset.
    keep({ stdinBytes: received + bytes.length });
    if (bytes.length > 0) stdin.write(bytes);
    if (frame.end === true) stdin.end();
    return { accepted: true, received: state.stdinBytes };
  }

  function stop(why: 'cancel' | 'lifetime', graceMs: number): void {
    const at = target();
    if (at === null) {
      if (state.phase === 'idle') finish({ ran: false, by: 'cancel' });
      return;
    }
    keep({ ending: why });
    ending ??= endAll(at, { graceMs, killMs, wrapper: launch.wrapper });
    void ending.then((survivors) => {
      // Something that not even KILL ends holds the end of the command back; it is named now.
      if (survivors.length > 0) finish({ ran: true, by: why, survivors });
    });
  }

  function release(): void {
    if (state.phase !== 'idle' || child !== undefined) return;
    clearTimeout(idle);
    const refuse = (refusal: string) => {
      // Whoever is told finds the end on disk, or hears it from this process.
      finish({ ran: false, refusal, by: 'itself' });
      say({ released: false, refusal });
    };
    // Before anything is started: a command that ran must never be found as one that still waits.
    const running: CommandState = { ...state, phase: 'running', startedAtMs: Date.now() };
    try {
      writeStateDurably(folder, running);
    } catch (fault) {
      refuse(`That it runs could not be written down: ${fault instanceof Error ? fault.message : fault}`);
      return;
    }
    state = running;
    const [program = '', ...args] = launch.argv;
    const wrapped = launch.wrapper !== null;
    const started = spawn(program, args, {
      cwd: launch.cwd,
      env: { ...launch.env, WRIT_COMMAND: launch.id },
      detached: true,
      stdio: [launch.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(wrapped ? (['pipe'] as const) : [])],
    });
    child = started;
    let stands = false;
    started.once('error', (fault) => started.pid === undefined && refuse(fault.message));
    started.stdin?.on('error', () => {});
    for (const name of ['stdout', 'stderr'] as const) {
      started[name]?.on('data', outputs[name].take);
    }
    const standing = () => {
      stands = true;
      say({ released: true });
    };
    // A pipe of its own, on which the wrapper tells that the command is about to run.
    const told = started.stdio[3] as Readable | null | undefined;
    told?.on('error', () => {});
    told?.once('data', standing);
    started.once('spawn', () => {
      if (started.pid !== undefined) keep({ leader: processId(started.pid) });
      lifetime = setTimeout(() => stop('lifetime', lifetimeGraceMs), launch.lifetimeMs);
      if (!wrapped) standing();
    });
    started.once('exit', async (code, signal) => {
      if (wrapped) await drained(started, told);
      // A wrapper that ends without the byte never came as far as the command.
      if (stands) await settle(started, { code, signal });
      else refuse(outputs.stderr.head() || `${program} ended with ${code ?? signal}`);
    });
  }

  /** The command itself has ended: what it left behind is ended, what it wrote is read, and the end is put down. */
  async function settle(started: ChildProcess, exit: EndReceipt['exit']): Promise<void> {
    clearTimeout(lifetime);
    const at = target();
    let leftovers: readonly ProcessName[] = [];
    if (at !== null) {
      await within(ending ?? idleOf(at), leftoverGraceMs + (ending === undefined ? 0 : killMs + 60_000));
      leftovers = membersOf(at);
      const wrapper = launch.wrapper;
      if (leftovers.length > 0) await endAll(at, { graceMs: leftoverGraceMs, killMs, wrapper });
    }
    const survivors = at === null ? [] : membersOf(at);
    await drained(started);
    finish({ ran: true, exit, by: state.ending ?? 'itself', leftovers, survivors });
  }

  function finish(end: Partial<EndReceipt> & Pick<EndReceipt, 'ran' | 'by'>): void {
    if (state.receipt !== null) return;
    clearTimeout(idle);
    clearTimeout(lifetime);
    const receipt: EndReceipt = {
      id: randomBytes(16).toString('hex'),
      refusal: null,
      exit: { code: null, signal: null },
      leftovers: [],
      survivors: [],
      stdout: outputs.stdout.close(),
      stderr: outputs.stderr.close(),
      stdinBytes: state.stdinBytes,
      startedAtMs: state.startedAtMs,
      endedAtMs: Date.now(),
      ...end,
    };
    state = { ...state, phase: 'ended', receipt };
    const written = untilWritten();
    for (const tell of ended) tell(receipt);
    for (const pipe of [child?.stdin, child?.stdout, child?.stderr, child?.stdio[3]]) pipe?.destroy();
    process.stdin.destroy();
    void written.then(leave);
  }

  /**
   * Nobody but this process knows the end until it is on disk, so it waits for a disk that is full, and answers meanwhile.
   * Where the folder itself is gone, nobody can ask any more.
   */
  async function untilWritten(): Promise<void> {
    for (let pause = 50; ; pause = Math.min(pause * 2, writeAgainMs)) {
      try {
        writeState(folder, state);
        return;
      } catch {
        if (!existsSync(folder)) return;
      }
      await sleep(pause);
    }
  }

  function leave(): void {
    server.close();
    rmSync(commandFiles.socket, { force: true });
    // Answers are on their way; a client that does not read them keeps nothing alive.
    setTimeout(() => process.exit(0), 200).unref();
  }

  return (frame) => {
    if (frame.op === 'release') release();
    else if (frame.op === 'terminate') stop('cancel', lifetimeGraceMs);
    // The launcher is gone, and nobody else can release it.
    else if (state.phase === 'idle') finish({ ran: false, by: 'never-released' });
  };
}

/** Resolves when nothing of the command is left. */
async function idleOf(target: Target): Promise<void> {
  for (let until = Date.now() + leftoverGraceMs; Date.now() < until && membersOf(target).length > 0; )
    await sleep(10);
}

async function drained(child: ChildProcess, more?: Readable | null): Promise<void> {
  const open = [child.stdout, child.stderr, more ?? null].filter((pipe) => pipe !== null && !pipe.closed);
  await within(
    Promise.all(open.map((pipe) => new Promise((resolve) => pipe?.once('close', resolve)))),
    drainMs,
  );
  // Where this process got no time, the timer came before the pipes; an immediate comes behind them.
  await new Promise((resolve) => setImmediate(resolve));
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, sleep(ms, undefined, { signal: over.signal }).catch(() => {})]);
  over.abort();
}

/** Written before anything else is told, so that what a reader is told of is there. */
function outputFile(name: 'stdout' | 'stderr', { outputBytesMax }: Launch) {
  const file = openSync(commandFiles[name], 'wx', 0o600);
  let bytes = 0;
  let dropped = 0;
  let head = Buffer.alloc(0);
  let open = true;
  return {
    take(chunk: Buffer): void {
      if (head.length < 512) head = Buffer.concat([head, chunk]).subarray(0, 512);
      const part = chunk.subarray(0, Math.max(0, outputBytesMax - bytes));
      let written = 0;
      try {
        while (open && written < part.length) written += writeSync(file, part, written);
      } catch {
        // The disk is full: counted like what is beyond the bound.
      }
      bytes += written;
      dropped += chunk.length - written;
    },
    head: () => head.toString('utf8').trim(),
    close() {
      if (open) closeSync(file);
      open = false;
      return { bytes, dropped };
    },
  };
}

// Nobody reads any more once the launcher is gone; that is no reason to stop.
function say(frame: Frame): void {
  process.stdout.write(frameText(frame));
}

function fail(message: string): void {
  say({ ready: false, message });
  process.exitCode = 1;
  setTimeout(() => process.exit(1), 100).unref();
}

process.stdout.on('error', () => {});
let handle: ((frame: Frame) => void) | undefined;
// A hang-up of the terminal is for Writ. A machine that is shut down asks with TERM, and the command gets its grace.
for (const name of ['SIGINT', 'SIGHUP'] as const) process.on(name, () => {});
process.on('SIGTERM', () => (handle === undefined ? process.exit(1) : handle({ op: 'terminate' })));
process.stdin.on(
  'data',
  frameReader((frame) => {
    try {
      if (frame === null) fail('What it was given is no command.');
      else if (handle !== undefined) handle(frame);
      // Written by our own launcher, by the type that both sides share.
      else handle = supervise(frame as unknown as Launch);
    } catch (fault) {
      fail(fault instanceof Error ? fault.message : 'It could not begin.');
    }
  }),
);
process.stdin.on('end', () => handle?.({ op: 'orphaned' }));
