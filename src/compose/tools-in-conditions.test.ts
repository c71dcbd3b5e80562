/** `tool.NAME` in conditions: a clause that names a tool shrinks where the tool is proven absent, and only there. */
import { describe, expect, test } from 'vitest';
import { vocabulary as builtIn } from '../catalog.ts';
import { compose } from './compose.ts';
import { loadAgent } from './load/agent.ts';
import { toolFindings } from './proof/lint.ts';
import { lockAgent, namedTexts } from './proof/lock.ts';
import { spaceOf } from './proof/space.ts';
import { settle } from './settle.ts';
import { agentYaml, folderWith } from './testing.cases.ts';

const goals = `---
template: true
---
Where there is a goal it is yours.
{% when tool.TOOL %}
Call \`TOOL\` when it is reached.
{% else %}
Report what was reached, and claim nothing.
{% end %}
`;
const whole = (tool: string) => `Where there is a goal it is yours.\nCall \`${tool}\` when it is reached.\n`;
const short = 'Where there is a goal it is yours.\nReport what was reached, and claim nothing.\n';

const agentWith = (tool: string, lines: string, more: Readonly<Record<string, string>> = {}) =>
  loadAgent(
    folderWith({
      'agent.yaml': agentYaml(['goals'], lines),
      'instructions/goals.md': goals.replaceAll('TOOL', tool),
      ...more,
    }),
    builtIn,
  );

describe.each(builtIn.tools)('%s', (tool) => {
  const capability = builtIn.toolCapabilities?.[tool] ?? '';
  const listed = `tools: [${tool === 'sql_query' ? 'sql_query: { database: x.sqlite }' : tool}]\n`;

  test('listed and held, not held, and not listed', async () => {
    const texts = await Promise.all(
      [
        `${listed}capabilities: [${capability}]\n`,
        `${listed}capabilities: none\n`,
        'capabilities: all\n',
      ].map(async (lines) => {
        const agent = await agentWith(tool, lines);
        return compose(agent, await settle(agent, {}, [])).text;
      }),
    );
    expect(texts).toEqual([whole(tool), short, short]);
  });

  test('nothing that names it is told of where it is not offered', async () => {
    for (const lines of [`${listed}capabilities: none\n`, 'capabilities: all\n']) {
      const agent = await agentWith(tool, `${lines}situations: { plain: { mode: headless } }\n`);
      const { texts } = await namedTexts(agent, new Map());
      expect(toolFindings(agent, texts, () => 1)).toEqual([]);
    }
  });
});

test("a situation's capability decides, a decision names it, and space and lock know both texts", async () => {
  const lines = [
    'tools: [project_read]',
    'capabilities: [project]',
    'situations: { without: { capability.project: false }, with: { capability.project: true } }',
    '',
  ].join('\n');
  const gate = '---\nwhen: tool.project_read\n---\nRead with `project_read`.\n';
  const agent = await agentWith('project_read', lines, { 'instructions/goals.md': gate });
  const without = compose(agent, await settle(agent, { situation: 'without' }, []));
  expect(without.decisions).toEqual([
    {
      fragment: 'goals',
      included: false,
      value: 'false',
      when: 'tool.project_read',
      facts: [{ name: 'capability.project', known: true, value: false, source: 'situation without' }],
    },
  ]);
  const lock = await lockAgent(agent, new Map());
  const pins = Object.values(lock.situations).map(({ default: pin }) => pin?.sha256 ?? '');
  const space = await spaceOf(agent, 'default', new Set(pins));
  expect([space.count, space.notLocked]).toEqual([2, 0]);
});

test('whether an own tool is offered cannot be told before its file has run, so its text is kept', async () => {
  const agent = await agentWith('goal', 'tools: [goal]\ncapabilities: [goals]\n', { 'tools/goal.mjs': '' });
  expect(compose(agent, await settle(agent, {}, [])).text).toBe(whole('goal'));
  const unlisted = await agentWith('goal', '', { 'tools/goal.mjs': '' });
  expect(compose(unlisted, await settle(unlisted, {}, [])).text).toBe(short);
});

test.each([
  ['goal', '{ goal: , capability: goals }'],
  ['goal_set', '{ goal: , capability: { goal_read: look, goal_set: goals } }'],
])('of an own tool %s, said as %s, its capability decides', async (tool, entry) => {
  const held = async (lines: string) => {
    const agent = await agentWith(tool, `tools: [${entry}]\n${lines}`, { 'tools/goal.mjs': '' });
    return compose(agent, await settle(agent, {}, [])).text;
  };
  expect(await held('capabilities: [goals]\n')).toBe(whole(tool));
  expect(await held('')).toBe(short);
});

test('a tool that there is not is a slip, and no fact may be called like a tool', async () => {
  await expect(agentWith('project_raed', '')).rejects.toMatchObject({
    code: 'compose.template',
    next: "Write 'tool.project_read'.",
  });
  await expect(agentWith('project_read', 'facts: { tool.mine: { type: bool } }\n')).rejects.toMatchObject({
    code: 'compose.wrong-value',
  });
});
