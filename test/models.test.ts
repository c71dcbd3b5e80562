/** Whole runs on other models than the usual one: what Anthropic Messages is sent and charged, and what an SDK warns of. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { plainComposition } from '../src/compose/plain.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { aiSdkModel } from '../src/native/model/ai-sdk-model.ts';
import { anthropicDialect, type Scripted } from '../src/native/model/dialects.cases.ts';
import { type Loopback, loopback } from '../src/native/model/loopback.cases.ts';
import type { Model } from '../src/native/model/model.ts';
import { resolveModel } from '../src/native/model/providers.ts';
import { native } from '../src/native/native.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { RunEvent } from '../src/protocol/events.ts';
import { type StartRequest, startRun } from '../src/run/run.ts';
import { openRig } from './rig.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false },
  capability: 'look',
  access: 'read',
  repeat: 'safe',
  execute: async ({ n }: { n?: number | bigint }) => `seen ${n}`,
});

const twice: Scripted = {
  reasoning: 'Two looks.',
  calls: [
    { id: 'call_1', name: 'look', pieces: ['{"n":2512292042121000001}'] },
    { id: 'call_2', name: 'look', pieces: [] },
  ],
  finish: 'tool-calls',
};

async function serve(...answers: readonly Scripted[]): Promise<Loopback> {
  let next = 0;
  const server = await loopback((response) => {
    const answer = answers[next++];
    response.writeHead(answer === undefined ? 500 : 200, { 'content-type': 'text/event-stream' });
    response.end(answer === undefined ? '' : anthropicDialect.events(answer).join(''));
  });
  open.push(server);
  return server;
}

async function run(
  model: Model,
  more: Partial<StartRequest> & { parameters?: Record<string, unknown> } = {},
) {
  open.push(model);
  const { parameters = {}, ...request } = more;
  const events: RunEvent[] = [];
  const store = memoryStore({ clock: systemClock });
  open.push(store);
  const text = 'You look at things.\n\nToday is Monday.\n';
  const result = await startRun({
    harness: native({ model, tools: [look], request: { parameters } }),
    composition: { ...plainComposition('tester', text), stablePrefixBytes: 21 },
    capabilities: ['look'],
    limits: {},
    task: 'Look twice.',
    store,
    clock: systemClock,
    holder: 'test:1:1',
    approve: 'deny',
    origin: {},
    onEvents: (stored) => events.push(...stored),
    ...request,
  });
  return { result, events };
}

const mark = { cache_control: { type: 'ephemeral' } };

test('Anthropic Messages gets the composed text exactly, marked where it stops being the same, and its answers back', async () => {
  const server = await serve(twice, { text: ['Seen.'], finish: 'stop' });
  const prices = { 'local/m': { prompt: 3, completion: 15, cached: 0.3, cacheWrite: 3.75 } };
  const { result, events } = await run(
    resolveModel('local/m', { env: {}, baseUrl: server.url, wire: 'anthropic', prices }),
  );
  expect(result).toMatchObject({
    status: 'completed',
    answer: 'Seen.',
    usage: { modelCalls: 2, promptTokens: 2000, cachedTokens: 1200, completionTokens: 100, costUsd: 0.00426 },
  });
  const [first, second] = server.requests.map(({ body }) => JSON.parse(body));
  const system = [
    { type: 'text', text: 'You look at things.\n\n', ...mark },
    { type: 'text', text: 'Today is Monday.\n' },
  ];
  const task = { type: 'text', text: 'Look twice.', ...mark };
  expect(first).toEqual({
    model: 'm',
    max_tokens: 8192,
    system,
    tools: [{ name: 'look', description: 'Looks.', input_schema: look.schema.parameters, ...mark }],
    messages: [{ role: 'user', content: [task] }],
    stream: true,
  });
  expect([second.system, second.tools]).toEqual([first.system, first.tools]);
  expect(second.messages).toMatchObject([
    { role: 'user', content: [task] },
    {
      role: 'assistant',
      content: [
        { thinking: 'Two looks.', signature: 'Signed==' },
        { id: 'call_1' },
        { id: 'call_2', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1' },
        { type: 'tool_result', tool_use_id: 'call_2', ...mark },
      ],
    },
  ]);
  expect(server.requests[1]?.body).toContain('"input":{"n":2512292042121000001}');
  expect(second.messages[2].content[0].content).toContain('2512292042121000001');
  expect(
    events.filter((event) => event.type === 'model-request').map(({ parameters }) => parameters),
  ).toEqual([{ maxTokens: 8192 }, { maxTokens: 8192 }]);
});

test('a warning of the SDK is told once in the record, however often it came', async () => {
  const server = await serve(twice, { text: ['Seen.'], finish: 'stop' });
  const sdk = createAnthropic({ baseURL: server.url, apiKey: 'k-123456' })('m');
  const { result, events } = await run(aiSdkModel(sdk), { parameters: { seed: 7 } });
  expect(result).toMatchObject({
    status: 'completed',
    answer: 'Seen.',
    usage: { promptTokens: 2000, cachedTokens: 1200 },
  });
  const notices = events.flatMap((event) => (event.type === 'notice' ? [[event.code, event.text]] : []));
  const seeds = notices.filter(([, text]) => text?.includes('seed'));
  expect(seeds).toEqual([['model.warning', expect.stringMatching(/^unsupported/)]]);
  expect(result.notices).toEqual(notices.map(([, text]) => text));
  expect(events.find((event) => event.type === 'model-response')).toMatchObject({ httpStatus: null });
});

test('a warning ends the run where strictness is asked', async () => {
  const server = await serve({ text: ['Seen.'], finish: 'stop' });
  const sdk = createAnthropic({ baseURL: server.url, apiKey: 'k-123456' })('m');
  const { result } = await run(aiSdkModel(sdk, { strict: true }), { parameters: { seed: 7 } });
  expect(result).toMatchObject({ status: 'failed', error: { code: 'model.setting-dropped' } });
  expect(server.requests).toHaveLength(1);
});

test('a budget in money reserves the dearer rate of a cache that is written', async () => {
  const server = await serve({ text: ['Seen.'], finish: 'stop' });
  const costOf = async (cacheWrite: number) => {
    const prices = { 'local/m': { prompt: 1, completion: 0, cached: 0, cacheWrite } };
    const model = resolveModel('local/m', { env: {}, baseUrl: server.url, wire: 'anthropic', prices });
    const { events } = await run(model, { limits: { costUsd: 1 } });
    return events.find((event) => event.type === 'model-request')?.reserved.costUsd ?? 0;
  };
  const plain = await costOf(0.5);
  expect(await costOf(4)).toBeCloseTo(plain * 4, 9);
});

test('an answer that the server was too busy to begin is asked for again', async () => {
  let asked = 0;
  const server = await loopback((response) => {
    asked += 1;
    const events = anthropicDialect.events({ text: ['Seen.'], finish: 'stop' });
    const busy = events[0] + anthropicDialect.error('overloaded_error', 'Busy');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(asked === 1 ? busy : events.join(''));
  });
  open.push(server);
  const { result } = await run(resolveModel('local/m', { env: {}, baseUrl: server.url, wire: 'anthropic' }));
  expect(result).toMatchObject({ status: 'completed', answer: 'Seen.', usage: { modelCalls: 2 } });
});

test('a server that takes idempotency keys gets one for each request, the same when it is sent again', async () => {
  const rig = await openRig({
    idempotencyHeader: 'idempotency-key',
    tools: [look],
    script: [
      { status: 503, headers: { 'retry-after': '0' } },
      { calls: [{ id: 'a', name: 'look', arguments: '{}' }] },
      { text: 'Seen.' },
    ],
  });
  open.push(rig);
  const { run } = await rig.run('Look.');
  const keys = rig.provider.requests.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([keys[0], keys[0], expect.stringMatching(new RegExp(`^${run}:2:[0-9a-f]{16}$`))]);
  expect(keys[0]).toMatch(new RegExp(`^${run}:1:[0-9a-f]{16}$`));
});
