/** `writ init`: a folder that works at once, or nothing at all. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { allAdapters } from '../../catalog.ts';
import { isControl } from '../../deliver/permit.ts';
import { intents } from '../../protocol/intent.ts';
import { call } from '../call.cases.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'writ-init-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const names = async (folder: string) => (await readdir(folder, { recursive: true })).sort();

test('a new agent composes at once, and its record stays out of version control', async () => {
  const made = await call(['init', 'deep/helper'], { cwd });
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toContain('\nNext:\n  cd deep/helper\n  writ compose .\n  writ run . ');
  expect(await readdir(join(cwd, 'deep'))).toEqual(['helper']);
  expect(await readFile(join(cwd, 'deep/helper/.writ/.gitignore'), 'utf8')).toBe('*\n');
  expect((await call(['compose', 'deep/helper'], { cwd })).stdout).toContain('project_read');
});

test('an empty folder is filled where it is, so that a shell that stands in it goes on', async () => {
  const before = (await stat(cwd)).ino;
  const { code, stdout } = await call(['init', '.', '--key', 'k1', '--json'], { cwd });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    folder: cwd,
    key: 'k1',
    files: expect.arrayContaining(['agent.yaml', '.writ/.gitignore']),
  });
  expect((await stat(cwd)).ino).toBe(before);
  expect(await readdir(cwd)).toEqual(expect.arrayContaining(['.writ', 'agent.yaml', 'instructions']));
  expect((await call(['compose', '.', '--json'], { cwd })).stdout).toContain('"agent": "k1"');
});

test('one for an agent program is delivered to it, by every control that it has', async () => {
  const env = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' };
  const intended: Record<string, string> = {};
  for (const adapter of await allAdapters()) {
    const { name, program } = adapter;
    if (program === null) continue;
    const made = await call(['init', name, '--harness', name], { cwd });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toContain(
      `  writ deliver . --harness ${name}\n  writ run . --harness ${name} --lower all `,
    );
    const deliver = (...more: string[]) =>
      call(['deliver', name, '--harness', name, ...more, '--json'], { cwd, env });
    const plan = JSON.parse((await deliver()).stdout);
    intended[name] = plan.intent;
    expect(plan.cell).toMatchObject({ harness: name, delivered: true });
    for (const intent of intents.filter((one) => isControl(adapter.controls[one])))
      expect(await deliver('--intent', intent)).toMatchObject({ code: 0, stderr: '' });
  }
  expect(intended).toEqual({
    'claude-code': 'append',
    codex: 'developer',
    gemini: 'context',
    opencode: 'append',
    pi: 'append',
    'qwen-code': 'append',
  });
});

test.each([
  [
    'with something in it',
    async () => {
      await mkdir(join(cwd, 'x'));
      await writeFile(join(cwd, 'x/mine'), '');
    },
  ],
  ['that is a file', () => writeFile(join(cwd, 'x'), 'mine')],
])('a folder %s is refused and stays as it was', async (_what, prepare) => {
  await prepare();
  const before = await names(cwd);
  const { code, stdout, stderr } = await call(['init', 'x'], { cwd });
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toMatch(/^error cli\.folder-not-empty: .+\nnext: /);
  expect(await names(cwd)).toEqual(before);
});

test('a folder may have the longest name there is, or begin with a dash', async () => {
  const long = 'n'.repeat(255);
  expect(await call(['init', long], { cwd })).toMatchObject({ code: 0, stderr: '' });
  const dashed = await call(['init', '--', '-dash'], { cwd });
  expect(dashed.stdout).toContain('\nNext:\n  cd -- -dash\n');
  expect(await names(cwd)).toEqual(expect.arrayContaining(['-dash', `${long}/agent.yaml`]));
});

test('a bad key is refused before anything is made', async () => {
  expect(await call(['init', 'x', '--key', 'no spaces'], { cwd })).toMatchObject({ code: 2 });
  expect(await names(cwd)).toEqual([]);
});

test('a failure on the way takes back the folders that were made, and nothing of others', async () => {
  await mkdir(join(cwd, 'mine'));
  // A path that may just be; the files in it may not.
  const deep = ['mine', ...Array.from({ length: 40 }, () => 'd'.repeat(200))].join('/');
  const above = deep.slice(0, 4060 - cwd.length).replace(/\/$/, 'd');
  const { code, stderr } = await call(['init', `${above}/${'n'.repeat(30)}`], { cwd });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error cli\.unwritable: .+ENAMETOOLONG.+nothing was left behind\.\nnext: /);
  expect(await names(cwd)).toEqual(['mine']);
});
