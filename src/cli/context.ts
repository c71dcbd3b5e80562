/** What every command gets: its surroundings as values, and its two outputs. */
import { type Clock, systemClock } from '../clock.ts';
import type { Interrupts } from './interrupts.ts';
import { type Output, type OutStream, openOutput } from './output.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The three streams of a process, or stand-ins for them. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: OutStream;
  readonly stderr: OutStream;
}

export interface Context {
  readonly env: Environment;
  readonly cwd: string;
  /** What follows the name of the program. */
  readonly argv: readonly string[];
  readonly stdin: Streams['stdin'];
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  /** Catches Ctrl-C from its first call on; see `openInterrupts`. */
  readonly interrupts: Interrupts;
}

/** A context on streams that stay the caller's. */
export function openContext(
  env: Environment,
  streams: Streams,
  cwd: string,
  interrupts: Interrupts,
  argv: readonly string[] = [],
): Context {
  const { stdin, stdout, stderr } = streams;
  return {
    env,
    cwd,
    argv,
    stdin,
    stdout: openOutput(stdout),
    stderr: openOutput(stderr),
    clock: systemClock,
    interrupts,
  };
}

/** One JSON value as a line on stdout. */
export function printJson(context: Context, value: unknown): void {
  context.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
