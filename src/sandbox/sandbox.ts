/** The port of a sandbox: what a command is, and how one is started, looked at and ended without ever being started twice. */
import { constants } from 'node:os';
import type { Locator } from './locator.ts';

/** What to run. Nothing here is read by a shell; a caller who wants one names it in `argv`. */
export interface CommandSpec {
  readonly argv: readonly string[];
  /** Relative to the root of the sandbox; empty for the root itself. */
  readonly cwd: string;
  /** Added to what the sandbox lets through of its own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether bytes will be written to its standard input; otherwise it reads an empty one. */
  readonly stdin: boolean;
  /** It is ended when it has run for so long. */
  readonly lifetimeMs: number;
  /** Of each stream so many bytes are kept; the rest is counted. */
  readonly outputBytesMax: number;
  /** For whom it runs, such as the id of a run; listed, never interpreted. */
  readonly owner: string;
}

/** A process that a command left behind, or that could not be ended. */
export interface ProcessName {
  readonly pid: number;
  readonly name: string;
}

export interface StreamCount {
  /** Bytes kept. */
  readonly bytes: number;
  /** Bytes beyond what is kept. */
  readonly dropped: number;
}

/** The proof that nothing of a command runs any more, unless `survivors` names it. */
export interface EndReceipt {
  /** Random: whoever shows it has read the end. */
  readonly id: string;
  /**
   * False only with proof that the program was never executed; `refusal` says why if somebody asked for it. True with an
   * exit that nobody saw means that it may have run.
   */
  readonly ran: boolean;
  readonly refusal: string | null;
  /** Of the command itself, never of what supervised it. Both null where nobody saw it end. */
  readonly exit: { readonly code: number | null; readonly signal: string | null };
  readonly by: 'itself' | 'cancel' | 'lifetime' | 'never-released';
  /** Processes that outlived the command and were ended after it. */
  readonly leftovers: readonly ProcessName[];
  /** Processes that could not be ended. */
  readonly survivors: readonly ProcessName[];
  readonly stdout: StreamCount;
  readonly stderr: StreamCount;
  readonly stdinBytes: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export type CommandStatus =
  /** Nothing is known here. It proves nothing: a start may still be on its way. */
  | { readonly state: 'absent' }
  /** Accepted, and waiting for its release. */
  | { readonly state: 'idle' }
  | {
      readonly state: 'running';
      readonly leader: number | null;
      readonly stdinBytes: number;
      readonly startedAtMs: number;
    }
  | { readonly state: 'ended'; readonly receipt: EndReceipt }
  /** What watched it is gone without a word; the command may be running. */
  | { readonly state: 'lost'; readonly leader: number | null };

/** A part of one stream. Text is whole characters; bytes that are no UTF-8 read as U+FFFD. */
export interface StreamPage {
  readonly text: string;
  /** Byte offsets: where the text begins, and where to go on. */
  readonly from: number;
  readonly next: number;
  /** True where nothing follows and nothing can. */
  readonly eof: boolean;
}

export interface OutputPage {
  readonly status: CommandStatus;
  readonly stdout: StreamPage;
  readonly stderr: StreamPage;
}

export interface ReadRequest {
  /** Byte offsets to read from. */
  readonly stdout: number;
  readonly stderr: number;
  /** Of each stream; at least 64. */
  readonly bytesMax: number;
  /** How long to wait for the end, or with `until: 'output'` for anything new. */
  readonly waitMs: number;
  readonly until: 'output' | 'end';
}

export type WriteReceipt =
  | { readonly accepted: true; readonly received: number }
  /** `offset`: bytes were sent from another place than where the input stands. `full`: it does not read. */
  | {
      readonly accepted: false;
      readonly received: number;
      readonly reason: 'offset' | 'full' | 'closed' | 'ended';
    };

export type SignalReceipt = { readonly sent: boolean; readonly state: CommandStatus['state'] };

/** `done` only with proof that nothing runs; otherwise what is left is named. */
export type CancelReceipt =
  | { readonly done: true; readonly receipt: EndReceipt }
  | { readonly done: false; readonly survivors: readonly ProcessName[]; readonly message: string };

/** What a list shows of a command. */
export interface ListedCommand {
  readonly locator: Locator;
  readonly status: CommandStatus;
}

export const commandSignals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGKILL'] as const;
export type CommandSignal = (typeof commandSignals)[number];

/**
 * A place in which commands run. `startCommand` is the only caller of `prepare`, `dispatch` and `release`, in this order.
 * Every operation stops when its signal aborts. What throws after a command may have been sent is unknown, unless it is
 * branded with a proof by `startFault`. Observations throw `sandbox.lost-sight` and may be repeated; `write` throws
 * `sandbox.input-unknown` and must not be.
 */
export interface Sandbox {
  readonly name: string;
  /** What a command is really kept from. */
  readonly confines: { readonly files: boolean; readonly network: boolean; readonly processes: boolean };
  /** Looks whether a start is possible. Changes nothing, so whatever it throws proves that nothing was sent. */
  prepare(spec: CommandSpec, signal: AbortSignal): Promise<void>;
  /** Sends the start, at most once for a locator: one that was used before is refused as unknown. It waits idle. */
  dispatch(spec: CommandSpec, locator: Locator, signal: AbortSignal): Promise<void>;
  /** Lets an idle command run. Only the process that dispatched it can. */
  release(locator: Locator, signal: AbortSignal): Promise<void>;
  status(locator: Locator, signal: AbortSignal): Promise<CommandStatus>;
  read(locator: Locator, request: ReadRequest, signal: AbortSignal): Promise<OutputPage>;
  /** Hands over bytes from this offset of its input; `end` closes the input after them. Never sent again. */
  write(
    locator: Locator,
    input: { readonly offset: number; readonly bytes: Uint8Array; readonly end: boolean },
    signal: AbortSignal,
  ): Promise<WriteReceipt>;
  signal(locator: Locator, name: CommandSignal, signal: AbortSignal): Promise<SignalReceipt>;
  /** Ends the command and all that it started: TERM, after the grace KILL. May be repeated. */
  cancel(
    locator: Locator,
    options: { readonly graceMs: number },
    signal: AbortSignal,
  ): Promise<CancelReceipt>;
  /** Gives up the output of an ended command whose receipt is stored. False while there is another end, or none. */
  acknowledge(locator: Locator, receipt: string, signal: AbortSignal): Promise<boolean>;
  /** The commands of an owner whose output was not given up, oldest first. */
  list(owner: string, signal: AbortSignal): Promise<readonly ListedCommand[]>;
  /**
   * True only with proof that nothing ran under this locator and nothing ever will. `spend` takes a place that is still
   * free, so that a start on its way finds it taken, and waits for one that was never released. False proves nothing.
   */
  neverStarts(locator: Locator, options: { readonly spend: boolean }, signal: AbortSignal): Promise<boolean>;
  /** Lets go of what this process holds; no running command is ended by it. Safe to call twice. */
  close(): Promise<void>;
}

/** What can be done to a command by whoever did not start it. */
export type Observer = Omit<Sandbox, 'confines' | 'prepare' | 'dispatch' | 'release' | 'close'>;

/** The exit code as a shell tells it: 128 and the signal's number for a killed one; null where nobody saw it. */
export function exitCodeOf({ exit }: EndReceipt): number | null {
  if (exit.signal === null) return exit.code;
  const numbers: Readonly<Record<string, number>> = constants.signals;
  const number = numbers[exit.signal];
  return number === undefined ? null : 128 + number;
}
