/** What holds for models of the AI SDK alone: the calls that they get, warnings, and what a provider wants back. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { afterEach, describe, expect, test } from 'vitest';
import { unknownUsage } from '../../protocol/usage.ts';
import { type AiSdkOptions, aiSdkModel } from './ai-sdk-model.ts';
import { anthropicDialect, openaiDialect } from './dialects.cases.ts';
import { failed, loopback, never } from './loopback.cases.ts';
import { finish, scripted, start, text } from './scripted-sdk.cases.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

function modelOf(parts: Parameters<typeof scripted>[0], options: AiSdkOptions = {}) {
  const { sdk, calls } = scripted(parts);
  const model = aiSdkModel(sdk, options);
  open.push(model);
  return { model, calls };
}

const none = { tools: '', maxTokens: null, parameters: {} };
async function ask(parts: Parameters<typeof scripted>[0], options: AiSdkOptions = {}) {
  const { model } = modelOf(parts, options);
  const messages = [model.message({ role: 'user', text: 'q' })];
  return model.send(model.body({ ...none, messages }), { signal: never });
}

test('an answer is told whole, with what the SDK gave as its record', async () => {
  const parts: LanguageModelV3StreamPart[] = [
    start,
    { type: 'response-metadata', id: 'r1', modelId: 'seen', timestamp: new Date(0) },
    ...text('Hi'),
    finish,
  ];
  const prices = { 'scripted.chat/m': { prompt: 1, completion: 2, cached: 0.5 } };
  expect(await ask(parts, { prices })).toEqual({
    ok: true,
    message: { role: 'assistant', text: 'Hi', calls: [] },
    finish: 'stop',
    usage: {
      modelCalls: 1,
      promptTokens: 1000,
      cachedTokens: 600,
      cacheWriteTokens: 0,
      completionTokens: 50,
      reasoningTokens: 10,
      totalTokens: 1050,
      costUsd: 0.0008,
      costSource: 'priced',
    },
    modelSeen: 'seen',
    requestId: 'r1',
    httpStatus: null,
    raw: Buffer.from(
      [{ type: 'request', body: { sent: true } }, ...parts]
        .map((part) => `${JSON.stringify(part)}\n`)
        .join(''),
    ),
    firstByteMs: expect.any(Number),
    elapsedMs: expect.any(Number),
    warnings: [],
  });
});

test('is named by the SDK or by the caller, and knows no address', () => {
  expect(modelOf([]).model).toMatchObject({
    id: 'scripted.chat/m',
    name: 'm',
    wire: 'ai-sdk',
    url: 'ai-sdk:scripted.chat',
    price: null,
  });
  expect(modelOf([], { id: 'lab/m' }).model.id).toBe('lab/m');
  expect(() => modelOf([], { prices: { 'scripted.chat/m': { prompt: -1, completion: 1 } } })).toThrow(
    expect.objectContaining({ code: 'model.bad-price' }),
  );
});

describe('what is asked', () => {
  test('is the SDK call that the body stands for', async () => {
    const { model, calls } = modelOf([start, finish]);
    const messages = [
      { role: 'system', text: 'Be brief.', stablePrefixBytes: 4 } as const,
      { role: 'user', text: 'q' } as const,
      {
        role: 'assistant',
        text: '',
        calls: [
          { id: 'c', name: 'f', arguments: '{"n":1}' },
          { id: 'd', name: 'f', arguments: '[1]' },
        ],
      } as const,
      { role: 'tool', callId: 'c', name: 'f', text: 'x' } as const,
      { role: 'tool', callId: 'd', name: 'f', text: 'y' } as const,
    ].map((message) => model.message(message));
    const parameters = { type: 'object', properties: {} };
    const body = model.body({
      messages,
      tools: model.tools([{ name: 'f', description: 'F', parameters }]),
      maxTokens: 9,
      parameters: { temperature: 0.5, providerOptions: { scripted: { effort: 'low' } } },
    });
    await model.send(body, { signal: never });
    expect(calls).toEqual([
      {
        prompt: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'text', text: 'q' }] },
          {
            role: 'assistant',
            content: [
              { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: { n: 1 } },
              { type: 'tool-call', toolCallId: 'd', toolName: 'f', input: { INVALID_JSON: '[1]' } },
            ],
          },
          {
            role: 'tool',
            content: [
              { type: 'tool-result', toolCallId: 'c', toolName: 'f', output: { type: 'text', value: 'x' } },
              { type: 'tool-result', toolCallId: 'd', toolName: 'f', output: { type: 'text', value: 'y' } },
            ],
          },
        ],
        tools: [{ type: 'function', name: 'f', description: 'F', inputSchema: parameters }],
        maxOutputTokens: 9,
        temperature: 0.5,
        providerOptions: { scripted: { effort: 'low' } },
        abortSignal: expect.any(AbortSignal),
      },
    ]);
  });

  test.each(['max_tokens', 'maxRetries', 'top_p', 'headers', 'tools'])(
    'a setting %s, which the SDK would not pass on, is refused',
    (name) => {
      const { model } = modelOf([]);
      expect(() => model.body({ ...none, messages: [], parameters: { [name]: 1 } })).toThrow(
        expect.objectContaining({ code: 'wire.bad-parameter', details: { parameter: name } }),
      );
    },
  );

  test('a message of another protocol is refused', () => {
    const { model } = modelOf([]);
    const messages = ['{"role":"user","content":"q"}'];
    expect(() => model.body({ ...none, messages })).toThrow(
      expect.objectContaining({ code: 'wire.foreign-message' }),
    );
  });
});

describe('what a provider wants back', () => {
  test('goes back in its place: reasoning, text and calls with their data', async () => {
    const thought = { scripted: { signature: 'S' } };
    const { model, calls } = modelOf([
      start,
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'h' },
      { type: 'reasoning-delta', id: 'r', delta: 'm' },
      { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: thought },
      { type: 'reasoning-end', id: 'r' },
      { type: 'reasoning-start', id: 'q', providerMetadata: { scripted: { redacted: 'R' } } },
      ...text('Hi'),
      { type: 'tool-input-start', id: 'c', toolName: 'f' },
      { type: 'tool-input-delta', id: 'c', delta: '{}' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: '{}', providerMetadata: thought },
      { type: 'tool-call', toolCallId: 'own', toolName: 'search', input: '{}', providerExecuted: true },
      finish,
    ]);
    const user = model.message({ role: 'user', text: 'q' });
    const reply = await model.send(model.body({ ...none, messages: [user] }), { signal: never });
    if (!reply.ok) throw new Error(JSON.stringify(reply));
    expect(reply).toMatchObject({
      finish: 'tool-calls',
      message: { text: 'Hi', reasoning: { text: 'hm' }, calls: [{ id: 'c' }] },
    });
    const messages = [user, model.message(reply.message)];
    await model.send(model.body({ ...none, messages }), { signal: never });
    expect(calls[1]?.prompt[1]?.content).toEqual([
      { type: 'reasoning', text: 'hm', providerOptions: thought },
      { type: 'reasoning', text: '', providerOptions: { scripted: { redacted: 'R' } } },
      { type: 'text', text: 'Hi' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {}, providerOptions: thought },
    ]);
  });

  test('of another protocol is left out', async () => {
    const { model, calls } = modelOf([start, finish]);
    const opaque = { parts: [{ type: 'file' }, { type: 'tool-call' }, 'x'] };
    const message = { role: 'assistant', text: 'Hi', calls: [], reasoning: { text: '', opaque } } as const;
    await model.send(model.body({ ...none, messages: [model.message(message)] }), { signal: never });
    expect(calls[0]?.prompt).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }]);
  });
});

describe('a warning of the SDK', () => {
  const warnings: LanguageModelV3StreamPart = {
    type: 'stream-start',
    warnings: [
      { type: 'unsupported', feature: 'seed' },
      { type: 'compatibility', feature: 'v2', details: 'old' },
      { type: 'other', message: 'Beware.' },
    ],
  };
  const texts = ['unsupported seed', 'compatibility v2: old', 'Beware.'];

  test('is told', async () => {
    expect(await ask([warnings, ...text('Hi'), finish])).toMatchObject({ ok: true, warnings: texts });
  });

  test('fails the request where that is asked, before the answer is read', async () => {
    const reply = failed(await ask([warnings, ...text('Hi'), finish], { strict: true }));
    expect(reply).toMatchObject({
      error: {
        code: 'model.setting-dropped',
        message: expect.stringContaining('unsupported seed; compatibility'),
      },
      dispatched: 'yes',
      retryable: false,
      usage: unknownUsage,
      warnings: texts,
    });
    expect(Buffer.from(reply.raw ?? []).toString()).not.toContain('Hi');
    expect(await ask([start, ...text('Hi'), finish], { strict: true })).toMatchObject({ ok: true });
  });

  test.each([true, false])('of a real provider about a real setting (strict: %s)', async (strict) => {
    const server = await loopback((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(anthropicDialect.events({ text: ['Hi'], finish: 'stop' }).join(''));
    });
    open.push(server);
    const model = aiSdkModel(createAnthropic({ baseURL: server.url, apiKey: 'k-123456' })('m'), { strict });
    open.push(model);
    const messages = [model.message({ role: 'user', text: 'q' })];
    const reply = await model.send(model.body({ ...none, messages, parameters: { seed: 7 } }), {
      signal: never,
    });
    expect(reply.warnings?.join()).toMatch(/unsupported.*seed/);
    expect(reply).toMatchObject(strict ? { error: { code: 'model.setting-dropped' } } : { ok: true });
  });
});

test('a request of a real provider is kept as it was sent', async () => {
  const server = await loopback((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(openaiDialect.events({ text: ['Hi'], finish: 'stop' }).join(''));
  });
  open.push(server);
  const model = aiSdkModel(
    createOpenAICompatible({ name: 'lab', baseURL: server.url, apiKey: 'k-secret-1' })('m'),
  );
  open.push(model);
  const reply = await model.send(
    model.body({ ...none, messages: [model.message({ role: 'user', text: 'q' })] }),
    { signal: never },
  );
  const [first = ''] = reply.ok ? Buffer.from(reply.raw).toString().split('\n') : [];
  expect(JSON.parse(first)).toEqual({ type: 'request', body: JSON.parse(server.requests[0]?.body ?? '') });
  expect(JSON.stringify(reply)).not.toContain('k-secret-1');
});
