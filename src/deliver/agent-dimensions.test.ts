/** Everything an agent folder asks for becomes a dimension, so that nothing of it is dropped in silence. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Skill } from '../compose/skills.ts';
import { dimensionsOf } from './agent-dimensions.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'writ-dimensions-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function skill(text: string): Promise<Skill> {
  const at = join(folder, 'skills', 'sing');
  await mkdir(at, { recursive: true });
  await writeFile(join(at, 'SKILL.md'), text);
  return { name: 'sing', description: 'When it is time.', origin: 'agent', folder: at, digest: '' };
}

test('an agent that asks for nothing has no dimensions', async () => {
  expect(await dimensionsOf('codex', { folder, tools: [], mcp: new Map() })).toEqual({});
});

test('tools, servers and skills, with names of variables and never their values', async () => {
  const mcp = new Map([
    ['own', { command: './server.mjs', args: ['-x'], env: ['OWN_KEY'] }],
    ['web', { url: 'https://example.com/mcp', keyEnv: 'WEB_KEY' }],
  ]);
  const tools = [{ name: 'sql_query', options: {} }];
  const skills = [await skill('---\nname: sing\ndescription: When it is time.\n---\nLa.\n')];
  expect(await dimensionsOf('codex', { folder, tools, mcp }, skills)).toEqual({
    tools: ['sql_query'],
    mcpServers: {
      own: { command: join(folder, 'server.mjs'), args: ['-x'], envFrom: ['OWN_KEY'] },
      web: { url: 'https://example.com/mcp', keyEnv: 'WEB_KEY' },
    },
    skills: [{ name: 'sing', description: 'When it is time.', text: 'La.\n' }],
  });
});

test('a skill of several files is refused for an outside harness, which would be given one of them', async () => {
  const one = await skill('---\nname: sing\n---\nLa.\n');
  await writeFile(join(one.folder, 'notes.txt'), 'do re mi');
  const agent = { folder, tools: [], mcp: new Map() };
  await expect(dimensionsOf('codex', agent, [one])).rejects.toMatchObject({
    code: 'deliver.dimension-unsupported',
    details: { harness: 'codex', field: 'skills', able: ['native'] },
    message: expect.stringContaining('notes.txt'),
  });
  expect(await dimensionsOf('native', agent, [one])).toMatchObject({ skills: [{ name: 'sing' }] });
});
