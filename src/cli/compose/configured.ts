/** What the user's configuration folder and the workspace add to a session: skills, and where they lie. */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Agent } from '../../compose/agent.ts';
import type { Skill } from '../../compose/skills.ts';
import type { Context, Environment } from '../context.ts';

/** The user's folder for Writ's configuration. */
export function configFolder(env: Environment): string {
  const config = env.XDG_CONFIG_HOME;
  const home = env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME;
  return join(config !== undefined && isAbsolute(config) ? config : join(home, '.config'), 'writ');
}

/** Skills beside the agent's own, in the order in which a later source stands for an equal earlier one. */
export async function outsideSkills(
  context: Context,
  agent: Agent,
  workspace: string,
  given: readonly string[] = [],
): Promise<readonly Skill[]> {
  const { readSkill, readSkills } = await import('../../compose/load/skills.ts');
  // Where nothing is asked for, nothing is looked for; a folder that was named is looked at all the same.
  const wanted = agent.skills.length > 0;
  return [
    ...(wanted ? await readSkills(join(configFolder(context.env), 'skills'), 'deployment') : []),
    ...(wanted ? await readSkills(join(workspace, '.writ', 'skills'), 'workspace') : []),
    ...(await Promise.all(given.map((folder) => readSkill(resolve(context.cwd, folder), 'session')))),
  ];
}
