/** `writ run --harness` for an agent program: what it is given, what is asked of the caller, and what the record shows. */
import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recorded } from '../../deliver/drive/drive.cases.ts';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder();
  await writeFiles(cwd, {
    'plain/agent.yaml': 'key: plain\nprofiles: { default: [base] }\n',
    'plain/instructions/base.md': 'You are the canary.\n',
  });
  await program('pi', 'tool-call');
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

/** A program that prints a recording; asked for its version it prints the one that was recorded. */
async function program(name: string, file: string) {
  const text = JSON.stringify(await recorded(name, file));
  const path = join(cwd, 'bin', name);
  const body = [
    `#!${process.execPath}`,
    "const { appendFileSync, readFileSync } = require('node:fs');",
    `appendFileSync(${JSON.stringify(join(cwd, 'starts'))}, process.argv.slice(2).join(' ') + '\\n');`,
    "if (process.argv[2] === '--version') { console.log('0.73.1'); process.exit(0); }",
    'readFileSync(0);',
    `process.stdout.write(${text});`,
  ];
  await writeFiles(cwd, { [`bin/${name}`]: body.join('\n') });
  await chmod(path, 0o755);
}

const key = { OPENAI_API_KEY: 'sk-canary-0123456789' };
const env = () => ({ ...key, PATH: `${join(cwd, 'bin')}:${process.env.PATH}` });
const run = (...argv: string[]) => call(['run', 'plain', ...argv], { cwd, env: env() });
const starts = async () =>
  (await readFile(join(cwd, 'starts'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
const homes = () => readdir(join(cwd, '.local/state/writ/homes')).catch(() => []);

const withPi = ['--harness', 'pi', '--model', 'gemini-2.5-pro', '--unmeasured', 'warn', '--lower', 'all'];

test('the same result as of a run of our own, drawn with what was delivered; forget removes the home', async () => {
  const { code, stdout, stderr } = await run(...withPi, '--json', '--', 'Read it.');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({
    status: 'completed',
    harness: 'pi',
    answer: 'The file says intruder.',
    turns: 2,
    toolCalls: 1,
    usage: { totalTokens: 102, costUsd: null, costSource: 'unknown' },
  });
  const shown = (await call(['runs', 'show', 'last'], { cwd })).stdout;
  expect(shown).toContain('program  pi 0.73.1, its session 01a22e44-db4b-74d4-8973-9911d03e7bd9\n');
  expect(shown).toContain('given    append by --append-system-prompt (file) · 20 bytes · ');
  expect(shown).toMatch(/TURN 1 · 54 tokens/);
  expect(shown).toContain('1 read {"path":');
  const record = await readFile(join(cwd, '.writ/ledger.sqlite'), 'latin1');
  expect(record).not.toContain('sk-canary');
  const [home] = await homes();
  expect(home).toBe(result.session);
  // The prompt's file is gone; what the program keeps of its session is not.
  expect(await readdir(join(cwd, '.local/state/writ/homes', result.session))).not.toContain('prompt.md');
  await call(['runs', 'forget', 'last', '--yes'], { cwd });
  expect(await homes()).toEqual([]);
});

test('the version is asked once and again when the program has changed', async () => {
  await run(...withPi, '--', 'One.');
  await run(...withPi, '--', 'Two.');
  expect((await starts()).filter((line) => line === '--version')).toHaveLength(1);
  await rm(join(cwd, 'bin/pi'));
  await program('pi', 'tool-call');
  await run(...withPi, '--', 'Three.');
  expect((await starts()).filter((line) => line === '--version')).toHaveLength(2);
});

test('a session goes on in the session of the program, and with nothing else than it began with', async () => {
  const { session } = JSON.parse((await run(...withPi, '--json', '--', 'One.')).stdout);
  const again = await run(...withPi, '--session', session, '--json', '--', 'Two.');
  expect(JSON.parse(again.stdout)).toMatchObject({ status: 'completed', session });
  expect((await starts()).at(-1)).toContain('--session 01a22e44-db4b-74d4-8973-9911d03e7bd9');
  const before = (await starts()).length;
  const other = await run(...withPi, '--intent', 'replace', '--session', session, '--json', '--', 'Three.');
  expect(other.code).toBe(3);
  expect(JSON.parse(other.stdout).error).toMatchObject({
    code: 'deliver.session-bound',
    details: { changed: ['intent'], bound: { intent: 'append' }, asked: { intent: 'replace' } },
  });
  expect(await starts()).toHaveLength(before);
});

test('a session of a ledger that nobody here made is not gone on with unless the ledger is named', async () => {
  const { session } = JSON.parse((await run(...withPi, '--json', '--', 'One.')).stdout);
  await rm(join(cwd, '.local/state/writ/ledgers'), { recursive: true });
  const before = (await starts()).length;
  const again = await run(...withPi, '--session', session, '--json', '--', 'Two.');
  expect([again.code, JSON.parse(again.stdout).error.code]).toEqual([3, 'cli.foreign-ledger']);
  expect(await starts()).toHaveLength(before);
  const named = ['--ledger', '.writ/ledger.sqlite', '--session', session, '--json'];
  expect((await run(...withPi, ...named, '--', 'Two.')).code).toBe(0);
});

test.each([
  [['--harness', 'pi', '--', 'x'], 3, 'run.guarantee-missing'],
  [['--harness', 'pi', '--intent', 'developer', '--lower', 'all', '--', 'x'], 3, 'deliver.no-control'],
  [['--harness', 'pi', '--lower', 'all', '--budget', 'costUsd=1', '--', 'x'], 3, 'run.limit-unkeepable'],
  [['--harness', 'pi', '--lower', 'all', '--wire', 'anthropic', '--', 'x'], 3, 'cli.unsupported'],
  [['--harness', 'pi', '--lower', 'all', '--key-env', 'K', '--', 'x'], 3, 'cli.unsupported'],
  [['--lower', 'all', '--', 'x'], 3, 'cli.unsupported'],
  [['--harness', 'pi', '--lower', 'approvals=none', '--', 'x'], 2, 'cli.bad-value'],
  [['--harness', 'pi', '--max-tokens', '9', '--lower', 'all', '--', 'x'], 3, 'deliver.dimension-unsupported'],
  [['--harness', 'never-seen', '--', 'x'], 3, 'deliver.unknown-harness'],
  [['--harness', 'never-seen', '--intent', 'replace', '--metered', '--', 'x'], 3, 'deliver.unknown-harness'],
])('%j is refused and nothing is started, stored or made', async (argv, exit, errorCode) => {
  const { code, stdout } = await run(...argv.slice(0, -2), '--json', ...argv.slice(-2));
  expect([code, JSON.parse(stdout).error.code]).toEqual([exit, errorCode]);
  expect(await starts()).toEqual([]);
  expect(await homes()).toEqual([]);
  expect((await call(['runs', 'list', '--json'], { cwd })).stdout).toContain('"runs": []');
});

test('a refusal for missing guarantees names the flag that does without them', async () => {
  const { stderr } = await run('--harness', 'pi', '--unmeasured', 'warn', '--', 'x');
  const flag = /--lower (\S+)/.exec(stderr)?.[1] ?? '';
  expect(flag).toMatch(/approval=none/);
  expect((await run('--harness', 'pi', '--unmeasured', 'warn', '--lower', flag, '--', 'x')).code).toBe(0);
});

test('tools of the agent are not dropped in silence', async () => {
  const argv = ['run', 'a', ...withPi, '--json', '--', 'x'];
  const { code, stdout } = await call(argv, { cwd, env: env() });
  expect(code).toBe(3);
  expect(JSON.parse(stdout).error.details).toMatchObject({ field: 'tools' });
});

test('a program that is not there is told before anything is stored', async () => {
  await rm(join(cwd, 'bin/pi'));
  const { code, stdout } = await call(['run', 'plain', ...withPi, '--json', '--', 'x'], {
    cwd,
    env: { ...key, PATH: '/nonexistent' },
  });
  expect([code, JSON.parse(stdout).error.code]).toEqual([1, 'cli.no-program']);
});
