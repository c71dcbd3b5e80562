/** The library as a program uses it: an agent from a folder, a tool of its own, a real server, and the record. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  answerTicket,
  compose,
  defineTool,
  explain,
  loadAgent,
  native,
  openLedger,
  projectMarker,
  projectRead,
  resolveModel,
  resumeRun,
  settle,
  sqliteStore,
  startRun,
  systemClock,
  thisHolder,
  vocabulary,
  WritError,
} from './index.ts';

let folder: string;
let server: LLMock;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'writ-index-'));
  await mkdir(join(folder, 'instructions'));
  await writeFile(
    join(folder, 'agent.yaml'),
    [
      'key: clerk',
      'profiles: { default: [base, marked] }',
      'facts: { place.marked: { type: bool, probe: project-marker, options: { files: [order.txt] } } }',
      'capabilities: { from: none, project: true }',
      'tools: [project_read]',
    ].join('\n'),
  );
  await writeFile(join(folder, 'instructions/base.md'), 'You ship what was ordered.\n');
  await writeFile(
    join(folder, 'instructions/marked.md'),
    '---\nwhen: place.marked\n---\nRead order.txt first.\n',
  );
  await writeFile(join(folder, 'order.txt'), 'three lamps');
  server = new LLMock({ port: 0, host: '127.0.0.1' });
  await server.start();
});

afterEach(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a whole agent: composed, run, paused for an approval, approved, resumed, answered', async () => {
  // The server answers from what it is sent: read the order, ship it, report what the tool said.
  server.on({ predicate: () => true }, ({ messages }) => {
    const results = messages.filter((message) => message.role === 'tool').map((message) => message.content);
    if (results.length === 0)
      return { content: '', toolCalls: [{ name: 'project_read', arguments: '{"path":"order.txt"}' }] };
    if (results.length === 1) {
      const order = /"content":"([^"]*)"/.exec(String(results[0]))?.[1];
      return { content: '', toolCalls: [{ name: 'ship', arguments: JSON.stringify({ order }) }] };
    }
    return { content: `Done: ${results[1]}` };
  });
  const shipped: string[] = [];
  const ship = defineTool<{ order: string }>({
    name: 'ship',
    description: 'Ships an order.',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    capability: 'shipping',
    access: 'write',
    repeat: 'once',
    execute({ order }) {
      shipped.push(order);
      return { shipped: order };
    },
  });

  const agent = await loadAgent(folder, vocabulary);
  const composition = compose(agent, await settle(agent, { workspace: folder }, [projectMarker]));
  expect(composition.text).toBe('You ship what was ordered.\n\nRead order.txt first.\n');
  expect(explain(composition)).toContain('place.marked = true (probe project-marker)');

  const key = { CLERK_KEY: 'sk-canary-123456' };
  const model = resolveModel('local/clerk', { env: key, baseUrl: `${server.url}/v1`, keyEnv: 'CLERK_KEY' });
  const path = join(folder, 'ledger.sqlite');
  const store = openLedger({ store: sqliteStore({ path }), secrets: model.secrets });
  const seat = {
    harness: native({ model, tools: [projectRead({ workspace: folder }), ship] }),
    store,
    clock: systemClock,
    holder: thisHolder(),
    approve: 'pause' as const,
  };
  try {
    const paused = await startRun({
      ...seat,
      composition,
      capabilities: [...agent.capabilities, 'shipping'],
      limits: { turns: 5, toolCalls: 4 },
      task: 'Ship the order.',
      origin: {},
    });
    expect(paused).toMatchObject({ status: 'paused', turns: 2, prompt: composition.digest });
    expect(shipped).toEqual([]);
    const ticket = paused.ticket?.id ?? '';
    await answerTicket(store, thisHolder(), {
      run: paused.run,
      ticket,
      decision: 'approved',
      by: 'ada',
      reason: '',
    });
    const done = await resumeRun({ ...seat, run: paused.run, promptNow: composition.digest });
    expect(done).toMatchObject({
      status: 'completed',
      answer: 'Done: {"shipped":"three lamps"}',
      turns: 3,
      toolCalls: 2,
      error: null,
      notices: [],
    });
    expect(shipped).toEqual(['three lamps']);
    expect((await store.events(done.run)).at(-1)).toMatchObject({ type: 'run-finish', status: 'completed' });
  } finally {
    await store.close();
    await ship.close();
    await model.close();
  }
});

test('what is wrong is thrown as a WritError that a program can tell by its code', async () => {
  await writeFile(join(folder, 'agent.yaml'), 'key: clerk\nprofils: {}\n');
  const thrown = await loadAgent(folder, vocabulary).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(WritError);
  expect(thrown).toMatchObject({ code: 'compose.unknown-key', kind: 'input' });
});
