/** The Markdown files with a header that several harnesses read for skills, subagents and commands. */
import type { PlannedFile } from '../protocol/delivery.ts';

/** A file with `name` and `description` in its header and the text below, whatever the text holds. */
export function describedFile(
  path: string,
  header: { readonly [key: string]: string },
  text: string,
): PlannedFile {
  // A JSON text is also a YAML text, so no value can end its line or the header.
  const lines = Object.entries(header).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  return { path, text: `---\n${lines.join('')}---\n\n${text}`, until: 'session' };
}

/** `SKILL.md` of each skill, in a folder of its name. */
export function skillFiles(
  folder: string,
  skills: readonly { readonly name: string; readonly description: string; readonly text: string }[] = [],
): readonly PlannedFile[] {
  return skills.map(({ name, description, text }) =>
    describedFile(`${folder}/${name}/SKILL.md`, { name, description }, text),
  );
}

/** A settings file; the same value gives the same bytes. */
export function jsonFile(path: string, value: unknown): PlannedFile {
  return { path, text: `${JSON.stringify(value, null, 2)}\n`, until: 'session' };
}
