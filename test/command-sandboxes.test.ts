/** The command tools go through the sandbox in which a command was started: one behind a network, and bubblewrap. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../src/ledger/store.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { type CommandSurroundings, commandId, commandsFolder } from '../src/native/command/command-seat.ts';
import { type CommandStartOptions, commandStart } from '../src/native/command/command-start.ts';
import {
  commandCancel,
  commandRead,
  commandWait,
  commandWrite,
} from '../src/native/command/command-tools.ts';
import type { Tool } from '../src/native/tool/tool.ts';
import { readBanner } from '../src/sandbox/banner.ts';
import { remote } from '../src/sandbox/remote.cases.ts';
import { openRouter, type Router } from '../src/sandbox/remote-router.cases.ts';
import { bubblewrap } from '../src/sandbox/sandboxes/bubblewrap/bubblewrap.ts';
import { local } from '../src/sandbox/sandboxes/local/local.ts';
import { membersOf } from '../src/sandbox/supervisor/process-tree.ts';
import { approved, call, idIn, last } from './asked-calls.ts';
import { dyingAt } from './dying-store.ts';
import { openRig, type Rig } from './rig.ts';
import type { Script } from './scripted-provider.ts';

let base: string;
let workspace: string;
const rigs: Rig[] = [];
const env = () => ({ PATH: process.env.PATH, XDG_STATE_HOME: base });
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-places-'));
  workspace = join(base, 'workspace');
  mkdirSync(workspace);
});
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
  rmSync(base, { recursive: true, force: true });
});

const told: Script = ({ json }) => ({ text: String(json.messages.at(-1).content) });

const tools = (surroundings: CommandSurroundings, options: Partial<CommandStartOptions> = {}): Tool[] => [
  commandStart({ workspace, ...options }, surroundings),
  ...[commandRead, commandWait, commandWrite, commandCancel].map((make) => make({ workspace }, surroundings)),
];
async function open(script: Script, made: readonly Tool[], store: Store = memoryStore()) {
  const rig = await openRig({ script, tools: made, store });
  rigs.push(rig);
  return rig;
}

/** Starts, lists, writes, waits and cancels; `meanwhile` happens once it runs. */
const whole = (meanwhile: () => void): Script => [
  call('command_start', { command: 'read line; echo "got $line"; sleep 600', stdin: true, wait_ms: 0 }),
  (seen) => {
    meanwhile();
    return call('command_write', { command: idIn(seen), text: 'ho\n' });
  },
  () => call('command_read', {}),
  (seen) => call('command_wait', { command: JSON.parse(last(seen)).commands[0].command, wait_ms: 300 }),
  (seen) => call('command_cancel', { command: idIn(seen) }),
  { text: 'Done.' },
];

async function expectWhole(rig: Rig, sandbox: string): Promise<string> {
  const { run, status, notices } = await rig.run('Serve.', approved);
  expect({ status, notices }).toEqual({ status: 'completed', notices: [] });
  const id = commandId(`${run}:1:1`);
  const seen = rig.provider.requests.map((request) => last(request));
  expect(readBanner(seen[1] ?? '')).toEqual({ state: 'running', command: id });
  expect(JSON.parse(seen[2] ?? '')).toEqual({ command: id, stdin_bytes: 3 });
  expect(JSON.parse(seen[3] ?? '')).toEqual({ commands: [{ command: id, sandbox, state: 'running' }] });
  expect(seen[4]).toContain('got ho\n');
  expect(readBanner(seen[5] ?? '')).toMatchObject({ state: 'ended', command: id });
  expect(seen[5]).toContain('[note It was cancelled.]');
  return id;
}

const keys = mkdtempSync(join(tmpdir(), 'writ-keys-'));
const made = spawnSync(
  'openssl',
  ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    .concat(['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1'])
    .concat(['-keyout', join(keys, 'key.pem'), '-out', join(keys, 'cert.pem')]),
);
const pem = (name: string) => (made.status === 0 ? readFileSync(join(keys, name), 'utf8') : '');
const tls = { key: pem('key.pem'), cert: pem('cert.pem') };
rmSync(keys, { recursive: true, force: true });

describe.skipIf(made.status !== 0)('in boxes behind a router', () => {
  let router: Router;
  const box = (name: string) => {
    mkdirSync(join(base, name));
    router.put(name, local({ workspace: join(base, name), folder: join(base, `${name}-state`), env: env() }));
  };
  const client = () => remote({ port: router.port, ca: tls.cert, token: router.token, route: router.route });
  const surroundings = () => ({ env: env(), sandbox: client() });
  beforeEach(async () => {
    router = await openRouter(tls);
    box('box-1');
  });
  afterEach(() => router.close());

  test('all tools reach the command where it was started, also when the pointer has moved', async () => {
    const rig = await open(
      whole(() => box('box-2')),
      tools(surroundings()),
    );
    const id = await expectWhole(rig, 'remote');
    expect(membersOf({ leader: null, mark: `WRIT_COMMAND=${id}` })).toEqual([]);
    expect(['start', 'write', 'cancel'].map((op) => router.count(op))).toEqual([1, 1, 1]);
    expect(existsSync(commandsFolder(workspace, { env: env() }))).toBe(false);
  });

  test('what runs behind a call ends with the run', async () => {
    const rig = await open(
      [call('command_start', { command: 'sleep 600', wait_ms: 0 }), { text: 'Done.' }],
      tools(surroundings()),
    );
    const { run, notices } = await rig.run('Serve.', approved);
    expect(notices).toEqual([]);
    const mark = `WRIT_COMMAND=${commandId(`${run}:1:1`)}`;
    expect(membersOf({ leader: null, mark })).toEqual([]);
  });

  test('a start that a killed process left is looked at through the router, and never sent again', async () => {
    const store = memoryStore();
    const lost = tools(surroundings()).map((tool) => ({ ...tool, settle: async () => [] }));
    const first = await open(
      [call('command_start', { command: 'echo ran >> runs; exit 3' })],
      lost,
      dyingAt(store, 'effect-observe'),
    );
    const { run } = await first.run('Run it.', approved);
    const next = await open(told, tools(surroundings()), store);
    const { answer } = await next.resume(run, approved);
    expect(readBanner(answer ?? '')).toEqual({
      state: 'ended',
      command: commandId(`${run}:1:1`),
      exitCode: 3,
    });
    expect(router.count('start')).toBe(1);
    expect(readFileSync(join(base, 'box-1/runs'), 'utf8')).toBe('ran\n');
  });
});

function bubblewrapWorks(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'writ-probe-'));
  try {
    bubblewrap({ workspace: folder, folder: join(folder, 'commands'), env: process.env });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test.skipIf(!bubblewrapWorks())('in bubblewrap all tools reach the command', async () => {
  const rig = await open(
    whole(() => {}),
    tools({ env: env() }, { sandbox: 'bubblewrap' }),
  );
  await expectWhole(rig, 'bubblewrap');
});
