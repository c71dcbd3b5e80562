/** What an agent folder asks for beside its text, as dimensions of a request; the files of its skills are read for it. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent, McpServer } from '../compose/agent.ts';
import type { Skill } from '../compose/skills.ts';
import { refusal } from './permit.ts';
import type { RequestedDimensions, RequestedServer, RequestedSkill } from './request.ts';

/**
 * Every dimension that the agent names: none is left out, so that what `harness` cannot do is refused. Throws
 * `deliver.dimension-unsupported` for a skill of more than one file, which no outside harness is given whole.
 */
export async function dimensionsOf(
  harness: string,
  agent: Pick<Agent, 'folder' | 'tools' | 'mcp'>,
  skills: readonly Skill[] = [],
): Promise<RequestedDimensions> {
  const servers = [...agent.mcp].map(([name, server]) => [name, serverOf(agent.folder, server)] as const);
  return {
    ...(agent.tools.length === 0 ? {} : { tools: agent.tools.map(({ name }) => name) }),
    ...(servers.length === 0 ? {} : { mcpServers: Object.fromEntries(servers) }),
    ...(skills.length === 0
      ? {}
      : { skills: await Promise.all(skills.map((skill) => skillOf(harness, skill))) }),
  };
}

function serverOf(folder: string, server: McpServer): RequestedServer {
  if (!('command' in server))
    return { url: server.url, ...(server.keyEnv === undefined ? {} : { keyEnv: server.keyEnv }) };
  const command = server.command.startsWith('./') ? join(folder, server.command) : server.command;
  return { command, args: server.args, envFrom: server.env ?? [] };
}

async function skillOf(harness: string, { name, description, folder }: Skill): Promise<RequestedSkill> {
  const others = (await readdir(folder)).filter((file) => file !== 'SKILL.md');
  // Ours reads the folder itself.
  if (others.length > 0 && harness !== 'native')
    throw refusal(
      'deliver.dimension-unsupported',
      `The skill ${name} has files beside SKILL.md (${others.slice(0, 3).join(', ')}), which would be left behind.`,
      {
        harness,
        field: 'skills',
        requirement: 'that all of a skill is delivered',
        alternative: 'a skill that is one SKILL.md',
        able: ['native'],
      },
    );
  const text = await readFile(join(folder, 'SKILL.md'), 'utf8');
  return { name, description, text: text.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, '') };
}
