/** `writ run --metered`: what the command line asks for, shows and refuses, with a small program and a real model server. */
import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asking, chatAnswer, startUpstream, text, type Upstream } from '../../deliver/meter/meter.cases.ts';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

let cwd: string;
let upstream: Upstream;
beforeEach(async () => {
  cwd = await agentFolder();
  upstream = await startUpstream((response) => chatAnswer(response));
  await writeFiles(cwd, {
    'plain/agent.yaml':
      'key: plain\njoin: verbatim\nprofiles: { default: [base] }\nprices: { local/m1: { prompt: 1000, completion: 2000 } }\n',
    'plain/instructions/base.md': text,
  });
  await program('await ask(); await ask(); finish();');
});
afterEach(async () => {
  await upstream.close();
  await rm(cwd, { recursive: true, force: true });
});

async function program(body: string) {
  const preamble = `#!${process.execPath}
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
if (process.argv[2] === '--version') { console.log('0.73.1'); process.exit(0); }
const log = ${JSON.stringify(join(cwd, 'log'))};
appendFileSync(log, 'started');
const say = (text) => writeSync(1, text);
`;
  await writeFiles(cwd, { 'pi.mjs': preamble + asking(body) });
  await chmod(join(cwd, 'pi.mjs'), 0o755);
}

const key = 'sk-canary-0123456789';
const env = { OPENAI_API_KEY: key, PATH: process.env.PATH };
const run = (...flags: string[]) => {
  const pi = ['--harness', 'pi', '--bin', './pi.mjs', '--model', 'm1', '--metered'];
  const without = ['--lower', 'approval=none,effects=observed,resume=observed,cancel=observed'];
  return call(['run', 'plain', ...pi, ...without, ...flags, '--json', '--', 'x'], { cwd, env });
};
const started = () => readFile(join(cwd, 'log'), 'utf8').catch(() => '');

test('the budget is enforced, use is priced, the text is proven in each request, and the key is kept nowhere', async () => {
  const limits = ['--budget', 'modelCalls=2', '--budget', 'costUsd=30'];
  const { code, stdout, stderr } = await run('--base-url', upstream.url, ...limits);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  // Nine tokens of the prompt and one of the answer, twice.
  expect(JSON.parse(stdout)).toMatchObject({
    status: 'completed',
    answer: 'Done.',
    usage: { modelCalls: 2, totalTokens: 20, costUsd: 0.022, costSource: 'priced' },
    budget: { modelCalls: { used: 2, left: 0 }, costUsd: { used: 0.022 } },
  });
  expect(JSON.parse(stdout).notices.join()).not.toContain('budget');
  const shown = await call(['runs', 'show', 'last'], { cwd });
  expect(shown.stdout).toContain(
    `metered  2 requests of the task, 2 with the text · 0 beside it\nsent to  ${new URL(upstream.url).origin}\n`,
  );
  const json = JSON.parse((await call(['runs', 'show', 'last', '--json'], { cwd })).stdout);
  expect(json.outside.meter).toMatchObject({ main: 2, proven: 2, side: 0, refused: 0 });
  expect(upstream.got[0]?.headers.authorization).toBe(`Bearer ${key}`);
  expect(await readFile(join(cwd, '.writ/ledger.sqlite'), 'latin1')).not.toContain(key);
});

test('a request beyond the budget is not sent, and the run has failed', async () => {
  const { code, stdout } = await run('--base-url', upstream.url, '--budget', 'modelCalls=1');
  expect([code, JSON.parse(stdout).error.code]).toEqual([1, 'budget.exhausted']);
  expect(upstream.got).toHaveLength(1);
  const shown = (await call(['runs', 'show', 'last'], { cwd })).stdout;
  expect(shown).toMatch(/metered {2}1 request of the task, 1 with the text · 0 beside it · 1 refused\n/);
});

test('a text that does not arrive fails the run before a model reads another', async () => {
  await program("await ask('You are the vendor.'); finish();");
  const { code, stdout } = await run('--base-url', upstream.url);
  expect([code, JSON.parse(stdout).error.code]).toEqual([1, 'deliver.not-proven']);
  expect(upstream.got).toEqual([]);
});

test.each([
  [['--harness', 'pi', '--bin', './pi.mjs'], 2, 'cli.missing-argument'],
  [
    ['--harness', 'pi', '--bin', './pi.mjs', '--base-url', 'ftp://x', '--lower', 'all'],
    2,
    'deliver.bad-request',
  ],
  [
    ['--harness', 'acp', '--bin', './pi.mjs', '--lower', 'all', '--unmeasured', 'warn'],
    3,
    'deliver.not-redirectable',
  ],
  [['--model', 'local/m1'], 3, 'cli.unsupported'],
])('%j is refused and nothing is started', async (flags, exit, errorCode) => {
  const { code, stdout } = await call(['run', 'plain', '--metered', ...flags, '--json', '--', 'x'], {
    cwd,
    env,
  });
  expect([code, JSON.parse(stdout).error.code]).toEqual([exit, errorCode]);
  expect(await started()).toBe('');
});
