/** An ACP agent on the command line: measured by its command, and refused or run by what was measured. */
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { acpAgent } from '../../deliver/verify/acp.cases.ts';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

let cwd: string;
const env = { PATH: process.env.PATH };
beforeEach(async () => {
  cwd = await agentFolder();
  // Another test counts the stages of this machine.
  vi.stubEnv('TMPDIR', cwd);
  await writeFiles(cwd, {
    'agent.mjs': acpAgent('vendor'),
    'plain/agent.yaml': 'key: plain\nprofiles: { default: [base] }\n',
    'plain/instructions/base.md': 'You are the canary.\n',
  });
  await chmod(join(cwd, 'agent.mjs'), 0o755);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(cwd, { recursive: true, force: true });
});

test('a measurement of an agent with its words is kept, and a run of that agent is refused by it', async () => {
  const argv = ['harness', 'verify', 'acp', '--bin', './agent.mjs', '--bin-arg', '--acp', '--json'];
  const { code, stdout } = await call(argv, { cwd, env });
  const [{ report }] = JSON.parse(stdout).harnesses;
  expect([code, report.version]).toEqual([1, 'agent.mjs --acp 2.3.4']);
  expect(report.faults).toContain('append, base: not delivered');
  const run = (...words: string[]) =>
    call(
      [
        'run',
        'plain',
        '--harness',
        'acp',
        '--bin',
        './agent.mjs',
        ...words,
        '--lower',
        'all',
        '--json',
        '--',
        'x',
      ],
      { cwd, env },
    );
  const refused = await run('--bin-arg', '--acp');
  expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([3, 'deliver.not-delivered']);
  // Another command is another agent, which nobody measured.
  const other = await run('--bin-arg', '--acp', '--bin-arg', '--fast');
  expect([other.code, JSON.parse(other.stdout).error.code]).toEqual([3, 'deliver.unmeasured']);
}, 60_000);

test.each([
  [['harness', 'verify', 'acp', '--bin', 'codex=./agent.mjs', '--bin-arg', '--acp'], 'cli.bad-value'],
  [['harness', 'verify', 'codex', 'acp', '--bin', './agent.mjs'], 'cli.bad-value'],
  [
    [
      'run',
      'plain',
      '--harness',
      'pi',
      '--bin',
      './agent.mjs',
      '--bin-arg',
      'x',
      '--lower',
      'all',
      '--',
      'x',
    ],
    'cli.unsupported',
  ],
  [['run', 'plain', '--bin-arg', 'x', '--', 'x'], 'cli.unsupported'],
])('%j names words that nothing is started with', async (argv, code) => {
  const { stderr } = await call(argv, { cwd, env });
  expect(stderr).toContain(`error ${code}: `);
});

test('what ships says of an agent by its command that it ignores the text; another command is another agent', async () => {
  const version = '#!/bin/sh\necho 0.61.0\n';
  await writeFiles(cwd, { gemini: version });
  await chmod(join(cwd, 'gemini'), 0o755);
  const run = (...words: string[]) => {
    const agent = ['--bin', './gemini', ...words.flatMap((word) => ['--bin-arg', word])];
    return call(['run', 'plain', '--harness', 'acp', ...agent, '--lower', 'all', '--json', '--', 'x'], {
      cwd,
      env,
    });
  };
  const { error } = JSON.parse((await run('--acp')).stdout);
  expect(error.code).toBe('deliver.not-delivered');
  expect(error.message).toContain('(measured on gemini --acp 0.61.0, ');
  for (const words of [['--acp', '--debug'], []])
    expect(JSON.parse((await run(...words)).stdout).error.code).toBe('deliver.unmeasured');
});

test('without --bin there is no agent to measure, and that is said', async () => {
  const { code, stdout } = await call(['harness', 'verify', 'acp'], { cwd, env });
  expect(code).toBe(1);
  expect(stdout).toContain('--bin acp=PATH has to name the agent');
});
