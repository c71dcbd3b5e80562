/** The processes of MCP servers end with the run, however the run ends. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeFiles } from '../src/cli/call.cases.ts';
import { alive } from '../src/native/mcp/mcp.cases.ts';
import { startCli } from './real-cli.ts';
import { type ScriptedProvider, type Step, scriptedProvider } from './scripted-provider.ts';

const program = resolve('test/children/mcp-server.mjs');
const slow = { timeout: 60_000 };

let home: string;
let pids: string;
let provider: ScriptedProvider | undefined;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'writ-ends-'));
  pids = join(home, 'pids');
  await writeFiles(home, {
    'a/agent.yaml': [
      'key: host',
      'model: local/scripted-1',
      'profiles: { default: [] }',
      'capabilities: [mcp.s]',
      `mcp: { s: { command: node, args: ['${program}'], env: [PIDS], reads: [look, hang] } }`,
    ].join('\n'),
    '.writ/.gitignore': '*\n',
  });
});
afterEach(async () => {
  await provider?.close();
  provider = undefined;
  for (const id of await alive(pids)) process.kill(id, 'SIGKILL');
  await rm(home, { recursive: true, force: true });
});

async function start(script: readonly Step[]) {
  provider = await scriptedProvider(script);
  const argv = ['run', 'a', '--trust', '--base-url', provider.url, '--', 'Look.'];
  return startCli(home, argv, { PIDS: pids });
}

const call = (name: string) => ({ calls: [{ id: `call-${name}`, name: `s__${name}`, arguments: '{}' }] });
const hang = { text: 'I begin', ending: 'hang' } as const;

test('after the answer neither the server nor what it started is left', slow, async () => {
  const { end } = await start([call('look'), { text: 'Done.' }]);
  expect(await end).toMatchObject({ code: 0, stdout: 'Done.\n' });
  expect(await alive(pids)).toEqual([]);
});

test('Ctrl-C in the middle of a call settles it and ends the server', slow, async () => {
  const { child, end } = await start([call('hang')]);
  await provider?.arrived(1);
  await expect.poll(() => readFile(pids, 'utf8').catch(() => ''), { timeout: 20_000 }).toMatch(/\d+\n\d+\n/);
  await new Promise((done) => setTimeout(done, 500));
  child.kill('SIGINT');
  expect(await end).toMatchObject({ code: 130 });
  expect(await alive(pids)).toEqual([]);
});

test('a second Ctrl-C waits for nothing, and still leaves no server', slow, async () => {
  const { child, end } = await start([hang]);
  await provider?.arrived(1);
  child.kill('SIGINT');
  await new Promise((done) => setTimeout(done, 2));
  child.kill('SIGINT');
  expect(await end).toMatchObject({ code: 130 });
  await expect.poll(() => alive(pids)).toEqual([]);
});

test.each(['obedient', 'stubborn'])(
  'where Writ is killed without a word, nothing of the %s server is left',
  slow,
  async (kind) => {
    await writeFiles(home, {
      'a/agent.yaml': (await readFile(join(home, 'a/agent.yaml'), 'utf8')).replace("mjs']", `mjs', ${kind}]`),
    });
    const { child, end } = await start([hang]);
    await provider?.arrived(1);
    expect(await alive(pids)).toHaveLength(2);
    child.kill('SIGKILL');
    await end;
    await expect.poll(() => alive(pids), { timeout: 20_000 }).toEqual([]);
  },
);

test('Ctrl-C while a server starts ends it: 130, and nothing is recorded', slow, async () => {
  await writeFiles(home, {
    'a/agent.yaml': (await readFile(join(home, 'a/agent.yaml'), 'utf8')).replace("mjs']", "mjs', silent]"),
  });
  const { child, end } = await start([]);
  await expect.poll(() => readFile(pids, 'utf8').catch(() => ''), { timeout: 20_000 }).toMatch(/\d+\n\d+\n/);
  child.kill('SIGINT');
  expect(await end).toMatchObject({ code: 130, stdout: '' });
  expect(await alive(pids)).toEqual([]);
});
