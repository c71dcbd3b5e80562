/** `writ doctor`: what it finds on a real PATH and in real folders, and that no key's value ever leaves it. */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { call } from '../call.cases.ts';
import { type Check, checkNode } from './checks.ts';
import { programVersion } from './program-version.ts';
import { localWorks } from './sandbox-checks.ts';

let cwd: string;
let bin: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'writ-doctor-'));
  bin = join(cwd, 'bin');
  await mkdir(bin);
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, name), 0o755);
}

const path = () => `${bin}:/usr/bin:/bin`;

async function doctor(argv: readonly string[] = [], env: Record<string, string> = {}) {
  const called = await call(['doctor', '--json', ...argv], { cwd, env: { PATH: bin, ...env } });
  const { possible, checks } = JSON.parse(called.stdout) as { possible: boolean; checks: Check[] };
  return { ...called, possible, check: (name: string) => checks.find((check) => check.name === name) };
}

test('a machine with nothing but Node can run, and says what else it could have', async () => {
  const { code, possible, check } = await doctor();
  expect({ code, possible }).toEqual({ code: 0, possible: true });
  expect(check('node')).toEqual({
    name: 'node',
    status: 'ok',
    found: process.versions.node,
    next: null,
    needed: true,
  });
  expect(check('sqlite')?.found).toMatch(/^3\.\d+\.\d+$/);
  expect(check('ledger')?.found).toBe(
    `${join(cwd, '.local/state/writ/ledger.sqlite')}: none yet; the first run makes it`,
  );
  expect(check('state folder')?.status).toBe('ok');
  expect(check('config folder')?.found).toBe(join(cwd, '.config/writ'));
  expect(check('harness codex')).toEqual({
    name: 'harness codex',
    status: 'missing',
    found: 'no codex on PATH',
    next: 'Install codex if you want to deliver to it.',
    needed: false,
  });
  expect(check('proxy')).toBeUndefined();
});

test('where only a process group can be ended, that is said', () => {
  expect(localWorks('linux')).toBe('works, and confines nothing: commands may do all that you may');
  expect(localWorks('darwin')).toMatch(/off Linux only the process group of a command can be ended/);
});

test('each sandbox is tried by a real command, and what does not confine says so', async () => {
  const found = await doctor([], { PATH: path() });
  expect(found.check('sandbox local')).toEqual({
    name: 'sandbox local',
    status: 'ok',
    found: localWorks(process.platform),
    next: null,
    needed: false,
  });
  expect(['ok', 'missing']).toContain(found.check('sandbox bubblewrap')?.status);
  const bare = await doctor();
  expect(bare.check('sandbox bubblewrap')).toMatchObject({
    status: 'missing',
    found: 'Expected bubblewrap to run a command, but there is no program bwrap on PATH.',
    next: expect.stringContaining('Install bubblewrap'),
  });
  // A sandbox that stands but in which no command ends well.
  await program('bwrap', 'while [ "$1" != -- ]; do shift; done; shift; [ "$5" = true ] || exit 5; exec "$@"');
  expect((await doctor([], { PATH: path() })).check('sandbox bubblewrap')).toMatchObject({
    status: 'problem',
    next: expect.stringContaining('writ doctor'),
  });
});

test('for a person each line has its next step', async () => {
  const { stdout } = await call(['doctor'], { cwd, env: { PATH: bin, OPENAI_API_KEY: ' ' } });
  expect(stdout).toMatch(/\nmissing {2}key openai +OPENAI_API_KEY is empty\n/);
  expect(stdout).toMatch(/\n +next: Set OPENAI_API_KEY to use the models of openai\.\n/);
  expect(stdout.endsWith('or with a server of your own by --base-url.\n')).toBe(true);
});

test('keys and proxies are named and never shown, and no program gets them', async () => {
  await program('claude', 'env > "$HOME/seen"; echo "2.1.0 (\x1b[31mred)"; echo more');
  const env = {
    PATH: path(),
    OPENAI_API_KEY: 'sk-canary-1',
    HTTPS_PROXY: 'http://user:canary-2@proxy:1',
    all_proxy: 'http://canary-3',
  };
  const { stdout, check } = await doctor([], env);
  expect(stdout).not.toContain('canary');
  expect(check('key openai')).toMatchObject({ status: 'ok', found: 'OPENAI_API_KEY is set' });
  expect(check('proxy')?.found).toMatch(/^HTTPS_PROXY, all_proxy set, and ignored/);
  expect(check('harness claude-code')?.found).toBe(`2.1.0 (\x1b[31mred) (${join(bin, 'claude')})`);
  const shown = (await call(['doctor'], { cwd, env })).stdout;
  expect(shown).toContain('2.1.0 (\\x1b[31mred)');
  const seen = await readFile(join(cwd, 'seen'), 'utf8');
  expect(seen).not.toContain('canary');
  expect(seen).toContain('NO_COLOR=1');
});

test('a program that fails or prints nothing is a problem and no reason to stop', async () => {
  await program('codex', 'exit 3');
  await program('gemini', 'exit 0');
  const { code, check } = await doctor([], { PATH: path() });
  expect(code).toBe(0);
  expect(check('harness codex')).toMatchObject({
    status: 'problem',
    found: `${join(bin, 'codex')}: it ended with code 3`,
  });
  expect(check('harness gemini')?.found).toContain('it printed nothing');
});

test('a program that does not answer is killed with all that it started', async () => {
  await program('pi', '(sleep 1; touch "$HOME/late") & echo 1.0; sleep 60');
  const env = { PATH: path(), HOME: cwd };
  const signal = new AbortController().signal;
  expect(await programVersion('pi', { env, signal, timeoutMs: 300 })).toEqual({
    path: join(bin, 'pi'),
    version: null,
    fault: 'it did not answer within 0.3 s',
  });
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  await expect(readFile(join(cwd, 'late'))).rejects.toThrow('ENOENT');
  const stopped = await programVersion('pi', { env, signal: AbortSignal.abort() });
  expect(stopped).toMatchObject({ version: null, fault: 'it was stopped' });
});

test('a folder of PATH that is relative is passed over', async () => {
  await program('qwen', 'echo 1.0');
  const signal = new AbortController().signal;
  const place = process.cwd();
  try {
    process.chdir(cwd);
    expect(await programVersion('qwen', { env: { PATH: 'bin::.' }, signal })).toBeUndefined();
  } finally {
    process.chdir(place);
  }
});

test('a ledger that is none makes runs impossible: exit 1, with its own next step', async () => {
  await writeFile(join(cwd, 'text.sqlite'), 'this is no database');
  const { code, possible, check } = await doctor(['--ledger', 'text.sqlite']);
  expect({ code, possible }).toEqual({ code: 1, possible: false });
  expect(check('ledger')).toMatchObject({ status: 'problem', needed: true, next: expect.any(String) });
  expect(check('ledger')?.found).toContain('text.sqlite');
  const shown = await call(['doctor', '--ledger', 'text.sqlite'], { cwd, env: { PATH: bin } });
  expect(shown.stdout).toContain('Runs are not possible until the problems above are mended.');
});

test.each([
  ['20.18.3', 'problem'],
  ['18.20.0', 'problem'],
  ['20.19.0', 'ok'],
  ['22.1.0', 'ok'],
])('Node %s is %s', (version, status) => {
  expect(checkNode(version).status).toBe(status);
});
