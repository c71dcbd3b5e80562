/** Writ is killed while an agent program works: the program is never started again, and nothing of it is left. */
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startCli } from './real-cli.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'writ-outside-kill-'));
  for (const folder of ['.writ', 'bin', 'a/instructions'])
    await mkdir(join(cwd, folder), { recursive: true });
  await writeFile(join(cwd, 'a/agent.yaml'), 'key: a\nprofiles: { default: [base] }\n');
  await writeFile(join(cwd, 'a/instructions/base.md'), 'You are the canary.\n');
  // Told that it is a program of many processes: one of them leaves the group, and none heeds a TERM.
  const body = [
    `#!${process.execPath}`,
    "const { appendFileSync } = require('node:fs');",
    "if (process.argv[2] === '--version') { console.log('0.73.1'); process.exit(0); }",
    "process.on('SIGTERM', () => {}); process.stdout.on('error', () => {});",
    "const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });",
    `appendFileSync(${JSON.stringify(join(cwd, 'starts'))}, process.pid + ' ' + child.pid + '\\n');`,
    `console.log('{"type":"session","id":"vendor-1"}');`,
    'setInterval(() => {}, 1000);',
  ];
  await writeFile(join(cwd, 'bin/pi'), body.join('\n'));
  await chmod(join(cwd, 'bin/pi'), 0o755);
});
afterEach(async () => {
  for (const pid of await pids()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It is gone, as it should be.
    }
  }
  await rm(cwd, { recursive: true, force: true });
});

const pids = async () =>
  (await readFile(join(cwd, 'starts'), 'utf8').catch(() => '')).split(/\s+/).filter(Boolean).map(Number);
// A process that has ended stays in the list until its new parent has looked, which in a container may be never.
const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
const alive = async () => (await pids()).map(isAlive);
async function started(count: number): Promise<void> {
  for (let i = 0; i < 600 && (await pids()).length < count; i += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
}
const cli = (...argv: string[]) =>
  startCli(cwd, argv, { PATH: `${join(cwd, 'bin')}:${process.env.PATH}`, OPENAI_API_KEY: 'k' });
const homeFiles = () => readdir(join(cwd, '.local/state/writ/homes'), { recursive: true });

async function killedRun(): Promise<void> {
  const run = cli('run', 'a', '--harness', 'pi', '--unmeasured', 'warn', '--lower', 'all', '--', 'x');
  await started(2);
  await new Promise((resolve) => setTimeout(resolve, 200));
  run.child.kill('SIGKILL');
  await run.end;
  expect(await alive()).toEqual([true, true]);
  expect((await homeFiles()).some((path) => path.endsWith('prompt.md'))).toBe(true);
}

test.each([
  [['runs', 'resume', 'last'], 4],
  [['runs', 'cancel', 'last'], 0],
])('%j ends what still runs, tells that the outcome is unknown, and starts nothing', async (argv, exit) => {
  await killedRun();
  const { code, stdout, stderr } = await cli(...argv).end;
  expect({ code, said: stdout + stderr }).toEqual({ code: exit, said: expect.stringContaining('unknown') });
  expect(await alive()).toEqual([false, false]);
  expect((await homeFiles()).filter((path) => /prompt\.md|writ-run/.test(path))).toEqual([]);
  const shown = await cli('runs', 'events', 'last').end;
  expect(shown.stdout.match(/effect-dispatch/g)).toHaveLength(1);
  expect(shown.stdout).toContain('effect-unknown');
  expect((await readdir(cwd)).sort()).toEqual(['.local', '.writ', 'a', 'bin', 'starts']);
});

test('the next run of another session cleans up too', async () => {
  await killedRun();
  const next = cli('run', 'a', '--harness', 'pi', '--unmeasured', 'warn', '--lower', 'all', '--', 'y');
  await started(4);
  expect(await alive()).toEqual([false, false, true, true]);
  next.child.kill('SIGTERM');
  expect((await next.end).code).toBe(130);
  expect(await alive()).toEqual([false, false, false, false]);
});

test('once a person has given the start up, forget removes the home; before that nothing unknown is forgotten', async () => {
  await killedRun();
  expect((await cli('runs', 'forget', 'last', '--yes').end).code).toBe(3);
  expect((await cli('runs', 'cancel', 'last').end).code).toBe(0);
  expect(await alive()).toEqual([false, false]);
  expect((await cli('runs', 'reconcile', 'last', '--abandon', '--reason', 'I looked.').end).code).toBe(0);
  expect((await cli('runs', 'forget', 'last', '--yes').end).code).toBe(0);
  expect(await homeFiles()).toEqual([]);
});

test('a person may let it be started again', async () => {
  await killedRun();
  expect((await cli('runs', 'reconcile', 'last', '--retry', '--reason', 'It does no harm.').end).code).toBe(
    0,
  );
  const again = cli('runs', 'resume', 'last');
  await started(4);
  expect(await alive()).toEqual([false, false, true, true]);
  again.child.kill('SIGTERM');
  expect((await again.end).code).toBe(130);
  expect(await alive()).toEqual([false, false, false, false]);
});
