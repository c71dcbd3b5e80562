/** Several processes on one ledger file, killed and full disks included. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import type { RunEvent } from '../../protocol/events.ts';
import { type ChildPrograms, childPrograms } from '../child.cases.ts';
import { thisHolder } from '../holder.ts';
import { notice, runRecord, sessionRecord } from '../store.cases.ts';
import { sqliteStore } from './sqlite.ts';

const program = 'ledger/stores/append.child.cases.ts';
let programs: ChildPrograms;
let folder: string;
let path: string;
beforeAll(() => {
  programs = childPrograms();
  folder = mkdtempSync(join(tmpdir(), 'writ-processes-'));
});
afterAll(() => {
  programs.remove();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  path = join(mkdtempSync(join(folder, 'case-')), 'ledger.sqlite');
});

async function prepare(...runs: string[]): Promise<void> {
  const store = sqliteStore({ path });
  await store.createSession(sessionRecord('session_a'), []);
  for (const [i, run] of runs.entries()) {
    await store.createRun(runRecord(run, 'session_a', { index: i + 1 }));
  }
  await store.close();
}

async function eventsOf(run: string): Promise<readonly RunEvent[]> {
  const store = sqliteStore({ path });
  try {
    return await store.events(run);
  } finally {
    await store.close();
  }
}

function integrity(): unknown {
  const db = new DatabaseSync(path);
  try {
    return { ...db.prepare('pragma integrity_check').get() };
  } finally {
    db.close();
  }
}

/** Numbers without a gap, and both events of each append side by side with one text. */
function expectWhole(events: readonly RunEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  const pairs = events.map((event) => (event.type === 'notice' ? [event.code, event.text] : []));
  for (let i = 0; i < pairs.length; i += 2) {
    expect([pairs[i]?.[0], pairs[i + 1]?.[0], pairs[i + 1]?.[1]]).toEqual(['first', 'second', pairs[i]?.[1]]);
  }
}

test('three processes write runs of their own', async () => {
  const runs = ['run_a', 'run_b', 'run_c'];
  await prepare(...runs);
  const children = runs.map((run) => programs.start(program, [path, run, '200']));
  const ends = await Promise.all(children.map(({ ended }) => ended));
  expect(ends).toEqual(runs.map(() => ({ code: 0, signal: null, stderr: '' })));
  for (const [i, run] of runs.entries()) {
    const events = await eventsOf(run);
    expect(events).toHaveLength(400);
    expect(children[i]?.lines().map(Number)).toEqual(events.map(({ seq }) => seq));
    expectWhole(events);
  }
});

test('three processes take one run in turns', async () => {
  await prepare('run_a');
  const children = [1, 2, 3].map(() => programs.start(program, [path, 'run_a', '60', 'contended']));
  const ends = await Promise.all(children.map(({ ended }) => ended));
  expect(ends).toEqual(children.map(() => ({ code: 0, signal: null, stderr: '' })));
  const events = await eventsOf('run_a');
  expect(events).toHaveLength(360);
  expectWhole(events);
  const epochs = events.map(({ epoch }) => epoch);
  expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
  const acknowledged = children.flatMap((child) => child.lines().map(Number)).sort((a, b) => a - b);
  expect(acknowledged).toEqual(events.map(({ seq }) => seq));
});

test('a killed process loses nothing it was told is stored, and its run can be taken at once', async () => {
  await prepare('run_a');
  let acknowledged = 0;
  for (let round = 0; round < 6; round += 1) {
    const child = programs.start(program, [path, 'run_a', '1000000']);
    await child.wrote(10);
    await systemClock.sleep(systemClock.random() * 60);
    child.process.kill('SIGKILL');
    expect(await child.ended).toMatchObject({ signal: 'SIGKILL' });
    acknowledged = Math.max(acknowledged, Number(child.lines().at(-1)));
    const events = await eventsOf('run_a');
    expect(events.length).toBeGreaterThanOrEqual(acknowledged);
    expectWhole(events);
    expect(integrity()).toEqual({ integrity_check: 'ok' });
  }
  const store = sqliteStore({ path });
  expect(await store.holder('run_a')).toBeUndefined();
  expect(await store.acquire('run_a', thisHolder(), 1000)).toMatchObject({ epoch: 7 });
  await store.close();
});

test('a process ends by itself once its store is closed', async () => {
  await prepare('run_a');
  const child = programs.start(program, [path, 'run_a', '1']);
  expect(await child.ended).toEqual({ code: 0, signal: null, stderr: '' });
});

describe('a locked database', () => {
  test('is waited for without stopping the process', async () => {
    await prepare('run_a');
    const store = sqliteStore({ path, busyMs: 5000 });
    const lease = await store.acquire('run_a', thisHolder(), 1000);
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    const stored = store.append(lease, [notice('x')]);
    await systemClock.sleep(50);
    other.exec('rollback');
    other.close();
    expect(await stored).toMatchObject([{ seq: 1 }]);
    await store.close();
  });

  test('is given up with nothing stored, and later writes succeed', async () => {
    await prepare('run_a');
    const store = sqliteStore({ path, busyMs: 60 });
    const lease = await store.acquire('run_a', thisHolder(), 1000);
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    const results = await Promise.allSettled([
      store.append(lease, [notice('a')]),
      store.append(lease, [notice('b')]),
    ]);
    const busy = {
      status: 'rejected',
      reason: expect.objectContaining({ name: 'LedgerError', code: 'ledger.busy' }),
    };
    expect(results).toEqual([busy, busy]);
    other.exec('rollback');
    other.close();
    expect(await store.append(lease, [notice('c')])).toMatchObject([{ seq: 1 }]);
    await store.close();
  });
});

describe('no room', () => {
  // An own file system in an own namespace: no rights needed where the kernel allows it to users.
  const mounts = spawnSync('unshare', ['-Urm', 'true']).status === 0;

  test.runIf(mounts)('a full disk is a typed error, and what was acknowledged is whole', async () => {
    await prepare('run_a');
    const small = join(folder, 'small');
    const copy = join(folder, 'copy.sqlite');
    const script = `mkdir -p "$0" && mount -t tmpfs -o size=600k tmpfs "$0" && cp "$1" "$0/ledger.sqlite" && shift &&
      "$@"; code=$?; cat "$0/ledger.sqlite" > "${copy}"; cat "$0/ledger.sqlite-wal" > "${copy}-wal" 2>/dev/null; exit $code`;
    const { program: file, words } = programs.command(program, [
      join(small, 'ledger.sqlite'),
      'run_a',
      '5000',
    ]);
    const end = spawnSync('unshare', ['-Urm', 'sh', '-c', script, small, path, file, ...words], {
      encoding: 'utf8',
    });
    expect([end.status, end.stderr]).toEqual([
      1,
      'ledger.disk-full Free space on that disk, then resume the run.\n',
    ]);
    path = copy;
    const events = await eventsOf('run_a');
    expect(events.map(({ seq }) => seq)).toEqual(end.stdout.trim().split('\n').map(Number));
    expectWhole(events);
  });

  test('a write that the system refuses is a typed error, and what was acknowledged is whole', async () => {
    await prepare('run_a');
    const { program: file, words } = programs.command(program, [path, 'run_a', '5000']);
    let output = '';
    try {
      execFileSync('sh', ['-c', 'ulimit -f 400; exec "$0" "$@"', file, ...words], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
    } catch (error) {
      expect(error).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(
          /^ledger\.(store-failed Check the disk|disk-full Free space on that disk), then resume the run\.\n$/,
        ),
      });
      output = String(Reflect.get(Object(error), 'stdout'));
    }
    const events = await eventsOf('run_a');
    expect(events.map(({ seq }) => seq)).toEqual(output.trim().split('\n').map(Number));
    expectWhole(events);
    expect(integrity()).toEqual({ integrity_check: 'ok' });
  });
});
