/** A ledger that somebody else put into a workspace: it is shown, and nothing of it goes on unless it is named. */
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ScriptedProvider, scriptedProvider } from '../../../test/scripted-provider.ts';
import { agentFolder, call } from '../call.cases.ts';

let cwd: string;
let provider: ScriptedProvider;
beforeEach(async () => {
  cwd = await agentFolder('model: local/scripted-1');
  provider = await scriptedProvider(() => ({ text: 'Green.' }));
});
afterEach(async () => {
  await provider.close();
  await rm(cwd, { recursive: true, force: true });
});

const run = (...more: readonly string[]) =>
  call(['run', 'a', '--base-url', provider.url, '--budget', 'turns=1', '--json', ...more, '--', 'Look.'], {
    cwd,
  });

/** Does to a run and a session of `folder`, in that folder, what a person does who carries them on. */
async function carryOn(folder: string, session: string, ...more: readonly string[]) {
  const at = { cwd: folder, env: { HOME: cwd } };
  const words = ['run', join(cwd, 'a'), '--base-url', provider.url, '--session', session, ...more];
  return {
    shown: (await call(['runs', 'show', 'last', ...more], at)).code,
    resumed: await call(['runs', 'resume', 'last', ...more, '--json'], at),
    continued: await call([...words, '--json', '--', 'Again.'], at),
  };
}

test('one that a command could have made in a folder of the workspace, or that came with it', async () => {
  const { session } = JSON.parse((await run()).stdout);
  const planted = join(cwd, 'deep');
  await mkdir(join(planted, '.writ'), { recursive: true });
  // Of another home: its id was never noted here.
  const ledger = join(planted, '.writ/ledger.sqlite');
  await copyFile(join(cwd, '.writ/ledger.sqlite'), ledger);
  await rm(join(cwd, '.local/state/writ/ledgers'), { recursive: true });
  const asked = provider.requests.length;

  const refused = await carryOn(planted, session);
  expect(refused.shown).toBe(0);
  for (const { code, stdout } of [refused.resumed, refused.continued]) {
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: 'cli.foreign-ledger',
        message: expect.stringContaining(ledger),
        next: expect.stringContaining(`--ledger ${ledger}`),
      },
    });
  }
  expect(provider.requests).toHaveLength(asked);

  const named = await carryOn(planted, session, '--ledger', ledger);
  // The run has ended, which its own record says; its session goes on.
  expect(JSON.parse(named.resumed.stdout)).toMatchObject({ error: { code: 'run.already-ended' } });
  expect(JSON.parse(named.continued.stdout)).toMatchObject({ status: 'completed', session });
  // Written to and named, it is still no ledger that was made here.
  expect((await carryOn(planted, session)).resumed.code).toBe(3);
});

test('one that Writ made here goes on without being named, also where the ledger was given', async () => {
  const { session } = JSON.parse((await run()).stdout);
  expect(JSON.parse((await carryOn(cwd, session)).continued.stdout)).toMatchObject({ status: 'completed' });
  await mkdir(join(cwd, 'other/.writ'), { recursive: true });
  const given = join(cwd, 'other/.writ/ledger.sqlite');
  const second = JSON.parse((await run('--ledger', given)).stdout);
  expect(JSON.parse((await carryOn(join(cwd, 'other'), second.session)).continued.stdout)).toMatchObject({
    status: 'completed',
  });
});
