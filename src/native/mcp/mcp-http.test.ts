/** MCP over HTTP: the token goes to the server and nowhere else, a lost session is opened anew, silence has an end. */
import { randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { Server } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test } from 'vitest';
import { callTool, open } from './mcp.cases.ts';

const servers: HttpServer[] = [];
afterEach(async () => {
  for (const one of servers.splice(0)) {
    one.closeAllConnections();
    await new Promise((resolve) => one.close(resolve));
  }
});

type Answer = (
  request: IncomingMessage,
  response: import('node:http').ServerResponse,
) => void | Promise<void>;

async function listen(answer: Answer): Promise<string> {
  const server = createServer((request, response) => void answer(request, response));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** A server with sessions and one tool. `forget` loses all sessions, as a restart does. */
async function mcpOverHttp() {
  const seen: IncomingMessage[] = [];
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  let calls = 0;
  const url = await listen(async (request, response) => {
    seen.push(request);
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (known !== undefined) return known.handleRequest(request, response);
    if (id !== undefined) {
      response.writeHead(404).end();
      return;
    }
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    const server = new Server({ name: 'remote', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({
      tools: [{ name: 'count', description: 'Counts.', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler('tools/call', () => {
      calls += 1;
      return { content: [{ type: 'text', text: `call ${calls}` }] };
    });
    await server.connect(transport);
    await transport.handleRequest(request, response);
  });
  return { url, seen, sessions, calls: () => calls };
}

const token = { KEY: 'tok-over-http-123' };

test('the token goes along with every request, and the session ends with the run', async () => {
  const { url, seen } = await mcpOverHttp();
  const opened = await open({ web: { url, keyEnv: 'KEY' } }, { env: token });
  expect(opened.tools.map(({ schema }) => schema.name)).toEqual(['web__count']);
  expect(await callTool(opened, 'web__count')).toEqual({ status: 'succeeded', value: 'call 1' });
  await opened.close();
  expect(new Set(seen.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${token.KEY}`]));
  expect(seen.at(-1)?.method).toBe('DELETE');
});

test('a redirect is not followed, so that the token stays', async () => {
  let reached = 0;
  const elsewhere = await listen((_, response) => {
    reached += 1;
    response.writeHead(500).end();
  });
  for (const location of [elsewhere, '/other']) {
    const url = await listen((request, response) => {
      if (request.url === '/other') reached += 1;
      response.writeHead(307, { location }).end();
    });
    await expect(open({ web: { url, keyEnv: 'KEY' } }, { env: token })).rejects.toMatchObject({
      code: 'mcp.start-failed',
    });
  }
  expect(reached).toBe(0);
});

test('a server that repeats the token in its error is quoted without it', async () => {
  const url = await listen((request, response) => {
    response.writeHead(403).end(`no entry for ${request.headers.authorization}`);
  });
  const redact = (text: string) => text.replaceAll(token.KEY, '[secret KEY]');
  const fault = await open({ web: { url, keyEnv: 'KEY' } }, { env: token, redact }).catch((thrown) => thrown);
  expect(fault).toMatchObject({ code: 'mcp.start-failed' });
  expect(JSON.stringify(fault)).not.toContain(token.KEY);
});

test('a server that does not answer is given up in time', async () => {
  const url = await listen(() => {});
  const started = performance.now();
  await expect(open({ web: { url } }, { startTimeoutMs: 400 })).rejects.toMatchObject({
    message: expect.stringMatching(/^The MCP server 'web' (was not ready|did not start)/),
  });
  expect(performance.now() - started).toBeLessThan(2_000);
});

test('after the server lost its session a call is not begun, and the next one opens another', async () => {
  const { url, sessions, calls } = await mcpOverHttp();
  const opened = await open({ web: { url } });
  await callTool(opened, 'web__count');
  sessions.clear();
  expect(await callTool(opened, 'web__count')).toMatchObject({
    status: 'not-dispatched',
    nonDispatch: { reason: 'unavailable' },
  });
  expect(calls()).toBe(1);
  expect(await callTool(opened, 'web__count')).toEqual({ status: 'succeeded', value: 'call 2' });
});

describe('an address', () => {
  test.each([
    ['http://example.com/mcp', 'plain http to example.com'],
    ['https://user:word@example.com/mcp', 'credentials in it'],
    ['file:///etc/passwd', 'no http or https address'],
    ['mcp', 'no http or https address'],
  ])('%s is refused before anything is sent', async (url, message) => {
    const fault = await open({ web: { url } }).catch((thrown) => thrown);
    expect(fault).toMatchObject({ code: 'mcp.bad-url', message: expect.stringContaining(message) });
    expect(JSON.stringify(fault)).not.toContain('word');
  });
});
