/** What a test leaves running is found by any one of its marks, ended, and fails the run; a supervisor of commands is found too. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { commandStart } from '../src/native/command/command-start.ts';
import { refusedReader } from '../src/native/context/reader.ts';
import type { ToolContext } from '../src/native/tool/tool.ts';
import { processesOf } from './left-processes.ts';

let folder: string;
const started: ChildProcess[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'left-')));
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function start(options: object, program = 'sleep', args: readonly string[] = ['60']): ChildProcess {
  const child = spawn(program, args, { stdio: 'ignore', cwd: '/', env: {}, ...options });
  started.push(child);
  return child;
}

describe.runIf(process.platform === 'linux')('a process is known', () => {
  test('by its environment, arguments, working folder or an open file, and not without', async () => {
    const file = openSync(join(folder, 'file'), 'w');
    const marked = {
      environment: start({ env: { ANY: `${folder}/x` } }),
      arguments: start({}, process.execPath, ['-e', 'setTimeout(() => {}, 60_000)', folder]),
      'working folder': start({ cwd: folder }),
      'open file': start({ stdio: ['ignore', file, 'ignore'] }),
    };
    start({});
    closeSync(file);
    await expect
      .poll(() => Object.fromEntries(processesOf(folder).map(({ pid, seenBy }) => [seenBy, pid])))
      .toEqual(Object.fromEntries(Object.entries(marked).map(([seenBy, { pid }]) => [seenBy, pid])));
    expect(processesOf(folder)).toHaveLength(4);
  });

  test('not once it has ended, even before anyone waited for it', async () => {
    const child = start({ cwd: folder }, 'true', []);
    await new Promise((resolve) => child.once('exit', resolve));
    expect(processesOf(folder)).toEqual([]);
  });

  test('the supervisor of a command and all that it started, which get none of our environment', async () => {
    const workspace = join(folder, 'workspace');
    mkdirSync(workspace);
    const tool = commandStart({ workspace }, { env: { PATH: process.env.PATH, XDG_STATE_HOME: folder } });
    const context: ToolContext = {
      ...{ clock: systemClock, signal: new AbortController().signal, idempotencyKey: 'run_a:1:1' },
      context: () => refusedReader(),
    };
    await tool.execute({ command: 'sleep 60 & sleep 60', wait_ms: 0 }, context);
    await expect
      .poll(() => processesOf(folder).map(({ command }) => command.replace(/^.*\//, '').split(' ')[0]))
      .toEqual(expect.arrayContaining(['supervisor.js', 'sleep', 'sleep']));
    await tool.close();
    await expect.poll(() => processesOf(folder)).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('a run of the suite', () => {
  const run = async (plant: string) => {
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/children/planted.config.ts'];
    const child = spawn(process.execPath, vitest, { env: { ...process.env, PLANT: plant } });
    started.push(child);
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += chunk));
    const code = await new Promise((resolve) => child.once('close', resolve));
    return { code, out, last: out.trimEnd().split('\n').at(-1) };
  };

  test('names and ends what is left, and counts it as failed', async () => {
    const { code, out, last } = await run('two');
    expect({ code, last }).toEqual({ code: 1, last: '1 passed, 2 failed' });
    expect(out).toMatch(/ {2}\d+ sleep 86401 \(known by its working folder\)\n/);
    expect(out).toMatch(/ {2}\d+ sleep 86402 \(known by its environment\)\n/);
    const all = processesOf(realpathSync(tmpdir()));
    expect(all.filter(({ command }) => command.startsWith('sleep 8640'))).toEqual([]);
  });

  test('that leaves nothing is as it was', async () => {
    expect(await run('none')).toMatchObject({ code: 0, last: '1 passed, 0 failed' });
  });
});
