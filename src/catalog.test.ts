/** The catalogue: every part that it names is there, under the name that it gives itself. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { harnesses, probes, providers, stores, tools, vocabulary } from './catalog.ts';
import { memoryStore } from './ledger/stores/memory.ts';
import { providers as knownProviders } from './native/model/providers.ts';

test('every part loads, and says what it is in one sentence', async () => {
  for (const part of [...harnesses, ...providers, ...tools, ...stores, ...probes]) {
    expect(await part.load(), part.name).toBeTruthy();
    expect(part.summary).toMatch(/^[A-Z].+\.$/);
  }
});

test('names are those that the parts give themselves', async () => {
  expect(providers.map((provider) => provider.name)).toEqual([...knownProviders.keys()]);
  for (const probe of probes) expect((await probe.load()).name).toBe(probe.name);
  expect(memoryStore().name).toBe('memory');
  expect(stores.map((store) => store.name)).toEqual(['sqlite', 'memory']);
});

test('a tool is made with its name and capability; what it cannot use is refused', async () => {
  const workspace = await mkdtemp(`${tmpdir()}/writ-catalog-`);
  const read = (await tools[1].load())({ workspace });
  expect([read.schema.name, read.capability]).toEqual([tools[1].name, tools[1].capability]);
  await read.close();
  const query = await tools[0].load();
  expect(() => query({ workspace })).toThrow(/a string as database/);
  expect(() => query({ workspace, database: 'x', nonsense: true })).toThrow(/nonsense/);
  await rm(workspace, { recursive: true });
});

test('the vocabulary of agent.yaml follows from it', () => {
  expect(vocabulary).toEqual({
    tools: ['sql_query', 'project_read', 'project_search', 'context_search', 'context_slice', 'context_peek'],
    capabilities: ['sql', 'project', 'context'],
    probes: ['project-marker'],
  });
});
