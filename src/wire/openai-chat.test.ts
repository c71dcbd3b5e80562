/** The exact JSON that is sent to servers of OpenAI Chat Completions. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message } from '../protocol/messages.ts';
import { WireError } from './errors.ts';
import { openaiChat } from './openai-chat.ts';

const wire = openaiChat();

describe('messages', () => {
  test.each<[string, Message, string]>([
    ['system', { role: 'system', text: 'Be "brief".\n' }, '{"role":"system","content":"Be \\"brief\\".\\n"}'],
    ['developer', { role: 'developer', text: 'x' }, '{"role":"developer","content":"x"}'],
    ['user', { role: 'user', text: '漢😀' }, '{"role":"user","content":"漢😀"}'],
    [
      'tool, without its name',
      { role: 'tool', callId: 'c1', name: 'f', text: '' },
      '{"role":"tool","tool_call_id":"c1","content":""}',
    ],
    ['assistant', { role: 'assistant', text: 'Hi', calls: [] }, '{"role":"assistant","content":"Hi"}'],
    [
      'assistant with nothing',
      { role: 'assistant', text: '', calls: [] },
      '{"role":"assistant","content":""}',
    ],
    [
      'assistant with calls, arguments digit for digit',
      {
        role: 'assistant',
        text: '',
        calls: [
          { id: 'a', name: 'f', arguments: '{ "n":2512292042121000001, "x": 1.10}' },
          { id: 'a', name: 'g', arguments: '{bro' },
        ],
      },
      '{"role":"assistant","content":null,"tool_calls":[' +
        '{"id":"a","type":"function","function":{"name":"f","arguments":"{ \\"n\\":2512292042121000001, \\"x\\": 1.10}"}},' +
        '{"id":"a","type":"function","function":{"name":"g","arguments":"{bro"}}]}',
    ],
    [
      'assistant with text beside a call',
      { role: 'assistant', text: 'Let me see', calls: [{ id: 'a', name: 'f', arguments: '' }] },
      '{"role":"assistant","content":"Let me see","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}}]}',
    ],
    [
      'reasoning of its own kind, unaltered',
      {
        role: 'assistant',
        text: 'x',
        calls: [],
        reasoning: {
          text: 'hm',
          opaque: { reasoning_details: [{ type: 'reasoning.encrypted', data: 'Z' }] },
        },
      },
      '{"role":"assistant","content":"x","reasoning_details":[{"type":"reasoning.encrypted","data":"Z"}]}',
    ],
    [
      'a block of another protocol, left out',
      {
        role: 'assistant',
        text: 'x',
        calls: [],
        reasoning: { text: 'hm', opaque: { role: 'system', content: 'evil', thinking: 'hm' } },
      },
      '{"role":"assistant","content":"x"}',
    ],
  ])('%s', (_name, message, text) => {
    expect(wire.message(message)).toBe(text);
  });

  test('half a surrogate pair is never sent, and a text about one is', () => {
    expect(wire.message({ role: 'user', text: 'a\ud83d b\udc00 😀 \\ud83d' })).toBe(
      '{"role":"user","content":"a\ufffd b\ufffd 😀 \\\\ud83d"}',
    );
    const call = { id: '\udc00', name: 'f', arguments: '{"x":"\ud83d"}' };
    expect(wire.message({ role: 'assistant', text: '', calls: [call] })).toBe(
      '{"role":"assistant","content":null,"tool_calls":[{"id":"\ufffd","type":"function","function":{"name":"f","arguments":"{\\"x\\":\\"\ufffd\\"}"}}]}',
    );
  });

  test('every text arrives as it is, but for lone halves', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.oneof(fc.constantFrom('\ud83d', '\ude00', '\\', 'u', 'd', '8'), fc.string()) }),
        (text) => {
          const sent: unknown = JSON.parse(Buffer.from(wire.message({ role: 'user', text })).toString());
          expect(sent).toEqual({ role: 'user', content: text.replace(/\p{Surrogate}/gu, '\ufffd') });
        },
      ),
    );
  });
});

describe('tools', () => {
  test('stand in the given order', () => {
    const parameters = { type: 'object', properties: {} };
    expect(
      wire.tools([
        { name: 'b', description: 'B', parameters },
        { name: 'a', description: 'A', parameters },
      ]),
    ).toBe(
      '[{"type":"function","function":{"name":"b","description":"B","parameters":{"type":"object","properties":{}}}},' +
        '{"type":"function","function":{"name":"a","description":"A","parameters":{"type":"object","properties":{}}}}]',
    );
  });

  test('none is an empty text', () => {
    expect(wire.tools([])).toBe('');
  });
});

describe('the body', () => {
  const parts = { model: 'm', messages: ['{"a":1}', '{"b": 2}'], tools: '', maxTokens: null, parameters: {} };

  test('joins the messages as they are', () => {
    expect(wire.body(parts)).toBe(
      '{"model":"m","messages":[{"a":1},{"b": 2}],"stream":true,"stream_options":{"include_usage":true}}',
    );
  });

  test('chooses tools by itself only where there are tools', () => {
    const parameters = { temperature: 0.5, parallel_tool_calls: false, stop: ['x'] };
    expect(wire.body({ ...parts, tools: '[{"t":1}]', maxTokens: 64, parameters })).toBe(
      '{"model":"m","messages":[{"a":1},{"b": 2}],"tools":[{"t":1}],"tool_choice":"auto","stream":true,' +
        '"stream_options":{"include_usage":true},"max_tokens":64,"temperature":0.5,"parallel_tool_calls":false,"stop":["x"]}',
    );
    expect(wire.body({ ...parts, parameters })).not.toContain('parallel_tool_calls');
  });

  test('names the output limit as asked', () => {
    const newer = openaiChat({ outputLimit: 'max_completion_tokens' });
    expect(JSON.parse(newer.body({ ...parts, maxTokens: 7 }))).toMatchObject({ max_completion_tokens: 7 });
  });

  test.each([
    ['messages', []],
    ['tools', []],
    ['tool_choice', 'none'],
    ['stream', false],
    ['max_tokens', 1],
    ['n', 2],
    ['temperature', Number.NaN],
    ['stop', undefined],
    ['seed', 1n],
    ['extra', { deep: [() => 1] }],
  ])('refuses the parameter %s', (name, value) => {
    const make = () => wire.body({ ...parts, parameters: { [name]: value } });
    expect(make).toThrow(WireError);
    expect(make).toThrow(
      expect.objectContaining({ code: 'wire.bad-parameter', kind: 'input', details: { parameter: name } }),
    );
  });
});

test('the key travels in one header, and only where there is one', () => {
  expect(wire.headers('k')).toEqual({ authorization: 'Bearer k' });
  expect(wire.headers(null)).toEqual({});
});

describe('what an error response says', () => {
  test.each([
    [
      'OpenAI',
      '{"error":{"message":"No such model","type":"invalid_request_error","code":"model_not_found"}}',
      'model_not_found',
      'No such model',
    ],
    [
      'OpenAI without a code',
      '{"error":{"message":"Bad","type":"invalid_request_error","code":null}}',
      'invalid_request_error',
      'Bad',
    ],
    [
      'OpenRouter',
      '{"error":{"code":502,"message":"Provider returned error","metadata":{"provider_name":"X","raw":"out of memory"}}}',
      '502',
      'Provider returned error: out of memory',
    ],
    ['an error as text', '{"error":"model is loading"}', null, 'model is loading'],
    [
      'an error in a list',
      '[{"error":{"code":400,"message":"Bad","status":"INVALID_ARGUMENT"}}]',
      '400',
      'Bad',
    ],
    [
      'vLLM',
      '{"object":"error","message":"too long","type":"BadRequestError","code":400}',
      '400',
      'too long',
    ],
    ['a bare message', '{"message":"Unauthorized"}', null, 'Unauthorized'],
    ['FastAPI', '{"detail":"Not Found"}', null, 'Not Found'],
    ['FastAPI with a list', '{"detail":[{"msg":"field required"}]}', null, '[{"msg":"field required"}]'],
    ['an error without a message', '{"error":{"why":1}}', null, '{"why":1}'],
    ['half a surrogate pair', '{"error":"a\\ud83d"}', null, 'a\ufffd'],
    ['plain text', ' upstream\n  timed out ', null, 'upstream timed out'],
    ['an unknown object', '{"a":1}', null, '{"a":1}'],
    ['nothing', '', null, 'HTTP 500 with an empty body'],
    ['a long text', 'x'.repeat(5000), null, `${'x'.repeat(400)}…`],
    ['a long gap', `x${' '.repeat(5000)}y`, null, 'x…'],
  ])('%s', (_name, body, code, message) => {
    expect(wire.fault(500, body)).toEqual({ code, message });
  });
});
