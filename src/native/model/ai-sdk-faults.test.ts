/** Every way in which an SDK can misbehave, as the reply that names it. */
import { getEventListeners } from 'node:events';
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { afterEach, describe, expect, test } from 'vitest';
import { noUsage, unknownUsage } from '../../protocol/usage.ts';
import { type AiSdkOptions, aiSdkModel } from './ai-sdk-model.ts';
import { failed, never } from './loopback.cases.ts';
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
      'over several addresses that were all refused',
      api({
        cause: new AggregateError([Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })], ''),
      }),
      { error: { code: 'model.unreachable' }, dispatched: 'no', retryable: true },
    ],
    [
      'over a cause that would run code when it is looked at',
      api({
        cause: Object.defineProperty(new Error('odd'), 'code', {
          get: () => {
            throw new Error('a getter was run');
          },
        }),
      }),
      { error: { code: 'model.connection-lost' }, dispatched: 'unknown' },
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
    const begun = new ReadableStream<LanguageModelV3StreamPart>({
      start: (controller) => controller.enqueue(start),
    });
    const waiting = aiSdkModel(
      { ...scripted([]).sdk, doStream: async () => ({ stream: begun }) },
      { limits: { firstByteTimeoutMs: 60 } },
    );
    open.push(waiting);
    expect(await waiting.send(waiting.body({ ...none, messages: [] }), { signal: never })).toMatchObject({
      error: { code: 'model.no-answer' },
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

  test('sends a part in the moment of the cancel: nobody is shown it', async () => {
    const cancel = new AbortController();
    const stream = new ReadableStream<LanguageModelV3StreamPart>(
      {
        pull(controller) {
          controller.enqueue({ type: 'text-delta', id: '0', delta: 'late' });
          cancel.abort();
        },
      },
      { highWaterMark: 0 },
    );
    const model = aiSdkModel({ ...scripted([]).sdk, doStream: async () => ({ stream }) });
    open.push(model);
    const shown: string[] = [];
    const onDelta = (delta: { readonly text: string }) => shown.push(delta.text);
    const body = model.body({ ...none, messages: [] });
    expect(await model.send(body, { signal: cancel.signal, onDelta })).toMatchObject({
      dispatched: 'yes',
      ok: false,
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
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
    let told = 0;
    const onDelta = () => {
      told += 1;
      throw new Error('the terminal is gone');
    };
    expect(await model.send(model.body({ ...none, messages: [] }), { signal: never, onDelta })).toMatchObject(
      { ok: true },
    );
    expect(told).toBe(1);
  });
});
