/** Names that an agent folder brings itself, and where such a name still is an error. */
import { describe, expect, test } from 'vitest';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { loadAgent } from './agent.ts';

const canary = "throw new Error('executed');";

const load = (lines: string, files: Readonly<Record<string, string>> = {}) =>
  loadAgent(folderWith({ 'agent.yaml': agentYaml([], lines), ...files }), vocabulary);

describe('tools of the folder', () => {
  test('a file of tools/ is a tool by its name; nothing of it is executed', async () => {
    const agent = await load(
      'tools: [project_read, mail, { send-fax: { line: 3 } }]\ncapabilities: { from: none, mail: true }\n',
      { 'tools/mail.mjs': canary, 'tools/send-fax.mjs': canary, 'tools/notes.md': '' },
    );
    expect(agent.tools).toEqual([
      { name: 'project_read', options: {} },
      { name: 'mail', options: {}, own: true },
      { name: 'send-fax', options: { line: 3 }, own: true },
    ]);
    expect(agent.capabilities).toEqual(['mail']);
    expect(agent.facts.get('capability.mail')).toMatchObject({ type: 'bool', builtIn: true });
  });

  test.each([
    ['tools: [mial]\n', 'compose.unknown-name', "Write 'mail'."],
    ['tools: [notes]\n', 'compose.unknown-name', 'Use one of: sql_query, project_read, mail.'],
    ['tools: [sql_query]\n', 'compose.repeated-name', 'Give the file another name.'],
    // Without a tool of its own nothing could have the capability.
    ['capabilities: { from: none, mail: true }\n', 'compose.unknown-name', 'Use one of: sql, project'],
    ['tools: [mail]\ncapabilities: { from: none, "no name": true }\n', 'compose.unknown-name', 'Use one of'],
    ['tools: [mail]\ncapabilities: [mcp.mail]\n', 'compose.unknown-name', 'Use one of'],
  ])('%j is %s', async (lines, code, next) => {
    const files = { 'tools/mail.mjs': canary, 'tools/sql_query.mjs': canary, 'tools/notes.md': '' };
    await expect(load(lines, files)).rejects.toMatchObject({
      code,
      next: expect.stringContaining(next),
    });
  });
});

describe('the capability of a tool of the folder', () => {
  const files = { 'tools/mail.mjs': canary, 'tools/mail_log.mjs': canary };

  test('is what agent.yaml says beside its options, for all tools of the file or for each', async () => {
    const agent = await load(
      'tools: [{ mail: { from: ana }, capability: { mail: post, mail_read: mail } }, { mail_log: , capability: log }, project_read]\n',
      files,
    );
    expect(agent.tools).toEqual([
      { name: 'mail', options: { from: 'ana' }, own: true, capability: { mail: 'post', mail_read: 'mail' } },
      { name: 'mail_log', options: {}, own: true, capability: 'log' },
      { name: 'project_read', options: {} },
    ]);
    expect([...agent.toolOffers.values()].filter(({ listed }) => listed)).toEqual([
      { tool: 'mail', listed: true, capability: 'post' },
      { tool: 'mail_read', listed: true, capability: 'mail' },
      { tool: 'mail_log', listed: true, capability: 'log' },
      { tool: 'project_read', listed: true, capability: null },
    ]);
    expect(agent.knownCapabilities).toEqual(['log', 'mail', 'post', 'project', 'sql']);
  });

  test.each([
    ['{ project_read: , capability: sql }', 'compose.wrong-value', 'the capability of the built-in tool'],
    ['{ mail: , capability: { fax: fax } }', 'compose.wrong-value', "mail_ and more, found 'fax'"],
    ['{ mail: , capability: {} }', 'compose.wrong-value', 'found none'],
    ['{ mail: , capability: 7 }', 'compose.wrong-value', 'beside it the capability of an own tool'],
    ['{ capability: mail }', 'compose.wrong-value', 'found 0 names'],
    ['{ mail: , capabilty: mail }', 'compose.wrong-value', 'one tool name with its options'],
  ])('%s is %s', async (entry, code, message) => {
    await expect(load(`tools: [${entry}]\n`, files)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });
});

describe('MCP servers', () => {
  test('each has a capability, which the agent holds only if it says so', async () => {
    const mcp =
      'mcp: { files: { command: files-server, env: [TOKEN], reads: [list] }, web: { url: "https://x.test/", keyEnv: KEY } }\n';
    expect((await load(mcp)).capabilities).toEqual([]);
    const agent = await load(`${mcp}capabilities: [mcp.files]\n`);
    expect(agent.capabilities).toEqual(['mcp.files']);
    expect([...agent.mcp]).toEqual([
      ['files', { command: 'files-server', args: [], env: ['TOKEN'], reads: ['list'] }],
      ['web', { url: 'https://x.test/', keyEnv: 'KEY' }],
    ]);
    expect(agent.facts.has('capability.mcp.files')).toBe(true);
  });

  test('a condition may ask for it', async () => {
    const agent = await load('mcp: { files: { command: x } }\ncapabilities: [mcp.files]\n', {
      'instructions/a.md': '---\nwhen: capability.mcp.files\n---\nYou have files.\n',
    });
    expect(agent.fragments.get('a')?.when?.facts).toEqual(['capability.mcp.files']);
  });

  test.each([
    ['mcp: { s: { url: "https://x.test/", env: [A] } }\n', 'args and env only beside a command'],
    ['mcp: { s: { command: x, keyEnv: A } }\n', 'keyEnv only beside a url'],
    ['mcp: { s: { command: x, env: [A=1] } }\n', 'the name of an environment variable'],
  ])('%j is refused', async (lines, expected) => {
    await expect(load(lines)).rejects.toMatchObject({
      code: 'compose.wrong-value',
      message: expect.stringContaining(expected),
    });
  });

  test('a misspelt server in capabilities is found', async () => {
    await expect(load('mcp: { files: { command: x } }\ncapabilities: [mcp.file]\n')).rejects.toMatchObject({
      code: 'compose.unknown-name',
      next: "Write 'mcp.files'.",
    });
  });
});
