/** Who holds a lease: a text that names one process, and whether that process is still alive. */

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { systemCode } from '../errors.ts';

/** What a store keeps of a run's lease. An empty holder means that the run was given back. */
export interface LeaseRow {
  readonly epoch: number;
  readonly holder: string;
  /** Milliseconds since the Unix epoch. */
  readonly expires: number;
}

/** `host:pid:processStart` of this process; its start tells it from a later process under the same number. */
export function thisHolder(clock: Clock = systemClock): string {
  const start = startOf(process.pid) ?? String(Math.round((clock.now() - clock.monotonicMs()) / 1000));
  return `${hostname()}:${process.pid}:${start}`;
}

/** True while the lease keeps others out: given to somebody, not expired, and its holder not known to be dead. */
export function isHeld(row: LeaseRow, now: number): boolean {
  return row.holder !== '' && row.expires > now && !isDead(row.holder);
}

/** The process of this host that a holder names; undefined for a holder of another host or form. */
export function localPid(holder: string): number | undefined {
  const parts = /^(.+):(\d+):[^:]+$/.exec(holder);
  return parts?.[1] === hostname() ? Number(parts[2]) : undefined;
}

/** True only with proof: a process of this host that is gone. A holder of another form or host may be alive. */
function isDead(holder: string): boolean {
  const pid = localPid(holder);
  if (pid === undefined) return false;
  const start = startOf(pid);
  if (start !== undefined) return !holder.endsWith(`:${start}`);
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // EPERM means that it lives and belongs to somebody else.
    return systemCode(error) === 'ESRCH';
  }
}

/**
 * Start of a process in clock ticks since boot: field 22 of proc(5) stat. Undefined where the system has no such file.
 * A zombie still has one but will never write again, so it counts as gone.
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field, the program's name, may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : fields[19];
  } catch {
    return undefined;
  }
}
