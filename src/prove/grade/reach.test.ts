/** A grader in reach of an agent is refused when the experiment is registered, also where a link leads there. */
import { mkdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { experimentFolder, openFolder } from '../trials.cases.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await experimentFolder('workspace: workspace'));
  await write('workspace/data.txt', 'data');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text, { mode: 0o755 });
}

async function replace(path: string, from: string, to: string): Promise<void> {
  const text = await readFile(join(folder, path), 'utf8');
  expect(text).toContain(from);
  await writeFile(join(folder, path), text.replace(from, to));
}

const grading = (grader: string) => replace('experiment.yaml', '{ kind: exact }', grader);
const refused = (file: string, reach: string) => ({
  code: 'prove.grader-in-reach',
  message: expect.stringMatching(`${join(folder, file)} .*${join(folder, reach)}\\.$`),
  details: { file: join(folder, file), folder: join(folder, reach) },
});

test.each<[string, string, string]>([
  ['its program', '{ kind: command, command: [./workspace/grade.cjs] }', 'workspace/grade.cjs'],
  ['a word of its command', '{ kind: command, command: [node, workspace/grade.cjs] }', 'workspace/grade.cjs'],
  [
    'a file that it reads',
    '{ kind: command, command: ["true"], files: [workspace/data.txt] }',
    'workspace/data.txt',
  ],
  [
    'the instructions of a judge',
    '{ kind: judge, model: local/j, prompt: workspace/data.txt, version: "1", lowest: 1, highest: 5 }',
    'workspace/data.txt',
  ],
])('in the workspace of an item: %s', async (_what, grader, file) => {
  await write('workspace/grade.cjs', '#!/usr/bin/env node\n');
  await grading(grader);
  await expect(openFolder(folder)).rejects.toMatchObject(refused(file, 'workspace'));
});

test('in the workspace of one item alone, and through links on both ways', async () => {
  await write('own/grade.cjs', '');
  await symlink('own', join(folder, 'seen'));
  await symlink('own/grade.cjs', join(folder, 'grade.cjs'));
  await replace('experiment.yaml', 'Task 3?", expect: yes', 'Task 3?", expect: yes, workspace: seen');
  await grading('{ kind: command, command: [node, grade.cjs] }');
  await expect(openFolder(folder)).rejects.toMatchObject(refused('own/grade.cjs', 'own'));
});

const servers = 'mcp: { files: { command: node, args: [] } }';

test.each<[string, string]>([
  ['has servers of others', servers],
  ['runs commands', 'capabilities: { from: none, commands: true }'],
])('in the folder of an agent that %s', async (_what, more) => {
  await write('agent/experiments/grade.cjs', '');
  await grading('{ kind: command, command: [node, agent/experiments/grade.cjs] }');
  await openFolder(folder);
  await replace('agent/agent.yaml', 'key: asker', `key: asker\n${more}`);
  await expect(openFolder(folder)).rejects.toMatchObject(refused('agent/experiments/grade.cjs', 'agent'));
});

test('beside both it is out of reach, whatever its name begins with', async () => {
  await write('workspace-grader/grade.cjs', '');
  await replace('agent/agent.yaml', 'key: asker', `key: asker\n${servers}`);
  await grading('{ kind: command, command: [node, workspace-grader/grade.cjs] }');
  await expect(openFolder(folder)).resolves.toBeDefined();
});
