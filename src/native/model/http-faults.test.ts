/** Every way in which a request to a model fails, over real connections, as the reply that names it. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { noUsage, unknownUsage } from '../../protocol/usage.ts';
import { answerChunks, failed, type Loopback, loopback, never, stream } from './loopback.cases.ts';
import type { ModelReply } from './model.ts';
import { type ResolveOptions, resolveModel } from './providers.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const key = 'sk-very/secret-0123456789';
const usedNothing = { ...noUsage, modelCalls: 1 };
const limits = { firstByteTimeoutMs: 2_000, idleTimeoutMs: 2_000 };

async function serve(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<Loopback> {
  const server = await loopback(answer);
  open.push(server);
  return server;
}

/** A server that speaks whatever `talk` makes it speak. */
async function raw(talk: (socket: Socket) => void): Promise<{ url: string; server: Server }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(resolve);
      }),
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, server };
}

function modelAt(url: string, more: Partial<ResolveOptions> = {}): ReturnType<typeof resolveModel> {
  const model = resolveModel('local/m', { env: { KEY: key }, baseUrl: url, keyEnv: 'KEY', limits, ...more });
  open.push(model);
  return model;
}

async function ask(url: string, more: Partial<ResolveOptions> = {}, signal = never) {
  return failed(await modelAt(url, more).send('{"x":1}', { signal }));
}

/** The whole reply of a failure, so that no field is forgotten. */
const reply = (fields: Partial<Extract<ModelReply, { ok: false }>>, code: string, message: RegExp) => ({
  ok: false,
  error: expect.objectContaining({
    code,
    kind: 'failed',
    message: expect.stringMatching(message),
    next: expect.stringMatching(/^[A-Z].*\.$/),
  }),
  dispatched: 'yes',
  usage: unknownUsage,
  httpStatus: null,
  raw: null,
  retryable: false,
  retryAfterMs: null,
  ...fields,
});

describe('an answer that is no success', () => {
  const json = (message: string, code: string | null = null) => JSON.stringify({ error: { message, code } });
  test.each<[number, string, string, RegExp, boolean]>([
    [
      400,
      json('context too long', 'context_length_exceeded'),
      'model.rejected',
      /refused.*HTTP 400.*context too long/,
      false,
    ],
    [401, json('bad key'), 'model.unauthorized', /did not accept the key in KEY .*HTTP 401.*bad key/, false],
    [402, json('no credit'), 'model.no-credit', /no credit/, false],
    [403, json('blocked'), 'model.forbidden', /does not let KEY use local\/m.*blocked/, false],
    [
      404,
      json('no such model'),
      'model.not-found',
      /no model or no path for local\/m .*no such model/,
      false,
    ],
    [413, 'too big', 'model.request-too-large', /too many bytes.*too big/, false],
    [422, '{"detail":[{"msg":"bad"}]}', 'model.rejected', /HTTP 422.*bad/, false],
    [429, json('slow down'), 'model.rate-limited', /too many requests.*slow down/, true],
    [429, json('spent', 'insufficient_quota'), 'model.no-credit', /no credit left/, false],
    [404, '', 'model.not-found', /HTTP 404 with an empty body/, false],
  ])('HTTP %i %s', async (status, body, code, message, retryable) => {
    const server = await serve((response) => response.writeHead(status).end(body));
    expect(await ask(server.url)).toEqual(
      reply({ httpStatus: status, raw: Buffer.from(body), usage: usedNothing, retryable }, code, message),
    );
  });

  test.each([408, 500, 502, 503, 529])('HTTP %i may pass, and may have cost', async (status) => {
    const server = await serve((response) => response.writeHead(status).end('down'));
    expect(await ask(server.url)).toEqual(
      reply({ httpStatus: status, raw: Buffer.from('down'), retryable: true }, 'model.server-error', /down/),
    );
  });

  test('carries what the provider asks to wait, and its code', async () => {
    const server = await serve((response) =>
      response.writeHead(429, { 'retry-after': '7' }).end(json('x', 'rpm')),
    );
    expect(await ask(server.url)).toMatchObject({
      retryAfterMs: 7_000,
      error: { details: { model: 'local/m', httpStatus: 429, providerCode: 'rpm' } },
    });
  });

  test('a page is named, not quoted', async () => {
    const server = await serve((response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad'),
    );
    expect((await ask(server.url)).error.message).toMatch(/: an HTML page$/);
  });

  test('a redirect is not followed', async () => {
    const other = await serve((response) => response.end(stream(...answerChunks('a'))));
    for (const status of [301, 307, 308]) {
      const server = await serve((response) =>
        response.writeHead(status, { location: `${other.url}?k=1` }).end(),
      );
      const origin = new URL(other.url).origin.replaceAll('.', '\\.');
      expect(await ask(server.url)).toEqual(
        reply(
          { httpStatus: status, raw: Buffer.alloc(0), usage: usedNothing },
          'model.redirected',
          new RegExp(`points to ${origin}, and a redirect is not followed`),
        ),
      );
    }
    expect(other.requests).toEqual([]);
  });

  test('without end is cut off', async () => {
    const server = await serve((response) => response.writeHead(500).end('x'.repeat(300_000)));
    const got = await ask(server.url);
    expect(got).toMatchObject({ error: { code: 'model.server-error' }, retryable: true });
    expect(got.raw?.length).toBeLessThanOrEqual(64 * 1024);
  });
});

describe('no connection', () => {
  const nothing = { dispatched: 'no', usage: usedNothing } as const;

  test('refused', async () => {
    const { url, server } = await raw(() => {});
    await new Promise((resolve) => server.close(resolve));
    expect(await ask(url)).toEqual(
      reply({ ...nothing, retryable: true }, 'model.unreachable', /ECONNREFUSED/),
    );
  });

  test('refused on every address of a name', async () => {
    const { url, server } = await raw(() => {});
    await new Promise((resolve) => server.close(resolve));
    const got = await ask(url.replace('127.0.0.1', 'localhost'));
    expect(got).toEqual(
      reply({ ...nothing, retryable: true }, 'model.unreachable', /ECONNREFUSED .*127\.0\.0\.1/),
    );
  });

  test('a name that does not exist', async () => {
    const got = await ask('https://no-such-host.invalid/v1');
    expect(got).toMatchObject({ ...nothing, error: { code: 'model.unreachable' } });
    expect(got.error.message).toMatch(/https:\/\/no-such-host\.invalid\/v1\/chat\/completions: getaddrinfo/);
  });

  test('a server without TLS', async () => {
    const server = await serve((response) => response.end());
    expect(await ask(server.url.replace('http:', 'https:'))).toEqual(
      reply(nothing, 'model.tls', /No safe connection to https:/),
    );
    expect(server.requests).toEqual([]);
  });

  test('a TLS server that ends during the handshake', async () => {
    const { url } = await raw((socket) => socket.once('data', () => socket.destroy()));
    expect(await ask(url.replace('http:', 'https:'))).toEqual(
      reply({ ...nothing, retryable: true }, 'model.unreachable', /No connection to https:/),
    );
  });
});

describe('a connection that breaks', () => {
  test('after the request: nobody knows what the provider did', async () => {
    const { url } = await raw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await ask(url)).toEqual(
      reply(
        { dispatched: 'unknown', retryable: true },
        'model.connection-lost',
        /after the request was sent/,
      ),
    );
  });

  test('on a socket that was used before: still unknown', async () => {
    let requests = 0;
    const server = await serve((response, request) => {
      requests += 1;
      if (requests === 1) response.end(stream(...answerChunks('a')));
      else request.socket.resetAndDestroy();
    });
    const model = modelAt(server.url);
    expect(await model.send('{}', { signal: never })).toMatchObject({ ok: true });
    expect(await model.send('{}', { signal: never })).toEqual(
      reply({ dispatched: 'unknown', retryable: true }, 'model.connection-lost', /before an answer came/),
    );
    expect(server.sockets).toHaveLength(1);
  });

  test('after the head', async () => {
    const { url } = await raw((socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n', () =>
          setTimeout(() => socket.resetAndDestroy(), 20),
        ),
      );
    });
    expect(await ask(url)).toEqual(
      reply({ httpStatus: 200, raw: Buffer.alloc(0), retryable: true }, 'model.connection-lost', /broke/),
    );
  });

  test('inside the answer', async () => {
    const part = stream(...answerChunks('a')).slice(0, 120);
    const server = await serve((response, request) => {
      response.writeHead(200).write(part, () => setTimeout(() => request.socket.resetAndDestroy(), 20));
    });
    expect(await ask(server.url)).toEqual(
      reply({ httpStatus: 200, raw: Buffer.from(part) }, 'model.cut', /broke after 120 bytes/),
    );
  });

  test('something that is not HTTP', async () => {
    const { url } = await raw((socket) =>
      socket.once('data', () => socket.end('220 mail.example ESMTP\r\n')),
    );
    expect(await ask(url)).toEqual(reply({ dispatched: 'unknown' }, 'model.bad-response', /Expected HTTP/));
  });
});

describe('an answer that is a success and no use', () => {
  const cases: [string, string, string, string, RegExp][] = [
    [
      'cut politely',
      'text/event-stream',
      'data: {"choices":[{"delta":{"content":"a"}}]}\n\n',
      'model.cut',
      /did not finish/,
    ],
    ['empty', 'text/event-stream', '', 'model.cut', /without an answer/],
    [
      'an error inside',
      'text/event-stream',
      'data: {"error":{"message":"busy","code":503}}\n\n',
      'model.provider-error',
      /local\/m reported an error: busy/,
    ],
    ['garbage', 'text/plain', 'warming up', 'model.bad-response', /begins with "warming up"/],
    ['no JSON', 'application/json', '{"choices', 'model.bad-response', /one JSON object/],
    [
      'a call without id',
      'text/event-stream',
      stream({
        choices: [
          { delta: { tool_calls: [{ index: 0, function: { name: 'f' } }] }, finish_reason: 'tool_calls' },
        ],
      }),
      'model.bad-response',
      /has no id/,
    ],
    ['a page', 'text/html; charset=utf-8', '<!doctype html>', 'model.not-an-api', /found an HTML page/],
  ];
  test.each(cases)('%s', async (_name, type, body, code, message) => {
    const server = await serve((response) => response.writeHead(200, { 'content-type': type }).end(body));
    expect(await ask(server.url)).toEqual(reply({ httpStatus: 200, raw: Buffer.from(body) }, code, message));
  });

  test('compressed against our wish', async () => {
    const server = await serve((response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
    );
    expect((await ask(server.url)).error).toMatchObject({
      code: 'model.bad-response',
      message: expect.stringContaining('"gzip"'),
    });
  });

  test('more bytes than allowed', async () => {
    const server = await serve((response) => {
      response.writeHead(200);
      const more = () => response.write(`: ${'x'.repeat(1000)}\n`, (error) => error || setImmediate(more));
      more();
    });
    const got = await ask(server.url, { limits: { ...limits, responseBytesMax: 5_000 } });
    expect(got).toMatchObject({
      dispatched: 'yes',
      error: { code: 'model.response-too-large', message: expect.stringContaining('5000') },
    });
    expect(got.raw?.length).toBeLessThanOrEqual(5_000);
    await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
  });
});

describe('time', () => {
  test('no first byte', async () => {
    const server = await serve(() => {});
    expect(await ask(server.url, { limits: { firstByteTimeoutMs: 60 } })).toEqual(
      reply({ dispatched: 'unknown' }, 'model.no-answer', /within 60 ms/),
    );
    await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
  });

  test('a head alone is no first byte', async () => {
    const server = await serve((response) => response.writeHead(200).flushHeaders());
    expect(await ask(server.url, { limits: { firstByteTimeoutMs: 60 } })).toEqual(
      reply({ httpStatus: 200, raw: Buffer.alloc(0) }, 'model.no-answer', /within 60 ms/),
    );
  });

  test('silence inside the answer; each part begins the wait anew', async () => {
    const server = await serve((response) => {
      response.writeHead(200);
      let sent = 0;
      const timer = setInterval(() => {
        response.write(': x\n');
        sent += 1;
        if (sent === 8) clearInterval(timer);
      }, 40);
    });
    expect(await ask(server.url, { limits: { idleTimeoutMs: 150 } })).toEqual(
      reply(
        { httpStatus: 200, raw: Buffer.from(': x\n'.repeat(8)) },
        'model.stalled',
        /32 bytes and then nothing for 150 ms/,
      ),
    );
  });
});

describe('a server that switches protocols', () => {
  test.each([
    [
      'as HTTP asks for it',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
    ['without saying to which', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('%s has answered, and is not waited for', async (_name, head) => {
    const closed: boolean[] = [];
    const { url } = await raw((socket) => {
      socket.once('data', () => socket.write(head));
      socket.on('close', () => closed.push(true));
    });
    const began = performance.now();
    expect(await ask(url)).toEqual(
      reply(
        { httpStatus: 101, raw: Buffer.alloc(0) },
        'model.bad-response',
        /switched to another protocol.*HTTP 101/,
      ),
    );
    expect(performance.now() - began).toBeLessThan(1000);
    await expect.poll(() => closed).toEqual([true]);
  });
});

describe('cancel', () => {
  test('before the request', async () => {
    const server = await serve(() => {});
    expect(await ask(server.url, {}, AbortSignal.abort())).toEqual(
      reply({ dispatched: 'no', usage: usedNothing }, 'model.cancelled', /local\/m was cancelled/),
    );
    expect(server.sockets).toEqual([]);
  });

  test.each([
    ['before the answer', (_response: ServerResponse) => {}, { dispatched: 'unknown' } as const],
    [
      'inside the answer',
      (response: ServerResponse) =>
        response.writeHead(200).write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n'),
      { httpStatus: 200, raw: expect.anything() },
    ],
    [
      'inside an error',
      (response: ServerResponse) => response.writeHead(500).write('x'),
      { httpStatus: 500, raw: expect.anything() },
    ],
  ])('%s closes the connection at once', async (_name, answer, fields) => {
    const server = await serve((response) => void answer(response));
    const cancel = new AbortController();
    const asked = ask(server.url, {}, cancel.signal);
    await expect.poll(() => server.requests.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const began = performance.now();
    cancel.abort();
    expect(await asked).toEqual(reply(fields, 'model.cancelled', /was cancelled/));
    expect(performance.now() - began).toBeLessThan(500);
    await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
  });
});

describe('the key', () => {
  test.each([
    [
      'in an error body',
      401,
      (auth: string) => JSON.stringify({ error: { message: `Wrong key ${auth}`, code: auth } }),
    ],
    ['in plain text', 500, (auth: string) => `denied: ${auth}`],
    ['at the cut of a long text', 500, (auth: string) => `${'x'.repeat(385)} ${auth.slice(7)}`],
    [
      'at the cut of a long text in JSON',
      401,
      (auth: string) => JSON.stringify({ error: `${'x'.repeat(385)} ${auth.slice(7)}` }),
    ],
    [
      'at the cut inside a stream',
      200,
      (auth: string) => `data: {"error":"${'x'.repeat(385)} ${auth.slice(7)}"}\n\n`,
    ],
    ['escaped in plain text', 500, (auth: string) => `denied: ${auth.replaceAll('/', '\\/')}`],
    ['percent-encoded', 500, (auth: string) => `denied: ?key=${encodeURIComponent(auth.slice(7))}`],
    [
      'in base64',
      500,
      (auth: string) => `denied: ${Buffer.from(`user:${auth.slice(7)}`).toString('base64')}`,
    ],
    ['inside a stream', 200, (auth: string) => `data: {"error":"no ${auth}"}\n\n`],
    ['in garbage', 200, (auth: string) => `no ${auth}`],
  ])('is taken out %s', async (_name, status, body) => {
    const server = await serve((response, request) =>
      response.writeHead(status).end(body(request.headers.authorization ?? '')),
    );
    const model = modelAt(server.url);
    const text = JSON.stringify(failed(await model.send('{}', { signal: never })).error);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(text).not.toContain(key.slice(0, 8));
    expect(text).toContain('[secret KEY]');
    expect(text).not.toContain(Buffer.from(key.slice(0, 12)).toString('base64').slice(2, 12));
    expect(JSON.stringify([model.url, model.id])).not.toContain(key);
  });
});
