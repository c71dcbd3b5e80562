/** An approval of a command counts for the files that it names as they were: one that was changed is asked about again. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sha256 } from '../src/digest.ts';
import { commandStart } from '../src/native/command/command-start.ts';
import type { Ticket } from '../src/protocol/ticket.ts';
import type { Ask } from '../src/run/approval.ts';
import { answerTicket } from '../src/run/decide.ts';
import { openRig, type Rig } from './rig.ts';
import type { Script } from './scripted-provider.ts';

let base: string;
let workspace: string;
let script: string;
const rigs: Rig[] = [];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-bound-'));
  workspace = join(base, 'workspace');
  mkdirSync(workspace);
  script = join(workspace, 'build.sh');
  writeFileSync(script, 'echo good >> ran');
});
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
  rmSync(base, { recursive: true, force: true });
});

const model: Script = ({ json }) =>
  json.messages.length > 2
    ? { text: 'Built.' }
    : { calls: [{ id: 'a', name: 'command_start', arguments: '{"command":"sh build.sh"}' }] };

async function open(): Promise<Rig> {
  const env = { PATH: process.env.PATH, XDG_STATE_HOME: base };
  const rig = await openRig({ script: model, tools: [commandStart({ workspace }, { env })] });
  rigs.push(rig);
  return rig;
}

const ran = () => readFileSync(join(workspace, 'ran'), 'utf8');
const filesOf = (ticket: Ticket | null) => ticket?.files;
const good = [{ path: 'build.sh', digest: sha256('echo good >> ran') }];
const evil = [{ path: 'build.sh', digest: sha256('echo evil >> ran') }];

test('changed while the run waits: the answer does not count, and another ticket asks about the new text', async () => {
  const rig = await open();
  const { run, ticket } = await rig.run('Build.', { approve: 'pause' });
  expect(filesOf(ticket)).toEqual(good);
  await answerTicket(rig.store, 'test:2:2', {
    run,
    ticket: ticket?.id ?? '',
    decision: 'approved',
    by: 'ana',
    reason: '',
  });
  writeFileSync(script, 'echo evil >> ran');
  const again = await rig.resume(run, { approve: 'pause' });
  expect(again.status).toBe('paused');
  expect(filesOf(again.ticket)).toEqual(evil);
  expect(again.ticket?.id).not.toBe(ticket?.id);
  expect(ran).toThrow('ENOENT');
  // As it was approved, it may run: the first answer counts for exactly this.
  writeFileSync(script, 'echo good >> ran');
  expect(await rig.resume(run, { approve: 'pause' })).toMatchObject({
    status: 'completed',
    answer: 'Built.',
  });
  expect(ran()).toBe('good\n');
});

test('changed while a person reads: what they said yes to is not what would run, so they are asked again', async () => {
  const rig = await open();
  const asked: Ticket[] = [];
  const ask: Ask = async (ticket) => {
    asked.push(ticket);
    if (asked.length === 1) writeFileSync(script, 'echo evil >> ran');
    return { decision: asked.length === 1 ? 'approved' : 'denied', by: 'ana', reason: '' };
  };
  expect(await rig.run('Build.', { approve: 'ask', ask })).toMatchObject({
    status: 'completed',
    toolCalls: 0,
  });
  expect(asked.map(filesOf)).toEqual([good, evil]);
  expect(ran).toThrow('ENOENT');
});

test('made only after the approval: it is asked about too', async () => {
  rmSync(script);
  const rig = await open();
  const { run, ticket } = await rig.run('Build.', { approve: 'pause' });
  expect(filesOf(ticket)).toBeUndefined();
  await answerTicket(rig.store, 'test:2:2', {
    run,
    ticket: ticket?.id ?? '',
    decision: 'approved',
    by: 'ana',
    reason: '',
  });
  writeFileSync(script, 'echo evil >> ran');
  const again = await rig.resume(run, { approve: 'pause' });
  expect(filesOf(again.ticket)).toEqual(evil);
  expect(ran).toThrow('ENOENT');
});

test('as it was: it runs once, under the ticket that names it', async () => {
  const rig = await open();
  const ask: Ask = async () => ({ decision: 'approved', by: 'ana', reason: '' });
  expect(await rig.run('Build.', { approve: 'ask', ask })).toMatchObject({
    status: 'completed',
    answer: 'Built.',
  });
  expect(ran()).toBe('good\n');
  expect(rig.events.filter(({ type }) => type === 'approval-request')).toHaveLength(1);
});
