/** One decision per run loop: the first answer is kept, a new loop asks again, and the agent is never changed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { vocabulary } from '../catalog.ts';
import { compose } from './compose.ts';
import { defineFragment } from './define-fragment.ts';
import type { Probe } from './facts.ts';
import { loadAgent } from './load/agent.ts';
import { composeOnce } from './loop.ts';
import { projectMarker } from './probes/project-marker.ts';
import { settle } from './settle.ts';
import { folderWith } from './testing.cases.ts';

const builder = await loadAgent(resolve('examples/builder'), vocabulary);
const guard = builder.fragments.get('sql-guard')?.body ?? '';

function counted(): { readonly probe: Probe; asked: number } {
  const counter = {
    asked: 0,
    probe: {
      name: projectMarker.name,
      run: (...parameters: Parameters<Probe['run']>) => {
        counter.asked += 1;
        return projectMarker.run(...parameters);
      },
    },
  };
  return counter;
}

test('a project that the loop itself begins changes nothing in it; the next loop sees it', async () => {
  const workspace = folderWith({ 'a/notes.txt': '' });
  const { probe } = counted();
  const loop = composeOnce(builder, [probe]);
  const first = await loop({ mode: 'headless', workspace });
  expect(first.composition.text).not.toContain(guard);
  mkdirSync(join(workspace, 'shop'));
  writeFileSync(join(workspace, 'shop/dbt_project.yml'), '');
  expect(await loop({ mode: 'headless', workspace })).toBe(first);
  expect(await loop({ mode: 'interactive' })).toBe(first);
  const next = await composeOnce(builder, [probe])({ mode: 'headless', workspace });
  expect(next.composition.text).toContain(guard);
  expect(compose(builder, await settle(builder, { mode: 'interactive' }, [])).text).toContain(guard);
});

test('calls at the same time share one look at the workspace', async () => {
  const counter = counted();
  const loop = composeOnce(builder, [counter.probe]);
  const input = { mode: 'headless', workspace: folderWith({}) } as const;
  const [one, other] = await Promise.all([loop(input), loop(input)]);
  expect([one === other, counter.asked]).toEqual([true, 1]);
});

test('a failure is no decision', async () => {
  const loop = composeOnce(builder, [projectMarker]);
  await expect(loop({ profile: 'nowhere' })).rejects.toMatchObject({ code: 'compose.unknown-name' });
  const signal = AbortSignal.abort(new Error('stopped'));
  const workspace = folderWith({});
  await expect(loop({ mode: 'headless', workspace, signal })).rejects.toThrow('stopped');
  expect((await loop({ mode: 'headless', workspace })).composition.text).not.toContain(guard);
});

test('fragments of a program stand in it', async () => {
  const rule = defineFragment({ id: 'rule', render: 'A rule of the product.\n' });
  const { composition } = await composeOnce(builder, [], [rule])({ mode: 'interactive' });
  expect(composition.text.endsWith('A rule of the product.\n')).toBe(true);
  expect(builder.fragments.has('rule')).toBe(false);
});
