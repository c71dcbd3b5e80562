/** Opening a ledger once more in a process leaves SQLite's locks of that process as they were. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { begin, notice } from '../store.cases.ts';
import { sqliteStore } from './sqlite.ts';

/** The locks of this process on a file, as the system lists them. */
function locksOn(path: string): string[] {
  const { ino } = statSync(path);
  const mine = new RegExp(`POSIX +ADVISORY +(\\S+) +${process.pid} [0-9a-f]+:[0-9a-f]+:${ino} (.*)`);
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .flatMap((line) => mine.exec(line)?.slice(1).join(' ') ?? []);
}

test.runIf(process.platform === 'linux')(
  'a second store of a file takes no lock from the first',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-locks-'));
    const path = join(folder, 'ledger.sqlite');
    const first = sqliteStore({ path });
    try {
      const lease = await begin(first);
      await first.append(lease, [notice('a')]);
      const before = [locksOn(path), locksOn(`${path}-shm`)];
      expect(before.map((locks) => locks.length)).toEqual([1, 1]);
      const second = sqliteStore({ path });
      expect([locksOn(path), locksOn(`${path}-shm`)]).toEqual(before);
      await second.close();
      expect([locksOn(path), locksOn(`${path}-shm`)]).toEqual(before);
    } finally {
      await first.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
