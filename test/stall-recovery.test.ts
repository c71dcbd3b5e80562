/** Stall recovery over every protocol: the same request again, no call made twice, and never past a tool that the provider began. */
import type { ServerResponse } from 'node:http';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { plainComposition } from '../src/compose/plain.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { aiSdkModel } from '../src/native/model/ai-sdk-model.ts';
import {
  anthropicDialect,
  type Dialect,
  geminiDialect,
  openaiDialect,
  responsesDialect,
  type Scripted,
} from '../src/native/model/dialects.cases.ts';
import { type Loopback, loopback } from '../src/native/model/loopback.cases.ts';
import type { Model } from '../src/native/model/model.ts';
import { resolveModel } from '../src/native/model/providers.ts';
import type { WireName } from '../src/native/model/wire-names.ts';
import { native } from '../src/native/native.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { RunEvent } from '../src/protocol/events.ts';
import { startRun } from '../src/run/run.ts';

const limits = { firstByteTimeoutMs: 500, idleTimeoutMs: 500 };
const wire = (name: WireName) => (url: string) =>
  resolveModel('local/m', { env: {}, baseUrl: url, wire: name, limits });
const sse = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const serverTool = sse('content_block_start', {
  index: 0,
  content_block: { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} },
});

interface Lane {
  readonly dialect: Dialect;
  open(url: string): Model;
  /** The event with which the provider begins a tool of its own, and its name; left out where the protocol has none. */
  readonly own?: readonly [event: string, name: string];
}

const lanes: Readonly<Record<string, Lane>> = {
  'OpenAI Chat': { dialect: openaiDialect, open: wire('openai-chat') },
  'OpenAI Responses': {
    dialect: responsesDialect,
    open: wire('openai-responses'),
    own: [
      sse('response.output_item.added', {
        output_index: 0,
        item: { type: 'mcp_call', id: 'mcp_1', name: 'book_room', arguments: '' },
      }),
      'book_room',
    ],
  },
  Anthropic: { dialect: anthropicDialect, open: wire('anthropic'), own: [serverTool, 'web_search'] },
  Gemini: {
    dialect: geminiDialect,
    open: wire('gemini'),
    own: [
      `data: {"candidates":[{"content":{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"1"}}]}}]}\n\n`,
      'code_execution',
    ],
  },
  'the AI SDK with Anthropic': {
    dialect: anthropicDialect,
    open: (url) => aiSdkModel(createAnthropic({ apiKey: 'k', baseURL: url })('m'), { limits }),
    own: [serverTool, 'web_search'],
  },
  'the AI SDK with a compatible server': {
    dialect: openaiDialect,
    open: (url) =>
      aiSdkModel(createOpenAICompatible({ name: 'c', baseURL: url, apiKey: 'k', includeUsage: true })('m'), {
        limits,
      }),
  },
};

const half: Scripted = { text: ['half an answer'], finish: 'stop' };
const calling: Scripted = {
  text: ['Looking.'],
  calls: [{ id: 'call_1', name: 'look', pieces: ['{"n":', '1}'] }],
  finish: 'tool-calls',
};
const whole: Scripted = { text: ['the whole answer'], finish: 'stop' };

/** The events before the one that holds a text, or with it. */
function upTo(events: readonly string[], text: string, more: number): string {
  return events.slice(0, events.findIndex((one) => one.includes(text)) + more).join('');
}

const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

interface Ran {
  readonly result: Awaited<ReturnType<typeof startRun>>;
  readonly faults: readonly string[];
  readonly looked: number;
  readonly server: Loopback;
}

async function runOn(
  { open }: Lane,
  answer: Parameters<typeof loopback>[0],
  more: { readonly retries?: number; readonly signal?: AbortSignal } = {},
): Promise<Ran> {
  const server = await loopback(answer);
  const model = open(server.url);
  let looked = 0;
  const look = defineTool<{ readonly n: number }>({
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: { n: { type: 'integer' } } },
    capability: 'look',
    access: 'read',
    execute: () => {
      looked += 1;
      return 'seen it';
    },
  });
  const events: RunEvent[] = [];
  const { retries = 8, signal } = more;
  const harness = native({
    model,
    tools: [look],
    policies: { 'stall-recovery': { retries } },
    request: { attemptsMax: 20, retryWaitMsMax: 10 },
  });
  const result = await startRun({
    harness,
    store: memoryStore({ clock: systemClock }),
    clock: systemClock,
    holder: 'test:1:1',
    approve: 'deny',
    onEvents: (stored) => events.push(...stored),
    composition: plainComposition('tester', 'Answer.'),
    capabilities: ['look'],
    limits: {},
    task: 'go',
    origin: {},
    ...(signal === undefined ? {} : { signal }),
  });
  const faults = events.flatMap((event) => (event.type === 'model-fault' ? [event.error.code] : []));
  await model.close();
  await server.close();
  return { result, faults, looked, server };
}

describe.concurrent.each(Object.entries(lanes))('over %s', (_name, lane) => {
  const { dialect, own } = lane;

  test('a request is sent again in the same bytes wherever its answer stood still, and the call is made once', async () => {
    // Each stands still once, in this order; whatever else is asked is answered whole.
    const stalls: ((response: ServerResponse) => void)[] = [
      () => {},
      (response) => begin(response).write(upTo(dialect.events(half), 'half', 1)),
      (response) =>
        begin(response).write(upTo(dialect.events(calling), 'look', dialect.name === 'gemini' ? 0 : 1)),
    ];
    let later = 0;
    const { result, faults, looked, server } = await runOn(lane, (response, _request, body) => {
      if (!body.includes('seen it')) {
        const stall = stalls.shift();
        if (stall !== undefined) stall(response);
        else begin(response).end(dialect.events(calling).join(''));
        return;
      }
      later += 1;
      if (later === 1) begin(response).write(upTo(dialect.events(half), 'half', 1));
      else begin(response).end(dialect.events(whole).join(''));
    });
    expect([result.status, result.answer, looked]).toEqual(['completed', 'the whole answer', 1]);
    expect(faults).toEqual(expect.arrayContaining(['model.no-answer', 'model.stalled']));
    const asked = server.requests.map(({ body }) => body);
    expect([new Set(asked).size, asked.length - faults.length]).toEqual([2, 2]);
    expect(asked.some((body) => body.includes('half an'))).toBe(false);
  });

  test('so often and not oftener', async () => {
    const { result, server } = await runOn(
      lane,
      (response) => begin(response).write(upTo(dialect.events(half), 'half', 1)),
      { retries: 1 },
    );
    expect([result.status, result.error?.code, server.requests.length]).toEqual([
      'failed',
      'model.stalled',
      2,
    ]);
  });

  test.skipIf(own === undefined)('never past a tool that the provider itself has begun', async () => {
    const [event = '', tool] = own ?? [];
    const { result, server } = await runOn(lane, (response) => {
      // What an answer begins with, then the tool, and nothing more.
      const [first = ''] = dialect.events(half);
      begin(response).write(`${first.includes('half') ? '' : first}${event}`);
    });
    expect([result.status, result.error?.code, server.requests.length]).toEqual([
      'failed',
      'native.stalled-in-tool',
      1,
    ]);
    expect(result.error).toMatchObject({ details: { tool } });
    expect(result.error?.message).toContain(`'${tool}'`);
  });

  test('never where the run was told to stop', async () => {
    const stop = new AbortController();
    const { result, server } = await runOn(
      lane,
      (response) => {
        begin(response).write(upTo(dialect.events(half), 'half', 1));
        setTimeout(() => stop.abort(), 20);
      },
      { signal: stop.signal },
    );
    expect([result.status, server.requests.length]).toEqual(['cancelled', 1]);
  });
});
