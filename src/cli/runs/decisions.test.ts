/** `writ runs list --decisions`: counts over the sessions of a real ledger. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { vocabulary } from '../../catalog.ts';
import { systemClock } from '../../clock.ts';
import { compose } from '../../compose/compose.ts';
import { loadAgent } from '../../compose/load/agent.ts';
import { settle } from '../../compose/settle.ts';
import { sha256 } from '../../digest.ts';
import { sqliteStore } from '../../ledger/stores/sqlite.ts';
import { agentFolder, call } from '../call.cases.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await agentFolder();
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

/** Records a session with two runs for each set of facts. */
async function record(sessions: readonly Readonly<Record<string, string>>[], damaged = 0): Promise<void> {
  const agent = await loadAgent(join(cwd, 'a'), vocabulary);
  const store = sqliteStore({ path: join(cwd, '.writ/ledger.sqlite'), clock: systemClock });
  try {
    for (const [i, facts] of sessions.entries()) {
      const composition = compose(agent, await settle(agent, { facts }, []));
      const bytes = i < damaged ? 'no json' : JSON.stringify(composition);
      const [id, createdAt] = [`s-${i}`, systemClock.now()];
      await store.createSession(
        {
          id,
          createdAt,
          agent: agent.key,
          harness: 'native',
          model: null,
          prompt: composition.digest,
          composition: sha256(bytes),
          projection: sha256('[]'),
          capabilities: [],
          origin: {},
        },
        [
          { digest: sha256(bytes), bytes },
          { digest: sha256('[]'), bytes: '[]' },
          { digest: composition.digest, bytes: composition.text },
        ],
      );
      for (const index of [1, 2])
        await store.createRun({ id: `r-${i}-${index}`, session: id, createdAt, index, parent: null });
    }
  } finally {
    await store.close();
  }
}

const list = (...argv: string[]) => call(['runs', 'list', ...argv], { cwd });

test('each session counts once, by key or by folder', async () => {
  await record([{ lamp: 'true' }, { lamp: 'false' }, {}, { lamp: 'true', mode: 'interactive' }]);
  const expected = [
    'tester: 4 sessions',
    '  alone (profile default): kept 1, left out 3, unknown 1',
    '      when mode == "headless" && lamp',
    '',
  ].join('\n');
  expect(await list('--decisions', 'tester')).toEqual({ code: 0, stdout: expected, stderr: '' });
  expect((await list('--decisions', 'a')).stdout).toBe(expected);
});

test('a fragment whose condition never mattered is named', async () => {
  await record([{ lamp: 'true' }, { lamp: 'true' }]);
  expect((await list('--decisions', 'tester')).stdout).toContain('never fired: it was never left out');
  expect(JSON.parse((await list('--decisions', 'tester', '--json')).stdout)).toEqual({
    agent: 'tester',
    sessions: 2,
    unreadable: 0,
    fragments: [
      {
        fragment: 'alone',
        profile: 'default',
        when: 'mode == "headless" && lamp',
        kept: 2,
        left: 0,
        unknown: 0,
        note: 'never fired: it was never left out',
      },
    ],
  });
});

test('no sessions, and sessions whose text is damaged', async () => {
  expect(await list('--decisions', 'nobody')).toEqual({
    code: 0,
    stdout: '',
    stderr: 'No session of nobody is on record.\n',
  });
  await record([{}, {}], 1);
  const { stdout, stderr } = await list('--decisions', 'tester');
  expect(stdout).toContain('tester: 1 session\n');
  expect(stderr).toBe('1 session could not be counted: the stored text is damaged.\n');
});
