/** A situation that says what nobody knows: settled without a look at the machine, pinned, and part of the space. */
import { expect, test } from 'vitest';
import { compose } from '../compose.ts';
import type { Fact, Probe } from '../facts.ts';
import { loadAgent, loadSituation } from '../load/agent.ts';
import { settle } from '../settle.ts';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { lockAgent } from './lock.ts';
import { spaceOf } from './space.ts';

const folder = (situations: string) =>
  folderWith({
    'agent.yaml': agentYaml(
      ['base', 'guard', 'ci'],
      `facts: { dbt: { type: bool, probe: project-marker, options: { files: [x] } } }\nsituations: ${situations}\n`,
    ),
    'instructions/base.md': 'Base.\n',
    'instructions/guard.md': '---\nwhen: dbt == false\n---\nGuard.\n',
    'instructions/ci.md': '---\nwhen: env.CI == "1"\nunknown: drop\n---\nCI.\n',
    'odd.yaml': 'unknown: [dbt, env.CI]\n',
  });

const stated: Fact = {
  known: false,
  reason: 'the situation leaves it unknown',
  source: 'situation odd',
};

test('the facts it lists are unknown, no probe is asked, and a flag still beats it', async () => {
  const asked: string[] = [];
  const probe: Probe = {
    name: 'project-marker',
    run: async () => {
      asked.push('project-marker');
      return { known: true, value: true, source: 'probe' };
    },
  };
  const agent = await loadAgent(folder('{ odd: { unknown: [dbt, env.CI] } }'), vocabulary);
  const situation = await settle(agent, { situation: 'odd', env: { CI: '1' } }, [probe]);
  expect(['dbt', 'env.CI'].map((name) => situation.facts.get(name))).toEqual([stated, stated]);
  expect(asked).toEqual([]);
  expect(compose(agent, situation).text).toBe('Base.\n\nGuard.\n');
  const flagged = await settle(agent, { situation: 'odd', facts: { dbt: 'true' } }, [probe]);
  expect(compose(agent, flagged).text).toBe('Base.\n');
  const file = await loadSituation(`${agent.folder}/odd.yaml`, agent);
  const fromFile = await settle(agent, { situation: file }, [probe]);
  expect(fromFile.facts.get('dbt')).toEqual({ ...stated, source: 'situation file' });
});

test('what it says is unknown is no open fact: it can be pinned, and what it leaves out cannot', async () => {
  const agent = await loadAgent(folder('{ odd: { unknown: [dbt, env.CI] } }'), vocabulary);
  const lock = await lockAgent(agent, new Map());
  expect(lock.situations.odd?.default?.facts).toEqual({
    dbt: { unknown: true },
    'env.CI': { unknown: true, volatile: true },
  });
  const half = await loadAgent(folder('{ odd: { unknown: [dbt] } }'), vocabulary);
  await expect(lockAgent(half, new Map())).rejects.toMatchObject({
    code: 'proof.open-situation',
    details: { open: [{ name: 'odd', profile: 'default', fact: 'env.CI', fragment: 'ci' }] },
    next: 'Set env.CI in the situation odd of agent.yaml, or list it there under unknown.',
  });
});

test('the space holds its prompt, also where nothing else makes the fact unknown', async () => {
  const agent = await loadAgent(
    folderWith({
      'agent.yaml': agentYaml(['base', 'guard'], 'situations: { odd: { unknown: [mode] } }\n'),
      'instructions/base.md': '---\nwhen: mode == "headless"\nunknown: drop\n---\nHeadless.\n',
      'instructions/guard.md': '---\nwhen: mode == "interactive"\nunknown: drop\n---\nInteractive.\n',
    }),
    vocabulary,
  );
  const pinned = (await lockAgent(agent, new Map())).situations.odd?.default?.sha256 ?? '';
  const space = await spaceOf(agent, 'default', new Set([pinned]));
  expect(space.prompts.map(({ text, locked }) => [text, locked])).toEqual([
    ['Headless.\n', false],
    ['Interactive.\n', false],
    ['', true],
  ]);
});

test.each([
  ['{ odd: { unknown: [dbx] } }', 'compose.unknown-name', "Write 'dbt'."],
  ['{ odd: { unknown: [agent.key] } }', 'compose.unknown-name', 'Use one of'],
  ['{ odd: { unknown: [dbt, dbt] } }', 'compose.repeated-name', 'Take one of the two out.'],
  ['{ odd: { dbt: true, unknown: [dbt] } }', 'compose.repeated-name', 'Take one of the two out.'],
  ['{ odd: { unknown: dbt } }', 'compose.wrong-value', 'Write'],
])('%s is refused with its place', async (situations, code, next) => {
  await expect(loadAgent(folder(situations), vocabulary)).rejects.toMatchObject({
    code,
    next: expect.stringContaining(next),
    details: { line: 4, column: expect.any(Number) },
  });
});

test('no fact may be called unknown', async () => {
  const files = { 'agent.yaml': agentYaml([], 'facts: { unknown: { type: bool } }\n') };
  await expect(loadAgent(folderWith(files), vocabulary)).rejects.toMatchObject({
    code: 'compose.wrong-value',
    next: 'Give the fact another name.',
  });
});
