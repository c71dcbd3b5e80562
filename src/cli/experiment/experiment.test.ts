/** `writ experiment` as a whole: real runs on a real server, with nothing of the operator in them. */

import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sealed } from '../../prove/report.ts';
import { experimentFolder } from '../../prove/trials.cases.ts';
import { call } from '../call.cases.ts';
import { main } from '../main.ts';
import { progressText } from './run.ts';

let folder: string;
let server: Server;
let requests: string[];
let fingerprint: (nth: number) => string | undefined;
beforeEach(async () => {
  requests = [];
  fingerprint = () => undefined;
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push(Buffer.concat(chunks).toString('utf8'));
    const id = `answer-${requests.length}`;
    const judging = requests.at(-1)?.includes('You judge answers.');
    const content = judging ? '{"score": 3, "why": "short"}' : 'yes';
    // Who may read looks around first.
    const reads = /"tools":/.test(requests.at(-1) ?? '') && !/"role":"tool"/.test(requests.at(-1) ?? '');
    const send = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const call = { index: 0, id: 'c', function: { name: 'project_read', arguments: '{"path":"."}' } };
    const choice = reads
      ? { index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }
      : { index: 0, delta: { content }, finish_reason: 'stop' };
    const told = fingerprint(requests.length);
    send({ id, model: 'scripted-1', system_fingerprint: told, choices: [choice] });
    send({
      id,
      model: 'scripted-1',
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
    });
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = await experimentFolder('canaries: [operator-canary-1]\nmodelSeen: scripted-1');
  await mkdir(join(folder, '.writ'));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const writ = (...words: string[]) => call(words, { cwd: folder, env: { PATH: process.env.PATH } });
const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
const run = (...more: string[]) => writ('experiment', 'run', 'experiment.yaml', '--base-url', url(), ...more);
const report = async () => JSON.parse(await readFile(join(folder, 'experiment.record/report.json'), 'utf8'));

test('register, run, report, verify; and nothing twice', async () => {
  const registered = await writ('experiment', 'register', 'experiment.yaml');
  expect(registered).toMatchObject({ code: 0, stderr: '' });
  expect(registered.stdout).toMatch(/\napprovals {2}deny: a call that needs a person is refused/);
  expect(registered.stdout).toMatch(/smallest p that this design can give: 0\.0078 .*\npower: \d+ %/);
  expect(requests).toEqual([]);
  expect((await writ('experiment', 'register', 'experiment.yaml')).stdout).toContain(
    'registered before, and unchanged',
  );

  const ran = await run();
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).toContain('16 of 16 trials have an outcome, 16 of them by this call.');
  expect(requests).toHaveLength(16);
  expect(JSON.parse((await run('--json')).stdout)).toEqual({ trials: 16, done: 16, here: 0, complete: true });
  expect(requests).toHaveLength(16);

  const told = await writ('experiment', 'report', 'experiment.yaml');
  expect(told).toMatchObject({ code: 0, stderr: '' });
  expect(told.stdout).toMatch(/CLAIMS\n {2}score: no effect detected \(1 → 1,/);
  expect(await readFile(join(folder, 'experiment.record/report.html'), 'utf8')).toMatch(/^<!doctype html>/);
  const verified = await writ('experiment', 'verify', 'experiment.record/report.json');
  expect(verified.code).toBe(0);
  expect(verified.stdout).toMatch(/\nverified: \d+ numbers\n$/);

  const listed = JSON.parse((await writ('runs', 'list', '--trials', '--json')).stdout);
  expect(listed.runs).toHaveLength(16);
  const { trials, exploratory, drift } = await report();
  expect([trials.length, exploratory, drift]).toEqual([16, false, { known: true, paths: [] }]);
  expect((await writ('runs', 'show', trials[0].run)).code).toBe(0);
});

test('register says whose server a run will have to be told, and run says it before the first trial', async () => {
  const registered = async () => await writ('experiment', 'register', 'experiment.yaml');
  expect((await registered()).stdout).toContain(
    'no server is known for local/scripted: write server.baseUrl',
  );
  const json = JSON.parse((await writ('experiment', 'register', 'experiment.yaml', '--json')).stdout);
  expect(json.serverless).toEqual(['local/scripted']);
  const ran = await writ('experiment', 'run', 'experiment.yaml');
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('model.unknown-provider') });
  expect(JSON.parse((await writ('runs', 'list', '--json')).stdout).runs).toEqual([]);
  const path = join(folder, 'experiment.yaml');
  await writeFile(path, `${await readFile(path, 'utf8')}\nserver: { baseUrl: "${url()}" }`);
  expect((await registered()).stdout).not.toContain('no server is known');
  expect((await writ('experiment', 'run', 'experiment.yaml')).code).toBe(0);
});

test('a report that was altered does not verify, and ends with 1', async () => {
  await writ('experiment', 'register', 'experiment.yaml');
  await run();
  await writ('experiment', 'report', 'experiment.yaml');
  const path = join(folder, 'experiment.record/report.json');
  await writeFile(path, (await readFile(path, 'utf8')).replace('"score": 1', '"score": 0'));
  const { code, stdout } = await writ('experiment', 'verify', path);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(
      /^WRONG the file says [\s\S]*WRONG the table has its digest[\s\S]*WRONG registration, [\s\S]*not verified\n$/,
    ),
  ]);
});

test.each([
  ['', 16],
  ['fingerprintSeen: fp-1', 8],
])(
  'the state of the service that answered is in each row; registered [%s], another is invalid',
  async (line, valid) => {
    fingerprint = (nth) => (nth <= 8 ? 'fp-1' : 'fp-2');
    const path = join(folder, 'experiment.yaml');
    await writeFile(path, `${await readFile(path, 'utf8')}\n${line}`);
    await writ('experiment', 'register', 'experiment.yaml');
    await run();
    const { stdout } = await writ('experiment', 'report', 'experiment.yaml');
    const why = 'the fingerprint of an answer is fp-2, registered was fp-1';
    expect(stdout.match(/\d invalid: .*/g) ?? []).toEqual(
      Array(valid === 16 ? 0 : 2).fill(`4 invalid: ${why}`),
    );
    const page = await readFile(join(folder, 'experiment.record/report.html'), 'utf8');
    expect(page.includes('What went wrong in trials')).toBe(valid < 16);
    const { trials, notVerified, analysis } = await report();
    expect(trials.map((row: { fingerprintsSeen: string[] }) => row.fingerprintsSeen)).toEqual(
      Array.from({ length: 16 }, (_, at) => [at < 8 ? 'fp-1' : 'fp-2']),
    );
    const { control, treatment } = analysis.arms;
    expect(control.outcomes.answered + treatment.outcomes.answered).toBe(valid);
    expect(control.fingerprintsSeen).toEqual(['fp-1', 'fp-2']);
    expect(notVerified).toContain(
      "The provider's service answered in several states (system_fingerprint): fp-1, fp-2.",
    );
  },
);

test("the operator's memory, model and hooks are in neither arm", async () => {
  await mkdir(join(folder, '.config/writ'), { recursive: true });
  await mkdir(join(folder, '.claude'));
  const files: Record<string, string> = {
    '.config/writ/config.yaml':
      'memory: operator-canary-1 in memory\ngovernance: operator-canary-1 rules\nmodel: local/cheap\n',
    '.claude/CLAUDE.md': 'operator-canary-1 in a file\n',
    '.claude/settings.json':
      '{"model": "cheap", "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo operator-canary-1"}]}]}}',
  };
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
  await writ('experiment', 'register', 'experiment.yaml');
  await run();
  expect(requests.join('')).not.toContain('operator-canary-1');
  await writ('experiment', 'report', 'experiment.yaml');
  const { analysis, trials } = await report();
  expect([analysis.arms.control.outcomes.answered, analysis.arms.treatment.outcomes.answered]).toEqual([
    8, 8,
  ]);
  expect(new Set(trials.map((row: { model: string }) => row.model))).toEqual(new Set(['local/scripted']));
});

test("a text of the operator's that is in an arm all the same makes its trials invalid", async () => {
  await mkdir(join(folder, '.config/writ'), { recursive: true });
  await writeFile(join(folder, '.config/writ/config.yaml'), 'memory: Read everything first.\n');
  await writ('experiment', 'register', 'experiment.yaml');
  await run();
  await writ('experiment', 'report', 'experiment.yaml');
  const { analysis, trials } = await report();
  expect(analysis.arms.control.outcomes).toMatchObject({ answered: 0, invalid: 8 });
  expect(trials.find((row: { side: string }) => row.side === 'control').reason).toBe(
    "it was sent a canary: the operator's memory",
  );
});

test('what is not registered, or no longer is, is not run', async () => {
  expect(await run()).toMatchObject({ code: 3, stderr: expect.stringContaining('prove.not-registered') });
  expect((await writ('experiment', 'report', 'experiment.yaml')).stderr).toContain('prove.not-registered');
  await writ('experiment', 'register', 'experiment.yaml');
  expect((await writ('experiment', 'report', 'experiment.yaml')).stderr).toContain('prove.no-trials');
  await writeFile(join(folder, 'agent/instructions/base.md'), 'Answer better questions.\n');
  expect(await run()).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/prove\.changed: .*arms\.control\.prompt/),
  });
  expect(requests).toEqual([]);
});

test('says what is there now, where it is no longer what was measured', async () => {
  await writ('experiment', 'register', 'experiment.yaml');
  await run();
  await writeFile(join(folder, 'agent/instructions/base.md'), 'Answer better questions.\n');
  const { stdout } = await writ('experiment', 'report', 'experiment.yaml');
  expect(stdout).toMatch(/CHANGED SINCE\n.*arms\.control\.prompt/);
  await rm(join(folder, 'agent'), { recursive: true });
  expect((await writ('experiment', 'report', 'experiment.yaml')).stdout).toContain('cannot be resolved');
  expect((await writ('experiment', 'verify', 'experiment.record/report.json')).code).toBe(0);
});

test('progress is shown on a terminal alone, with the time left and without what comes out', async () => {
  await writ('experiment', 'register', 'experiment.yaml');
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  stdin.end();
  stdout.resume();
  const words = ['experiment', 'run', 'experiment.yaml', '--base-url', url()];
  expect(await main(words, { HOME: folder }, { stdin, stdout, stderr }, folder)).toBe(0);
  const shown = String(stderr.read());
  const redrawn = '\r\u001b[2K';
  expect(shown.split(redrawn).at(-2)).toMatch(/^16 of 16 trials · .* · 0 ms left$/);
  expect(shown.split(redrawn).at(-1)).toBe('');
  expect(shown).not.toMatch(/score|pass|yes/);
  expect(progressText({ done: 123, trials: 540, here: 3, elapsedMs: 65_000, leftMs: 220_000 })).toBe(
    '123 of 540 trials · 1 min 5 s · 3 min 40 s left',
  );
  expect(progressText({ done: 0, trials: 2, here: 0, elapsedMs: 0, leftMs: null })).toContain(
    'time left unknown',
  );
});

test('before the end a report needs a reason, and how far it is can be asked without a look', async () => {
  expect((await writ('experiment', 'status', 'experiment.yaml')).stderr).toContain('prove.not-registered');
  await writ('experiment', 'register', 'experiment.yaml');
  const stop = new AbortController();
  server.on('request', () => requests.length >= 4 && stop.abort('Ctrl-C'));
  const words = ['experiment', 'run', 'experiment.yaml', '--base-url', url()];
  await call(words, { cwd: folder, signal: stop.signal });
  const status = async () =>
    JSON.parse((await writ('experiment', 'status', 'experiment.yaml', '--json')).stdout);
  const { done } = await status();
  expect(done).toBeLessThan(16);
  expect(await writ('experiment', 'report', 'experiment.yaml')).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(
      /prove\.not-ended: .* of 16 trials[\s\S]*experiment status FILE[\s\S]*--look REASON/,
    ),
  });
  await expect(report()).rejects.toThrow('ENOENT');
  expect(await status()).toEqual({
    trials: 16,
    done,
    toGrade: 0,
    lost: 0,
    unsent: 0,
    complete: false,
    exploratory: false,
  });
  const shown = (await writ('experiment', 'status', 'experiment.yaml')).stdout;
  expect(shown).toContain(`${done} of 16 trials have an outcome`);
  expect(shown).not.toMatch(/score|control|treatment/);
  await run();
  expect(await status()).toMatchObject({ done: 16, complete: true, exploratory: false });
  await writ('experiment', 'report', 'experiment.yaml');
  expect((await report()).exploratory).toBe(false);
});

test('trials that reached no server begin anew when there is one, and the report counts them', async () => {
  await writ('experiment', 'register', 'experiment.yaml');
  // No server of TLS: what ends an attempt at once, where one that is not there is asked again and again.
  const wrong = url().replace('http:', 'https:');
  const gone = await writ('experiment', 'run', 'experiment.yaml', '--base-url', wrong);
  expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('prove.outages') });
  expect((await writ('experiment', 'status', 'experiment.yaml')).stdout).toMatch(
    /^0 of 16 trials .*\n5 attempts ended before anything was sent/,
  );
  expect((await run()).code).toBe(0);
  const { stdout } = await writ('experiment', 'report', 'experiment.yaml');
  expect(stdout).toMatch(/score: no effect detected[\s\S]*of which nothing was sent[\s\S]*lost pairs 0 of 8/);
  expect((await writ('experiment', 'verify', 'experiment.record/report.json')).code).toBe(0);
  expect((await report()).exploratory).toBe(false);
});

test('a look before the end is made with its reason, and stays', async () => {
  await writ('experiment', 'register', 'experiment.yaml');
  const stop = new AbortController();
  server.on('request', () => requests.length >= 4 && stop.abort('Ctrl-C'));
  const words = ['experiment', 'run', 'experiment.yaml', '--base-url', url()];
  await call(words, { cwd: folder, signal: stop.signal });
  const looked = await writ('experiment', 'report', 'experiment.yaml', '--look', 'the model goes away');
  expect(looked).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/EXPLORATORY[\s\S]*looked-early after .*: the model goes away/),
  });
  await run();
  expect((await writ('experiment', 'status', 'experiment.yaml')).stdout).toContain('exploratory');
});

test('Ctrl-C ends with 130 and loses nothing', async () => {
  await writ('experiment', 'register', 'experiment.yaml');
  const stop = new AbortController();
  server.on('request', () => requests.length >= 4 && stop.abort('Ctrl-C'));
  const words = ['experiment', 'run', 'experiment.yaml', '--base-url', url()];
  const stopped = await call(words, { cwd: folder, signal: stop.signal });
  expect([stopped.code, stopped.stdout]).toEqual([
    130,
    expect.stringContaining('It goes on with: writ experiment run'),
  ]);
  expect(JSON.parse((await run('--json')).stdout)).toMatchObject({ done: 16, complete: true });
});

test('writ check finds a cited report that does not cover every situation, and names one', async () => {
  await writ('experiment', 'register', 'experiment.yaml');
  await run();
  await writ('experiment', 'report', 'experiment.yaml');
  const ritual = (when: string, cited = '../experiment.record/report.json') =>
    writeFile(
      join(folder, 'agent/instructions/ritual.md'),
      `---\nwhen: '${when}'\nevidence: report:${cited}\n---\nRead everything first.\n`,
    );
  const check = async () => JSON.parse((await writ('check', 'agent', '--json')).stdout);
  const found = async () =>
    (await check()).findings.filter(({ rule }: { rule: string }) => rule.startsWith('evidence-'));
  await ritual('!(mode == "headless" && !wet)');
  expect([(await check()).reports, await found()]).toEqual([1, []]);
  await ritual('mode == "interactive"');
  expect(await found()).toMatchObject([
    {
      rule: 'evidence-uncovered',
      file: 'instructions/ritual.md',
      line: 3,
      message: expect.stringContaining('mode="headless", wet=true'),
    },
  ]);
  await ritual('!(mode == "headless" && !wet)', 'nowhere.json');
  expect(await found()).toMatchObject([{ rule: 'evidence-unreadable' }]);
});

test('writ check holds a cited report against its journal', async () => {
  await writ('experiment', 'register', 'experiment.yaml');
  await run();
  await writ('experiment', 'report', 'experiment.yaml');
  await writeFile(
    join(folder, 'agent/instructions/ritual.md'),
    `---\nwhen: '!(mode == "headless" && !wet)'\nevidence: report:../experiment.record/report.json\n---\nRead everything first.\n`,
  );
  const found = async () =>
    JSON.parse((await writ('check', 'agent', '--json')).stdout)
      .findings.filter(({ rule }: { rule: string }) => rule.startsWith('evidence-'))
      .map(({ rule, level }: { rule: string; level: string }) => [rule, level]);
  expect(await found()).toEqual([]);
  // Of one piece, all digests right; only its journal says otherwise.
  const made = await report();
  const forged = sealed({ ...made, madeAt: made.madeAt + 1 });
  await writeFile(join(folder, 'experiment.record/report.json'), `${JSON.stringify(forged, null, 1)}\n`);
  expect(await found()).toEqual([['evidence-not-verified', 'error']]);
  for (const name of ['journal.jsonl', 'journal.head']) await rm(join(folder, 'experiment.record', name));
  expect(await found()).toEqual([['evidence-without-journal', 'warning']]);
});

test('a model judges in runs of its own, which do not say of which arm an answer is', async () => {
  const path = join(folder, 'experiment.yaml');
  const judge = '{ kind: judge, model: local/judge, prompt: judge.md, version: "1", lowest: 1, highest: 5 }';
  await writeFile(path, (await readFile(path, 'utf8')).replace('{ kind: exact }', judge));
  await writeFile(join(folder, 'judge.md'), 'You judge answers.\n');
  await writ('experiment', 'register', 'experiment.yaml');
  expect((await run()).code).toBe(0);
  const judging = requests.filter((request) => request.includes('You judge answers.'));
  expect([requests.length, judging.length]).toEqual([32, 16]);
  for (const request of judging) expect(request).not.toMatch(/control|treatment|ritual/);
  await writ('experiment', 'report', 'experiment.yaml');
  const { trials, notVerified } = await report();
  expect(trials.map((row: { score: number }) => row.score)).toEqual(Array(16).fill(0.5));
  expect(trials[0].judging).toMatchObject({ modelCalls: 1, totalTokens: 10 });
  expect(notVerified).toContain('That the judge grades as people would was not measured.');
});

test('arms with other tools give the judge the same bytes for the same answer', async () => {
  const path = join(folder, 'experiment.yaml');
  const judge = '{ kind: judge, model: local/judge, prompt: judge.md, version: "1", lowest: 1, highest: 5 }';
  const text = (await readFile(path, 'utf8')).replace('{ kind: exact }', judge);
  await cp(join(folder, 'agent'), join(folder, 'reader'), { recursive: true });
  const reader = join(folder, 'reader/agent.yaml');
  await writeFile(
    reader,
    `${await readFile(reader, 'utf8')}\ntools: [project_read]\ncapabilities: { from: none, project: true }\n`,
  );
  await writeFile(path, text.replace('treatment: { agent: agent }', 'treatment: { agent: reader }'));
  await writeFile(join(folder, 'judge.md'), 'You judge answers.\n');
  await writ('experiment', 'register', 'experiment.yaml');
  expect((await run()).code).toBe(0);
  const judging = requests.filter((request) => request.includes('You judge answers.'));
  // A judge is asked once for each of the 16 answers: of each item, both arms ask alike.
  expect([judging.length, new Set(judging).size]).toEqual([16, 8]);
  await writ('experiment', 'report', 'experiment.yaml');
  const { trials } = await report();
  const calls = (side: string) =>
    trials.filter((row: { side: string }) => row.side === side).map((row: { calls: object }) => row.calls);
  expect([calls('control'), calls('treatment')]).toEqual([
    Array(8).fill({}),
    Array(8).fill({ project_read: 1 }),
  ]);
});

test.each<[string, string, RegExp]>([
  [
    'a protocol',
    'server: { wire: telnet }',
    /experiment\.yaml:23:17: there is no protocol 'telnet'[\s\S]*openai-chat/,
  ],
  ['a model', 'model: scripted', /experiment\.yaml:23:8: Expected a model as provider\/name/],
])('%s that no run could take is refused where the file names it', async (_what, line, found) => {
  const path = join(folder, 'experiment.yaml');
  await writeFile(path, `${await readFile(path, 'utf8')}\n${line}`);
  const { code, stderr } = await writ('experiment', 'register', 'experiment.yaml');
  expect([code, stderr]).toEqual([2, expect.stringMatching(found)]);
});

test.each<[string, string, string]>([
  ['seed: 7', '', "'seed' is missing: a whole number or a text was expected"],
  ['seed: 7', 'seed: [7]', "'seed' should be a whole number or a text, found a list"],
  [
    '{ kind: exact }',
    '{ kind: numerics }',
    "'grader.kind' should be one of exact, numeric, pattern, json-schema, sql, command, judge, found the text",
  ],
  [
    '{ metric: score }',
    '{ metric: score, question: non-inferiority }',
    "'primary.margin' is missing: a number above 0, which that question needs, was expected",
  ],
  [
    '{ kind: exact }',
    '{ kind: judge, model: a/b, prompt: p, version: v, lowest: 1, highest: 1 }',
    "'grader.highest' should be a number above lowest, found the number 1",
  ],
])('%s as [%s] is refused in our own words', async (before, after, message) => {
  const path = join(folder, 'experiment.yaml');
  await writeFile(path, (await readFile(path, 'utf8')).replace(before, after));
  const { code, stderr } = await writ('experiment', 'register', 'experiment.yaml');
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(stderr).not.toContain('Invalid');
});

test('the command of a grader runs only when it is trusted', async () => {
  const path = join(folder, 'experiment.yaml');
  await writeFile(
    path,
    (await readFile(path, 'utf8')).replace(
      '{ kind: exact }',
      '{ kind: command, command: [node, grade.cjs] }',
    ),
  );
  await writeFile(join(folder, 'grade.cjs'), "require('fs').appendFileSync(__dirname + '/graded', 'x')");
  await writ('experiment', 'register', 'experiment.yaml');
  expect(await run()).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/cli\.untrusted: .*node grade\.cjs/),
  });
  expect(requests).toEqual([]);
  expect((await run('--trust')).code).toBe(0);
  expect(await readFile(join(folder, 'graded'), 'utf8')).toBe('x'.repeat(16));
});
