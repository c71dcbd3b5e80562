/** A run in a process of its own that a test kills, and what is left of it: its record and the acts of its tools. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../src/clock.ts';
import { sqliteStore } from '../src/ledger/stores/sqlite.ts';
import type { RunResult } from '../src/protocol/outcome.ts';
import { stateOf } from '../src/run/derive.ts';

export interface RunProcess {
  /** Resolves once it has printed this. */
  said(text: string): Promise<void>;
  kill(): Promise<void>;
  /** What its last line holds, once it has ended. */
  result(): Promise<RunResult>;
}

const children: ChildProcess[] = [];

/** Starts a program of `test/children`; it stalls where it is told to. */
export function startProcess(program: string, args: readonly string[], stall: string): RunProcess {
  const child = spawn(process.execPath, [`test/children/${program}`, ...args], {
    env: { STALL: stall },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let out = '';
  const watching: { text: string; resolve: () => void }[] = [];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
    for (const one of watching) if (out.includes(one.text)) one.resolve();
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    said: (text) =>
      out.includes(text)
        ? Promise.resolve()
        : new Promise<void>((resolve) => watching.push({ text, resolve })),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async result() {
      await exited;
      return JSON.parse(out.trim().split('\n').at(-1) ?? '');
    },
  };
}

/** Ends what a failed test has left. */
export function killAll(): void {
  for (const child of children.splice(0)) child.kill('SIGKILL');
}

/** How often a tool really acted. */
export function actsIn(folder: string, name: string): number {
  try {
    return readFileSync(join(folder, `${name}.log`), 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}

/** The one run of the ledger, as another process sees it. */
export async function onlyRunIn(folder: string) {
  const store = sqliteStore({ path: join(folder, 'ledger.sqlite'), clock: systemClock });
  const [run] = await store.runs();
  const events = await store.events(run?.id ?? '');
  const state = stateOf(events, (await store.holder(run?.id ?? '')) !== undefined);
  await store.close();
  return { run: run?.id ?? '', events, state };
}
