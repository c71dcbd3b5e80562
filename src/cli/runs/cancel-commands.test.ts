/** `writ runs cancel` of a run whose process died: what it left running ends before the end is recorded, or is named there. */
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dyingAt } from '../../../test/dying-store.ts';
import { openRig } from '../../../test/rig.ts';
import { sqliteStore } from '../../ledger/stores/sqlite.ts';
import { commandId, commandsFolder } from '../../native/command/command-seat.ts';
import { commandStart } from '../../native/command/command-start.ts';
import type { RunEvent } from '../../protocol/events.ts';
import { endAll, membersOf } from '../../sandbox/supervisor/process-tree.ts';
import { readState } from '../../sandbox/supervisor/state-file.ts';
import { agentFolder, call } from '../call.cases.ts';
import { originRecord } from '../run/origin.ts';

let cwd: string;
let mark: string | undefined;
const env = () => ({ USER: 'ada', PATH: process.env.PATH, XDG_STATE_HOME: join(cwd, 'state') });
beforeEach(async () => {
  cwd = await agentFolder('model: local/scripted-1');
});
afterEach(async () => {
  if (mark !== undefined) await endAll({ leader: null, mark }, { graceMs: 0, killMs: 1_000, wrapper: null });
  await rm(cwd, { recursive: true, force: true, maxRetries: 5 });
});

/** A run that started a command, and whose process died in its second turn. Resolves with the run and the command. */
async function left(keep: boolean): Promise<{ run: string; id: string }> {
  mkdirSync(join(cwd, '.writ'), { recursive: true });
  const file = sqliteStore({ path: join(cwd, '.writ/ledger.sqlite') });
  const tool = commandStart({ workspace: cwd, keep }, { env: env() });
  const rig = await openRig({
    script: [
      {
        calls: [{ id: 'a', name: 'command_start', arguments: '{"command":"exec sleep 600","wait_ms":0}' }],
      },
    ],
    tools: [{ ...tool, settle: async () => [], close: async () => {} }],
    store: dyingAt(file, 'turn-finish'),
  });
  const { run } = await rig.run('Serve.', {
    approve: 'ask',
    ask: async () => ({ decision: 'approved', by: 'ana', reason: '' }),
    origin: originRecord({
      agentFolder: join(cwd, 'a'),
      workspace: cwd,
      model: 'local/scripted-1',
      tools: [{ name: 'command_start', options: keep ? { keep } : {} }],
      situation: {},
    }),
  });
  await rig.close();
  await file.close();
  const id = commandId(`${run}:1:1`);
  mark = `WRIT_COMMAND=${id}`;
  return { run, id };
}

const runs = (...argv: string[]) => call(['runs', ...argv], { cwd, env: env() });
const alive = () => membersOf({ leader: null, mark: mark ?? '' }).map(({ name }) => name);
const lastTwo = async (run: string): Promise<RunEvent[]> =>
  (await runs('events', run, '--json')).stdout
    .trimEnd()
    .split('\n')
    .slice(-2)
    .map((line) => JSON.parse(line));

test('a command that the run left is gone by its end', async () => {
  const { run } = await left(false);
  expect(alive()).toEqual(['sleep']);
  const { code, stdout, stderr } = await runs('cancel', run, '--json');
  expect({ code, stderr, ...JSON.parse(stdout) }).toEqual({
    ...{ code: 0, stderr: '', run, state: 'cancelled', unknown: [], left: [] },
  });
  expect(alive()).toEqual([]);
});

test.each([[[]], [['--json']]])(
  'one that cannot be proven gone is named before the end, and by the command %j',
  async (flags) => {
    const { run, id } = await left(false);
    const state = readState(join(commandsFolder(cwd, { env: env() }), id));
    const supervisor = state?.supervisor.pid ?? 0;
    process.kill(supervisor, 'SIGSTOP');
    try {
      const named = `The command local/${id} may still be running. The supervisor did not confirm the end in time.`;
      const { code, stdout, stderr } = await runs('cancel', run, ...flags);
      expect(code).toBe(0);
      if (flags.length === 0) expect(stderr).toBe(`${named}\n`);
      else expect(JSON.parse(stdout)).toMatchObject({ state: 'cancelled', left: [named] });
      expect(await lastTwo(run)).toMatchObject([
        { type: 'notice', code: 'native.left-at-work', text: named },
        { type: 'run-finish', status: 'cancelled' },
      ]);
    } finally {
      process.kill(supervisor, 'SIGCONT');
    }
  },
);

test('one that is to be kept goes on', async () => {
  const { run } = await left(true);
  expect((await runs('cancel', run)).code).toBe(0);
  expect(alive()).toEqual(['sleep']);
});
