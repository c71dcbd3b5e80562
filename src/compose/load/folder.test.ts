import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { loadAgent, type Vocabulary } from './agent.ts';

const base = { 'instructions/a.md': 'A\n' };

async function errorOf(files: Readonly<Record<string, string>>, known: Vocabulary = vocabulary) {
  const folder = folderWith({ 'agent.yaml': agentYaml(['a']), ...base, ...files });
  const thrown = await loadAgent(folder, known).catch((error) => error);
  const { line, column, file } = thrown.details ?? {};
  const place = line === undefined ? String(file).replace(`${folder}/`, '') : `${line}:${column}`;
  return { code: thrown.code, place, next: thrown.next };
}

describe('a Markdown file below instructions/ that is no fragment', () => {
  test.each([
    ['instructions/Rules.MD', 'Rename it to Rules.md.'],
    ['instructions/rules.markdown', 'Rename it to rules.md.'],
    ['instructions/rules.mdx', 'Rename it to rules.md.'],
    ['instructions/sub/s.md', 'Move it there, or out of instructions/.'],
    ['instructions/sub/deep/S.Markdown', 'Move it there, or out of instructions/.'],
  ])('%s is refused, because it would be passed over', async (path, next) => {
    expect(await errorOf({ [path]: 'B\n' })).toEqual({
      code: 'compose.misplaced-fragment',
      place: path,
      next,
    });
  });

  test('behind a link is refused too, and a circle of links ends', async () => {
    const shared = folderWith({ 's.md': 'S\n' });
    const folder = folderWith({ 'agent.yaml': agentYaml(['a']), ...base });
    mkdirSync(join(folder, 'instructions/sub'));
    symlinkSync('..', join(folder, 'instructions/sub/up'));
    // The circle leads back to a.md, which then lies in a folder further in.
    await expect(loadAgent(folder, vocabulary)).rejects.toMatchObject({ code: 'compose.misplaced-fragment' });
    const linked = folderWith({ 'agent.yaml': agentYaml(['a']), ...base });
    symlinkSync(shared, join(linked, 'instructions/shared'));
    await expect(loadAgent(linked, vocabulary)).rejects.toMatchObject({ code: 'compose.misplaced-fragment' });
    const empty = folderWith({ 'agent.yaml': agentYaml(['a']), ...base, 'instructions/sub/note.txt': '' });
    // Two ways round: without a memory of folders seen, they would be walked for ever.
    for (const name of ['self', 'again']) symlinkSync('.', join(empty, 'instructions/sub', name));
    await expect(loadAgent(empty, vocabulary)).resolves.toMatchObject({ key: 'demo' });
  });

  test('is none of ours with another ending, or under a name that begins with a dot', async () => {
    const files = {
      'instructions/note.txt': '',
      'instructions/.drafts/x.md': '',
      'instructions/.X.MD': '',
      'instructions/pictures/a.png': '',
    };
    const folder = folderWith({ 'agent.yaml': agentYaml(['a']), ...base, ...files });
    expect([...(await loadAgent(folder, vocabulary)).fragments.keys()]).toEqual(['a']);
  });
});

test.each([
  ["it's here", "'it'\\''s here'"],
  ['$(touch x)', "'$(touch x)'"],
  ['plain-1', 'plain-1'],
])('a command to copy is quoted for the shell: %s', async (name, word) => {
  const folder = join(folderWith({}), name);
  const { next } = await loadAgent(folder, vocabulary).catch((error) => error);
  expect(next.endsWith(word.startsWith("'") ? `${word.slice(1)}` : `/${word}`)).toBe(true);
  expect(await loadAgent('-dash', vocabulary).catch((error) => error.next)).toMatch(/writ init \.\/-dash$/);
});

describe('options that their makers declared', () => {
  const known: Vocabulary = {
    ...vocabulary,
    toolOptions: {
      sql_query: { database: 'string', rowsMax: 'number?' },
      project_read: { secrets: 'boolean?' },
    },
    probeOptions: { 'project-marker': { files: 'names', skip: 'names?' } },
  };
  const tools = (written: string) => agentYaml(['a'], `tools: ${written}\n`);
  const probe = (options: string) =>
    agentYaml(['a'], `facts: { x: { type: bool, probe: project-marker${options} } }\n`);

  test.each([
    [tools('[{ sql_query: { databse: x } }]'), 'compose.unknown-key', '3:24', "Write 'database'."],
    [tools('[{ sql_query: { database: x, workspace: y } }]'), 'compose.unknown-key', '3:37', 'Use one of'],
    [tools('[{ sql_query: { database: 3 } }]'), 'compose.wrong-value', '3:34', 'Put it in quotes: "3".'],
    [tools('[{ sql_query: { database: "" } }]'), 'compose.wrong-value', '3:34', 'Write a value'],
    [tools('[{ sql_query: { database: x, rowsMax: 0 } }]'), 'compose.wrong-value', '3:46', 'Write a value'],
    [tools('[sql_query]'), 'compose.wrong-value', '3:9', 'Write { database: … }'],
    [tools('[{ sql_query: }]'), 'compose.wrong-value', '3:22', 'Write { database: … }'],
    [tools('[{ project_read: { secrets: yes } }]'), 'compose.wrong-value', '3:36', 'Write true'],
    [probe(', options: { file: [x] }'), 'compose.unknown-key', '3:61', "Write 'files'."],
    [probe(', options: { files: x }'), 'compose.wrong-value', '3:68', 'Write a value'],
    [probe(', options: { files: [a/b] }'), 'compose.wrong-value', '3:68', 'Write a value'],
    [probe(''), 'compose.wrong-value', '3:13', 'Write { files: … }'],
  ])('%j', async (yaml, code, place, next) => {
    const error = await errorOf({ 'agent.yaml': yaml }, known);
    expect({ code: error.code, place: error.place }).toEqual({ code, place });
    expect(error.next).toContain(next);
  });

  test('that are right, or that nobody declared, are taken', async () => {
    const yaml = tools('[{ sql_query: { database: x, rowsMax: 3 } }, project_read]');
    await expect(loadAgent(folderWith({ 'agent.yaml': yaml, ...base }), known)).resolves.toMatchObject({
      tools: [{ options: { database: 'x', rowsMax: 3 } }, { options: {} }],
    });
    const free = folderWith({ 'agent.yaml': tools('[{ sql_query: { any: x } }]'), ...base });
    await expect(loadAgent(free, vocabulary)).resolves.toMatchObject({ tools: [{ options: { any: 'x' } }] });
  });
});

test('a capability that is unknown gets the known ones to choose from; `from` only where it is near', async () => {
  const next = async (written: string) =>
    (await errorOf({ 'agent.yaml': agentYaml(['a'], `capabilities: ${written}\n`) })).next;
  expect(await next('{ mail: true }')).toBe('Use one of: sql, project.');
  expect(await next('{ form: none }')).toBe("Write 'from'.");
  expect(await next('{ projekt: true }')).toBe("Write 'project'.");
});

test('thousands of wrong keys or values are told as fast as a few', async () => {
  const many = (line: (i: number) => string) => Array.from({ length: 20_000 }, (_, i) => line(i)).join('');
  const started = performance.now();
  expect(await errorOf({ 'instructions/b.md': `---\n${many((i) => `k${i}: x\n`)}---\n` })).toMatchObject({
    code: 'compose.unknown-key',
    place: '2:1',
  });
  expect(
    await errorOf({
      'agent.yaml': agentYaml(
        ['a'],
        many((i) => `k${i}: x\n`),
      ),
    }),
  ).toMatchObject({
    code: 'compose.unknown-key',
    place: '3:1',
  });
  const profiles = `key: demo\nprofiles:\n  default: [a]\n${many((i) => `  p${i}: x\n`)}`;
  expect(await errorOf({ 'agent.yaml': profiles })).toMatchObject({
    code: 'compose.wrong-value',
    place: '4:7',
  });
  expect(performance.now() - started).toBeLessThan(10_000);
});
