/** Finds processes on Linux by a path that they cannot help bearing: where they run, with what, and what they have open. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface LeftProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly seenBy: 'environment' | 'arguments' | 'working folder' | 'open file';
}

/** The processes of this user that bear the path. One that is ended and only not yet waited for is none. */
export function processesOf(path: string): readonly LeftProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const seenBy = markOf(pid, path);
      const stat = textOf(pid, 'stat');
      if (seenBy === undefined || stat === '') return [];
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' || state === 'X') return [];
      const command = textOf(pid, 'cmdline').replaceAll('\0', ' ').trim().slice(0, 200);
      return [{ pid: Number(pid), parent: Number(parent), command, seenBy }];
    });
}

function markOf(pid: string, path: string): LeftProcess['seenBy'] | undefined {
  if (linkOf(pid, 'cwd').startsWith(path)) return 'working folder';
  if (textOf(pid, 'environ').includes(path)) return 'environment';
  if (textOf(pid, 'cmdline').includes(path)) return 'arguments';
  return openFilesOf(pid).some((file) => file.startsWith(path)) ? 'open file' : undefined;
}

function openFilesOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(pid, `fd/${fd}`));
  } catch {
    return [];
  }
}

// A process may end while it is looked at, and one of another user tells nothing: neither is one of ours.
function textOf(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

function linkOf(pid: string, name: string): string {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch {
    return '';
  }
}
