/** The surface on the command line: chosen from a real server's tools by agent.yaml or a flag, and shown with its reasons. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { call, writeFiles } from '../src/cli/call.cases.ts';
import { cli } from './real-cli.ts';
import { type ScriptedProvider, scriptedProvider } from './scripted-provider.ts';

const program = resolve('test/children/mcp-server.mjs');
const yaml = (surface: string, held = ', mcp.s') =>
  [
    'key: host',
    'model: local/scripted-1',
    'profiles: { default: [] }',
    `capabilities: [project${held}]`,
    'tools: [project_read]',
    `mcp: { s: { command: node, args: ['${program}'] } }`,
    surface,
  ].join('\n');

let home: string;
let provider: ScriptedProvider;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'writ-surface-'));
  await writeFiles(home, { 'a/agent.yaml': yaml(''), '.writ/.gitignore': '*\n' });
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function shownIn(words: readonly string[], task: string): Promise<string[]> {
  provider = await scriptedProvider([{ text: 'Done.' }]);
  try {
    // Whoever changes agent.yaml is asked again; the tables of servers stay as they are here.
    const run = await cli(home, ['run', 'a', '--trust', '--base-url', provider.url, ...words, '--', task]);
    expect(run).toMatchObject({ code: 0 });
    return (provider.requests[0]?.json.tools ?? []).map(
      (one: { function: { name: string } }) => one.function.name,
    );
  } finally {
    await provider.close();
  }
}
const shown = async (...words: string[]) =>
  (await cli(home, ['runs', 'show', 'last', '--surface', ...words])).stdout;

test('what fits is shown whole; a small budget lets the task choose; a flag takes all', {
  timeout: 90_000,
}, async () => {
  const all = await shownIn([], 'Look.');
  expect(all.length).toBeGreaterThan(3);
  expect(all[0]).toBe('project_read');
  expect(await shown()).toContain('compiled: all that is allowed, as far as it fits; ');

  await writeFiles(home, { 'a/agent.yaml': yaml('surface: { tokens: 60 }') });
  const few = await shownIn([], 'Use s__look, without project_read.');
  expect(few).toEqual(expect.arrayContaining(['project_read', 's__look']));
  expect(few.length).toBeLessThan(all.length);
  const text = await shown();
  expect(text).toMatch(
    /^compiled: the task chose; \d+ tokens of 60 tokens, \d+ tools offered\nfingerprint [0-9a-f]{64}\nSHOWN\n/,
  );
  expect(text).toContain('  project_read · listed\n');
  expect(text).toMatch(/ {2}s__look · 'mcp_tool:s\/s__look' is active: /);
  expect(text).toMatch(/LEFT OUT\n(.*\n)* {2}s__write · .* does not fit: /);
  const run = JSON.parse((await cli(home, ['runs', 'events', 'last', '--json'])).stdout.split('\n')[0] ?? '');
  expect(run.origin).toMatchObject({
    surface: { mode: 'compiled', tokens: 60 },
    resolved: { version: 1, from: 'agent', capabilities: ['mcp.s', 'project'], unavailable: [] },
  });
  const json = JSON.parse(await shown('--json'));
  expect(json).toMatchObject({ tools: few, surface: { chosenBy: 'task', budgetTokens: 60 } });

  await writeFiles(home, { 'a/agent.yaml': yaml('') });
  expect(await shownIn(['--surface', 'all_tools'], 'Look.')).toEqual(all);
  expect(await shown()).toContain('all_tools: all that is allowed, as far as it fits; ');
});

test('compose --explain says what of its tools an agent would show, and starts no server', async () => {
  const explained = async () => (await call(['compose', 'a', '--explain'], { cwd: home })).stdout;
  await writeFiles(home, { 'a/agent.yaml': yaml('').replace("mjs'] }", "mjs'], reads: [look] }") });
  expect(await explained()).toContain(
    [
      'TOOLS',
      '  in   project_read · listed',
      '  ?    mcp_tool look of s · named in reads; unknown until the server is asked',
      '  ?    mcp_tool * of s · unknown: the server is not asked here; a run asks it and chooses from its tools (compiled): writ runs show RUN --surface',
      '',
    ].join('\n'),
  );
  await writeFiles(home, {
    'a/agent.yaml': yaml('surface: { mode: all_tools, tokens: 9 }', '').replace('project]', ']'),
  });
  expect(await explained()).toContain(
    [
      'TOOLS',
      "  out  project_read · the capability 'project' is not held",
      "  out  server s · the capability 'mcp.s' is not held",
      '',
    ].join('\n'),
  );
});
