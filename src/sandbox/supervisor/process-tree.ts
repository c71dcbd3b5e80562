/** Finds every process that a command started, and ends them all or names those that are left. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessName } from '../sandbox.ts';

/** A process that no later one with the same id can be taken for. `start` is null where the system does not tell it. */
export interface ProcessId {
  readonly pid: number;
  readonly start: number | null;
}

export interface Target {
  /** The first process of the command; it leads a session and a group of its own. Null where nobody wrote it down. */
  readonly leader: ProcessId | null;
  /** `NAME=value` in the environment of all that it starts. */
  readonly mark: string;
}

interface Row extends ProcessName {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly start: number;
  readonly zombie: boolean;
}

/** Who this process is. Another with the same id differs in `start`. */
export function processId(pid: number): ProcessId {
  return { pid, start: rowOf(pid)?.start ?? null };
}

/** True while this very process is there and has not ended. */
export function isAlive({ pid, start }: ProcessId): boolean {
  const row = rowOf(pid);
  if (row !== null) return !row.zombie && (start === null || row.start === start);
  return process.platform !== 'linux' && signal(pid, 0);
}

/**
 * The living processes of a command: its group, its session, what bears its mark, and what those started. A process that
 * cleared its environment, left the session and lost its parent is not found; only a process namespace holds such a one.
 */
export function membersOf({ leader, mark }: Target): readonly ProcessName[] {
  if (process.platform !== 'linux')
    return leader !== null && signal(-leader.pid, 0) ? [{ pid: leader.pid, name: 'process group' }] : [];
  const rows = allRows();
  // An id that another process bears by now no longer stands for the group.
  const now = rows.find((row) => row.pid === leader?.pid);
  const same = leader !== null && (now === undefined || now.start === leader.start);
  const since = leader?.start ?? 0;
  const members = new Set<number>();
  for (const row of rows) {
    if (row.start < since || row.pid === process.pid) continue;
    const grouped = same && (row.group === leader.pid || row.session === leader.pid);
    if (grouped || bears(row.pid, mark)) members.add(row.pid);
  }
  for (let size = -1; size !== members.size; ) {
    size = members.size;
    for (const row of rows) if (members.has(row.parent)) members.add(row.pid);
  }
  return rows.filter((row) => members.has(row.pid) && !row.zombie).map(({ pid, name }) => ({ pid, name }));
}

export interface EndOptions {
  /** Between TERM and KILL. */
  readonly graceMs: number;
  /** How long KILL may take. */
  readonly killMs: number;
  /** A program that only wraps the command and whose end would take the grace from the rest. */
  readonly wrapper: string | null;
}

/** TERM to all, KILL after the grace until none is left. Resolves with those that could not be ended. */
export async function endAll(target: Target, options: EndOptions): Promise<readonly ProcessName[]> {
  const { graceMs, killMs, wrapper } = options;
  let left = membersOf(target);
  const asked = left.filter(({ name }) => name !== wrapper);
  if (graceMs > 0) for (const { pid } of asked) signal(pid, 'SIGTERM');
  for (let until = Date.now() + graceMs; left.length > 0 && Date.now() < until; ) {
    await sleep(10);
    left = membersOf(target);
  }
  // Again and again: between the look and the signal a process may have forked.
  for (let until = Date.now() + killMs; left.length > 0; left = membersOf(target)) {
    if (target.leader !== null && isAlive(target.leader)) signal(-target.leader.pid, 'SIGKILL');
    for (const { pid } of left) signal(pid, 'SIGKILL');
    if (Date.now() >= until) break;
    await sleep(10);
  }
  return left;
}

/** Sends a signal to all processes of a command. False where there is none. */
export function signalAll(target: Target, name: NodeJS.Signals, wrapper: string | null): boolean {
  const asked = membersOf(target).filter((member) => member.name !== wrapper);
  return asked.map(({ pid }) => signal(pid, name)).includes(true);
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    // Outside Linux a member stands for its whole group.
    const to = process.platform === 'linux' || pid < 0 ? pid : -pid;
    process.kill(to, name);
    return true;
  } catch {
    return false;
  }
}

function bears(pid: number, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${mark}\0`);
  } catch {
    return false;
  }
}

function allRows(): Row[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => rowOf(Number(name)))
    .filter((row) => row !== null);
}

function rowOf(pid: number): Row | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return null;
  }
  // The name may hold anything, brackets and spaces included; the last bracket ends it.
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  const [state = '', parent, group, session] = fields;
  return {
    pid,
    name: text.slice(open + 1, close),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start: Number(fields[19]),
    zombie: state === 'Z' || state === 'X',
  };
}
