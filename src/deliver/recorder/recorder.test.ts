/** The recording proxy between real servers and real clients: what passes, what is kept, and how it ends. */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import { type AddressInfo, connect, createServer as createRawServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import type { Exchange } from './exchange.ts';
import { type Recorder, type RecorderOptions, startRecorder } from './recorder.ts';

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function upstreamServer(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Recording {
  readonly recorder: Recorder;
  readonly exchanges: Exchange[];
  /** Resolves when so many exchanges are over. */
  over(count: number): Promise<void>;
}

async function record(upstream: string, options: Partial<RecorderOptions> = {}): Promise<Recording> {
  const exchanges: Exchange[] = [];
  let wake = () => {};
  const recorder = await startRecorder({
    upstream,
    clock: systemClock,
    take(exchange) {
      exchanges.push(exchange);
      wake();
    },
    ...options,
  });
  opened.push(recorder);
  return {
    recorder,
    exchanges,
    async over(count) {
      while (exchanges.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

async function bodyOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Sends chunks one write each, and resolves with the whole answer. */
function send(url: string, chunks: readonly Uint8Array[], headers: readonly string[] = []) {
  return new Promise<{ status: number; rawHeaders: string[]; body: Buffer }>((resolve, reject) => {
    const target = new URL(url);
    const outgoing = httpRequest(
      target,
      { method: 'POST', headers: ['host', target.host, ...headers], agent: false },
      (incoming) => {
        bodyOf(incoming).then(
          (body) => resolve({ status: incoming.statusCode ?? 0, rawHeaders: incoming.rawHeaders, body }),
          reject,
        );
      },
    );
    outgoing.on('error', reject);
    for (const chunk of chunks) outgoing.write(chunk);
    outgoing.end();
  });
}

const bytes = fc.uint8Array({ maxLength: 3000 });
const chunked = fc.array(bytes, { maxLength: 8 });

test('whatever the bytes and the chunks: both sides get what the other sent, and the record holds the same', async () => {
  let answer: readonly Uint8Array[] = [];
  let got: Buffer = Buffer.alloc(0);
  const upstream = await upstreamServer(async (request, response) => {
    got = await bodyOf(request);
    for (const chunk of answer) response.write(chunk);
    response.end();
  });
  const { recorder, exchanges, over } = await record(upstream);
  await fc.assert(
    fc.asyncProperty(chunked, chunked, fc.boolean(), async (asked, answered, sized) => {
      answer = answered;
      const whole = Buffer.concat(asked);
      const headers = sized ? ['Content-Length', String(whole.length)] : ['Transfer-Encoding', 'chunked'];
      const before = exchanges.length;
      const { body } = await send(`${recorder.url}/v1/messages`, asked, headers);
      await over(before + 1);
      expect(got.equals(whole)).toBe(true);
      expect(body.equals(Buffer.concat(answered))).toBe(true);
      const last = exchanges.at(-1);
      expect(Buffer.from(last?.request.body.bytes ?? []).equals(whole)).toBe(true);
      expect(Buffer.from(last?.response?.body.bytes ?? []).equals(body)).toBe(true);
      expect(last?.fault).toBe(null);
    }),
    { numRuns: 60 },
  );
});

test('headers keep order, spelling and repeats on the way; secrets are in neither direction of the record', async () => {
  let seen: readonly string[] = [];
  const upstream = await upstreamServer((request, response) => {
    seen = request.rawHeaders;
    response.writeHead(201, 'Made', ['X-One', 'a', 'Set-Cookie', 'sid=hidden', 'x-one', 'b']);
    response.end('ok');
  });
  const { recorder, exchanges, over } = await record(upstream);
  const sent = [
    'X-Api-Key',
    'sk-hidden',
    'Accept',
    'a',
    'X-Twice',
    '1',
    'x-twice',
    '2',
    'Authorization',
    'Bearer hidden',
  ];
  const path =
    '/v1beta/models/m:generateContent?alt=sse&key=hidden&%6bey=hidden&access_token=hidden&maxTokens=7';
  const { status, rawHeaders } = await send(`${recorder.url}${path}`, [], [...sent, 'Content-Length', '0']);
  await over(1);
  expect(status).toBe(201);
  expect(seen.slice(2, 2 + sent.length)).toEqual(sent);
  expect(rawHeaders.slice(0, 6)).toEqual(['X-One', 'a', 'Set-Cookie', 'sid=hidden', 'x-one', 'b']);
  expect(JSON.stringify(exchanges)).not.toContain('hidden');
  expect(exchanges[0]?.request.headers).toContainEqual(['X-Api-Key', '[redacted]']);
  expect(exchanges[0]?.response?.headers).toContainEqual(['Set-Cookie', '[redacted]']);
  expect(exchanges[0]?.path).toBe(
    '/v1beta/models/m:generateContent?alt=sse&key=[redacted]&%6bey=[redacted]&access_token=[redacted]&maxTokens=7',
  );
});

test('the path of the upstream stands before the path of the request', async () => {
  const paths: (string | undefined)[] = [];
  const upstream = await upstreamServer((request, response) => {
    paths.push(request.url);
    response.end();
  });
  const { recorder } = await record(`${upstream}/proxy/`);
  await send(`${recorder.url}/v1/x?y=1`, []);
  expect(paths).toEqual(['/proxy/v1/x?y=1']);
});

test('a stream passes while it is made: the client has the first event before the second exists', async () => {
  let goOn = () => {};
  const upstream = await upstreamServer(async (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: one\n\n');
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    response.end('data: two\n\n');
  });
  const { recorder } = await record(upstream);
  const response = await fetch(`${recorder.url}/v1/responses`, { method: 'POST', body: '{}' });
  const reader = response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: one\n\n');
  goOn();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: two\n\n');
});

test('an answer that is cut is cut for the client too, and the record says so', async () => {
  const upstream = await upstreamServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-length': '100' });
    response.write('half');
    setTimeout(() => response.destroy(), 20);
  });
  const { recorder, exchanges, over } = await record(upstream);
  await expect(send(`${recorder.url}/x`, [])).rejects.toThrow(/aborted|hang up/);
  await over(1);
  expect(exchanges[0]).toMatchObject({
    fault: { what: 'upstream-cut' },
    response: { body: { complete: false } },
  });
  expect(Buffer.from(exchanges[0]?.response?.body.bytes ?? []).toString()).toBe('half');
});

test('an upstream that is not there is a 502 that says so', async () => {
  const upstream = await upstreamServer(() => {});
  await opened.pop()?.close();
  const { recorder, exchanges } = await record(upstream);
  const { status, body } = await send(`${recorder.url}/x`, [Buffer.from('q')]);
  expect(status).toBe(502);
  expect(JSON.parse(body.toString())).toMatchObject({ error: { type: 'recorder' } });
  expect(exchanges).toMatchObject([{ fault: { what: 'upstream-unreachable' }, response: null }]);
});

test('a client that leaves ends the request to the upstream', async () => {
  let left = () => {};
  const gone = new Promise<void>((resolve) => {
    left = resolve;
  });
  const upstream = await upstreamServer((request, response) => {
    request.resume();
    response.writeHead(200).write('a');
    response.once('close', left);
  });
  const { recorder, exchanges, over } = await record(upstream);
  const stop = new AbortController();
  const response = await fetch(`${recorder.url}/x`, { method: 'POST', body: '{}', signal: stop.signal });
  expect(response.status).toBe(200);
  stop.abort();
  await gone;
  await over(1);
  expect(exchanges[0]?.fault).toEqual({ what: 'client-left' });
});

test('closing ends what is open, hands it over once, and frees the port', async () => {
  const upstream = await upstreamServer((request, response) => {
    request.resume();
    response.writeHead(200).write('a');
  });
  const { recorder, exchanges } = await record(upstream);
  const response = await fetch(`${recorder.url}/x`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(200);
  await recorder.close();
  await recorder.close();
  expect(exchanges).toHaveLength(1);
  await expect(fetch(`${recorder.url}/x`)).rejects.toThrow();
});

test('what is beyond the limit of the record still passes', async () => {
  const upstream = await upstreamServer(async (request, response) => {
    response.end(await bodyOf(request));
  });
  const { recorder, exchanges, over } = await record(upstream, { bodyBytesMax: 10 });
  const { body } = await send(`${recorder.url}/x`, [Buffer.alloc(25, 'a'), Buffer.alloc(5, 'b')]);
  await over(1);
  expect(body.toString()).toBe(`${'a'.repeat(25)}${'b'.repeat(5)}`);
  expect(exchanges[0]?.request.body).toMatchObject({ bytesSeen: 30, complete: true });
  expect(Buffer.from(exchanges[0]?.response?.body.bytes ?? []).toString()).toBe('a'.repeat(10));
});

test('a gate sees the whole request first: what it holds back never reaches the upstream', async () => {
  const arrived: string[] = [];
  const upstream = await upstreamServer(async (request, response) => {
    arrived.push((await bodyOf(request)).toString());
    response.end('passed');
  });
  const { recorder, exchanges, over } = await record(upstream, {
    gate({ body }) {
      if (body.toString() === 'broken') throw new Error('no idea');
      if (body.toString() === 'free') return undefined;
      return { status: 429, body: '{"error":"spent"}', message: 'the budget is spent' };
    },
  });
  expect((await send(`${recorder.url}/x`, [Buffer.from('fr'), Buffer.from('ee')])).body.toString()).toBe(
    'passed',
  );
  const held = await send(`${recorder.url}/x`, [Buffer.from('dear')]);
  expect({ status: held.status, body: held.body.toString() }).toEqual({
    status: 429,
    body: '{"error":"spent"}',
  });
  expect((await send(`${recorder.url}/x`, [Buffer.from('broken')])).status).toBe(500);
  await over(3);
  expect(arrived).toEqual(['free']);
  expect(exchanges.map(({ fault }) => fault)).toEqual([
    null,
    { what: 'held-back', message: 'the budget is spent' },
    { what: 'held-back', message: 'the gate failed: no idea' },
  ]);
});

test('beyond loopback only a base URL with the token is served', async () => {
  const paths: (string | undefined)[] = [];
  const upstream = await upstreamServer((request, response) => {
    paths.push(request.url);
    response.end('served');
  });
  const { recorder, exchanges, over } = await record(upstream, { host: '0.0.0.0' });
  const url = new URL(recorder.url.replace('0.0.0.0', '127.0.0.1'));
  expect(url.pathname).toMatch(/^\/token_\w{26}$/);
  for (const path of ['/v1/models', `${url.pathname}x/v1/models`, '/token_/v1/models']) {
    expect((await fetch(`${url.origin}${path}`)).status).toBe(403);
  }
  expect(await (await fetch(`${url.href}/v1/models`)).text()).toBe('served');
  await over(1);
  expect(paths).toEqual(['/v1/models']);
  expect(JSON.stringify(exchanges)).not.toContain('token_');
});

test.each([
  ...['ftp://x', 'here', '', 'http://u@127.0.0.1', 'http://:hush@127.0.0.1', 'http://127.0.0.1/v1?k=hush'],
  'http://127.0.0.1/v1#hush',
])('an upstream like %j is refused, and none of it repeated', async (upstream) => {
  const refused = await record(upstream).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'recorder.bad-upstream' });
  expect(JSON.stringify(refused)).not.toContain('hush');
});

/** Answers whatever arrives with these bytes, and then ends the connection unless it shall stay. */
async function rawUpstream(answer: string, stays = false): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.from(answer, 'latin1'));
      if (!stays) socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  ['a status that is none', 'HTTP/1.1 099 X\r\ncontent-length: 2\r\n\r\nhi', false],
  ['the status nought', 'HTTP/1.1 000 X\r\ncontent-length: 2\r\n\r\nhi', true],
  ['a change of protocol', 'HTTP/1.1 101 S\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhi', true],
  ['nothing', '', false],
  ['no HTTP', 'hello\r\n\r\n', true],
])('an upstream that answers with %s did not answer', { timeout: 5_000 }, async (_, answer, stays) => {
  const { recorder, exchanges, over } = await record(await rawUpstream(answer, stays));
  for (const count of [1, 2]) {
    expect((await send(`${recorder.url}/x`, [Buffer.from('{}')])).status).toBe(502);
    await over(count);
  }
  expect(exchanges).toMatchObject(Array(2).fill({ response: null, fault: { what: 'upstream-unreachable' } }));
});

test.each(['O\x01K', '\x7f', '\xe2\x82\xac', ''])('an answer passes whose reason is %j', async (reason) => {
  const upstream = await rawUpstream(`HTTP/1.1 200 ${reason}\r\ncontent-length: 2\r\n\r\nhi`);
  const { recorder, exchanges, over } = await record(upstream);
  const { status, body } = await send(`${recorder.url}/x`, [Buffer.from('{}')]);
  await over(1);
  expect([status, body.toString(), exchanges[0]?.fault]).toEqual([200, 'hi', null]);
});

test('an answer that ends before its length is cut for the client too', async () => {
  const upstream = await rawUpstream('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi');
  const { recorder, exchanges, over } = await record(upstream);
  await expect(send(`${recorder.url}/x`, [Buffer.from('{}')])).rejects.toThrow();
  await over(1);
  expect(exchanges[0]).toMatchObject({ response: { status: 200 }, fault: { what: 'upstream-cut' } });
});

test('a port that is taken is told', async () => {
  const upstream = await upstreamServer(() => {});
  await expect(record(upstream, { port: Number(new URL(upstream).port) })).rejects.toMatchObject({
    code: 'recorder.no-port',
    details: { code: 'EADDRINUSE' },
  });
});

test('a request that breaks off is kept as incomplete', async () => {
  const upstream = await upstreamServer((request) => request.on('error', () => {}).resume());
  const { recorder, exchanges, over } = await record(upstream);
  const socket = connect(Number(new URL(recorder.url).port), '127.0.0.1');
  socket.write('POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhalf');
  setTimeout(() => socket.destroy(), 50);
  await over(1);
  expect(exchanges[0]).toMatchObject({
    fault: { what: 'client-left' },
    request: { body: { complete: false } },
  });
});
