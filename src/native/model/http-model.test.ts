/** A model over real connections: exact bytes out and in, pooled sockets, closing, and a scripted model server. */
import { getEventListeners } from 'node:events';
import { LLMock } from '@copilotkit/aimock';
import { afterEach, expect, test } from 'vitest';
import type { WireDelta } from '../../wire/wire.ts';
import { answerChunks, type Loopback, loopback, never, stream } from './loopback.cases.ts';
import { resolveModel } from './providers.ts';

const open: { close(): Promise<unknown> }[] = [];
const opened = <T extends { close(): Promise<unknown> }>(one: T): T => {
  open.push(one);
  return one;
};
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const modelAt = (server: { url: string }, more: Partial<Parameters<typeof resolveModel>[1]> = {}) =>
  opened(resolveModel('local/m', { env: {}, baseUrl: server.url, ...more }));

const serve = async (...answer: Parameters<typeof loopback>): Promise<Loopback> =>
  opened(await loopback(...answer));

const bodyOf = (model: ReturnType<typeof modelAt>, text: string): string =>
  model.body({
    messages: [model.message({ role: 'user', text })],
    tools: '',
    maxTokens: 50,
    parameters: {},
  });

test('sends the exact bytes once, shows text as it comes, and keeps the exact answer', async () => {
  const parts = stream(...answerChunks('Héllo')).split('l');
  const server = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`${parts[0]}l`);
    setTimeout(() => response.end(parts.slice(1).join('l')), 20);
  });
  const model = modelAt(server, {
    env: { LOCAL_KEY: 'key-123456' },
    keyEnv: 'LOCAL_KEY',
    prices: { 'local/m': { prompt: 1, completion: 2 } },
  });
  const body = bodyOf(model, 'Grüße');
  const deltas: WireDelta[] = [];
  const reply = await model.send(body, { signal: never, onDelta: (delta) => deltas.push(delta) });

  expect(reply).toEqual({
    ok: true,
    message: { role: 'assistant', text: 'Héllo', calls: [] },
    finish: 'stop',
    usage: {
      modelCalls: 1,
      promptTokens: 10,
      cachedTokens: null,
      cacheWriteTokens: null,
      completionTokens: 5,
      reasoningTokens: null,
      totalTokens: 15,
      costUsd: 20e-6,
      costSource: 'priced',
    },
    modelSeen: 'seen',
    requestId: 'chatcmpl-1',
    httpStatus: 200,
    raw: Buffer.from(stream(...answerChunks('Héllo'))),
    firstByteMs: expect.any(Number),
    elapsedMs: expect.any(Number),
  });
  expect(deltas).toEqual([{ type: 'text', text: 'Héllo' }]);
  expect(server.requests).toEqual([
    {
      url: '/v1/chat/completions',
      body,
      headers: {
        accept: 'text/event-stream, application/json',
        'accept-encoding': 'identity',
        authorization: 'Bearer key-123456',
        connection: 'keep-alive',
        'content-length': String(Buffer.byteLength(body)),
        'content-type': 'application/json',
        host: new URL(server.url).host,
        'user-agent': 'writ',
      },
    },
  ]);
});

test('a server that does not stream is shown all the same', async () => {
  const server = await serve((response) => {
    const message = { content: 'Hi', reasoning: 'hm' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }));
  });
  const deltas: WireDelta[] = [];
  const reply = await modelAt(server).send('{}', { signal: never, onDelta: (delta) => deltas.push(delta) });
  expect(reply).toMatchObject({
    ok: true,
    message: { text: 'Hi' },
    usage: { promptTokens: null, costUsd: null },
  });
  expect(deltas).toEqual([
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'Hi' },
  ]);
});

test('a fault of whoever watches ends the watching and nothing else', async () => {
  const server = await serve((response) => response.end(stream(...answerChunks('a'))));
  const onDelta = () => {
    throw new Error('the terminal is gone');
  };
  expect(await modelAt(server).send('{}', { signal: never, onDelta })).toMatchObject({ ok: true });
});

test('requests in a row share one connection; a server that closes it soon gets a new one each time', async () => {
  for (const [hint, connections] of [
    ['timeout=5', 1],
    ['timeout=2', 3],
  ] as const) {
    const server = await serve((response) => {
      response.setHeader('connection', 'keep-alive');
      response.setHeader('keep-alive', hint);
      response.end(stream(...answerChunks('a')));
    });
    const model = modelAt(server);
    for (let i = 0; i < 3; i += 1)
      expect(await model.send('{}', { signal: never })).toMatchObject({ ok: true });
    expect(server.sockets).toHaveLength(connections);
  }
});

test('many requests at once under one signal leave nothing behind', async () => {
  const server = await serve((response) => response.end(stream(...answerChunks('a'))));
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on('warning', warn);
  const model = modelAt(server);
  const replies = await Promise.all(Array.from({ length: 40 }, () => model.send('{}', { signal: never })));
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off('warning', warn);
  expect(replies.every((reply) => reply.ok)).toBe(true);
  expect(warnings).toEqual([]);
  expect(getEventListeners(never, 'abort')).toEqual([]);
});

test('an answer that is whole does not wait for a server that keeps the connection open', async () => {
  const server = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(stream(...answerChunks('a')));
    const more = setInterval(() => response.write(': still here\n'), 100);
    response.on('close', () => clearInterval(more));
  });
  const reply = await modelAt(server).send('{}', { signal: never });
  expect(reply).toMatchObject({ ok: true, message: { text: 'a' } });
  expect(reply.ok && reply.elapsedMs).toBeLessThan(3_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(server.sockets[0]?.destroyed).toBe(true);
});

test('an answer that is whole stays whole when the connection then breaks', async () => {
  const server = await serve((response, request) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(stream(...answerChunks('a')), () =>
      setTimeout(() => request.socket.resetAndDestroy(), 50),
    );
  });
  expect(await modelAt(server).send('{}', { signal: never })).toMatchObject({
    ok: true,
    message: { text: 'a' },
  });
});

test('an answer that is whole stays whole when the caller then cancels', async () => {
  const server = await serve((response) => response.writeHead(200).write(stream(...answerChunks('a'))));
  const cancel = new AbortController();
  const reply = modelAt(server).send('{}', {
    signal: cancel.signal,
    onDelta: () => setTimeout(() => cancel.abort(), 50),
  });
  expect(await reply).toMatchObject({ ok: true, message: { text: 'a' } });
  await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
});

test('close lets go of idle connections at once', async () => {
  const server = await serve((response) => response.end(stream(...answerChunks('a'))));
  const model = modelAt(server);
  await model.send('{}', { signal: never });
  expect(server.sockets[0]?.destroyed).toBe(false);
  await model.close();
  await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
});

test('close cancels what is under way and refuses what comes after', async () => {
  const server = await serve((response) => response.writeHead(200).write(': wait\n\n'));
  const model = modelAt(server);
  const under = model.send('{}', { signal: never });
  await expect.poll(() => server.requests.length).toBe(1);
  await model.close();
  await model.close();
  expect(await under).toMatchObject({ ok: false, error: { code: 'model.cancelled' } });
  expect(await model.send('{}', { signal: never })).toMatchObject({
    ok: false,
    error: { code: 'model.cancelled' },
    dispatched: 'no',
  });
  expect(server.requests).toHaveLength(1);
});

test('a proxy in the environment is not used', async () => {
  const server = await serve((response) => response.end(stream(...answerChunks('a'))));
  const before = { ...process.env };
  Object.assign(process.env, { HTTP_PROXY: 'http://127.0.0.1:1', http_proxy: 'http://127.0.0.1:1' });
  try {
    expect(await modelAt(server).send('{}', { signal: never })).toMatchObject({ ok: true });
  } finally {
    for (const name of ['HTTP_PROXY', 'http_proxy']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
});

test.each(['openai-chat', 'anthropic'] as const)(
  'a tool loop against the scripted model server, %s',
  async (wire) => {
    // The mock itself rounds in this dialect.
    const args = wire === 'anthropic' ? '{"n":7}' : '{"n":2512292042121000001}';
    const mock = new LLMock({ port: 0, chunkSize: 3 });
    mock.on(
      { toolCallId: 'call_1' },
      { content: 'Two rows.', usage: { prompt_tokens: 30, completion_tokens: 3 } },
    );
    mock.onMessage('count', {
      toolCalls: [{ id: 'call_1', name: 'sql', arguments: args }],
      usage: { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 },
    });
    await mock.start();
    opened({ close: () => mock.stop() });
    const model = modelAt({ url: `${mock.url}/v1` }, { wire });
    const tools = model.tools([
      { name: 'sql', description: 'SQL', parameters: { type: 'object', properties: {} } },
    ]);
    const user = model.message({ role: 'user', text: 'count' });
    const parts = { tools, maxTokens: 100, parameters: {} };

    const first = await model.send(model.body({ ...parts, messages: [user] }), { signal: never });
    expect(first).toMatchObject({
      ok: true,
      finish: 'tool-calls',
      message: { text: '', calls: [{ id: 'call_1', name: 'sql', arguments: args }] },
      usage: { promptTokens: 20, completionTokens: 8, totalTokens: 28 },
    });
    if (!first.ok) return;
    const result = model.message({ role: 'tool', callId: 'call_1', name: 'sql', text: '2' });
    const deltas: string[] = [];
    const second = await model.send(
      model.body({ ...parts, messages: [user, model.message(first.message), result] }),
      { signal: never, onDelta: (delta) => deltas.push(delta.text) },
    );
    expect(second).toMatchObject({ ok: true, finish: 'stop', message: { text: 'Two rows.', calls: [] } });
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join('')).toBe('Two rows.');
  },
);
