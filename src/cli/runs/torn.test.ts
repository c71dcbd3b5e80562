/** A ledger whose journal was torn by a kill: what was cut off and from where the run goes on is said, before and after it does. */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scriptedProvider } from '../../../test/scripted-provider.ts';
import { vocabulary } from '../../catalog.ts';
import { systemClock } from '../../clock.ts';
import { compose } from '../../compose/compose.ts';
import { loadAgent } from '../../compose/load/agent.ts';
import { settle } from '../../compose/settle.ts';
import { sqliteStore } from '../../ledger/stores/sqlite.ts';
import { resolveModel } from '../../native/model/providers.ts';
import { native } from '../../native/native.ts';
import { startRun } from '../../run/run.ts';
import { agentFolder, call } from '../call.cases.ts';
import { originRecord } from '../run/origin.ts';
import { noteOwn } from '../run/own-ledger.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder('model: local/scripted-1\nbudget: { turns: 3 }');
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

/** Leaves the ledger as it lies on the disk while a run waits for its model, with `tail` behind its journal. */
async function killedRun(baseUrl: string, arrived: () => Promise<unknown>, tail: Buffer): Promise<void> {
  const agent = await loadAgent(join(cwd, 'a'), vocabulary);
  const elsewhere = join(cwd, 'elsewhere.sqlite');
  const store = sqliteStore({ path: elsewhere });
  await noteOwn({ env: { HOME: cwd } }, store);
  const model = resolveModel('local/scripted-1', { env: {}, baseUrl });
  const stop = new AbortController();
  const origin = { agentFolder: join(cwd, 'a'), workspace: cwd, model: 'local/scripted-1', baseUrl };
  const running = startRun({
    ...{ harness: native({ model, tools: [] }), store, clock: systemClock, approve: 'deny' },
    // A process of this machine that is no longer there.
    holder: `${hostname()}:4194304:1`,
    composition: compose(agent, await settle(agent, {}, [])),
    ...{ capabilities: [], limits: {}, task: 'Which colour?', signal: stop.signal },
    origin: originRecord({ ...origin, tools: [], situation: {} }),
  });
  await arrived();
  await mkdir(join(cwd, '.writ'), { recursive: true });
  const ledger = join(cwd, '.writ/ledger.sqlite');
  await copyFile(elsewhere, ledger);
  await writeFile(`${ledger}-wal`, Buffer.concat([await readFile(`${elsewhere}-wal`), tail]));
  stop.abort();
  await running;
  await model.close();
  await store.close();
}

test.each([
  ['torn', 'no whole record', Buffer.alloc(100, 0x55)],
  ['zeros', 'nothing but zeros', Buffer.alloc(100)],
])('%s', async (found, words, tail) => {
  const provider = await scriptedProvider([{ text: '', ending: 'hang' }, { text: 'Green.' }]);
  await killedRun(provider.url, () => provider.arrived(1), tail);
  const shown = JSON.parse((await call(['runs', 'show', 'last', '--json'], { cwd })).stdout);
  const { seq, type } = shown.goesOnAfter;
  expect(shown).toMatchObject({
    state: 'interrupted',
    goesOnAfter: { seq: expect.any(Number), type: 'model-request' },
    torn: [{ at: expect.any(Number), bytes: 100, found }],
  });
  const text = `The last 100 bytes of the ledger's journal were ${words} and are left out; the run goes on after event ${seq} (${type}).`;
  expect((await call(['runs', 'show', 'last'], { cwd })).stdout).toContain(`  ${text}\n`);
  const resumed = await call(['runs', 'resume', 'last'], { cwd });
  expect(resumed).toMatchObject({ code: 0, stdout: 'Green.\n' });
  expect(resumed.stderr).toContain(`goes on after event ${seq}\n`);
  expect(resumed.stderr).toContain(`notice: ${text}\n`);
  const after = JSON.parse((await call(['runs', 'show', 'last', '--json'], { cwd })).stdout);
  expect(after).toMatchObject({ state: 'completed', notices: [text] });
  expect([after.goesOnAfter, after.torn]).toEqual([undefined, undefined]);
  await provider.close();
});

test('a journal that is whole: from where it goes on, and nothing of a cut', async () => {
  const provider = await scriptedProvider([{ text: '', ending: 'hang' }, { text: 'Green.' }]);
  await killedRun(provider.url, () => provider.arrived(1), Buffer.alloc(0));
  const shown = (await call(['runs', 'show', 'last'], { cwd })).stdout;
  expect(shown).toMatch(/ {2}it goes on after event \d+ \(model-request\)\n/);
  const { stderr } = await call(['runs', 'resume', 'last'], { cwd });
  expect(stderr).not.toContain('left out');
  await provider.close();
});
