/** Children through the command line: an agent.yaml that names the tool, the tree, the trace, and who may end what. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { scriptedProvider } from '../../../test/scripted-provider.ts';
import { agentFolder, call } from '../call.cases.ts';

let cwd = '';
afterEach(() => rm(cwd, { recursive: true, force: true }));

test('a run with a child: shown as a tree, traced as JSON and as lines, ended with its parent only', async () => {
  cwd = await agentFolder(
    'model: local/scripted-1\npolicies: { completion: {}, repetition: { stop: 4 } }\nconversation: { hotTokens: 20000 }',
  );
  const file = join(cwd, 'a', 'agent.yaml');
  const yaml = await readFile(file, 'utf8');
  await writeFile(
    file,
    yaml
      .replace('project: true', 'project: true, subagents: true')
      .replace('tools: [', 'tools: [{ subagent: { turns: 2 } }, '),
  );
  const provider = await scriptedProvider([
    { calls: [{ id: 'c1', name: 'subagent', arguments: '{"query":"Which colour?"}' }] },
    { text: 'It is green.\nDONE' },
    { text: 'Green.\nDONE' },
  ]);
  const ran = await call(['run', 'a', '--base-url', provider.url, '--json', '--', 'Ask a helper.'], { cwd });
  await provider.close();
  const result = JSON.parse(ran.stdout);
  expect([ran.code, result.status, result.answer]).toEqual([0, 'completed', 'Green.']);

  const traced = await call(['runs', 'trace', result.run], { cwd });
  const trace = JSON.parse(traced.stdout);
  expect([trace.schema, trace.run]).toEqual(['writ.trace.v1', result.run]);
  const child = trace.spans.find(
    ({ kind, parent }: { kind: string; parent: string }) => kind === 'run' && parent !== null,
  );
  expect(child.parent).toBe(`${result.run}/t1/c1`);
  const both = await call(['runs', 'trace', result.run, '--format', 'jsonl', '--json'], { cwd });
  expect([both.code, JSON.parse(both.stdout).error.code]).toEqual([2, 'cli.bad-value']);
  const lines = (await call(['runs', 'trace', result.run, '--format', 'jsonl'], { cwd })).stdout
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual(lines.map((_, seq) => seq));
  expect(lines).toHaveLength(trace.spans.length + 1);

  const shown = (await call(['runs', 'show', result.run], { cwd })).stdout;
  expect(shown).toContain(`├─ child ${child.id} · completed`);
  expect((await call(['runs', 'show', child.id], { cwd })).stdout).toContain(`parent   ${result.run}`);
  for (const word of ['cancel', 'resume']) {
    const refused = await call(['runs', word, child.id], { cwd });
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('run.is-child')]);
  }
});
