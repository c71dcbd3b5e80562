/** The skills that plans are given whole, by the names that agent.yaml gives them, read when a run begins. */
import type { Agent } from '../../compose/agent.ts';
import { readSkillText } from '../../compose/load/skills.ts';
import { unknownName } from '../../compose/nearest.ts';
import type { Skill } from '../../compose/skills.ts';
import type { GivenSkill } from '../../native/plan/given-skills.ts';
import type { Origin } from './origin.ts';

/** Undefined where agent.yaml names none. Throws `compose.unknown-name` for one that was not chosen for the session. */
export async function planSkillsOf(
  { plans: { decisionSkills, stepSkills } }: Pick<Agent, 'plans'>,
  skills: readonly Skill[] = [],
): Promise<Origin['planSkills']> {
  if (decisionSkills.length + stepSkills.length === 0) return undefined;
  const chosen = new Map(skills.map((skill) => [skill.name, skill]));
  const read = (names: readonly string[]): Promise<GivenSkill[]> =>
    Promise.all(
      names.map(async (name) => {
        const skill = chosen.get(name);
        if (skill === undefined) throw unknownName('skill', name, chosen.keys());
        return { name, text: await readSkillText(skill) };
      }),
    );
  return { decision: await read(decisionSkills), steps: await read(stepSkills) };
}
