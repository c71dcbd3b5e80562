/** The catalogue: every part that it names is there, under the name that it gives itself. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { adapters, harnesses, probes, providers, stores, tools, vocabulary } from './catalog.ts';
import { memoryStore } from './ledger/stores/memory.ts';
import { providers as knownProviders } from './native/model/providers.ts';

test('every part loads, and says what it is in one sentence', async () => {
  for (const part of [...harnesses, ...adapters, ...providers, ...tools, ...stores, ...probes]) {
    expect(await part.load(), part.name).toBeTruthy();
    expect(part.summary).toMatch(/^[A-Z].+\.$/);
  }
});

test('names are those that the parts give themselves', async () => {
  expect(providers.map((provider) => provider.name)).toEqual([...knownProviders.keys()]);
  for (const probe of probes) expect((await probe.load()).name).toBe(probe.name);
  for (const part of adapters)
    expect(await part.load()).toMatchObject({ name: part.name, summary: part.summary });
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
  expect(vocabulary).toMatchObject({
    tools: [
      'sql_query',
      'project_read',
      'project_search',
      'skill_read',
      'context_search',
      'context_slice',
      'context_peek',
      'subagent',
      'command_start',
      'command_read',
      'command_wait',
      'command_write',
      'command_cancel',
      'file_write',
      'file_patch',
      'typed_plan_execute',
    ],
    capabilities: [
      ...['sql', 'project', 'skills', 'context', 'subagents', 'commands', 'edit'],
      ...['plan', 'plan.model', 'plan.recurse', 'plan.parallel', 'plan.retry', 'plan.checkpoint'],
    ],
    probes: ['project-marker'],
    toolOptions: {
      sql_query: { database: 'string', rowsMax: 'number?', timeoutMs: 'number?' },
      context_peek: {},
    },
    probeOptions: { 'project-marker': { files: 'names', skip: 'names?' } },
  });
});

const unknownOption = { no_such_option: 1 };
const thrownBy = async (work: () => unknown): Promise<{ message?: string; next?: string }> => {
  try {
    await work();
  } catch (thrown) {
    return thrown as Error & { next?: string };
  }
  return {};
};

test.each(tools.map((tool) => [tool.name, tool] as const))(
  'the options of %s are those that the tool takes',
  async (_name, tool) => {
    const make = (await tool.load()) as (options: object) => unknown;
    const { next = '' } = await thrownBy(() => make({ workspace: tmpdir(), ...unknownOption }));
    const taken = /^Use only: (.+)\.$/.exec(next)?.[1]?.split(', ') ?? [];
    expect(taken.filter((name) => name !== 'workspace')).toEqual(Object.keys(tool.options));
  },
);

test.each(probes.map((probe) => [probe.name, probe] as const))(
  'the options of %s are those that the probe takes',
  async (_name, probe) => {
    const { run } = await probe.load();
    const context = { workspace: null, env: {} };
    const { message = '' } = await thrownBy(() => run(unknownOption, context));
    for (const name of Object.keys(probe.options)) expect(message).toContain(`'${name}'`);
    const all = Object.fromEntries(Object.keys(probe.options).map((name) => [name, ['x']]));
    expect(await thrownBy(() => run(all, context))).toEqual({});
  },
);
