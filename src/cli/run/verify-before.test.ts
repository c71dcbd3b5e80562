/** `writ run --verify`: what the program does is measured first, and the run begins only if that is what was asked for. */
import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { asking, chatAnswer, startUpstream, text, type Upstream } from '../../deliver/meter/meter.cases.ts';
import { agentFolder, call, writeFiles } from '../call.cases.ts';

let cwd: string;
let upstream: Upstream;
beforeEach(async () => {
  cwd = await agentFolder();
  // Another test counts the stages of this machine.
  vi.stubEnv('TMPDIR', cwd);
  upstream = await startUpstream((response) => chatAnswer(response));
  await writeFiles(cwd, {
    'plain/agent.yaml': 'key: plain\njoin: verbatim\nprofiles: { default: [base] }\n',
    'plain/instructions/base.md': text,
  });
  await program(honest);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await upstream.close();
  await rm(cwd, { recursive: true, force: true });
});

const honest = "(replacement ?? vendor) + (addition ?? '')";

/** A program in a version that nobody measured, which says `above` before the conversation. */
async function program(above: string, before = '') {
  const body = `
const flag = (name) => { const path = process.argv[process.argv.indexOf(name) + 1]; return process.argv.includes(name) && path !== '' ? readFileSync(path, 'utf8') : null; };
const vendor = 'You are the agent of a vendor. ' + 'Its prompt is long and says much. '.repeat(20);
const replacement = flag('--system-prompt'), addition = flag('--append-system-prompt');
${before}
readFileSync(0);
await ask(${above});
finish();`;
  const preamble = `#!${process.execPath}
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
const log = ${JSON.stringify(join(cwd, 'log'))};
appendFileSync(log, 'started\\n');
if (process.argv[2] === '--version') { console.log('9.9.9'); process.exit(0); }
const say = (text) => writeSync(1, text);
`;
  await writeFiles(cwd, { 'pi.mjs': preamble + asking(body) });
  await chmod(join(cwd, 'pi.mjs'), 0o755);
}

const env = { OPENAI_API_KEY: 'sk-canary-0123456789', PATH: process.env.PATH };
const run = (flags: readonly string[], used: Readonly<Record<string, string | undefined>> = env) => {
  const pi = ['--harness', 'pi', '--bin', './pi.mjs', '--model', 'm1', '--base-url', upstream.url];
  return call(['run', 'plain', ...pi, '--lower', 'all', ...flags, '--json', '--', 'x'], { cwd, env: used });
};
const replace = ['--intent', 'replace'];
const left = async () => ({
  asked: upstream.got.length,
  homes: await readdir(join(cwd, '.local/state/writ/homes')).catch(() => []),
  runs: JSON.parse((await call(['runs', 'list', '--json'], { cwd })).stdout).runs,
});
const nothing = { asked: 0, homes: [], runs: [] };

test('a version that nobody measured is measured, kept, run, and its receipt says so', async () => {
  const before = await run(replace);
  expect([before.code, JSON.parse(before.stdout).error.code]).toEqual([3, 'deliver.unmeasured']);
  expect(JSON.parse(before.stdout).error.next).toContain('--verify');
  const { code, stdout, stderr } = await run([...replace, '--verify']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', answer: 'Done.' });
  // The measurement asked its own model, and never the one of the run.
  expect(upstream.got).toHaveLength(1);
  const { receipt } = JSON.parse((await call(['runs', 'show', 'last', '--json'], { cwd })).stdout).outside;
  expect(receipt.cell).toMatchObject({
    version: '9.9.9',
    modelFamily: 'other',
    authMode: 'api-key',
    intent: 'replace',
    delivered: true,
    altered: [],
  });
  expect(receipt.notices).toContain(
    "Measured right before this run: replace base on 9.9.9, model family other, with an API key; the text stands in messages (system), 0 bytes of the vendor's beside it, no kind of text suffers.",
  );
  const kept = JSON.parse(await readFile(join(cwd, '.local/state/writ/cells.json'), 'utf8'));
  expect(kept.map(({ fidelity }: { fidelity: string }) => fidelity)).toEqual(['base', 'exact']);
  expect((await run(replace)).code).toBe(0);
}, 60_000);

test.each([
  ['adds instead of replacing', "vendor + (replacement ?? '')", replace, 'deliver.not-delivered'],
  ['ignores what is added', 'vendor', [], 'deliver.not-delivered'],
  [
    'keeps a line where nothing may stay',
    `${honest} + 'A line.'`,
    [...replace, '--fidelity', 'exact'],
    'deliver.residue',
  ],
])(
  'a program that %s is refused before the run exists',
  async (_, above, flags, errorCode) => {
    await program(above);
    const { code, stdout } = await run([...flags, '--verify']);
    expect([code, JSON.parse(stdout).error.code]).toEqual([3, errorCode]);
    expect(await left()).toEqual(nothing);
  },
  60_000,
);

test('a text of a kind that is seen to suffer is refused', async () => {
  await program("(replacement?.trim() ?? vendor) + (addition ?? '')");
  await writeFiles(cwd, { 'plain/instructions/base.md': `${text}\n` });
  const { code, stdout } = await run([...replace, '--verify']);
  const { error } = JSON.parse(stdout);
  expect([code, error.code]).toEqual([3, 'deliver.text-altered']);
  expect(error.message).toContain('blank-lines-around (measured on 9.9.9');
  expect(await left()).toEqual(nothing);
}, 60_000);

test('an earlier measurement does not speak for it: what was refused is measured anew', async () => {
  await program("vendor + (replacement ?? '')");
  expect((await run([...replace, '--verify'])).code).toBe(3);
  expect(JSON.parse((await run(replace)).stdout).error.code).toBe('deliver.not-delivered');
  await program(honest);
  expect((await run([...replace, '--verify'])).code).toBe(0);
}, 60_000);

test('where no measurement comes of it there is no run', async () => {
  await program(honest, "console.error('no model today'); process.exit(7);");
  const { code, stdout } = await run(['--verify']);
  expect([code, JSON.parse(stdout).error]).toMatchObject([
    3,
    {
      code: 'deliver.unmeasurable',
      message:
        'pi 9.9.9 could not be measured: no request to a model was seen: it ended with exit code 7; it said: no model today.',
    },
  ]);
  expect(await left()).toEqual(nothing);
}, 60_000);

test('a login that cannot be made up is said before anything is started', async () => {
  const { code, stdout } = await run(['--verify'], { PATH: process.env.PATH });
  expect([code, JSON.parse(stdout).error.code]).toEqual([3, 'deliver.unmeasurable']);
  expect(await readFile(join(cwd, 'log'), 'utf8').catch(() => '')).toBe('');
});

test('it is for agent programs, and does not go with going on unmeasured', async () => {
  const both = await run(['--verify', '--unmeasured', 'warn']);
  expect([both.code, JSON.parse(both.stdout).error.code]).toEqual([2, 'cli.bad-value']);
  const native = await call(['run', 'plain', '--verify', '--json', '--', 'x'], { cwd, env });
  expect([native.code, JSON.parse(native.stdout).error.code]).toEqual([3, 'cli.unsupported']);
});
