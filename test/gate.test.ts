/** Calls of whole runs at the gate of a workspace: whatever tool changes something waits for a capture, reads do not. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandStart } from '../src/native/command/command-start.ts';
import { filePatch } from '../src/native/edit/file-patch.ts';
import { fileWrite } from '../src/native/edit/file-write.ts';
import { projectRead } from '../src/native/tool/project-read.ts';
import { subagent } from '../src/native/tool/subagent.ts';
import type { Tool } from '../src/native/tool/tool.ts';
import { openGate } from '../src/sandbox/gate.ts';
import { approved, call } from './asked-calls.ts';
import { openRig, type Rig } from './rig.ts';
import type { Answer } from './scripted-provider.ts';

let base: string;
let workspace: string;
let rig: Rig | undefined;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-gate-'));
  workspace = join(base, 'workspace');
  mkdirSync(workspace);
});
afterEach(async () => {
  await rig?.close();
  rmSync(base, { recursive: true, force: true });
});

const tools = (): Tool[] => [
  fileWrite({ workspace }),
  filePatch({ workspace }),
  commandStart({ workspace }, { env: { PATH: process.env.PATH, XDG_STATE_HOME: base } }),
  projectRead({ workspace }),
  subagent({}),
];

test('each write waits for the capture that it meets, and changes nothing before; a read passes by', async () => {
  const gate = openGate();
  const seen: string[] = [];
  /** A capture that begins with this turn and looks at the workspace until its write must have come to the gate. */
  const captured =
    (name: string, args: object): Answer =>
    () => {
      void gate.capture(async () => {
        await expect.poll(() => dispatched().at(-1)).toBe(name);
        await new Promise((resolve) => setTimeout(resolve, 60));
        seen.push(`${name} ${existsSync(join(workspace, 'b'))} ${ended()}`);
      });
      return call(name, args);
    };
  const dispatched = () =>
    (rig?.events ?? []).flatMap((event) => (event.type === 'effect-dispatch' ? [event.tool] : []));
  const ended = () => (rig?.events ?? []).filter(({ type }) => type === 'effect-observe').length;
  rig = await openRig({
    gate,
    tools: tools(),
    script: [
      captured('file_write', { path: 'a', content: 'one' }),
      captured('file_patch', { path: 'a', edits: [{ old: 'one', new: 'two' }] }),
      captured('command_start', { command: 'cat a; touch b' }),
      () => {
        void gate.capture(() => new Promise((resolve) => setTimeout(resolve, 60_000).unref()));
        return call('project_read', { path: 'a' });
      },
      { text: 'Done.' },
    ],
  });
  const { status } = await rig.run('Work.', approved);
  expect(status).toBe('completed');
  expect(seen).toEqual(['file_write false 0', 'file_patch false 1', 'command_start false 2']);
  expect(rig.provider.requests.at(-1)?.json.messages.at(-1).content).toContain('two');
});

test('a call that is cancelled while it is held was never sent', async () => {
  const gate = openGate();
  const stop = new AbortController();
  let open = () => {};
  const capture = gate.capture(() => new Promise<void>((resolve) => (open = resolve)));
  rig = await openRig({
    gate,
    tools: tools(),
    script: [call('file_write', { path: 'a', content: 'one' })],
  });
  const running = rig.run('Work.', { ...approved, signal: stop.signal });
  await expect.poll(() => rig?.events.map(({ type }) => type)).toContain('effect-dispatch');
  stop.abort();
  expect((await running).status).toBe('cancelled');
  open();
  await capture;
  expect(rig.events.map(({ type }) => type)).toContain('effect-not-dispatched');
  expect(existsSync(join(workspace, 'a'))).toBe(false);
});

test('calls of a child pass the gate too, and wait for no capture that waits for them', async () => {
  const gate = openGate();
  const seen: boolean[] = [];
  rig = await openRig({
    gate,
    tools: tools(),
    script: [
      call('subagent', { query: 'Write it.' }),
      () => {
        void gate.capture(async () => void seen.push(existsSync(join(workspace, 'a'))));
        return call('file_write', { path: 'a', content: 'one' });
      },
      { text: 'Written.' },
      { text: 'Done.' },
    ],
  });
  expect((await rig.run('Work.', approved)).status).toBe('completed');
  expect([seen, existsSync(join(workspace, 'a'))]).toEqual([[false], true]);
});
