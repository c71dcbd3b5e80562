/** What holds for models of the AI SDK alone: warnings, settings, provider data, and every way in which an SDK can misbehave. */
import { getEventListeners } from 'node:events';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import { afterEach, describe, expect, test } from 'vitest';
import { noUsage, unknownUsage } from '../../protocol/usage.ts';
import { type AiSdkOptions, aiSdkModel } from './ai-sdk-model.ts';
import { anthropicDialect, openaiDialect } from './dialects.cases.ts';
import { failed, loopback, never } from './loopback.cases.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const usage = {
  inputTokens: { total: 1000, noCache: 400, cacheRead: 600, cacheWrite: 0 },
  outputTokens: { total: 50, text: 40, reasoning: 10 },
};
const finish: LanguageModelV3StreamPart = {
  type: 'finish',
  usage,
  finishReason: { unified: 'stop', raw: 'stop' },
};
const start: LanguageModelV3StreamPart = { type: 'stream-start', warnings: [] };
const text = (...deltas: string[]): LanguageModelV3StreamPart[] => [
  { type: 'text-start', id: '0' },
  ...deltas.map((delta) => ({ type: 'text-delta' as const, id: '0', delta })),
  { type: 'text-end', id: '0' },
];

/** A model of the SDK's own port that answers by these parts, and the calls that it got. */
function scripted(parts: readonly LanguageModelV3StreamPart[] | (() => never) | 'silent' | 'endless') {
  const calls: LanguageModelV3CallOptions[] = [];
  const sdk: LanguageModelV3 = {
    specificationVersion: 'v3',
    provider: 'scripted.chat',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('never asked')),
    doStream: async (options) => {
      calls.push(options);
      if (parts === 'silent') return new Promise(() => {});
      if (typeof parts === 'function') parts();
      const stream = new ReadableStream<LanguageModelV3StreamPart>({
        start(controller) {
          for (const part of typeof parts === 'string'
            ? [start, ...text('Half')]
            : (parts as LanguageModelV3StreamPart[]))
            controller.enqueue(part);
          if (parts !== 'endless') controller.close();
        },
      });
      return { stream, request: { body: { sent: true } } };
    },
  };
  return { sdk, calls };
}

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

describe('an SDK that misbehaves', () => {
  const named = (name: string, message: string, fields: object = {}) =>
    Object.assign(new Error(message), { name, ...fields });
  const throws = (error: unknown) => (): never => {
    throw error;
  };
  const api = (fields: object) =>
    named('AI_APICallError', 'Failed', { url: 'https://x.example/v1/chat?key=secret', ...fields });

  test.each<[string, unknown, object]>([
    [
      'without a key',
      named('AI_LoadAPIKeyError', 'No key.'),
      { error: { code: 'model.missing-key' }, dispatched: 'no', usage: { ...noUsage, modelCalls: 1 } },
    ],
    [
      'over a prompt it cannot send',
      named('AI_UnsupportedFunctionalityError', 'No tools.'),
      { error: { code: 'model.rejected' }, dispatched: 'no' },
    ],
    [
      'over an answer it cannot read',
      named('AI_TypeValidationError', 'Bad.'),
      { error: { code: 'model.bad-response' }, dispatched: 'unknown' },
    ],
    ['over a success it cannot read', api({ statusCode: 200 }), { error: { code: 'model.bad-response' } }],
    [
      'over a status',
      api({
        statusCode: 503,
        responseHeaders: { 'Retry-After': '2' },
        responseBody: '{"error":{"message":"Down"}}',
      }),
      {
        error: { code: 'model.server-error', message: expect.stringContaining('Down') },
        httpStatus: 503,
        retryAfterMs: 2000,
        retryable: true,
      },
    ],
    [
      'over a status without a body',
      api({ statusCode: 403 }),
      { error: { code: 'model.forbidden', message: expect.stringContaining('Failed') } },
    ],
    [
      'over a connection that was refused',
      api({ cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) }),
      { error: { code: 'model.unreachable' }, dispatched: 'no', retryable: true },
    ],
    [
      'over a certificate',
      api({ cause: Object.assign(new Error('own'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }) }),
      { error: { code: 'model.tls' }, dispatched: 'no', retryable: false },
    ],
    [
      'over a connection that broke',
      api({ cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) }),
      {
        error: { code: 'model.connection-lost' },
        dispatched: 'unknown',
        retryable: true,
        usage: unknownUsage,
      },
    ],
    [
      'without a reason',
      new TypeError('x is not a function'),
      {
        error: { code: 'model.provider-error', message: expect.stringContaining('x is not a function') },
        dispatched: 'unknown',
        retryable: false,
      },
    ],
    [
      'with something that is no error',
      'oops',
      { error: { code: 'model.provider-error', message: expect.stringContaining('oops') } },
    ],
  ])('throws %s', async (_name, error, expected) => {
    const reply = failed(await ask(throws(error)));
    expect(reply).toMatchObject(expected);
    expect(JSON.stringify(reply)).not.toContain('secret');
  });

  const error = (value: unknown): LanguageModelV3StreamPart => ({ type: 'error', error: value });
  test.each<[string, LanguageModelV3StreamPart[], object]>([
    [
      'that it was too busy, before the answer',
      [error({ type: 'overloaded_error', message: 'Busy' })],
      { error: { code: 'model.server-error' }, retryable: true },
    ],
    [
      'that it was too busy, in the answer',
      [...text('Hi'), error({ type: 'overloaded_error', message: 'Busy' })],
      { error: { code: 'model.provider-error' }, retryable: false },
    ],
    [
      'in words',
      [error('broken')],
      { error: { code: 'model.provider-error', message: expect.stringContaining('broken') } },
    ],
    [
      'as an error of a status, before the answer',
      [error(api({ statusCode: 500 }))],
      { error: { code: 'model.server-error' }, retryable: true },
    ],
    [
      'as an error of a status, in the answer',
      [...text('Hi'), error(api({ statusCode: 500 }))],
      { error: { code: 'model.server-error' }, retryable: false },
    ],
    [
      'that it cannot read',
      [error(named('AI_JSONParseError', 'JSON'))],
      { error: { code: 'model.bad-response' } },
    ],
    [
      'and then its usage',
      [error('broken'), { ...finish, finishReason: { unified: 'error', raw: undefined } }],
      { usage: { totalTokens: 1050 } },
    ],
    [
      'by no word',
      [{ ...finish, finishReason: { unified: 'error', raw: undefined } }],
      { error: { code: 'model.provider-error' } },
    ],
    [
      'by no reason to stop',
      [...text('Hi'), { ...finish, finishReason: { unified: 'other', raw: undefined } }],
      { error: { code: 'model.cut' } },
    ],
    ['by no end', text('Hi'), { error: { code: 'model.cut' }, usage: unknownUsage }],
  ])('tells a fault in its stream: %s', async (_name, parts, expected) => {
    expect(failed(await ask([start, ...parts]))).toMatchObject({ dispatched: 'yes', ...expected });
  });

  test('asks for more calls than one answer may have', async () => {
    const calls = (count: number): LanguageModelV3StreamPart[] =>
      Array.from({ length: count }, (_, i) => ({
        type: 'tool-call',
        toolCallId: `c${i}`,
        toolName: 'f',
        input: '{}',
      }));
    expect(await ask([start, ...calls(512), finish])).toMatchObject({ ok: true });
    expect(failed(await ask([start, ...calls(513), finish])).error).toMatchObject({
      code: 'model.bad-response',
      message: expect.stringContaining('at most 512 tool calls'),
    });
  });

  test('says what it does not know', async () => {
    const counts = { total: undefined, noCache: 400, cacheRead: 600, cacheWrite: undefined };
    const said = {
      inputTokens: counts,
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    };
    const parts = [start, ...text('Hi'), { ...finish, usage: said }];
    expect(await ask(parts)).toMatchObject({
      usage: { ...unknownUsage, promptTokens: 1000, cachedTokens: 600 },
    });
  });

  const limits = { firstByteTimeoutMs: 60, idleTimeoutMs: 60 };
  test('never answers, and does not heed a cancel', async () => {
    expect(await ask('silent', { limits })).toMatchObject({
      error: { code: 'model.no-answer' },
      dispatched: 'unknown',
    });
    expect(await ask('endless', { limits })).toMatchObject({
      error: { code: 'model.stalled' },
      dispatched: 'yes',
    });
    const { model, calls } = modelOf('silent');
    const cancel = new AbortController();
    const under = model.send(model.body({ ...none, messages: [] }), { signal: cancel.signal });
    cancel.abort();
    expect(await under).toMatchObject({
      error: { code: 'model.cancelled' },
      dispatched: 'unknown',
      usage: unknownUsage,
    });
    expect(calls[0]?.abortSignal?.aborted).toBe(true);
  });

  test('goes on after a cancel: its stream is let go of, and what it still sends counts for nothing', async () => {
    let cancelled = false;
    const stream = new ReadableStream<LanguageModelV3StreamPart>({
      start: (controller) => {
        for (const part of [start, ...text('Half')]) controller.enqueue(part);
      },
      cancel: () => {
        cancelled = true;
      },
    });
    const { sdk } = scripted([]);
    let answer = (_: object): void => {};
    const late = new Promise<{ stream: typeof stream }>((resolve) => {
      answer = () => resolve({ stream });
    });
    const model = aiSdkModel({ ...sdk, doStream: () => late });
    open.push(model);
    const shown: string[] = [];
    const cancel = new AbortController();
    const under = model.send(model.body({ ...none, messages: [] }), {
      signal: cancel.signal,
      onDelta: (delta) => shown.push(delta.text),
    });
    cancel.abort();
    expect(await under).toMatchObject({ error: { code: 'model.cancelled' } });
    answer({});
    await expect.poll(() => cancelled).toBe(true);
    expect(shown).toEqual([]);
  });

  test('is asked many times at once under one signal, and leaves nothing behind', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const { model } = modelOf([start, ...text('Hi'), finish]);
    const { signal } = new AbortController();
    const replies = await Promise.all(
      Array.from({ length: 40 }, () => model.send(model.body({ ...none, messages: [] }), { signal })),
    );
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off('warning', warn);
    expect(replies.every((reply) => reply.ok)).toBe(true);
    expect([warnings, getEventListeners(signal, 'abort')]).toEqual([[], []]);
  });

  test('gives parts that JSON cannot hold, and the record is made all the same', async () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    const strange: LanguageModelV3StreamPart[] = [
      { type: 'raw', rawValue: { big: 1n, loop } },
      { type: 'raw', rawValue: { big: 1n, error: new Error('e') } },
    ];
    const reply = await ask([start, ...strange, ...text('Hi'), finish]);
    const lines = reply.ok ? Buffer.from(reply.raw).toString().split('\n') : [];
    expect(lines[2]).toContain('unwritable');
    expect(JSON.parse(lines[3] ?? '')).toEqual({
      type: 'raw',
      rawValue: { big: '1', error: { name: 'Error', message: 'e' } },
    });
  });

  test('is watched by somebody who throws', async () => {
    const { model } = modelOf([start, ...text('Hi', ' there'), finish]);
    const onDelta = () => {
      throw new Error('the terminal is gone');
    };
    expect(await model.send(model.body({ ...none, messages: [] }), { signal: never, onDelta })).toMatchObject(
      { ok: true },
    );
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
