import { describe, expect, test } from 'vitest';
import { compose } from './compose.ts';
import { compositionJson, explain } from './explain.ts';
import { loadAgent } from './load/agent.ts';
import { scaffoldAgent } from './scaffold.ts';
import { settle } from './settle.ts';
import { agentYaml, folderWith, vocabulary } from './testing.cases.ts';

async function composition(profile = 'default') {
  const folder = folderWith({
    'agent.yaml':
      `${agentYaml(['who', 'base', 'guard', 'team'])}facts: { workspace.dbt: { type: bool } }\n`.replace(
        '] }',
        '], none: [] }',
      ),
    'instructions/who.md': '---\nlayer: identity\n---\nI.\n',
    'instructions/base.md': 'Base.\n',
    'instructions/guard.md':
      '---\nwhen: mode == "headless" && workspace.dbt == false\nunknown: drop\n---\nGuard.\n',
    'instructions/team.md': `---\nwhen: env.TEAM in ["${'long name '.repeat(12)}", "x"]\n---\nTeam.\n`,
  });
  const agent = await loadAgent(folder, vocabulary);
  const texts = { identity: 'Me.', session: 'Short.' };
  return compose(agent, await settle(agent, { profile, env: { TEAM: 'x\n# y' }, texts }, []));
}

describe('explain', () => {
  test('shows layers, sizes, decisions with their facts, and the stable prefix', async () => {
    const one = await composition();
    expect(explain(one)).toBe(`agent demo, profile default
sha256 ${one.digest}
${one.bytes} bytes, ${one.characters} characters, about ${one.tokens} tokens (chars/4)
stable prefix: 10 of ${one.bytes} bytes, up to a point in the layer contract

LAYERS
  identity           4 bytes       1 tokens
      given for the session
  contract           6 bytes       2 tokens
      base
  session          ${one.layers[2]?.bytes} bytes      ${one.layers[2]?.tokens} tokens
      given for the session

FRAGMENTS
  out  who
       replaced by the identity given for the session
  in   base
  out  guard
       when mode == "headless" && workspace.dbt == false → unknown, dropped
         mode = "headless" (built-in)
         workspace.dbt is unknown: nothing gave it a value (agent.yaml)
  out  team
       when env.TEAM in ["long name long name long name long name long name long name long name long
         name long name long name long name long name ", "x"] → false
         env.TEAM = "x\\n# y" (environment)
`);
  });

  test('is never wider than 100 columns, and says what is empty', async () => {
    const one = await composition();
    const wide = {
      ...one,
      agent: 'x'.repeat(250),
      decisions: [
        { fragment: 'y '.repeat(90), included: true, value: 'true', when: null, facts: [] } as const,
      ],
    };
    expect(
      Math.max(
        ...explain(wide)
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(100);
    const empty = { ...one, layers: [], decisions: [], bytes: 0, stablePrefixBytes: 0 };
    expect(explain(empty)).toContain('none: the text is empty');
    expect(explain(empty)).toContain('stable prefix: all 0 bytes');
    expect(explain(empty)).toContain('none in this profile');
  });
});

describe('explain with the agent', () => {
  test('shows titles and evidence, why a replaced identity is out, and what stands in no profile', async () => {
    const folder = folderWith({
      'agent.yaml': `${agentYaml(['who', 'base'])}facts: { dbt: { type: bool } }\n`,
      'instructions/who.md': '---\nlayer: identity\nwhen: dbt\nunknown: drop\n---\nI.\n',
      'instructions/base.md': '---\ntitle: How you work\nevidence: [one.yaml, two.yaml]\n---\nBase.\n',
      'instructions/spare.md': 'Spare.\n',
    });
    const agent = await loadAgent(folder, vocabulary);
    const one = compose(agent, await settle(agent, { texts: { identity: 'Me.' } }, []));
    const [, decisions] = explain(one, agent).split('FRAGMENTS\n');
    expect(decisions).toBe(`  out  who
       replaced by the identity given for the session
       when dbt → unknown
         dbt is unknown: nothing gave it a value (agent.yaml)
  in   base · How you work
       evidence: one.yaml
       evidence: two.yaml

NOT USED, in no profile
  spare · instructions/spare.md
`);
    expect(explain(one)).not.toContain('NOT USED');
  });

  test('cuts no character in half at the margin', async () => {
    for (const lead of ['', 'x']) {
      const text = explain({ ...(await composition()), agent: `${lead}${'😀'.repeat(120)}` });
      expect(text).not.toMatch(/\p{Surrogate}/u);
    }
  });
});

test('the JSON has its keys in the promised order', async () => {
  const json = compositionJson(await composition());
  expect(Object.keys(json)).toEqual(
    'agent digest bytes characters tokens tokenMethod text stablePrefixBytes layers decisions'.split(' '),
  );
  expect(Object.keys(json.layers[0] ?? {})).toEqual('id title bytes tokens digest fragments'.split(' '));
  expect(Object.keys(json.decisions[0] ?? {})).toEqual(
    'fragment included value when facts replaced'.split(' '),
  );
  expect(Object.keys(json.decisions[1] ?? {})).toEqual('fragment included value when facts'.split(' '));
  const guard = json.decisions[2];
  expect(guard?.facts.map((fact) => Object.keys(fact))).toEqual([
    ['name', 'known', 'value', 'source'],
    ['name', 'known', 'reason', 'source'],
  ]);
  expect(JSON.parse(JSON.stringify(json))).toEqual(json);
});

describe('the scaffold', () => {
  test.each(['helper', '010', 'true', 'x.y-z'])(
    'with the key %s loads, and composes to what its files say',
    async (key) => {
      const files = scaffoldAgent(key);
      const agent = await loadAgent(folderWith(Object.fromEntries(files)), vocabulary);
      expect([agent.key, agent.tools, agent.capabilities, agent.unused]).toEqual([
        key,
        [{ name: 'project_read', options: {} }],
        ['project'],
        [],
      ]);
      for (const [situation, fragments] of [
        ['headless', ['base', 'headless', 'finish']],
        ['interactive', ['base', 'finish']],
      ] as const) {
        const { layers } = compose(agent, await settle(agent, { situation }, []));
        expect(layers.map((layer) => layer.fragments)).toEqual([fragments]);
      }
    },
  );
});
