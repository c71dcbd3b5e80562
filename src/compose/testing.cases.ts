/** Agent folders for the tests of this folder: written to a real disk, removed afterwards. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import type { Vocabulary } from './load/agent.ts';

const made: string[] = [];

afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new temporary folder that holds the files; removed after the test file. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'writ-compose-'));
  made.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export const vocabulary: Vocabulary = {
  tools: ['sql_query', 'project_read'],
  capabilities: ['sql', 'project'],
  probes: ['project-marker'],
};

/** agent.yaml with one profile of the fragments, and the lines given. */
export function agentYaml(fragments: readonly string[], lines = ''): string {
  return `key: demo\nprofiles: { default: [${fragments.join(', ')}] }\n${lines}`;
}
