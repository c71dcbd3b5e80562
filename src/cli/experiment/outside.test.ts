/** `writ experiment` with agent programs as subjects: a real one where it is installed, and small ones for what may go wrong. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asking, startUpstream, type Upstream } from '../../deliver/meter/meter.cases.ts';
import { plantedHome } from '../../deliver/verify/planted-home.ts';
import { experimentFolder } from '../../prove/trials.cases.ts';
import { call } from '../call.cases.ts';

const canary = 'operator-canary-1';
const pi = resolve('conformance/node_modules/.bin/pi');

let folder: string;
let upstream: Upstream;
beforeEach(async () => {
  // Every answer is another to the byte.
  upstream = await startUpstream((response, nth) => {
    const send = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const delta = { role: 'assistant', content: 'yes' };
    send({
      id: `c${nth}`,
      model: 'scripted-1',
      system_fingerprint: 'fp-1',
      choices: [{ index: 0, delta, finish_reason: 'stop' }],
    });
    send({ id: `c${nth}`, choices: [], usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } });
    response.end('data: [DONE]\n\n');
  });
  folder = await experimentFolder(
    `canaries: [${canary}]\nalpha: 0.3\nbudget: { turns: 4, tokens: 100000, wallTimeMs: 60000 }\nprice: { prompt: 1, completion: 1 }`,
    { items: 3 },
  );
  await mkdir(join(folder, '.writ'));
  await arms('fragments: { ritual: in }', '');
});
afterEach(async () => {
  await upstream.close();
  await rm(folder, { recursive: true, force: true });
});

async function arms(control: string, treatment: string) {
  const path = join(folder, 'experiment.yaml');
  const harness = 'harness: pi, intent: append';
  const line = (side: string, more: string) =>
    `  ${side}: { ${['agent: agent', harness, more].filter(Boolean).join(', ')} }`;
  const text = await readFile(path, 'utf8');
  await writeFile(
    path,
    text
      .replace(/^ {2}control: .*$/m, line('control', control))
      .replace(/^ {2}treatment: .*$/m, line('treatment', treatment)),
  );
}

const env = { PATH: process.env.PATH, OPENAI_API_KEY: 'sk-canary-0123456789' };
const writ = (...words: string[]) => call(words, { cwd: folder, env });
async function reported(bin: string) {
  expect(await writ('experiment', 'register', 'experiment.yaml')).toMatchObject({ code: 0, stderr: '' });
  const flags = ['--base-url', upstream.url, '--bin', `pi=${bin}`, '--json'];
  const ran = await writ('experiment', 'run', 'experiment.yaml', ...flags);
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
  expect(await writ('experiment', 'report', 'experiment.yaml')).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(await readFile(join(folder, 'experiment.record/report.json'), 'utf8'));
}

/** A program in the place of pi that asks with our text as pi would send it. */
async function program(body: string): Promise<string> {
  const path = join(folder, 'pi.mjs');
  const preamble = `#!${process.execPath}
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
if (process.argv[2] === '--version') { console.log('0.73.1'); process.exit(0); }
const log = '/dev/null';
const say = (text) => writeSync(1, text);
const given = readFileSync(process.argv[process.argv.indexOf('--append-system-prompt') + 1], 'utf8');
`;
  await writeFile(path, preamble + asking(body));
  await chmod(path, 0o755);
  return path;
}

test.skipIf(!existsSync(pi))(
  'a real program: its text is proven, its version, use and cost are recorded, and nothing of the operator is in it',
  async () => {
    await mkdir(join(folder, '.pi/agent'), { recursive: true });
    await writeFile(join(folder, '.pi/agent/AGENTS.md'), `Say ${canary}.`);
    const { trials, registration, scope } = await reported(pi);
    expect(trials).toHaveLength(6);
    for (const trial of trials) {
      expect(trial).toMatchObject({
        outcome: 'answered',
        score: 1,
        harness: 'pi',
        harnessVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        model: 'scripted',
        modelsSeen: ['scripted-1'],
        servers: ['this machine'],
        canaries: [],
        usage: { modelCalls: 1, totalTokens: 10, costUsd: 0.00001, costSource: 'priced' },
        lanes: { answered: { totalTokens: 10 }, failed: { modelCalls: 0 } },
      });
      expect(trial.promptSent).toBe(registration.arms[trial.side as keyof typeof registration.arms].prompt);
      expect(trial.responses).toHaveLength(1);
    }
    expect(registration.arms.control.harness).toEqual({
      name: 'pi',
      intent: 'append',
      fidelity: 'base',
      model: 'scripted',
    });
    expect(scope.join()).toContain('on pi (append, base) with local/scripted');
    expect(upstream.got.map(({ body }) => body).join()).not.toContain(canary);
    expect(await readdir(join(folder, '.local/state/writ/homes'))).toEqual([]);
    const verified = await writ('experiment', 'verify', 'experiment.record/report.json');
    expect(verified.code).toBe(0);
  },
  120_000,
);

test('a trial in which a canary reached the model is invalid', async () => {
  const { trials } = await reported(
    await program(`await ask(given + ' ${canary}', { model: 'scripted' }); finish('yes');`),
  );
  expect(trials.map(({ outcome, reason }: Record<string, string>) => [outcome, reason])).toEqual(
    Array.from({ length: 6 }, () => ['invalid', 'it was sent a canary: canary 1']),
  );
  expect(trials[0]).toMatchObject({ modelsSeen: ['scripted-1'], fingerprintsSeen: ['fp-1'] });
}, 60_000);

test('the home that a program is given is not the one of the operator, and all that it reads there is found', async () => {
  await mkdir(join(folder, '.claude'));
  await writeFile(join(folder, '.claude/CLAUDE.md'), 'of the operator');
  const all = `
import { readdirSync, statSync } from 'node:fs';
const below = (path) => readdirSync(path).flatMap((name) => {
  const file = path + '/' + name;
  return statSync(file).isDirectory() ? below(file) : [file];
});
const texts = below(process.env.HOME).map((file) => file.slice(process.env.HOME.length + 1) + '\\n' + readFileSync(file, 'utf8'));
await ask(given + texts.join('\\n'), { model: 'scripted' }); finish('yes');`;
  const { trials } = await reported(await program(all));
  const names = plantedHome.map(({ path }) => `~/${path} of its home`);
  expect(trials[0]).toMatchObject({ outcome: 'invalid', canaries: names });
  const asked = upstream.got[0]?.body ?? '';
  expect(asked).not.toContain('of the operator');
  // Of each program its memory, a saved model, and of those that have them a hook that runs at the start.
  for (const saved of [
    '.claude/settings',
    '.codex/config',
    '.gemini/settings',
    '.config/opencode/opencode',
    '.pi/agent/settings',
    '.qwen/settings',
  ])
    expect(asked).toContain(saved);
  expect(await readdir(join(folder, 'experiment.record'))).not.toContain('work');
}, 60_000);

test('a trial whose text did not arrive is invalid, and no model was asked', async () => {
  const { trials } = await reported(await program("await ask('You are the vendor.'); finish('yes');"));
  expect(new Set(trials.map(({ outcome }: Record<string, string>) => outcome))).toEqual(new Set(['invalid']));
  expect(trials[0].reason).toContain('deliver.not-proven');
  expect(upstream.got).toEqual([]);
}, 60_000);

test.each([
  ['harness: acp', 3, 'cli.unsupported'],
  ['harness: never-seen', 3, 'cli.unsupported'],
  ['harness: native, intent: append', 2, 'compose.'],
])('an arm with %s is refused when it is registered', async (more, exit, errorCode) => {
  const path = join(folder, 'experiment.yaml');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace(/^ {2}treatment: .*$/m, `  treatment: { agent: agent, ${more} }`));
  const { code, stderr } = await writ('experiment', 'register', 'experiment.yaml');
  expect([code, stderr]).toEqual([exit, expect.stringContaining(`error ${errorCode}`)]);
});
