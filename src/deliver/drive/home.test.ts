/** Homes of sessions: private, seeded once, and clean again also after a Writ that died. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DeliveryPlan } from '../../protocol/delivery.ts';
import { isAlive, processId } from '../../sandbox/supervisor/process-tree.ts';
import { cleanAfterCrash, forgetHome, homeOf, homesFolder, prepareHome, sweepHomes } from './home.ts';

let root: string;
let env: Record<string, string>;
let homes: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'writ-home-'));
  env = { HOME: root, XDG_STATE_HOME: join(root, 'state') };
  homes = homesFolder(env);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const plan = (more: Partial<DeliveryPlan> = {}): DeliveryPlan =>
  ({
    home: homeOf(homes, 'session_1'),
    files: [
      { path: 'prompt.md', text: 'You.', until: 'run' },
      { path: 'a/skill.md', text: 'Skill.', until: 'session' },
    ],
    seeds: [],
    ...more,
  }) as unknown as DeliveryPlan;

const there = async () => (await readdir(homes, { recursive: true })).sort();

test('files are private, those of the run go with it, and the home stays until it is forgotten', async () => {
  const home = await prepareHome(plan(), 'M=1', env);
  const modes = await Promise.all(
    ['', 'session_1', 'session_1/prompt.md', 'session_1/a/skill.md'].map(
      async (path) => (await stat(join(homes, path))).mode & 0o077,
    ),
  );
  expect(modes).toEqual([0, 0, 0, 0]);
  await home.clean();
  expect(await there()).toEqual(['session_1', 'session_1/a', 'session_1/a/skill.md']);
  await forgetHome(homes, 'session_1');
  expect(await there()).toEqual([]);
});

test('a login is copied as real bytes, once, and the user keeps his own', async () => {
  await mkdir(join(root, '.pi/agent'), { recursive: true });
  await writeFile(join(root, 'real.json'), 'token-1');
  await symlink(join(root, 'real.json'), join(root, '.pi/agent/auth.json'));
  const seeds = [
    { from: '.pi/agent/auth.json', variable: 'PI_DIR', below: 'auth.json', to: 'pi/auth.json' },
    { from: '.none', variable: null, below: '', to: 'none' },
  ];
  await prepareHome(plan({ seeds }), 'M=1', env);
  const copy = join(homes, 'session_1/pi/auth.json');
  expect(await readFile(copy, 'utf8')).toBe('token-1');
  // The program renewed it in its home; the next run must not put the old one back.
  await writeFile(copy, 'token-2');
  await prepareHome(plan({ seeds }), 'M=1', env);
  expect(await readFile(copy, 'utf8')).toBe('token-2');
  expect(await readFile(join(root, 'real.json'), 'utf8')).toBe('token-1');
  expect((await there()).filter((path) => path.endsWith('none'))).toEqual([]);
});

test('a variable of the caller says where the login is', async () => {
  await writeFile(join(root, 'auth.json'), 'elsewhere');
  const seeds = [{ from: '.pi/agent/auth.json', variable: 'PI_DIR', below: 'auth.json', to: 'pi/auth.json' }];
  await prepareHome(plan({ seeds }), 'M=1', { ...env, PI_DIR: root });
  expect(await readFile(join(homes, 'session_1/pi/auth.json'), 'utf8')).toBe('elsewhere');
});

test('a home that cannot be filled is left without files of the run', async () => {
  await mkdir(join(homes, 'session_1/a'), { recursive: true });
  await mkdir(join(homes, 'session_1/a/skill.md/in-the-way'), { recursive: true });
  await expect(prepareHome(plan(), 'M=1', env)).rejects.toThrow();
  expect((await there()).filter((path) => /prompt|run\.json|part$/.test(path))).toEqual([]);
});

test('what a dead Writ left running is ended, its files are removed, and a living one is let alone', async () => {
  const mark = `WRIT_AGENT_PROGRAM=home-test-${process.pid}`;
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    env: { WRIT_AGENT_PROGRAM: `home-test-${process.pid}` },
    detached: true,
    stdio: 'ignore',
  });
  const program = processId(child.pid ?? 0);
  try {
    const home = await prepareHome(plan(), mark, env);
    await home.started(program);
    expect(await cleanAfterCrash(join(homes, 'session_1'))).toEqual([]);
    expect([isAlive(program), (await there()).includes('session_1/prompt.md')]).toEqual([true, true]);
    const journal = join(homes, 'session_1.run.json');
    const noted = JSON.parse(await readFile(journal, 'utf8'));
    await writeFile(journal, JSON.stringify({ ...noted, writ: { pid: process.pid, start: 1 } }));
    await sweepHomes(homes);
    expect(isAlive(program)).toBe(false);
    expect(await there()).toEqual(['session_1', 'session_1/a', 'session_1/a/skill.md']);
  } finally {
    child.kill('SIGKILL');
  }
});

const dead = { writ: { pid: process.pid, start: 1 }, program: null, mark: `M=none-${process.pid}` };

test.each(['../../../../keep', '../session_2/keep', 'ROOT/keep', 'a/../../session_2/keep', 'link/keep', ''])(
  'what is no file of the home is not removed after a crash: %j',
  async (path) => {
    await mkdir(join(homes, 'session_1/a'), { recursive: true });
    await mkdir(join(homes, 'session_2'));
    const kept = [join(root, 'keep'), join(homes, 'session_2/keep')];
    for (const file of kept) await writeFile(file, '');
    await symlink(root, join(homes, 'session_1/link'));
    const journal = JSON.stringify({ ...dead, files: [path.replace('ROOT', root)] });
    // A program can write the one, and somebody may have written the other.
    await writeFile(join(homes, 'session_1/.writ-run.json'), journal);
    await writeFile(join(homes, 'session_1.run.json'), journal);
    await sweepHomes(homes);
    expect((await Promise.all(kept.map((file) => stat(file)))).length).toBe(2);
  },
);

test('a folder of the home that became a link is neither written nor cleaned through', async () => {
  const outside = join(root, 'outside');
  await mkdir(join(outside, 'a'), { recursive: true });
  await writeFile(join(outside, 'a/skill.md'), 'mine');
  await writeFile(join(outside, 'prompt.md'), 'mine');
  const mine = async () => [
    await readFile(join(outside, 'a/skill.md'), 'utf8'),
    await readFile(join(outside, 'prompt.md'), 'utf8'),
    (await readdir(outside, { recursive: true })).sort().join(),
  ];
  const asBefore = ['mine', 'mine', 'a,a/skill.md,prompt.md'];
  const home = join(homes, 'session_1');
  const files = [{ path: 'a/skill.md', text: 'Skill.', until: 'run' }] as const;
  const running = await prepareHome(plan({ files }), 'M=1', env);
  await rm(join(home, 'a'), { recursive: true });
  await symlink(join(outside, 'a'), join(home, 'a'));
  await running.clean();
  expect(await mine()).toEqual(asBefore);
  await expect(prepareHome(plan({ files }), 'M=1', env)).rejects.toThrow('found a link');
  const seeds = [{ from: 'outside/prompt.md', variable: null, below: '', to: 'a/auth.json' }];
  await expect(prepareHome(plan({ files: [], seeds }), 'M=1', env)).rejects.toThrow('found a link');
  await rm(home, { recursive: true });
  await symlink(outside, home);
  for (const part of [plan(), plan({ files: [] })])
    await expect(prepareHome(part, 'M=1', env)).rejects.toThrow('found a link');
  expect(await mine()).toEqual(asBefore);
  expect(await readdir(homes)).toEqual(['session_1']);
});

test('a file that leads out of the home is not written', async () => {
  const files = [{ path: '../out.md', text: 'Out.', until: 'run' }] as const;
  await expect(prepareHome(plan({ files }), 'M=1', env)).rejects.toThrow('leads out of the home');
  expect(await readdir(homes)).toEqual(['session_1']);
});

test('a name that is no session of ours removes nothing', async () => {
  await mkdir(homes, { recursive: true });
  await writeFile(join(root, 'state/writ/keep'), '');
  for (const name of ['..', '../..', '', '.', 'a/../..']) await forgetHome(homes, name);
  expect(await readdir(join(root, 'state/writ'))).toEqual(['homes', 'keep']);
});
