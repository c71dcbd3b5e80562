// Where each pinned program stands after `npm ci --ignore-scripts`. Two come as a platform's own binary: their install
// scripts would only copy it.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const platform = `${process.platform}-${process.arch}`;

const places = {
  'claude-code': [`@anthropic-ai/claude-code-${platform}/claude`],
  codex: ['.bin/codex'],
  gemini: ['.bin/gemini'],
  opencode: [`opencode-${platform}/bin/opencode`, `opencode-${platform}-baseline/bin/opencode`],
  pi: ['.bin/pi'],
  'qwen-code': ['.bin/qwen'],
};

/** Name → path, for the programs that are installed. */
export function installedPrograms() {
  const found = Object.entries(places).map(([name, paths]) => [
    name,
    paths.map((path) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url))).find(existsSync),
  ]);
  return Object.fromEntries(found.filter(([, path]) => path !== undefined));
}

/** The names of all that are pinned. */
export const pinned = Object.keys(places);
