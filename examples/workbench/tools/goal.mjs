/** The goal of a workspace: one line in goal.txt, which the agent reads, and marks as reached with its proof. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineTool, failed } from 'writ';

/** `workspace` is the absolute path of the session's folder. */
export default function goal({ workspace }) {
  const file = join(workspace, 'goal.txt');
  return [
    defineTool({
      name: 'goal_read',
      description: 'The goal of this workspace, and whether it was reached.',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      capability: 'goals',
      access: 'read',
      async execute() {
        try {
          return { goal: await readFile(file, 'utf8') };
        } catch (cause) {
          if (cause.code !== 'ENOENT') throw cause;
          return failed('no-goal', 'There is no goal.txt in the workspace.');
        }
      },
    }),
    defineTool({
      name: 'goal_complete',
      description: 'Marks the goal as reached. Give the proof: what was checked, and what it showed.',
      parameters: {
        type: 'object',
        properties: { proof: { type: 'string', minLength: 1 } },
        required: ['proof'],
        additionalProperties: false,
      },
      capability: 'goals',
      access: 'write',
      repeat: 'idempotent',
      async execute({ proof }) {
        const [line = ''] = (await readFile(file, 'utf8')).split('\n');
        await writeFile(file, `${line}\nreached: ${proof}\n`);
        return { reached: true };
      },
    }),
  ];
}
