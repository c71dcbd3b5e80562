/** Policies of agent.yaml in a real command: they see the workspace that was given, and only annotate beside a person. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Script, type ScriptedProvider, scriptedProvider } from '../../../test/scripted-provider.ts';
import { agentFolder, call } from '../call.cases.ts';

let cwd: string;
let provider: ScriptedProvider;
beforeEach(async () => {
  cwd = await agentFolder(
    [
      'model: local/scripted-1',
      'policies:',
      '  starvation: { turns: 2 }',
      '  re-read: {}',
      '  budget-reminder: { left: 1 }',
    ].join('\n'),
  );
});
afterEach(async () => {
  await provider?.close();
  await rm(cwd, { recursive: true, force: true });
});

const read = (id: string) => ({
  calls: [{ id, name: 'project_read', arguments: JSON.stringify({ path: 'notes.txt' }) }],
});
async function run(script: Script, ...argv: string[]) {
  provider = await scriptedProvider(script);
  const { code, stdout, stderr } = await call(
    ['run', 'a', '--base-url', provider.url, '--json', ...argv, '--', 'Read.'],
    { cwd },
  );
  if (code !== 0) throw new Error(stderr);
  const events = await call(['runs', 'events', JSON.parse(stdout).run, '--json'], { cwd });
  return { events: events.stdout, said: provider.requests.map(({ raw }) => raw) };
}
const spoke = 'Nothing outside was changed in the last 2 turns';

test('a change of the workspace by whatever is seen, and a read of the same is noted', async () => {
  const changing = async () => {
    await writeFile(join(cwd, 'made-by-somebody.txt'), 'x');
    return read('c1');
  };
  const { events, said } = await run([changing, read('c2'), { text: 'end' }]);
  expect(events).toContain('made-by-somebody.txt');
  expect(said[2]).toContain('[Unchanged: turn 1 read exactly this already.]');
  expect(said[2]).not.toContain(spoke);
});

test('without a change it speaks, and beside a person it only notes that', async () => {
  const script = [read('c1'), read('c2'), { text: 'end' }];
  expect((await run(script)).said[2]).toContain(spoke);
  await provider.close();
  const { events, said } = await run(script, '--interactive');
  expect(said[2]).not.toContain(spoke);
  expect(said[2]).not.toContain('[Unchanged');
  expect(events).toContain('policy-note');
});

test('the budget reminder is read by the model', async () => {
  const { said } = await run([read('c1'), { text: 'end' }], '--budget', 'turns=2');
  expect(said[1]).toContain('One more turn is left in the budget of this run.');
});
