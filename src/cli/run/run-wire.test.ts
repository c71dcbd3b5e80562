/** `writ run --wire`: a server of one's own that speaks another protocol than its name says. */
import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { anthropicDialect } from '../../native/model/dialects.cases.ts';
import { type Loopback, loopback } from '../../native/model/loopback.cases.ts';
import { agentFolder, call } from '../call.cases.ts';
import { originRecord, readOrigin } from './origin.ts';

let cwd: string;
let server: Loopback;
beforeEach(async () => {
  cwd = await agentFolder('model: lab/m');
  server = await loopback((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(anthropicDialect.events({ text: ['Hi.'], finish: 'stop' }).join(''));
  });
});
afterEach(async () => {
  await server.close();
  await rm(cwd, { recursive: true, force: true });
});

const run = (...argv: string[]) => call(['run', 'a', '--base-url', server.url, '--wire', ...argv], { cwd });

test('the server is asked in the protocol that was named', async () => {
  expect(await run('anthropic', '--', 'Hello')).toMatchObject({ code: 0, stdout: 'Hi.\n' });
  expect(server.requests[0]?.url).toBe('/v1/messages');
  expect(anthropicDialect.sent(server.requests[0]?.body ?? '').roles).toEqual(['user']);
});

test('a protocol that there is not is bad input', async () => {
  const { code, stderr } = await run('smoke-signals', '--', 'Hello');
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('openai-chat, openai-responses, anthropic, gemini'),
  ]);
  expect(server.requests).toHaveLength(0);
});

test('a session keeps it for when its run goes on', () => {
  const origin = {
    agentFolder: '/a',
    workspace: '/w',
    model: 'lab/m',
    wire: 'anthropic',
    tools: [],
  } as const;
  const record = originRecord({ ...origin, tools: [], situation: {} });
  expect(readOrigin(record, 's')).toMatchObject({ wire: 'anthropic' });
});
