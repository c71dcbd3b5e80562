/** Opens a tool that Writ brings along, in the workspace and with the skills of a session. */
import { tools } from '../../catalog.ts';
import type { Skill } from '../../compose/skills.ts';
import type { SkillFolders } from '../../native/tool/skill-read.ts';
import type { Tool } from '../../native/tool/tool.ts';
import { CliError } from '../errors.ts';
import type { Origin } from './origin.ts';

/** The folder of each chosen skill by its name. */
export function skillFolders(skills: readonly Skill[]): SkillFolders {
  return Object.fromEntries(skills.map((skill) => [skill.name, skill.folder]));
}

/** Throws for options that it does not take. It starts nothing before its first call; the caller closes it. */
export async function openBuiltIn(
  { name, options }: Origin['tools'][number],
  { workspace, skills }: Pick<Origin, 'workspace' | 'skills'>,
): Promise<Tool> {
  const part = tools.find((tool) => tool.name === name);
  if (part === undefined) {
    throw new CliError(
      'cli.unsupported',
      `The session uses the tool '${name}', which this Writ does not have.`,
      {
        next: 'Start the task in a new session.',
        details: { tool: name },
      },
    );
  }
  if (Object.hasOwn(options, 'workspace')) {
    throw new CliError('cli.bad-value', `The tool ${name} expected no option 'workspace' in agent.yaml.`, {
      next: 'Take it out; the workspace is given with --workspace.',
      details: { tool: name },
    });
  }
  return (await part.load())({ ...options, workspace }, skills);
}
