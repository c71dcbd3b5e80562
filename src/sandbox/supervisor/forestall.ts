/** Proof that a start of unknown outcome never happened and never will: its place is taken, or its record says so. */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../../errors.ts';
import { isAlive, type ProcessId, processId } from './process-tree.ts';
import { type CommandState, readState } from './state-file.ts';

const launcherFile = 'launcher';
const voidFile = 'never-started';

/** How long a supervisor whose launcher is gone may take to end. */
const settleMs = 3_000;

// No id of a command begins so: what lies beneath such a name is no command yet, or none any more.
const asidePrefix = '.aside-';

/** Spends the id of a command, and notes who is about to launch it. False if it was spent before, in whatever process. */
export function claimFolder(folder: string): boolean {
  return takePlace(folder, launcherFile, JSON.stringify(processId(process.pid)));
}

/** Gives up the folder of a command that surely never ran. Its id is free again in one step, and never half removed. */
export function discardFolder(folder: string): void {
  const aside = asideOf(folder);
  renameSync(folder, aside);
  rmSync(aside, { recursive: true, force: true });
}

/** Removes what a process left that was killed while it took or gave up a place. */
export function sweepAside(root: string, madeBeforeMs: number): void {
  for (const name of readdirSync(root).filter((one) => one.startsWith(asidePrefix))) {
    const path = join(root, name);
    const madeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (madeMs < madeBeforeMs) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Makes a folder with one file in it, whole or not at all: whoever is killed on the way leaves the place free. The file
 * also keeps another from taking the same place, for a rename replaces an empty folder only. False if it was taken.
 */
function takePlace(folder: string, file: string, text: string): boolean {
  const aside = asideOf(folder);
  mkdirSync(aside, { mode: 0o700 });
  try {
    writeFileSync(join(aside, file), text, { mode: 0o600 });
    renameSync(aside, folder);
    return true;
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    const code = systemCode(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  }
}

function asideOf(folder: string): string {
  return join(dirname(folder), `${asidePrefix}${randomBytes(8).toString('hex')}`);
}

/**
 * True with proof that no command runs, ran or ever will run in this folder. Where nothing is there yet, its place is taken,
 * so that a start still on its way finds it so; a supervisor that was never released is waited for.
 */
export async function neverStarts(folder: string, signal: AbortSignal): Promise<boolean> {
  if (takePlace(folder, voidFile, '')) return true;
  const until = Date.now() + settleMs;
  for (;;) {
    if (isVoid(folder)) return true;
    const state = readState(folder);
    if (state !== null && state.phase !== 'idle') return false;
    // A record that says idle may be an old one that could not be replaced: only a receipt proves. The supervisor may
    // have put one down between the two looks.
    if (state !== null && !isAlive(state.supervisor)) return isVoid(folder);
    if (signal.aborted || Date.now() >= until) return state === null && launcherIsGone(folder);
    await sleep(25, undefined, { signal }).catch(() => {});
  }
}

/** True where the record of a folder itself proves that nothing ran there and nothing will. */
export function isVoid(folder: string): boolean {
  return existsSync(join(folder, voidFile)) || neverRan(readState(folder));
}

function neverRan(state: CommandState | null): boolean {
  return state?.receipt?.ran === false && state.receipt.refusal === null;
}

/** True once nobody can release what was to run here: only its launcher can, over pipes that die with it. */
export function launcherIsGone(folder: string): boolean {
  try {
    return !isAlive(JSON.parse(readFileSync(join(folder, launcherFile), 'utf8')) as ProcessId);
  } catch {
    return false;
  }
}
