/** Lint: a text names only tools that are offered where it stands, with the fragment and the line where it does not. */
import { describe, expect, test } from 'vitest';
import { loadAgent } from '../load/agent.ts';
import { bodyLine, digestsOf, quotingLine, readFragmentFiles } from '../load/proof-files.ts';
import { agentYaml, folderWith } from '../testing.cases.ts';
import { closedFactFindings } from './closed-facts.ts';
import { toolFindings, unusedFindings } from './lint.ts';
import { namedTexts } from './lock.ts';

const tools = new Map([
  ['sql_query', 'sql'],
  ['project_read', 'project'],
  ['edit', 'edit'],
]);
const vocabulary = {
  tools: [...tools.keys()],
  capabilities: [...tools.values()],
  probes: [],
  toolCapabilities: Object.fromEntries(tools),
};

async function lint(fragments: Readonly<Record<string, string>>, lines: string) {
  const files = Object.fromEntries(
    Object.entries(fragments).map(([id, text]) => [`instructions/${id}.md`, text]),
  );
  const yaml = agentYaml(Object.keys(fragments), lines);
  const agent = await loadAgent(folderWith({ 'agent.yaml': yaml, ...files }), vocabulary);
  const bytes = await readFragmentFiles(agent);
  const { texts } = await namedTexts(agent, digestsOf(bytes));
  const found = toolFindings(agent, texts, (fragment) => bodyLine(bytes, fragment));
  return found.map(({ file, line, message, more }) => [`${file}:${line}`, message, ...more]);
}

const full = 'capabilities: { from: none, sql: true }\ntools: [sql_query]\n';

test('a tool of the agent with its capability may be named', async () => {
  expect(await lint({ a: 'Use `sql_query`.\n' }, full)).toEqual([]);
});

test('a tool that the agent does not have, or whose capability is off, may not', async () => {
  expect(await lint({ a: '---\ntitle: A\n---\n\nUse it.\nCall project_read (or `edit`).\n' }, full)).toEqual([
    [
      'instructions/a.md:6',
      "fragment 'a' names the tool 'project_read', and the agent does not have it",
      'in any situation (profile default)',
    ],
    [
      'instructions/a.md:6',
      "fragment 'a' names the tool 'edit', and the agent does not have it",
      'in any situation (profile default)',
    ],
  ]);
  expect(await lint({ a: 'Use sql_query.\n' }, 'tools: [sql_query]\n')).toMatchObject(
    [
      [
        'instructions/a.md:1',
        "fragment 'a' names the tool 'sql_query', and the capability 'sql' is off",
        /in any/,
      ],
    ].map(([place, message]) => [place, message, expect.any(String)]),
  );
});

test('a fragment that its capability gates is only judged where it may be in', async () => {
  const gated = { a: '---\nwhen: capability.sql\n---\nUse sql_query.\n', b: 'Nothing.\n' };
  expect(await lint(gated, 'tools: [sql_query]\n')).toEqual([]);
  const situations = 'situations: { off: { capability.sql: false }, on: { mode: headless } }\n';
  expect(await lint(gated, full + situations)).toEqual([]);
  expect(await lint({ a: 'Use sql_query.\n' }, full + situations)).toEqual([
    [
      'instructions/a.md:1',
      "fragment 'a' names the tool 'sql_query', and the capability 'sql' is off",
      'in off (profile default)',
    ],
  ]);
});

test('a fragment that no named situation reaches is looked at too', async () => {
  const hidden = { a: '---\nwhen: mode == "interactive"\n---\nUse project_read.\n' };
  expect(await lint(hidden, `${full}situations: { one: { mode: headless } }\n`)).toHaveLength(1);
});

test('a template is judged by the branches that may be taken, and by their own lines', async () => {
  const body =
    '---\ntemplate: true\n---\n{% when capability.sql %}\nUse sql_query.\n{% else %}\nNo sql_query\nhere.\n{% end %}\n';
  expect(await lint({ a: body }, full)).toEqual([]);
  expect((await lint({ a: body }, 'tools: [sql_query]\n')).map(([place]) => place)).toEqual([
    'instructions/a.md:7',
  ]);
});

describe('what counts as a name', () => {
  test.each([
    ['`edit`', 1],
    ['call edit() or `edit(x)`', 1],
    ['the edit tool', 1],
    ['the tool edit', 1],
    ['edit your answer; tools edit nothing', 0],
    ['credit `edits` re-edit', 0],
    ['project_reader my_project_read project-read', 0],
    ['**project_read**, (project_read)', 1],
  ])('%s', async (text, findings) => {
    expect(await lint({ a: `${text}\n` }, full)).toHaveLength(findings);
  });
});

test('fragments that stand in no profile are named', async () => {
  const agent = await loadAgent(
    folderWith({ 'agent.yaml': agentYaml([]), 'instructions/x.md': 'X.' }),
    vocabulary,
  );
  expect(unusedFindings(agent)).toMatchObject([
    { rule: 'unused-fragment', level: 'warning', file: 'instructions/x.md' },
  ]);
});

describe('a mode that is none', () => {
  const strangers = async (fragment: string) => {
    const yaml = agentYaml(['a'], '');
    const agent = await loadAgent(
      folderWith({ 'agent.yaml': yaml, 'instructions/a.md': fragment }),
      vocabulary,
    );
    const files = await readFragmentFiles(agent);
    return closedFactFindings(agent, (one, text) => quotingLine(files, one, text));
  };

  test('is a warning at its line', async () => {
    expect(await strangers('---\ntitle: A\nwhen: mode == "headles"\n---\nA\n')).toEqual([
      {
        rule: 'never-so',
        level: 'warning',
        file: 'instructions/a.md',
        line: 3,
        message: `a condition of 'a' compares mode with "headles", and mode is headless or interactive`,
        more: [],
      },
    ]);
  });

  test.each([
    ['when: mode != "Headless"', 1],
    ["when: \"'x' == mode || mode in ['headless', 'batch']\"", 2],
    ['when: mode.startsWith("int") && mode.contains("zz")', 1],
    ['when: mode == "headless" || mode in ["interactive"] || mode.endsWith("less")', 0],
    ['when: mode == env.MODE && env.MODE == "batch"', 0],
    ['when: env.MODE == "batch"', 0],
  ])('%s has %i', async (when, found) => {
    expect(await strangers(`---\n${when}\n---\nA\n`)).toHaveLength(found);
  });

  test('stands in a template too', async () => {
    const body =
      '---\ntemplate: true\n---\n{% when mode == "headless" %}{% when mode == "x" %}A{% end %}{% end %}\n';
    expect(await strangers(body)).toMatchObject([{ rule: 'never-so', line: 4 }]);
  });
});
