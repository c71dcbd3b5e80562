/** `skill_read`: the text files of the skills that were chosen for a session, and nothing beside their folders. */
import { realpathSync } from 'node:fs';
import { systemCode } from '../../errors.ts';
import { defineTool, failed } from './define-tool.ts';
import { ToolError } from './errors.ts';
import { readOptions } from './options.ts';
import { readPlace } from './project-read.ts';
import type { Tool } from './tool.ts';

/** The folder of each chosen skill by its name. */
export type SkillFolders = Readonly<Record<string, string>>;

interface Arguments {
  readonly name: string;
  readonly path?: string;
  readonly start_line?: number;
  readonly line_count?: number;
}

/** Makes the tool. Every folder must exist; links of the folders themselves are resolved once, here. */
export function skillRead(options: { readonly workspace?: string }, skills: SkillFolders): Tool {
  readOptions('skill_read', options, { workspace: 'string?' });
  const roots = new Map(Object.entries(skills).map(([name, folder]) => [name, rootOf(name, folder)]));
  return defineTool<Arguments>({
    name: 'skill_read',
    description:
      'Reads a skill by its name: its SKILL.md, or another of its files, whole or a range of lines. ' +
      'A folder as path ("." is the root of the skill) answers with its names. ' +
      'Returns path, content, lines (of the whole file), bytes, truncated; next_line says where to go on.',
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 64, description: 'As the list of skills has it.' },
        path: {
          type: 'string',
          minLength: 1,
          maxLength: 1024,
          description: 'Relative to the folder of the skill; SKILL.md if left out.',
        },
        start_line: { type: 'integer', minimum: 1, description: 'First line to read; 1 if left out.' },
        line_count: { type: 'integer', minimum: 1, description: 'How many lines; to the end if left out.' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    capability: 'skills',
    access: 'read',
    limits: { timeoutMs: 10_000, outputBytesMax: 64 * 1024 },
    async execute({ name, path = 'SKILL.md', ...range }, { signal }) {
      const root = roots.get(name);
      if (root !== undefined) return readPlace(root, { path, ...range }, {}, signal);
      const known = [...roots.keys()].sort().join(', ');
      return failed(
        'tool.not-found',
        `No skill of this session is called '${name}'; there ${roots.size === 0 ? 'are none' : `is ${known}`}.`,
      );
    },
  });
}

function rootOf(name: string, folder: string): string {
  try {
    return realpathSync(folder);
  } catch (cause) {
    throw new ToolError(
      'tool.bad-option',
      `skill_read: expected the folder of the skill '${name}' at ${folder}, found nothing that opens (${systemCode(cause) ?? 'no code'}).`,
      { next: 'Put the skill back, or start a new session without it.', cause },
    );
  }
}
