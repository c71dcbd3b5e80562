/** One turn with a real process: its files, its surroundings, its end, and that nothing of it stays. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runTurn } from './turn.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'writ-turn-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const run = (
  script: string,
  more: { timeoutMs?: number; signal?: AbortSignal; stdin?: string; program?: string } = {},
) =>
  runTurn(
    {
      argv: ['-c', script],
      env: { FROM_PLAN: 'plan' },
      files: [
        { path: 'deep/of-run', text: 'r', until: 'run' },
        { path: 'of-session', text: 's', until: 'session' },
      ],
      home,
      workspace: home,
      stdin: more.stdin ?? null,
    },
    {
      program: more.program ?? 'sh',
      env: { PATH: process.env.PATH ?? '', GIVEN: 'given' },
      timeoutMs: more.timeoutMs ?? 10_000,
      signal: more.signal ?? new AbortController().signal,
    },
  );

// A killed orphan may wait for its new parent to take note of it: it is dead all the same.
const alive = (pid: number) => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
};

async function gone(pid: number): Promise<boolean> {
  for (let i = 0; i < 100 && alive(pid); i += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  return !alive(pid);
}

test('files are private, stand during the turn, and those of the run are gone after it', async () => {
  const { stdout, exitCode } = await run('stat -c "%a %n" deep/of-run of-session; cat; exit 3', {
    stdin: 'in\n',
  });
  expect({ stdout, exitCode }).toEqual({ stdout: '600 deep/of-run\n600 of-session\nin\n', exitCode: 3 });
  expect((await readdir(home)).sort()).toEqual(['deep', 'of-session']);
  expect(await readdir(join(home, 'deep'))).toEqual([]);
});

test('the child gets what it is given and nothing else of the surroundings', async () => {
  process.env.WRIT_SECRET_OF_TEST = 'secret';
  const { stdout } = await run('env');
  delete process.env.WRIT_SECRET_OF_TEST;
  expect(stdout).toContain('FROM_PLAN=plan\n');
  expect(stdout).toContain('GIVEN=given\n');
  expect(stdout).not.toContain('secret');
});

test('at the deadline the whole group ends, and the files of the run are gone', async () => {
  const end = await run('sleep 60 & echo $!; trap "" TERM; sleep 60', { timeoutMs: 300 });
  expect(end).toMatchObject({ exitCode: null, stopped: 'it did not end within 0.3 s' });
  expect(await gone(Number(end.stdout))).toBe(true);
  expect(await readdir(join(home, 'deep'))).toEqual([]);
});

test('a worker that outlives its parent ends with the turn', async () => {
  const end = await run('sleep 60 >/dev/null 2>&1 & echo $!');
  expect(end).toMatchObject({ exitCode: 0, stopped: null });
  expect(await gone(Number(end.stdout))).toBe(true);
});

test('a cancel ends it, also one that came before', async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 100);
  expect(await run('sleep 60', { signal: stop.signal })).toMatchObject({ stopped: 'it was cancelled' });
  expect(await run('sleep 60', { signal: AbortSignal.abort() })).toMatchObject({
    stopped: 'it was cancelled',
  });
});

test('a program that is not there is an end with its reason', async () => {
  const end = await run('', { program: join(home, 'none') });
  expect(end).toMatchObject({ exitCode: null, stopped: expect.stringContaining('ENOENT') });
});

test('of a long complaint the end is kept', async () => {
  const { stderr } = await run('yes complaint | head -5000 >&2; echo last >&2');
  expect(stderr.length).toBeLessThanOrEqual(4000);
  expect(stderr.endsWith('last\n')).toBe(true);
});
