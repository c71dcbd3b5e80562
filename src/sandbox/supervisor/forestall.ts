/** Proof that a start of unknown outcome never happened and never will: its place is taken, or its record says so. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../../errors.ts';
import { isAlive, type ProcessId, processId } from './process-tree.ts';
import { type CommandState, readState } from './state-file.ts';

const launcherFile = 'launcher';
const voidFile = 'never-started';

/** How long a supervisor whose launcher is gone may take to end. */
const settleMs = 3_000;

/** Makes the folder of a command, which spends its id in whatever process, and notes who is about to launch it. */
export function claimFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  try {
    writeFileSync(join(folder, launcherFile), JSON.stringify(processId(process.pid)), { mode: 0o600 });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * True with proof that no command runs, ran or ever will run under this id. Where nothing is there yet, the id is spent, so
 * that a start still on its way finds it taken; a supervisor that was never released is waited for.
 */
export async function neverStarts(root: string, id: string, signal: AbortSignal): Promise<boolean> {
  const folder = join(root, id);
  try {
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, voidFile), '', { mode: 0o600 });
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
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

/** The id under which a call may be started now: the first of its ids that is not proven to have never started. */
export function unspentId(root: string, id: string): string {
  for (let nth = 1; ; nth += 1) {
    const name = nth === 1 ? id : `${id}_${nth}`;
    if (!isVoid(join(root, name))) return name;
  }
}

function isVoid(folder: string): boolean {
  return existsSync(join(folder, voidFile)) || neverRan(readState(folder));
}

function neverRan(state: CommandState | null): boolean {
  return state?.receipt?.ran === false && state.receipt.refusal === null;
}

// Only the launcher can release a supervisor, over pipes that died with it.
function launcherIsGone(folder: string): boolean {
  try {
    return !isAlive(JSON.parse(readFileSync(join(folder, launcherFile), 'utf8')) as ProcessId);
  } catch {
    return false;
  }
}
