import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ComposeError } from '../errors.ts';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { loadAgent, loadSituation } from './agent.ts';
import { agentJsonSchema } from './schema.ts';

const base = { 'instructions/a.md': 'A\n', 'instructions/b.md': 'B\n' };

/** Loads a folder with this agent.yaml and answers the error as data, its file without the folder. */
async function errorOf(yaml: string | Uint8Array, more: Record<string, string | Uint8Array> = {}) {
  return errorIn(folderWith({ 'agent.yaml': yaml, ...base, ...more }));
}

async function errorIn(folder: string) {
  const thrown = await loadAgent(folder, vocabulary).then(
    () => undefined,
    (error) => error,
  );
  if (!(thrown instanceof ComposeError)) throw thrown ?? new Error('the folder was accepted');
  const { code, kind, message, next, details } = thrown.toJSON();
  const place = details?.line === undefined ? '' : `${details.line}:${details.column}`;
  return { code, kind, place, message: message.replaceAll(`${folder}/`, '').replaceAll(folder, 'DIR'), next };
}

describe('an agent folder', () => {
  test('is read whole', async () => {
    const folder = folderWith({
      'agent.yaml': readFileSync(join(import.meta.dirname, 'agent.sample.yaml')),
      ...base,
      'instructions/sql-guard.md':
        '---\nid: guard\ntitle: Guard\nwhen: mode == "headless" && workspace.dbt == false\nunknown: drop\nevidence: [one.yaml]\n---\nGuard.\n',
      'instructions/spare.md': '---\ntemplate: true\nlayer: directives\n---\n{{ env.TEAM }}\n',
      'skills/report/SKILL.md': '---\nname: report\ndescription: Writes reports.\n---\nx',
    });
    const agent = await loadAgent(folder, vocabulary);
    expect({ ...agent, fragments: [...agent.fragments.keys()], facts: [...agent.facts.keys()] }).toEqual({
      folder,
      key: 'analyst',
      name: 'Data analyst',
      join: 'verbatim',
      profiles: new Map([
        ['default', ['a', 'guard', 'b']],
        ['qa', ['a']],
      ]),
      facts: [
        'mode',
        'agent.key',
        'text.stock',
        'resource.workspace',
        'capability.sql',
        'capability.project',
        'capability.mcp.files',
        'capability.mcp.docs',
        'git.repository',
        'git.branch',
        'workspace.dbt',
        'level',
        'env.TEAM',
      ],
      surface: { mode: 'compiled', tokens: 900 },
      conversation: null,
      policies: {},
      plans: { decisionSkills: [], stepSkills: [] },
      spec: null,
      toolOffers: new Map([
        ['tool.sql_query', { tool: 'sql_query', listed: true, capability: null }],
        ['tool.project_read', { tool: 'project_read', listed: true, capability: null }],
      ]),
      situations: new Map([
        [
          'plain',
          new Map<string, unknown>([
            ['mode', 'headless'],
            ['workspace.dbt', false],
            ['env.CI', '1'],
          ]),
        ],
      ]),
      capabilities: ['sql'],
      knownCapabilities: ['mcp.docs', 'mcp.files', 'project', 'sql'],
      tools: [
        { name: 'sql_query', options: { database: 'sales.sqlite' } },
        { name: 'project_read', options: {} },
      ],
      mcp: new Map<string, unknown>([
        ['files', { command: 'node', args: ['server.js'] }],
        ['docs', { url: 'https://example.test/mcp' }],
      ]),
      model: 'openrouter/vendor/model',
      budget: { turns: 12, costUsd: 0.25 },
      deliver: { intent: 'append', fidelity: null },
      skills: ['report'],
      ownSkills: [
        {
          name: 'report',
          description: 'Writes reports.',
          origin: 'agent',
          folder: expect.any(String),
          digest: expect.any(String),
        },
      ],
      prices: new Map([['openrouter/vendor/model', { prompt: 0.5, completion: 1.5, cached: 0.05 }]]),
      fragments: ['a', 'b', 'spare', 'guard'],
      limits: {},
      unused: ['spare'],
    });
    expect(agent.facts.get('workspace.dbt')).toEqual({
      name: 'workspace.dbt',
      type: 'bool',
      builtIn: false,
      probe: 'project-marker',
      options: { files: ['dbt_project.yml'], skip: ['target'] },
      default: null,
      volatile: false,
      certain: false,
    });
    const guard = agent.fragments.get('guard');
    expect({ ...guard, when: guard?.when?.source }).toEqual({
      id: 'guard',
      file: 'instructions/sql-guard.md',
      layer: 'contract',
      title: 'Guard',
      when: 'mode == "headless" && workspace.dbt == false',
      unknown: 'drop',
      evidence: ['one.yaml'],
      body: 'Guard.\n',
      trimmed: 'Guard.',
      template: null,
    });
  });

  test.each([
    ['all', ['project', 'sql']],
    ['none', []],
    ['[sql]', ['sql']],
    ['{ from: all, sql: false }', ['project']],
    ['{ from: none, sql: true }', ['sql']],
    ['{ project: true }', ['project']],
  ])('capabilities: %s', async (written, held) => {
    const folder = folderWith({ 'agent.yaml': agentYaml(['a'], `capabilities: ${written}\n`), ...base });
    expect((await loadAgent(folder, vocabulary)).capabilities).toEqual(held);
  });

  test('a byte-order mark and CRLF in agent.yaml change nothing', async () => {
    const yaml = `\ufeff${agentYaml(['a'], 'name: No problem\n').replaceAll('\n', '\r\n')}`;
    const agent = await loadAgent(folderWith({ 'agent.yaml': yaml, ...base }), vocabulary);
    expect([agent.key, agent.name]).toEqual(['demo', 'No problem']);
  });

  test('the published JSON Schema is the one the loader checks', () => {
    const published = readFileSync(join(import.meta.dirname, '../../../schema/agent.schema.json'), 'utf8');
    expect(published).toBe(`${JSON.stringify(agentJsonSchema(), null, 2)}\n`);
  });
});

describe('errors of agent.yaml', () => {
  test.each([
    ['key: x\nprofils: {}\n', 'compose.unknown-key', '2:1', "Write 'profiles'."],
    [agentYaml(['a'], 'budget: { turn: 3 }\n'), 'compose.unknown-key', '3:11', "Write 'turns'."],
    [agentYaml(['a'], 'deliver:\n  intend: append\n'), 'compose.unknown-key', '4:3', "Write 'intent'."],
    [agentYaml(['a'], 'facts:\n  x: { typ: bool }\n'), 'compose.unknown-key', '4:8', "Write 'type'."],
    [agentYaml(['a'], 'mcp: { s: { comand: x } }\n'), 'compose.unknown-key', '3:13', "Write 'command'."],
    ['profiles: { default: [] }\n', 'compose.wrong-value', '1:1', 'Write key: …'],
    ['key: 1.10\nprofiles: { default: [] }\n', 'compose.wrong-value', '1:6', 'Put it in quotes: "1.10".'],
    [
      'key: 010\nprofiles: { default: [] }\n',
      'compose.wrong-value',
      '1:6',
      'Write "010" in quotes for the text, or 10 for the number.',
    ],
    ['key: true\nprofiles: { default: [] }\n', 'compose.wrong-value', '1:6', 'Put it in quotes: "true".'],
    [
      'key: my agent\nprofiles: { default: [] }\n',
      'compose.wrong-value',
      '1:6',
      'Write a value of that form.',
    ],
    [
      'key:\nprofiles: { default: [] }\n',
      'compose.wrong-value',
      '1:5',
      'Give it a value, or leave the key out.',
    ],
    [agentYaml(['a'], 'join: block\n'), 'compose.wrong-value', '3:7', "Write 'blocks'."],
    [agentYaml(['a'], 'capabilities: { sql: no }\n'), 'compose.wrong-value', '3:22', 'Write false'],
    [
      agentYaml(['a'], 'facts: { x: { type: bool, volatile: no } }\n'),
      'compose.wrong-value',
      '3:37',
      'Write false: YAML reads no and off as text.',
    ],
    [
      agentYaml(['a'], 'facts: { x: { type: bool } }\nsituations: { s: { x: yes } }\n'),
      'compose.wrong-value',
      '4:23',
      'Write true: YAML reads yes and on as text.',
    ],
    [
      agentYaml(['a'], 'facts: { x: { type: string } }\nsituations: { s: { x: 1.10 } }\n'),
      'compose.wrong-value',
      '4:23',
      'Put it in quotes: "1.10".',
    ],
    [
      agentYaml(['a'], 'situations: { s: { mode: batch } }\n'),
      'compose.wrong-value',
      '3:26',
      'Write one of the two.',
    ],
    [agentYaml(['a'], 'situations: { s: { agent.key: x } }\n'), 'compose.unknown-name', '3:20', 'Use one of'],
    [
      agentYaml(['a'], 'situations: { s: { capability.sq: true } }\n'),
      'compose.unknown-name',
      '3:20',
      "Write 'capability.sql'.",
    ],
    [agentYaml(['a'], 'budget: { turns: 1.5 }\n'), 'compose.wrong-value', '3:18', 'Write a value'],
    [agentYaml(['a'], 'budget: { turns: -1 }\n'), 'compose.wrong-value', '3:18', 'Write a value'],
    [
      agentYaml(['a'], 'prices: { m: { prompt: .inf, completion: 1 } }\n'),
      'compose.wrong-value',
      '3:24',
      'Write a value',
    ],
    [agentYaml(['a'], 'mcp: { s: {} }\n'), 'compose.wrong-value', '3:11', 'Write a value'],
    [agentYaml(['a'], 'tools: [sql_qery]\n'), 'compose.unknown-name', '3:9', "Write 'sql_query'."],
    [
      agentYaml(['a'], 'tools: [{ sql_query: {}, project_read: {} }]\n'),
      'compose.wrong-value',
      '3:9',
      'own hyphen',
    ],
    [
      agentYaml(['a'], 'tools: [sql_query, { sql_query: {} }]\n'),
      'compose.repeated-name',
      '3:20',
      'Take one',
    ],
    [agentYaml(['a'], 'capabilities: [sq]\n'), 'compose.unknown-name', '3:16', "Write 'sql'."],
    [agentYaml(['a'], 'capabilities: { form: all }\n'), 'compose.unknown-name', '3:17', "Write 'from'."],
    [
      agentYaml(['a'], 'capabilities: { from: true }\n'),
      'compose.wrong-value',
      '3:23',
      'Write one of the two.',
    ],
    [
      agentYaml(['a'], 'policies: { done: always }\n'),
      'compose.unknown-key',
      '3:13',
      'completion, starvation',
    ],
    [agentYaml(['a'], 'skills: some\n'), 'compose.wrong-value', '3:9', 'Write a value of that form.'],
    [
      agentYaml(['a'], 'facts: { x: { type: bool, probe: project-maker } }\n'),
      'compose.unknown-name',
      '3:34',
      "Write 'project-marker'.",
    ],
    [
      agentYaml(['a'], 'facts: { x: { type: bool, probe: project-marker, default: true } }\n'),
      'compose.wrong-value',
      '3:50',
      'Take one',
    ],
    [
      agentYaml(['a'], 'facts: { x: { type: bool, options: {} } }\n'),
      'compose.wrong-value',
      '3:27',
      'Name a probe.',
    ],
    [
      agentYaml(['a'], 'facts: { x: { type: int, default: 1.5 } }\n'),
      'compose.wrong-value',
      '3:35',
      'Write a value',
    ],
    [
      agentYaml(['a'], 'facts: { my-fact: { type: bool } }\n'),
      'compose.wrong-value',
      '3:10',
      'Call it my_fact.',
    ],
    [
      agentYaml(['a'], 'facts: { env.X: { type: bool } }\n'),
      'compose.wrong-value',
      '3:10',
      'another first part',
    ],
    [
      agentYaml(['a'], 'facts: { a: { type: bool }, a.b: { type: bool } }\n'),
      'compose.wrong-value',
      '3:10',
      'Rename',
    ],
    [
      agentYaml(['a'], 'facts: { package: { type: bool } }\n'),
      'compose.wrong-value',
      '3:10',
      'Use another name.',
    ],
    ['key: x\nprofiles: { qa: [a] }\n', 'compose.unknown-name', '2:1', 'Add default: [ … ] to profiles.'],
    [agentYaml(['a', 'c']), 'compose.unknown-name', '2:26', 'Use one of: a, b.'],
    [agentYaml(['a', 'b', 'a']), 'compose.repeated-name', '2:29', 'Take one'],
    ['- key: x\n', 'compose.yaml', '1:1', 'Write key: value lines.'],
    ['just text\n', 'compose.yaml', '1:1', 'Write key: value lines.'],
    ['', 'compose.wrong-value', '1:1', 'Write key: …'],
    ['# nothing\n', 'compose.wrong-value', '1:1', 'Write key: …'],
    ['key: x\nkey: y\n', 'compose.yaml', '2:1', 'Take one of the two out.'],
    ['key: x\nprofiles:\n\tdefault: []\n', 'compose.yaml', '3:1', 'Indent with spaces.'],
    ['key: x\nname: Data: analyst\n', 'compose.yaml', '2:7', 'colon'],
    ['key: x\nname: [a] b\n', 'compose.yaml', '2:11', 'Put the whole value in quotes.'],
    ['key: x\nname: @you\n', 'compose.yaml', '2:7', 'Put the whole value in quotes.'],
    ['key: x\n---\nkey: y\n', 'compose.yaml', '2:1', 'Take the --- line'],
    ['key: &k x\nname: *k\n', 'compose.yaml', '1:9', 'Write the value out'],
    ['key: x\nname: *k\n', 'compose.yaml', '2:7', 'quotes'],
    ['key: x\n1: y\n', 'compose.yaml', '2:1', 'Write "1" in quotes.'],
    ['key: x\n__proto__: y\n', 'compose.yaml', '2:1', 'Use another key.'],
    ['key: x\n? [a]\n: y\n', 'compose.yaml', '2:3', 'Use another key.'],
    ['key: !!js/function x\n', 'compose.yaml', '1:6', 'quotes'],
    ['key: "x\n', 'compose.yaml', undefined, 'Close the quote'],
  ] as [string, string, string | undefined, string][])('%j', async (yaml, code, place, next) => {
    const error = await errorOf(yaml);
    expect(error).toMatchObject({ code, kind: 'input', ...(place === undefined ? {} : { place }) });
    expect(error.next).toContain(next);
    expect(error.message).toMatch(/^agent\.yaml:\d+:\d+: .*\.$/s);
  });

  test('a message says the place, what was expected and what was found', async () => {
    expect(await errorOf(agentYaml(['a'], 'facts: { x: { type: bool, volatile: no } }\n'))).toEqual({
      code: 'compose.wrong-value',
      kind: 'input',
      place: '3:37',
      message: `agent.yaml:3:37: 'facts.x.volatile' should be true or false, found the text "no".`,
      next: 'Write false: YAML reads no and off as text.',
    });
  });

  test('of several errors the first in the file is named', async () => {
    expect(await errorOf('nme: x\nkey: 1\nprofiles: 2\n')).toMatchObject({ place: '1:1' });
  });

  test('columns count characters, behind a byte-order mark too', async () => {
    expect(await errorOf('\ufeff{ key: "😀é", nme: x }\n')).toMatchObject({ place: '1:14' });
    expect(await errorOf('\ufeff{ name: "😀é", nme: x }\n')).toMatchObject({ place: '1:15' });
  });
});

describe('folders and files that cannot be read', () => {
  test('a missing folder, a file, and a folder without agent.yaml', async () => {
    const folder = folderWith({ 'agent.yml': 'key: x\n', 'sub/x': '' });
    expect(await errorIn(join(folder, 'missing'))).toMatchObject({
      code: 'compose.no-agent',
      next: expect.stringContaining('writ init'),
    });
    expect(await errorIn(join(folder, 'agent.yml'))).toMatchObject({
      code: 'compose.no-agent',
      next: 'Give the folder that holds agent.yaml.',
    });
    expect(await errorIn(folder)).toMatchObject({
      code: 'compose.no-agent',
      next: 'Rename agent.yml to agent.yaml.',
    });
    expect(await errorIn(join(folder, 'sub'))).toMatchObject({ code: 'compose.no-agent' });
    expect(await errorIn(join(folder, 'agent.yml', 'below'))).toMatchObject({
      code: 'compose.no-agent',
      message: expect.stringContaining('ENOTDIR'),
    });
  });

  test('a folder in place of agent.yaml, a dangling link, bytes that are not UTF-8', async () => {
    const folder = folderWith({});
    mkdirSync(join(folder, 'agent.yaml'));
    expect(await errorIn(folder)).toMatchObject({
      code: 'compose.unreadable',
      next: 'Put a text file in its place.',
    });
    const dangling = folderWith({ 'agent.yaml': agentYaml(['x']), 'instructions/y.md': '' });
    symlinkSync('nowhere', join(dangling, 'instructions/x.md'));
    expect(await errorIn(dangling)).toMatchObject({ code: 'compose.unreadable', next: 'Create the file.' });
    const utf16 = Buffer.from('\ufeffkey: é\n', 'utf16le');
    expect(await errorOf(utf16)).toMatchObject({
      code: 'compose.unreadable',
      next: 'Save the file as UTF-8.',
    });
  });

  test('instructions that are a file', async () => {
    const folder = folderWith({ 'agent.yaml': agentYaml([]), instructions: 'x' });
    expect(await errorIn(folder)).toMatchObject({
      code: 'compose.unreadable',
      message: expect.stringContaining('ENOTDIR'),
    });
  });

  test('an agent without instructions is an agent with an empty text', async () => {
    const agent = await loadAgent(folderWith({ 'agent.yaml': agentYaml([]) }), vocabulary);
    expect([...agent.fragments]).toEqual([]);
  });
});

describe('a situation file', () => {
  test('is checked like a situation of agent.yaml', async () => {
    const folder = folderWith({
      'agent.yaml': agentYaml(['a'], 'facts: { n: { type: int } }\n'),
      ...base,
      'good.yaml': 'mode: interactive\nn: 3\n',
      'bad.yaml': 'mode: interactive\nn: "3"\n',
    });
    const agent = await loadAgent(folder, vocabulary);
    expect(await loadSituation(join(folder, 'good.yaml'), agent)).toEqual(
      new Map<string, unknown>([
        ['mode', 'interactive'],
        ['n', 3],
      ]),
    );
    await expect(loadSituation(join(folder, 'bad.yaml'), agent)).rejects.toMatchObject({
      code: 'compose.wrong-value',
      details: { line: 2, column: 4 },
    });
  });
});
