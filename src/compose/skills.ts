/** Skills: which of those that a session's sources offer are chosen, and the index that tells a model of them. */
import { ComposeError } from './errors.ts';
import { unknownName } from './nearest.ts';
import { oneLine } from './outside-text.ts';

/** Where a skill may come from; of two equal ones the later source stands. */
export const skillOrigins = ['deployment', 'workspace', 'agent', 'session'] as const;
export type SkillOrigin = (typeof skillOrigins)[number];

export interface Skill {
  readonly name: string;
  /** One paragraph: what it is for, and when to read it. */
  readonly description: string;
  readonly origin: SkillOrigin;
  /** Its folder, in which SKILL.md lies. */
  readonly folder: string;
  /** SHA-256 over the paths and bytes of all its files. */
  readonly digest: string;
}

/** What an agent asks for: names, or whatever its sources offer. */
export type WantedSkills = readonly string[] | 'all';

/**
 * The skills that are wanted, and those given for the session, by name. Throws `compose.unknown-name` for one that no source has, and
 * `compose.skill-clash` where two sources have different files under one name.
 */
export function chooseSkills(wanted: WantedSkills, offered: readonly Skill[]): readonly Skill[] {
  const known = new Set(offered.map((skill) => skill.name));
  const given = offered.filter(({ origin }) => origin === 'session').map(({ name }) => name);
  const names = new Set(wanted === 'all' ? known : [...wanted, ...given]);
  return [...names].sort().map((name) => {
    const same = offered.filter((skill) => skill.name === name);
    if (same.length === 0) throw unknownName('skill', name, known);
    return lastOf(same);
  });
}

function lastOf(same: readonly Skill[]): Skill {
  const [last, ...others] = [...same].sort(
    (a, b) => skillOrigins.indexOf(b.origin) - skillOrigins.indexOf(a.origin),
  );
  if (last === undefined) throw new TypeError('A skill has at least one source.');
  const other = others.find((one) => one.digest !== last.digest);
  if (other === undefined) return last;
  throw new ComposeError(
    'compose.skill-clash',
    `The skill '${last.name}' should be the same in every source and differs between ${other.folder} (${other.origin}) and ${last.folder} (${last.origin}).`,
    {
      next: 'Rename one of the two, or make their files equal.',
      details: { skill: last.name, folders: [other.folder, last.folder] },
    },
  );
}

/** The index, without a line end; empty where nothing is chosen. `tool` names what reads a skill, null where nothing does. */
export function skillIndex(skills: readonly Skill[], tool: string | null): string {
  if (skills.length === 0) return '';
  const how = tool === null ? 'by opening its SKILL.md' : `with \`${tool}\` and its name`;
  const lines = skills.map(({ name, description }) => `- ${name}: ${asOneLine(description)}`);
  return [
    '# Skills',
    '',
    `Each line names a skill and what it is for. Read one ${how} before you work by it; it grants nothing.`,
    '',
    ...lines,
  ].join('\n');
}

const sliceCharacters = 400;

// A description may be longer than one written value: none of it is cut.
function asOneLine(description: string): string {
  const characters = [...description.trim().replace(/\s+/g, ' ')];
  let line = '';
  for (let at = 0; at < characters.length; at += sliceCharacters)
    line += oneLine(characters.slice(at, at + sliceCharacters).join(''));
  return line;
}
