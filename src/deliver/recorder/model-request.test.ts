/** What a model got, read from requests of real programs: recorded from each, long texts of the vendors cut. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../digest.ts';
import { conversations } from './conversations.ts';
import { type ModelRequest, readModelRequest } from './model-request.ts';
import { posted } from './recorded.cases.ts';

function requestOf(exchange: ReturnType<typeof posted>): ModelRequest {
  const reading = readModelRequest(exchange);
  if (reading.kind !== 'model') throw new Error(JSON.stringify(reading));
  return reading.request;
}

function fixture(name: string): ModelRequest {
  const file = JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8'));
  return requestOf(posted(file.path, file.body));
}

/** `system[2] system text: You are …` */
const lines = ({ parts }: ModelRequest) =>
  parts.map(
    ({ field, index, part, role, kind, text }) =>
      `${field}[${index}].${part} ${role} ${kind}: ${text.slice(0, 24)}`,
  );

describe('a recorded request of a real program, in its second turn', () => {
  test('Claude Code, Anthropic Messages', () => {
    const request = fixture('claude-code-2.1.197');
    expect(lines(request)).toEqual([
      'system[0].0 system text: x-anthropic-billing-head',
      'system[1].0 system text: You are a Claude agent, ',
      'system[2].0 system text: You are CANARY one.',
      'messages[0].0 user text: <system-reminder>\nAs you',
      'messages[0].1 user text: hello',
      'messages[1].0 system text: Available agent types fo',
      'messages[2].0 assistant text: I look.',
      'messages[2].1 assistant tool-call: {"name":"Bash","input":{',
      'messages[3].0 user tool-result: hi',
    ]);
    expect(request).toMatchObject({ protocol: 'anthropic', tools: [{ name: 'Agent' }, { name: 'Bash' }] });
    expect(request.parts[2]).toMatchObject({ bytes: 19, sha256: sha256('You are CANARY one.') });
  });

  test('Codex, OpenAI Responses: tools that stand in the conversation are tools', () => {
    const request = fixture('codex-0.171.0');
    expect(lines(request)).toEqual([
      'input[1].0 developer text: You are CANARY one.',
      'input[2].0 developer text: <skills_instructions>\n##',
      'input[2].1 developer text: <permissions instruction',
      'input[2].2 developer text: <collaboration_mode># Co',
      'input[3].0 developer text: <multi_agent_role>You ar',
      'input[4].0 developer text: <multi_agent_mode>Any ea',
      'input[5].0 user text: <environment_context>\n  ',
      'input[6].0 user text: hello',
      'input[7].0 assistant reasoning: {"type":"reasoning","sum',
      'input[8].0 assistant text: I look.',
      'input[9].0 assistant tool-call: {"type":"function_call",',
      'input[10].0 tool tool-result: Chunk ID: aab82c\nWall ti',
    ]);
    expect(request.tools.map(({ name }) => name)).toEqual(['functions.exec', 'clock.sleep']);
  });

  test('Gemini CLI: the model stands in the path', () => {
    const request = fixture('gemini-cli-0.61.0');
    expect(lines(request)).toEqual([
      'systemInstruction[0].0 system text: You are CANARY one.',
      'contents[0].0 user text: <session_context>\nThis i',
      'contents[0].1 user text: hello',
      'contents[1].0 assistant text: I look.',
      'contents[1].1 assistant tool-call: {"id":"list_directory_17',
      'contents[2].0 user tool-result: {"name":"list_directory"',
    ]);
    expect(request.model).toBe('gemini-2.5-flash');
    expect(request.tools.map(({ name }) => name)).toEqual(['update_topic', 'list_directory']);
  });

  test('pi, OpenAI Chat Completions', () => {
    const request = fixture('pi-0.73.1');
    expect(lines(request)).toEqual([
      'messages[0].0 system text: You are CANARY one.\nCurr',
      'messages[1].0 user text: hello',
      'messages[2].0 assistant text: I look.',
      'messages[2].1 assistant tool-call: {"name":"bash","argument',
      'messages[3].0 tool tool-result: hi\n',
    ]);
    expect(request).toMatchObject({ model: 'm1', tools: [{ name: 'read' }, { name: 'bash' }] });
  });
});

describe('any text is found again, unaltered, at its place', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { minLength: 1, maxLength: 5 });
  const found = (path: string, body: unknown) => requestOf(posted(path, body)).parts.map(({ text }) => text);
  test.each([
    [
      '/v1/messages',
      (all: string[]) => ({ system: all.map((text) => ({ type: 'text', text })), messages: [] }),
    ],
    ['/v1/messages', (all: string[]) => ({ messages: all.map((content) => ({ role: 'user', content })) })],
    ['/v1/responses', ([instructions, ...all]: string[]) => ({ instructions, input: all })],
    [
      '/x/chat/completions',
      (all: string[]) => ({ messages: all.map((content) => ({ role: 'system', content })) }),
    ],
    [
      '/v1beta/models/m:generateContent',
      (all: string[]) => ({ systemInstruction: { parts: all.map((text) => ({ text })) } }),
    ],
  ])('%s', (path, bodyOf) => {
    fc.assert(
      fc.property(texts, (all) => {
        expect(found(path, bodyOf(all))).toEqual(all);
      }),
    );
  });
});

test('unusual forms of each protocol are read, and what is no text is kept as JSON', () => {
  const parts = (path: string, body: unknown) => lines(requestOf(posted(path, body)));
  expect(
    parts('/v1/messages', {
      system: 'one',
      messages: [
        { role: 'user', content: [{ type: 'image', source: 1 }, 7, { type: 'text', text: 5 }] },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }, { type: 'new' }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', content: [{ type: 'image' }] },
            { type: 'tool_result', content: 'r' },
          ],
        },
        'odd',
      ],
    }),
  ).toEqual([
    'system[0].0 system text: one',
    'messages[0].0 user media: {"type":"image","source"',
    'messages[0].1 user other: 7',
    'messages[0].2 user text: {"type":"text","text":5}',
    'messages[1].0 assistant reasoning: hm',
    'messages[1].1 assistant other: {"type":"new"}',
    'messages[2].0 user tool-result: {"type":"tool_result","c',
    'messages[2].1 user tool-result: r',
    'messages[3].0 other text: odd',
  ]);
  expect(
    parts('/v1/responses', {
      instructions: 'one',
      input: [
        { role: 'user', content: 'q' },
        { type: 'web_search_call' },
        { type: 'message', role: 'x', content: [{ type: 'input_image' }] },
        4,
      ],
    }),
  ).toEqual([
    'instructions[0].0 system text: one',
    'input[0].0 user text: q',
    'input[1].0 other other: {"type":"web_search_call',
    'input[2].0 other media: {"type":"input_image"}',
    'input[3].0 other other: 4',
  ]);
  expect(parts('/v1/responses', { input: 'only' })).toEqual(['input[0].0 user text: only']);
  expect(
    parts('/v1/chat/completions', {
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'a' }, { type: 'file' }] },
        { role: 'assistant', content: null, tool_calls: [{ function: { name: 'f' } }] },
        3,
      ],
    }),
  ).toEqual([
    'messages[0].0 developer text: a',
    'messages[0].1 developer media: {"type":"file"}',
    'messages[1].0 assistant tool-call: {"name":"f"}',
    'messages[2].0 other other: 3',
  ]);
  const gemini = requestOf(
    posted('/v1/models/m:streamGenerateContent', {
      system_instruction: 'plain',
      contents: [{ parts: [{ text: 't', thought: true }, { inlineData: {} }, { x: 1 }, 'p', 2] }],
      tools: [{ googleSearch: {} }, { function_declarations: [{ name: 'f' }] }],
    }),
  );
  expect(lines(gemini)).toEqual([
    'systemInstruction[0].0 system text: plain',
    'contents[0].0 user reasoning: t',
    'contents[0].1 user media: {"inlineData":{}}',
    'contents[0].2 user other: {"x":1}',
    'contents[0].3 user text: p',
    'contents[0].4 user other: 2',
  ]);
  expect(gemini.tools.map(({ name }) => name)).toEqual(['googleSearch', 'f']);
});

test('a compressed request is read; an unknown compression is said', () => {
  const body = { messages: [{ role: 'user', content: 'hi' }] };
  const packed = (encoding: string) =>
    readModelRequest(
      posted('/v1/messages', null, {
        bytes: gzipSync(JSON.stringify(body)),
        headers: [['Content-Encoding', encoding]],
      }),
    );
  expect(packed('gzip')).toMatchObject({ kind: 'model', request: { parts: [{ text: 'hi' }] } });
  expect(packed('zstd')).toMatchObject({ kind: 'unreadable', reason: expect.stringContaining('zstd') });
});

test('what is no request to a model is other; what cannot be read is said with its reason', () => {
  const other = [
    { ...posted('/v1/messages', {}), method: 'HEAD' },
    posted('/v1/messages/count_tokens', {}),
    posted('/v1/models', {}),
  ];
  expect(other.map((exchange) => readModelRequest(exchange).kind)).toEqual(['other', 'other', 'other']);
  const whole = posted('/v1/messages', {});
  const body = whole.request.body;
  const cut = { ...whole, request: { headers: [], body: { ...body, complete: false } } };
  const huge = { ...whole, request: { headers: [], body: { ...body, bytesSeen: 3 } } };
  expect(
    [cut, huge, posted('/v1/responses', []), posted('/v1/messages', 0, { bytes: Buffer.from('{') })].map(
      readModelRequest,
    ),
  ).toEqual([
    { kind: 'unreadable', protocol: 'anthropic', reason: expect.stringContaining('stopped') },
    { kind: 'unreadable', protocol: 'anthropic', reason: expect.stringContaining('larger') },
    { kind: 'unreadable', protocol: 'openai-responses', reason: expect.stringContaining('no JSON object') },
    { kind: 'unreadable', protocol: 'anthropic', reason: expect.any(String) },
  ]);
});

test('the conversation of the task is told from requests beside it', () => {
  const ask = (number: number, system: string, tools: readonly string[], turns = 1) =>
    requestOf(
      posted(
        '/v1/messages',
        {
          system,
          messages: Array.from({ length: turns }, () => ({ role: 'user', content: 'q' })),
          tools: tools.map((name) => ({ name })),
        },
        { number },
      ),
    );
  const agent = ['Bash', 'Read', 'Write', 'Edit', 'Grep'];
  const all = [
    ask(1, 'Generate a title', []),
    ask(2, 'You are an agent. It is 10:00', agent),
    ask(3, 'You are a memory', agent.slice(0, 4)),
    ask(4, 'You are an agent. It is 10:00', agent, 2),
  ];
  expect(
    conversations(all).map(({ requests, side }) => ({
      side,
      numbers: requests.map(({ exchange }) => exchange),
    })),
  ).toEqual([
    { side: true, numbers: [1] },
    { side: false, numbers: [2, 4] },
    { side: true, numbers: [3] },
  ]);
  expect(conversations([])).toEqual([]);
});
