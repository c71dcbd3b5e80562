/** Reads the beginning of a file that SQLite keeps locks on, without taking them away. */
import { openSync, readSync, statSync } from 'node:fs';

// The system drops every lock that a process has on a file as soon as the process closes any descriptor of it, SQLite's of
// an open ledger included; other processes then write into the middle of a commit. So what was opened here stays open.
// https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
const kept = new Map<string, number>();

/** The first bytes of a file, at most `count`. Throws the errors of the system. One descriptor for each file stays open. */
export function beginningOf(path: string, count: number): Buffer {
  const { dev, ino } = statSync(path);
  const file = `${dev}:${ino}`;
  const descriptor = kept.get(file) ?? openSync(path, 'r');
  kept.set(file, descriptor);
  const bytes = Buffer.alloc(count);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, count, 0));
}
