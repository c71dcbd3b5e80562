/** `writ record` as a command: a recording that a person stops, its files, and what it refuses. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { call } from '../call.cases.ts';
import { main } from '../main.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'writ-record-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

/** Starts the command, lets `work` use its address, then interrupts it. */
async function recording(argv: readonly string[], work: (url: string) => Promise<void>) {
  const stop = new AbortController();
  const [input, out, err] = [new PassThrough(), new PassThrough(), new PassThrough()];
  input.end();
  const written = { stdout: '', stderr: '' };
  const address = new Promise<string>((resolve) => {
    const look = () => {
      const url = /recording at (\S+)/.exec(written.stdout + written.stderr)?.[1];
      if (url !== undefined) resolve(url);
    };
    out.on('data', (chunk: Buffer) => {
      written.stdout += chunk.toString();
      look();
    });
    err.on('data', (chunk: Buffer) => {
      written.stderr += chunk.toString();
      look();
    });
  });
  const code = main(
    ['record', ...argv],
    { HOME: cwd },
    { stdin: input, stdout: out, stderr: err },
    cwd,
    () => stop.signal,
  );
  const url = await Promise.race([address, code.then(() => undefined)]);
  if (url !== undefined) await work(url);
  stop.abort('Ctrl-C');
  return { code: await code, ...written };
}

async function ask(url: string, body: unknown): Promise<string> {
  const headers = { 'x-api-key': 'sk-hidden', 'content-type': 'application/json' };
  const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.text();
}

const question = {
  model: 'claude-x',
  max_tokens: 10,
  system: [{ type: 'text', text: 'You are \u001b[31mA.\u0000' }],
  messages: [{ role: 'user', content: 'Which colour?' }],
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
};

test('shows each text with its place while it records, and ends cleanly', async () => {
  let answer = '';
  const { code, stdout, stderr } = await recording(['--scripted'], async (url) => {
    answer = await ask(url, question);
    await ask(url, { ...question, system: 'Generate a title', tools: [] });
  });
  expect(answer).toContain('This answer is scripted.');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/\n1 POST \/v1\/messages → 200\n {2}anthropic · model claude-x · \d+ bytes\n/);
  expect(stdout).toMatch(/\n {2}system\[0\] +system +16 B {2}[0-9a-f]{12} {2}You are \\x1b\[31mA\.\\x00\n/);
  expect(stdout).toMatch(/\n {2}messages\[0\] +user +13 B {2}[0-9a-f]{12} {2}Which colour\?\n/);
  expect(stdout).toMatch(/\n {2}1 tools, \d+ bytes: look\n/);
  expect(stdout).toMatch(/\n2 exchanges, 2 requests to a model, 1 of them beside the task\n$/);
});

test('--json is one object; --out holds the raw bytes, whole, without the key', async () => {
  const { code, stdout } = await recording(['--scripted', '--json', '--out', 'r'], async (url) => {
    await ask(url, question);
  });
  expect(code).toBe(0);
  const overview = JSON.parse(stdout);
  expect(overview).toMatchObject({
    upstream: 'scripted',
    exchanges: [{ number: 1, status: 200, fault: null, reading: { kind: 'model', side: false } }],
  });
  expect(JSON.parse(await readFile(join(cwd, 'r/recording.json'), 'utf8'))).toEqual(overview);
  expect((await readdir(join(cwd, 'r'))).sort()).toEqual([
    '0001.json',
    '0001.request',
    '0001.response',
    'recording.json',
  ]);
  expect(await readFile(join(cwd, 'r/0001.request'), 'utf8')).toBe(JSON.stringify(question));
  const all = await Promise.all(
    ['0001.json', 'recording.json'].map((name) => readFile(join(cwd, 'r', name), 'utf8')),
  );
  expect(all.join('')).not.toContain('sk-hidden');
});

test('a recording that cannot be kept ends at once and fails', async () => {
  const { code, stderr } = await recording(['--scripted', '--out', 'r'], async (url) => {
    await rm(join(cwd, 'r'), { recursive: true });
    await ask(url, question).catch(() => {});
  });
  expect(code).toBe(130);
  expect(stderr).toContain('error recorder.unwritable: ');
});

test.each([
  [[], 'cli.missing-argument'],
  [['--scripted', '--upstream', 'http://x'], 'cli.missing-argument'],
  [['--upstream', 'x'], 'recorder.bad-upstream'],
  [['--scripted', '--port', '70000'], 'cli.bad-value'],
  [['--scripted', '--port', '1e3'], 'cli.bad-value'],
  [['--scripted', '--out', ''], 'cli.bad-value'],
])('%j is refused with %s', async (argv, expected) => {
  const { code, stderr } = await call(['record', ...argv], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain(`error ${expected}: `);
  expect(await readdir(cwd)).toEqual([]);
});
