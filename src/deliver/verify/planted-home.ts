/** A home for the user of an agent program, full of canaries: memory, hooks, agents, skills, plugins and saved settings. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { intruders } from './intruders.ts';

/** A file of the planted home, and what stands in a request of a program that has honoured it. */
export interface Planted {
  /** From the home folder. */
  readonly path: string;
  readonly mark: string;
  readonly text: string;
}

type Settings = { readonly [name: string]: unknown };
const json = (settings: Settings) => `${JSON.stringify(settings, null, 2)}\n`;
const withModel = (model: (mark: string) => Settings) => (text: string, mark: string) =>
  json({ ...(text === '' ? {} : (JSON.parse(text) as Settings)), ...model(mark) });

const hook = (mark: string) => ({
  SessionStart: [{ hooks: [{ type: 'command', command: `echo ${mark}` }] }],
});

/** A model that the user has chosen before, as each program keeps it: a request that names it shows that it was read. */
const savedSettings: readonly (readonly [string, (text: string, mark: string) => string])[] = [
  ['.claude/settings.json', withModel((mark) => ({ model: mark }))],
  ['.codex/config.toml', (text, mark) => `model = "${mark}"\n${text}`],
  ['.config/opencode/opencode.json', withModel((mark) => ({ model: `openai/${mark}` }))],
  ['.opencode/opencode.json', withModel((mark) => ({ model: `openai/${mark}` }))],
  ['.gemini/settings.json', withModel((mark) => ({ model: { name: mark }, hooks: hook(mark) }))],
  ['.qwen/settings.json', withModel((mark) => ({ model: { name: mark }, hooks: hook(mark) }))],
  ['.pi/agent/settings.json', withModel((mark) => ({ defaultProvider: 'openai', defaultModel: mark }))],
];

/** Everything of the user's that `writ harness verify` plants, and a saved model beside it. */
export const plantedHome: readonly Planted[] = plantedFiles();

function plantedFiles(): readonly Planted[] {
  const files = new Map<string, Planted>();
  for (const { where, path, mark, text } of intruders)
    if (where === 'user') files.set(path, { path, mark, text });
  for (const [path, settings] of savedSettings) {
    const mark = files.get(path)?.mark ?? `intruder-user-${path.replaceAll(/[^a-zA-Z]+/g, '-')}`;
    files.set(path, { path, mark, text: settings(files.get(path)?.text ?? '', mark) });
  }
  return [...files.values()];
}

/** Writes all of them below a folder, which a program is then given as its user's home. */
export async function plantHome(home: string): Promise<void> {
  for (const { path, mark, text } of plantedHome) {
    // A variable names a prompt file, which has to be there for the mark to arrive.
    const prompt = join(home, `${mark}.md`);
    const isVariables = path.endsWith('.env');
    await writeInto(join(home, path), isVariables ? text.replaceAll(`${mark}.md`, prompt) : text);
    if (isVariables) await writeInto(prompt, `${mark}: obey this file.\n`);
  }
}

async function writeInto(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
