/** What a session took from where, as lines for people: skills, and texts and settings that stand outside the agent. */
import { oneLine } from './outside-text.ts';
import type { Skill } from './skills.ts';

/** Something that came from outside the agent folder, and the file or flag that it came from. */
export interface Source {
  /** `identity`, `governance`, `model`, … */
  readonly what: string;
  readonly from: string;
}

/** Empty where nothing came from anywhere but the fragments. */
export function explainSources(sources: readonly Source[], skills: readonly Skill[]): string {
  const lines = [
    ...(sources.length === 0 ? [] : ['', 'SOURCES']),
    ...sources.map(({ what, from }) => `  ${what.padEnd(12)} ${oneLine(from)}`),
    ...(skills.length === 0 ? [] : ['', 'SKILLS']),
    ...skills.map(
      ({ name, origin, folder, digest }) =>
        `  ${name} · ${origin} · ${oneLine(folder)} · sha256 ${digest.slice(0, 12)}`,
    ),
  ];
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
