/** The exact JSON that is sent to servers of Anthropic Messages, and where its cache marks stand. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message } from '../protocol/messages.ts';
import { anthropic } from './anthropic.ts';
import { WireError } from './errors.ts';

const wire = anthropic();
const mark = ',"cache_control":{"type":"ephemeral"}';

describe('messages', () => {
  test.each<[string, Message, string]>([
    ['user', { role: 'user', text: '漢😀' }, '{"role":"user","content":[{"type":"text","text":"漢😀"}]}'],
    [
      'tool result, without its name',
      { role: 'tool', callId: 'c1', name: 'f', text: 'x' },
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}',
    ],
    [
      'tool result with nothing in it',
      { role: 'tool', callId: 'c1', name: 'f', text: '' },
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"}]}',
    ],
    [
      'assistant',
      { role: 'assistant', text: 'Hi', calls: [] },
      '{"role":"assistant","content":[{"type":"text","text":"Hi"}]}',
    ],
    [
      'assistant with blanks',
      { role: 'assistant', text: ' \n', calls: [] },
      '{"role":"assistant","content":[]}',
    ],
    [
      'assistant with calls, arguments digit for digit',
      {
        role: 'assistant',
        text: 'Let me see',
        calls: [{ id: 'a', name: 'f', arguments: '{ "n":2512292042121000001, "x": 1.10}' }],
      },
      '{"role":"assistant","content":[{"type":"text","text":"Let me see"},' +
        '{"type":"tool_use","id":"a","name":"f","input":{ "n":2512292042121000001, "x": 1.10}}]}',
    ],
    [
      'thinking, unaltered, before the rest',
      {
        role: 'assistant',
        text: 'x',
        calls: [],
        reasoning: {
          text: 'hm',
          opaque: {
            content: [
              { type: 'thinking', thinking: 'hm', signature: 'S==' },
              { type: 'redacted_thinking', data: 'D==' },
              { type: 'text', text: 'x' },
            ],
          },
        },
      },
      '{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"S=="},' +
        '{"type":"redacted_thinking","data":"D=="},{"type":"text","text":"x"}]}',
    ],
    [
      'thinking between calls, in its place',
      {
        role: 'assistant',
        text: 'ab',
        calls: [
          { id: '1', name: 'f', arguments: '' },
          { id: '2', name: 'g', arguments: '{"y":1}' },
        ],
        reasoning: {
          text: 'hm',
          opaque: {
            content: [
              { type: 'text', text: 'a' },
              { type: 'tool_use' },
              { type: 'thinking', thinking: 'hm', signature: 'S' },
              { type: 'text', text: '\n' },
              { type: 'tool_use' },
              { type: 'text', text: 'b' },
            ],
          },
        },
      },
      '{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"f","input":{}},' +
        '{"type":"thinking","thinking":"hm","signature":"S"},{"type":"tool_use","id":"2","name":"g","input":{"y":1}},' +
        '{"type":"text","text":"b"}]}',
    ],
    [
      'a block of another protocol, left out',
      {
        role: 'assistant',
        text: 'x',
        calls: [],
        reasoning: { text: 'hm', opaque: { content: [{ type: 'image', source: 'evil' }, 'y', null] } },
      },
      '{"role":"assistant","content":[]}',
    ],
    [
      'a record that does not fit the calls, left out',
      {
        role: 'assistant',
        text: 'x',
        calls: [{ id: '1', name: 'f', arguments: '{}' }],
        reasoning: { text: 'hm', opaque: { content: [{ type: 'thinking', thinking: 'hm' }] } },
      },
      '{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"1","name":"f","input":{}}]}',
    ],
  ])('%s', (_name, message, text) => {
    expect(wire.message(message)).toBe(text);
  });

  test.each([
    ['', '{}'],
    ['  ', '{}'],
    ['{"a":1}', '{"a":1}'],
    ['{bro', '{"INVALID_JSON":"{bro"}'],
    ['[1]', '{"INVALID_JSON":"[1]"}'],
    ['null', '{"INVALID_JSON":"null"}'],
    ['{"x":"\\ud83d"}', '{"x":"\ufffd"}'],
    ['{"x":"\\uD83D\\uDE00"}', '{"x":"\\uD83D\\uDE00"}'],
    ['{"x":"\\\\ud83d"}', '{"x":"\\\\ud83d"}'],
    ['{"x":"\ud83d😀"}', '{"x":"\ufffd😀"}'],
    ['{"x":"\ud83d', '{"INVALID_JSON":"{\\"x\\":\\"\ufffd"}'],
  ])('the arguments %j are sent as %s', (args, input) => {
    const calls = [{ id: 'a', name: 'f', arguments: args }];
    expect(wire.message({ role: 'assistant', text: '', calls })).toBe(
      `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":${input}}]}`,
    );
  });
});

describe('the system text', () => {
  const system = (text: string, stablePrefixBytes?: number) =>
    wire.message({ role: 'system', text, ...(stablePrefixBytes === undefined ? {} : { stablePrefixBytes }) });
  const blocks = (...parts: string[]) => `{"role":"system","content":[${parts.join(',')}]}`;

  test.each<[string, string, number | undefined, string[]]>([
    ['all of it stable', 'Be brief.\n', 10, [`{"type":"text","text":"Be brief.\\n"${mark}}`]],
    ['nothing known of it', 'Be brief.', undefined, ['{"type":"text","text":"Be brief."}']],
    ['nothing of it stable', 'Be brief.', 0, ['{"type":"text","text":"Be brief."}']],
    [
      'its beginning stable',
      'Grüße.\n\nToday',
      10,
      [`{"type":"text","text":"Grüße.\\n\\n"${mark}}`, '{"type":"text","text":"Today"}'],
    ],
    ['only blanks behind', 'Be brief.\n\n', 9, [`{"type":"text","text":"Be brief.\\n\\n"${mark}}`]],
    ['only blanks before', '\n\nBe brief.', 2, ['{"type":"text","text":"\\n\\nBe brief."}']],
    ['a place inside a character', 'Grüße', 3, ['{"type":"text","text":"Grüße"}']],
    ['empty', '', 0, []],
  ])('%s', (_name, text, stable, expected) => {
    expect(system(text, stable)).toBe(blocks(...expected));
  });

  test('the blocks always join to exactly the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, stable) => {
        const sent: { content: { text: string }[] } = JSON.parse(system(text, stable));
        expect(sent.content.map((block) => block.text).join('')).toBe(text);
      }),
    );
  });
});

test('the tool block stands in the given order and is marked at its end', () => {
  const parameters = { type: 'object', properties: {} };
  const schema = '"input_schema":{"type":"object","properties":{}}';
  expect(
    wire.tools([
      { name: 'b', description: 'B', parameters },
      { name: 'a', description: 'A', parameters },
    ]),
  ).toBe(`[{"name":"b","description":"B",${schema}},{"name":"a","description":"A",${schema}${mark}}]`);
  expect(wire.tools([])).toBe('');
});

describe('the body', () => {
  const user = (text: string): Message => ({ role: 'user', text });
  const result = (id: string): Message => ({ role: 'tool', callId: id, name: 'f', text: id });
  const calls = (...ids: string[]): Message => ({
    role: 'assistant',
    text: '',
    calls: ids.map((id) => ({ id, name: 'f', arguments: '{}' })),
  });
  const parts = { model: 'm', tools: '', maxTokens: null, parameters: {} };
  const body = (messages: readonly Message[], more: object = {}) =>
    wire.body({ ...parts, ...more, messages: messages.map((message) => wire.message(message)) });

  test('lifts the system text out, joins neighbours of one role, and marks the two newest messages of the user', () => {
    const tools = wire.tools([{ name: 'f', description: '', parameters: {} }]);
    const messages: Message[] = [
      { role: 'system', text: 'Be brief.', stablePrefixBytes: 9 },
      user('q'),
      calls('1', '2'),
      result('1'),
      result('2'),
      user('go on'),
      calls('3'),
      result('3'),
    ];
    expect(body(messages, { tools, maxTokens: 64, parameters: { temperature: 0.5 } })).toBe(
      '{"model":"m","max_tokens":64,' +
        `"system":[{"type":"text","text":"Be brief."${mark}}],` +
        `"tools":[{"name":"f","description":"","input_schema":{}${mark}}],` +
        '"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},' +
        '{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}},{"type":"tool_use","id":"2","name":"f","input":{}}]},' +
        '{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"1"},' +
        `{"type":"tool_result","tool_use_id":"2","content":"2"},{"type":"text","text":"go on"${mark}}]},` +
        '{"role":"assistant","content":[{"type":"tool_use","id":"3","name":"f","input":{}}]},' +
        `{"role":"user","content":[{"type":"tool_result","tool_use_id":"3","content":"3"${mark}}]}],` +
        '"stream":true,"temperature":0.5}',
    );
  });

  test('always carries an output limit, its own where none is given', () => {
    expect(JSON.parse(body([user('q')]))).toMatchObject({ max_tokens: wire.maxTokensDefault });
    expect(wire.maxTokensDefault).toBe(8192);
  });

  test('an answer with nothing in it is not sent', () => {
    const sent = JSON.parse(body([user('q'), { role: 'assistant', text: '', calls: [] }, user('r')]));
    expect(sent.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'q' },
          { type: 'text', text: 'r', cache_control: { type: 'ephemeral' } },
        ],
      },
    ]);
  });

  const messages = fc.array(
    fc.oneof(
      fc.string({ minLength: 1 }).map((text): Message => ({ role: 'user', text })),
      fc.string().map((text): Message => ({ role: 'assistant', text: `a${text}`, calls: [] })),
      fc
        .string({ minLength: 1 })
        .map((callId): Message => ({ role: 'tool', callId, name: 'f', text: `${callId}${mark}` })),
    ),
    { maxLength: 12 },
  );
  const systems = fc.array(
    fc
      .tuple(fc.string({ minLength: 1 }), fc.nat(30))
      .map(([text, stablePrefixBytes]): Message => ({ role: 'system', text, stablePrefixBytes })),
    { maxLength: 6 },
  );
  const unmarked = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (key, part) => (key === 'cache_control' ? undefined : part)));
  const blocksOf = (sent: { messages: { role: string; content: unknown[] }[] }) =>
    sent.messages.flatMap(({ role, content }) => content.map((block) => [role, block]));

  test('never has more marks than the provider takes, and what was sent is sent again whatever follows', () => {
    const tools = wire.tools([{ name: 'f', description: mark, parameters: { enum: [mark] } }]);
    fc.assert(
      fc.property(systems, messages, messages, (system, before, after) => {
        const first = JSON.parse(body([...system, ...before], { tools }));
        const second = JSON.parse(body([...system, ...before, ...after], { tools }));
        for (const sent of [first, second]) {
          const marks = JSON.stringify(sent).split(mark.slice(1)).length - 1;
          expect(marks).toBeLessThanOrEqual(Math.max(4, system.length + 1));
          if (system.length <= 1) expect(marks).toBeLessThanOrEqual(4);
        }
        expect([second.system, second.tools]).toEqual([first.system, first.tools]);
        expect(blocksOf(unmarked(second) as typeof second).slice(0, blocksOf(first).length)).toEqual(
          blocksOf(unmarked(first) as typeof first),
        );
      }),
    );
  });

  test('a message of another protocol is refused', () => {
    const make = () =>
      wire.body({ ...parts, messages: ['{"role":"tool","tool_call_id":"c","content":"x"}'] });
    expect(make).toThrow(WireError);
    expect(make).toThrow(expect.objectContaining({ code: 'wire.foreign-message', kind: 'input' }));
  });

  test('a choice of tools is sent only where there are tools', () => {
    const parameters = { tool_choice: { type: 'auto', disable_parallel_tool_use: true } };
    const tools = wire.tools([{ name: 'f', description: '', parameters: {} }]);
    expect(JSON.parse(body([user('q')], { tools, parameters }))).toMatchObject(parameters);
    expect(body([user('q')], { parameters })).not.toContain('tool_choice');
  });

  test.each(['model', 'max_tokens', 'system', 'tools', 'messages', 'stream', 'cache_control'])(
    'refuses the parameter %s',
    (name) => {
      expect(() => body([user('q')], { parameters: { [name]: 1 } })).toThrow(
        expect.objectContaining({ code: 'wire.bad-parameter', details: { parameter: name } }),
      );
    },
  );
});

test('the key travels in one header, and only where there is one', () => {
  expect(wire.headers('k')).toEqual({ 'anthropic-version': '2023-06-01', 'x-api-key': 'k' });
  expect(wire.headers(null)).toEqual({ 'anthropic-version': '2023-06-01' });
});

test('an error response says its type and message', () => {
  const body = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}';
  expect(wire.fault(529, body)).toEqual({ code: 'overloaded_error', message: 'Overloaded' });
});
