/** A plan whose process is killed goes on behind its last finished step: nothing that ended is run or asked again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { actsIn, killAll, onlyRunIn, startProcess } from './killed-run.ts';
import { field, final, model, parallel, plan, ref, tool } from './plan.cases.ts';
import { type Script, type ScriptedProvider, scriptedProvider } from './scripted-provider.ts';

let folder: string;
let provider: ScriptedProvider;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-plan-kill-'));
});
afterEach(async () => {
  killAll();
  rmSync(folder, { recursive: true });
  await provider.close();
});

const text = plan(
  tool('look', 'a'),
  parallel(
    'both',
    [tool('book', 'b'), final(field('b', 'value'))],
    [model('Say.', 'c'), final(field('c', 'text'))],
  ),
  { op: 'checkpoint', label: 'half' },
  {
    op: 'retry',
    attempts: 2,
    plan: { steps: [tool('wait', 'd'), final(field('d', 'value'))] },
    bind: 'waited',
  },
  model('Say again.', 'e'),
  final([field('a', 'value'), ref('both'), ref('waited'), field('e', 'text')]),
);
const whole = '["look done",["book done","First."],"wait done","Second."]';

const start = (stall: string, ...run: string[]) =>
  startProcess('plan-parts.mjs', [provider.url, folder, text, ...run], stall);
const acts = () => ['look', 'book', 'wait'].map((name) => actsIn(folder, name));
const onlyRun = () => onlyRunIn(folder);

async function script(steps: Script) {
  provider = await scriptedProvider(steps);
}

test('killed in a try behind a checkpoint: the steps before it are not made again', async () => {
  await script([{ text: 'First.' }, { text: 'Second.' }]);
  const first = start('wait');
  await first.said('acted wait');
  await first.kill();
  expect(acts()).toEqual([1, 1, 1]);
  const result = await start('', (await onlyRun()).run).result();
  expect(result).toMatchObject({
    status: 'completed',
    answer: whole,
    usage: { modelCalls: 2, totalTokens: 30 },
  });
  expect(acts()).toEqual([1, 1, 2]);
  // Steps begun before the kill are not counted twice, in the budget that began again from the record.
  expect(result.budget.steps).toMatchObject({ used: 12 });
  const { events } = await onlyRun();
  expect(events.filter((event) => event.type === 'plan-step' && event.label === 'half').length).toBe(1);
});

test('killed while a model step waits for its answer: the same bytes are sent, and nothing else', async () => {
  await script([{ text: 'First.' }, { text: 'x', ending: 'hang' }, { text: 'Second.' }]);
  const first = start('');
  await provider.arrived(2);
  await first.kill();
  const result = await start('', (await onlyRun()).run).result();
  expect(result).toMatchObject({ status: 'completed', answer: whole });
  expect(provider.requests[2]?.raw).toBe(provider.requests[1]?.raw);
  expect(acts()).toEqual([1, 1, 1]);
});

test('killed after a write acted and before that was seen: unknown, and never sent again', async () => {
  await script(() => ({ text: 'First.' }));
  const first = start('book');
  await first.said('acted book');
  await first.kill();
  const result = await start('', (await onlyRun()).run).result();
  expect(result).toMatchObject({ status: 'failed', error: { code: 'plan.tool-unknown-outcome' } });
  expect(acts()).toEqual([1, 1, 0]);
});
