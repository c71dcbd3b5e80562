/** The built executable as a real process: signals, pipes, a killed run that is carried on. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ScriptedProvider, type Step, scriptedProvider } from '../../test/scripted-provider.ts';
import { agentFolder, call } from './call.cases.ts';

const bin = join(import.meta.dirname, '../../dist/cli/bin.js');

let cwd: string;
let provider: ScriptedProvider | undefined;
beforeEach(async () => {
  cwd = await agentFolder('model: local/scripted-1');
});
afterEach(async () => {
  await provider?.close();
  provider = undefined;
  await rm(cwd, { recursive: true, force: true });
});

const hang: Step = { text: 'I begin', ending: 'hang' };

function start(argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, [bin, ...argv], { cwd, env: { PATH: process.env.PATH, HOME: cwd } });
}

async function ended(child: ChildProcess) {
  const read = (stream: NodeJS.ReadableStream | null) => {
    const chunks: Buffer[] = [];
    stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString();
  };
  const [stdout, stderr] = [read(child.stdout), read(child.stderr)];
  const [code, signal] = await once(child, 'close');
  return { code, signal, stdout: stdout(), stderr: stderr() };
}

async function startRun(script: readonly Step[], task = 'Which colour?') {
  provider = await scriptedProvider(script);
  const child = start(['run', 'a', '--base-url', provider.url, '--', task]);
  const end = ended(child);
  return { child, end, provider };
}

test('--version prints the version of the package', async () => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
  expect(await ended(start(['--version']))).toEqual({
    code: 0,
    signal: null,
    stdout: `${manifest.version}\n`,
    stderr: '',
  });
});

test.each([[[]], [['--json']]])(
  'a current folder that is gone is told, not shown as a fault (%j)',
  async (json) => {
    const gone = join(cwd, 'gone');
    await mkdir(gone);
    const script = `rmdir "$PWD" && exec "$0" "$@"`;
    const argv = ['-c', script, process.execPath, bin, 'compose', 'x', ...json];
    const child = spawn('sh', argv, { cwd: gone, env: { PATH: process.env.PATH, HOME: cwd } });
    const { code, stdout, stderr } = await ended(child);
    expect(code).toBe(2);
    if (json.length === 0)
      expect(stderr).toMatch(
        /^error cli\.no-current-folder: .+\nnext: Change to a folder that is there: cd "\$HOME"\n$/,
      );
    else
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'cli.no-current-folder', kind: 'input' } });
  },
);

test('piped: the answer alone on stdout, and it exits by itself', async () => {
  const { end } = await startRun([{ text: 'It is green.' }], '--version');
  const { code, stdout, stderr } = await end;
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'It is green.\n' });
  expect(stderr).not.toContain('\x1b');
  expect(provider?.requests[0]?.json.messages.at(-1).content).toBe('--version');
});

test.each([
  [{ text: 'One row.' }, 0],
  [{ text: 'cut', finish: 'length' }, 1],
])('a run whose query process is idle at the end exits with its own code (%j)', async (last, code) => {
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  new DatabaseSync(join(cwd, 'x.sqlite')).exec('create table t (a); insert into t values (1)');
  const yaml = await readFile(join(cwd, 'a/agent.yaml'), 'utf8');
  const tools = 'tools: [{ sql_query: { database: x.sqlite } }]\ncapabilities: [sql]\n';
  await writeFile(join(cwd, 'a/agent.yaml'), `${yaml.replace(/^(tools|capabilities):.*\n/gm, '')}\n${tools}`);
  const query = { id: 'q', name: 'sql_query', arguments: '{"query":"select a from t"}' };
  const { end } = await startRun([{ calls: [query] }, last]);
  expect(await end).toMatchObject({ code, signal: null });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s once: the run settles, is recorded as cancelled, exit 130',
  async (signal) => {
    const { child, end, provider } = await startRun([hang]);
    await provider.arrived(1);
    child.kill(signal);
    expect(await end).toMatchObject({ code: 130, signal: null, stdout: '' });
    expect((await call(['runs', 'list'], { cwd })).stdout).toMatch(/^run_\w+ {2}cancelled /);
  },
);

test('Ctrl-C twice ends with 130, whatever the first had time to finish', async () => {
  const { child, end, provider } = await startRun([hang]);
  await provider.arrived(1);
  child.kill('SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 2));
  child.kill('SIGINT');
  expect(await end).toMatchObject({ code: 130, signal: null });
  expect((await call(['runs', 'list'], { cwd })).stdout).toMatch(/^run_\w+ {2}(cancelled|interrupted) /);
});

test('a killed run is interrupted, and resume carries it on in the same conversation', async () => {
  const { child, end, provider } = await startRun([hang, { text: 'It is green.' }]);
  await provider.arrived(1);
  child.kill('SIGKILL');
  expect(await end).toMatchObject({ code: null, signal: 'SIGKILL' });
  const shown = await call(['runs', 'show', 'last'], { cwd });
  expect(shown.stdout).toMatch(/\nstate {4}interrupted\n/);
  expect(shown.stdout).toMatch(/\n {2}go on: writ runs resume run_\w+\n/);
  const { code, stdout, stderr } = await call(['runs', 'resume', 'last'], { cwd });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'It is green.\n' });
  expect(stderr).not.toContain('composes differently');
  expect(provider.requests[1]?.raw).toBe(provider.requests[0]?.raw);
});

test('writ runs cancel ends a run that another process is at work on', async () => {
  const { end, provider } = await startRun([hang]);
  await provider.arrived(1);
  const cancelled = await call(['runs', 'cancel', 'last', '--json'], { cwd });
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ state: 'cancelled' });
  expect(await end).toMatchObject({ code: 130, stderr: expect.stringContaining('cancelled: SIGTERM') });
});

test('a run that was killed and is then cancelled gets its end recorded', async () => {
  const { child, end, provider } = await startRun([hang]);
  await provider.arrived(1);
  child.kill('SIGKILL');
  await end;
  expect((await call(['runs', 'cancel', 'last'], { cwd })).stdout).toMatch(/^run_\w+ cancelled\n$/);
  expect((await call(['runs', 'list'], { cwd })).stdout).toMatch(/^run_\w+ {2}cancelled /);
});

test('a reader that leaves early is no fault: nothing on stderr, exit 0', async () => {
  const { end } = await startRun([{ text: 'word '.repeat(60_000) }]);
  await end;
  const child = start(['runs', 'show', 'last']);
  child.stdout?.destroy();
  expect(await ended(child)).toMatchObject({ code: 0, stderr: '' });
});

// An own name space of mounts: no rights needed where the kernel allows it to users.
const mounts = spawnSync('unshare', ['-Urm', 'true']).status === 0;

test.runIf(mounts)('a ledger on a read-only disk can be looked at, and is not written', async () => {
  const { end } = await startRun([{ text: 'It is green.' }]);
  await end;
  const onReadOnlyDisk = (...argv: string[]) => {
    const script =
      'mount --bind "$PWD" "$PWD" && mount -o remount,ro,bind "$PWD" && cd "$PWD" && exec "$0" "$@"';
    const env = { PATH: process.env.PATH, HOME: cwd };
    return ended(
      spawn('unshare', ['-Urm', 'sh', '-c', script, process.execPath, bin, ...argv], { cwd, env }),
    );
  };
  expect(await onReadOnlyDisk('runs', 'list')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^run_\w+ {2}completed /),
    stderr: '',
  });
  expect(await onReadOnlyDisk('runs', 'show', 'last')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('It is green.'),
  });
  expect(await onReadOnlyDisk('runs', 'forget', 'last', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('error ledger.unwritable: '),
  });
});
