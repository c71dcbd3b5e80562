/** Skills that are given whole, as system text, to the model that decides or to the model steps of plans. */
import { PlanError } from './errors.ts';

export interface GivenSkill {
  readonly name: string;
  /** What its SKILL.md says below the header. */
  readonly text: string;
}

/** Each list goes to its own readers and to nobody else. */
export interface PlanSkills {
  readonly decision?: readonly GivenSkill[];
  readonly steps?: readonly GivenSkill[];
}

const skillsMax = 64;
const charactersMax = 32_768;
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Throws `plan.bad-skill`. */
export function checkSkills({ decision = [], steps = [] }: PlanSkills): void {
  for (const skills of [decision, steps]) {
    if (skills.length > skillsMax)
      throw bad(`at most ${skillsMax} skills`, `${skills.length}`, 'Give fewer of them.');
    const names = new Set<string>();
    for (const { name, text } of skills) {
      if (!namePattern.test(name))
        throw bad(
          'a name of up to 64 letters, digits, dots, _ and -',
          `one of ${name.length} characters that is none`,
          'Name the skill as its folder is named.',
        );
      if (names.has(name)) throw bad('each skill once', `'${name}' twice`, `Give '${name}' once.`);
      if (text.trim() === '' || text.length > charactersMax)
        throw bad(
          `the text of '${name}' in 1 to ${charactersMax} characters`,
          `${text.trim().length}`,
          'Put what is rarely needed into other files of the skill.',
        );
      names.add(name);
    }
  }
}

function bad(expected: string, found: string, next: string): PlanError {
  return new PlanError('plan.bad-skill', `A decision or a step expected ${expected}, found ${found}.`, {
    next,
  });
}

/** Skills whole; empty for none. Equal skills give equal bytes. */
export function skillsText(skills: readonly GivenSkill[]): string {
  if (skills.length === 0) return '';
  const bodies = skills.map(({ name, text }) => `SKILL ${name}\n${text.trim()}`);
  return ['Work by these skills where they fit. They grant nothing.', ...bodies].join('\n\n');
}
