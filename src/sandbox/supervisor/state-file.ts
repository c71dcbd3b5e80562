/** The folder of one command on disk: its state, written whole or not at all, its output, and the socket of its supervisor. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EndReceipt } from '../sandbox.ts';
import type { ProcessId } from './process-tree.ts';

/** What a supervisor knows. It alone writes it while it lives. */
export interface CommandState {
  readonly format: 1;
  readonly id: string;
  readonly sandbox: string;
  readonly owner: string;
  /** For processes of the command, see `Target`. */
  readonly mark: string;
  readonly wrapper: string | null;
  readonly supervisor: ProcessId;
  readonly leader: ProcessId | null;
  readonly stdinBytes: number;
  readonly startedAtMs: number;
  readonly phase: 'idle' | 'running' | 'ended';
  /** The signal to end it came from outside; kept, so that a lost supervisor does not hide it. */
  readonly ending: 'cancel' | 'lifetime' | null;
  readonly receipt: EndReceipt | null;
  /** Its receipt was read and stored, and its output given up. */
  readonly acknowledged: boolean;
}

export const commandFiles = { state: 'state.json', stdout: 'stdout', stderr: 'stderr', socket: 's' } as const;

/** Replaces the state. A reader sees the one before or this one. */
export function writeState(folder: string, state: CommandState): void {
  const path = join(folder, commandFiles.state);
  writeFileSync(`${path}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** As `writeState`, and it outlives a crash of the machine. Throws if that cannot be had. */
export function writeStateDurably(folder: string, state: CommandState): void {
  writeState(folder, state);
  for (const path of [join(folder, commandFiles.state), folder]) {
    const file = openSync(path, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

/** Null where there is none yet, or what is there was not written by a supervisor. */
export function readState(folder: string): CommandState | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, commandFiles.state), 'utf8'));
    // Lies in a folder that only this user can enter, and is written whole by `writeState`.
    return typeof value === 'object' && value !== null && 'format' in value && value.format === 1
      ? (value as CommandState)
      : null;
  } catch {
    return null;
  }
}
