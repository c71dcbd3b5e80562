/** What is read from responses of Anthropic Messages, however their bytes are cut. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unknownUsage } from '../protocol/usage.ts';
import { anthropic } from './anthropic.ts';
import type { WireDelta, WireEnd } from './wire.ts';

type Event = { readonly type: string; readonly [field: string]: unknown };

const sse = (...events: readonly Event[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

function read(text: string, size = text.length || 1) {
  const bytes = Buffer.from(text);
  const reader = anthropic().reader();
  const deltas: WireDelta[] = [];
  for (let from = 0; from < bytes.length; from += size)
    deltas.push(...reader.push(bytes.subarray(from, from + size)));
  return { end: reader.end(), deltas, finished: reader.finished };
}
const end = (text: string, size?: number): WireEnd => read(text, size).end;

const begin = (usage: object = { input_tokens: 10, output_tokens: 1 }): Event => ({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'seen',
    content: [],
    stop_reason: null,
    usage,
  },
});
const open = (index: number, content_block: object): Event => ({
  type: 'content_block_start',
  index,
  content_block,
});
const piece = (index: number, delta: object): Event => ({ type: 'content_block_delta', index, delta });
const close = (index: number): Event => ({ type: 'content_block_stop', index });
const stop = (stop_reason: string | null, usage: object = { output_tokens: 7 }): Event => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
});
const done: Event = { type: 'message_stop' };
const text = (...parts: string[]): Event[] => [
  open(0, { type: 'text', text: '' }),
  ...parts.map((part) => piece(0, { type: 'text_delta', text: part })),
  close(0),
];
const call = (index: number, id: string, ...parts: string[]): Event[] => [
  open(index, { type: 'tool_use', id, name: 'f', input: {} }),
  ...parts.map((partial_json) => piece(index, { type: 'input_json_delta', partial_json })),
  close(index),
];
const usage = { ...unknownUsage, promptTokens: 10, completionTokens: 7, totalTokens: 17 };

const whole = sse(
  begin(),
  { type: 'ping' },
  open(0, { type: 'thinking', thinking: '', signature: '' }),
  piece(0, { type: 'thinking_delta', thinking: 'Hm, 漢' }),
  piece(0, { type: 'thinking_delta', thinking: '😀.' }),
  piece(0, { type: 'signature_delta', signature: 'Sig==' }),
  close(0),
  open(1, { type: 'redacted_thinking', data: 'Data==' }),
  close(1),
  open(2, { type: 'text', text: '' }),
  piece(2, { type: 'text_delta', text: 'Grü' }),
  piece(2, { type: 'text_delta', text: 'ße' }),
  close(2),
  ...call(3, 'toolu_1', '', '{"n":25122920', '42121000001}'),
  ...call(4, 'toolu_2', '{"x": "\\ud83d', '\\ude00"}'),
  stop('tool_use'),
  done,
);

const read1 = {
  kind: 'message',
  message: {
    role: 'assistant',
    text: 'Grüße',
    reasoning: {
      text: 'Hm, 漢😀.',
      opaque: {
        content: [
          { type: 'thinking', thinking: 'Hm, 漢😀.', signature: 'Sig==' },
          { type: 'redacted_thinking', data: 'Data==' },
          { type: 'text', text: 'Grüße' },
          { type: 'tool_use' },
          { type: 'tool_use' },
        ],
      },
    },
    calls: [
      { id: 'toolu_1', name: 'f', arguments: '{"n":2512292042121000001}' },
      { id: 'toolu_2', name: 'f', arguments: '{"x": "\\ud83d\\ude00"}' },
    ],
  },
  finish: 'tool-calls',
  usage,
  modelSeen: 'seen',
  requestId: 'msg_1',
};

describe('a stream', () => {
  test('is the same message however the bytes are cut, and shows text as it comes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (size) => {
        const { end: made, deltas, finished } = read(whole, size);
        expect(made).toEqual(read1);
        expect(finished).toBe(true);
        const shown = (type: string) =>
          deltas
            .filter((one) => one.type === type)
            .map((one) => one.text)
            .join('');
        expect([shown('reasoning'), shown('text')]).toEqual(['Hm, 漢😀.', 'Grüße']);
      }),
      { numRuns: 40 },
    );
  });

  test('what was read is replayed as it came', () => {
    const made = end(whole);
    if (made.kind !== 'message') throw new Error('no message');
    expect(anthropic().message(made.message)).toBe(
      '{"role":"assistant","content":[{"type":"thinking","thinking":"Hm, 漢😀.","signature":"Sig=="},' +
        '{"type":"redacted_thinking","data":"Data=="},{"type":"text","text":"Grüße"},' +
        '{"type":"tool_use","id":"toolu_1","name":"f","input":{"n":2512292042121000001}},' +
        '{"type":"tool_use","id":"toolu_2","name":"f","input":{"x": "\\ud83d\\ude00"}}]}',
    );
  });

  test.each<[string, readonly Event[], object]>([
    ['no arguments', call(0, 'a', ''), { calls: [{ id: 'a', name: 'f', arguments: '{}' }] }],
    [
      'arguments whole at the beginning of their block, digit for digit',
      [open(0, { type: 'tool_use', id: 'a', name: 'f', input: { n: 5 } })],
      { calls: [{ id: 'a', name: 'f', arguments: '{"n":5}' }] },
    ],
    ['broken arguments', call(0, 'a', '{"n"'), { calls: [{ id: 'a', name: 'f', arguments: '{"n"' }] }],
    [
      'one id twice',
      [...call(0, 'a', '{}'), ...call(1, 'a', '{}')],
      {
        calls: [
          { id: 'a', name: 'f', arguments: '{}' },
          { id: 'a', name: 'f', arguments: '{}' },
        ],
      },
    ],
    ['no content', [], { text: '', calls: [] }],
    [
      'text at the beginning of a block',
      [open(0, { type: 'text', text: 'a' }), piece(0, { type: 'text_delta', text: 'b' })],
      { text: 'ab' },
    ],
    ['pieces without a beginning', [piece(0, { type: 'text_delta', text: 'a' })], { text: 'a' }],
    [
      'blocks and pieces that are not known',
      [
        open(0, { type: 'server_tool_use', id: 's', name: 'w' }),
        piece(0, { type: 'citations_delta' }),
        open(1, {}),
        piece(2, 'x' as never),
        ...text('a'),
      ],
      { text: 'a', calls: [] },
    ],
  ])('%s', (_name, events, message) => {
    expect(end(sse(begin(), ...events, stop('tool_use'), done))).toMatchObject({ kind: 'message', message });
  });

  test('a long integer in arguments that come whole keeps its digits', () => {
    const block = '{"type":"tool_use","id":"a","name":"f","input":{"n":2512292042121000001}}';
    const event = `data: {"type":"content_block_start","index":0,"content_block":${block}}\n\n`;
    expect(end(sse(begin()) + event + sse(stop('tool_use'), done))).toMatchObject({
      message: { calls: [{ arguments: '{"n":2512292042121000001}' }] },
    });
  });

  test('more calls than one answer may have are an error', () => {
    const answer = (count: number) =>
      end(
        sse(
          begin(),
          ...Array.from({ length: count }, (_, i) => call(i, `t${i}`)).flat(),
          stop('tool_use'),
          done,
        ),
      );
    expect(answer(512)).toMatchObject({ kind: 'message' });
    expect(answer(513)).toMatchObject({ kind: 'error', code: 'wire.too-many-calls' });
  });

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool-calls'],
    ['refusal', 'content-filter'],
    ['pause_turn', 'other'],
    [null, 'other'],
  ])('the stop reason %s is %s', (reason, finish) => {
    expect(end(sse(begin(), ...text('a'), stop(reason), done))).toMatchObject({ finish });
  });

  test('a server that calls tools and says end_turn calls tools', () => {
    expect(end(sse(begin(), ...call(0, 'a', '{}'), stop('end_turn'), done))).toMatchObject({
      finish: 'tool-calls',
    });
  });

  test('a polite end after a stop reason is whole; without one it is cut', () => {
    expect(end(sse(begin(), ...text('a'), stop('end_turn')))).toMatchObject({ kind: 'message', usage });
    expect(end(sse(begin(), ...text('a')))).toEqual({
      kind: 'cut',
      message: expect.stringContaining('without a stop reason'),
      usage: { ...unknownUsage, promptTokens: 10 },
    });
    expect(end(sse({ type: 'ping' }))).toMatchObject({
      kind: 'cut',
      message: expect.stringContaining('without an answer'),
    });
    expect(end('')).toMatchObject({ kind: 'cut', usage: unknownUsage });
  });

  test('nothing behind the end mark counts', () => {
    expect(end(sse(begin(), ...text('a'), stop('end_turn'), done, ...text('b')))).toMatchObject({
      message: { text: 'a' },
    });
  });

  test.each([
    [{ type: 'tool_use', id: 'a', name: '' }, 'Tool call 1 of 1 has no tool name (id "a").'],
    [{ type: 'tool_use', name: 'f' }, 'Tool call 1 of 1 (tool "f") has no id.'],
  ])('a call that cannot be one is no answer', (block, message) => {
    expect(end(sse(begin(), open(0, block), stop('tool_use'), done))).toMatchObject({
      kind: 'error',
      code: 'wire.bad-response',
      message,
    });
  });
});

describe('an error inside the stream', () => {
  const error = (type: string): Event => ({ type: 'error', error: { type, message: 'Overloaded' } });

  test('before anything of an answer, by which the provider was only too busy, is passing', () => {
    expect(read(sse(begin(), error('overloaded_error')))).toEqual({
      end: {
        kind: 'error',
        code: 'overloaded_error',
        message: 'Overloaded',
        passing: true,
        usage: { ...unknownUsage, promptTokens: 10 },
      },
      deltas: [],
      finished: true,
    });
    expect(end(sse(error('invalid_request_error')))).toMatchObject({ passing: false, usage: unknownUsage });
  });

  test('after a part of the answer is not', () => {
    expect(end(sse(begin(), ...text('a'), error('overloaded_error'), stop('end_turn'), done))).toMatchObject({
      kind: 'error',
      code: 'overloaded_error',
      passing: false,
    });
  });

  test.each([
    ['an event that is no JSON', `${sse(begin())}data: oops\n\n`, 'found "oops"'],
    ['plain text', 'Service warming up', 'begins with "Service warming up"'],
    ['half a JSON object', '{"content":[', 'one JSON object'],
  ])('%s', (_name, bytes, found) => {
    expect(end(bytes)).toMatchObject({
      kind: 'error',
      code: 'wire.bad-response',
      message: expect.stringContaining(found),
    });
  });
});

describe('usage', () => {
  const used = (start: object, last: object) =>
    end(sse(begin(start), ...text('a'), stop('end_turn', last), done)).usage;

  test('tokens of the cache are added to those beside it, once', () => {
    expect(
      used(
        { input_tokens: 400, cache_read_input_tokens: 600, cache_creation_input_tokens: 0, output_tokens: 1 },
        { output_tokens: 50 },
      ),
    ).toEqual({
      ...unknownUsage,
      promptTokens: 1000,
      cachedTokens: 600,
      cacheWriteTokens: 0,
      completionTokens: 50,
      totalTokens: 1050,
    });
  });

  test('of several reports the last word holds, and one without a count takes nothing back', () => {
    const report = { output_tokens: 20 };
    const stream = sse(
      begin({ input_tokens: 0, cache_read_input_tokens: 5, output_tokens: 1 }),
      ...text('a'),
      stop(null, report),
      stop(null, report),
      stop('end_turn', {
        input_tokens: 10,
        cache_read_input_tokens: null,
        output_tokens: 30,
        output_tokens_details: { thinking_tokens: 8 },
      }),
      done,
    );
    expect(end(stream).usage).toEqual({
      ...unknownUsage,
      promptTokens: 15,
      cachedTokens: 5,
      completionTokens: 30,
      reasoningTokens: 8,
      totalTokens: 45,
    });
  });

  test('what is not said is unknown', () => {
    expect(used({ output_tokens: 1 }, {})).toEqual(unknownUsage);
    expect(used({ input_tokens: -1, cache_creation_input_tokens: 3 }, { output_tokens: 1.5 })).toEqual({
      ...unknownUsage,
      cacheWriteTokens: 3,
    });
  });
});

describe('a server that does not stream', () => {
  const body = {
    id: 'msg_9',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'S' },
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'a', name: 'f', input: { n: 'NUMBER' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 2 },
  };
  const bytes = JSON.stringify(body, null, 1).replace('"NUMBER"', '2512292042121000001');

  test.each([1, 9, 10_000])('is one whole message, in pieces of %i bytes', (size) => {
    expect(end(bytes, size)).toEqual({
      kind: 'message',
      message: {
        role: 'assistant',
        text: 'Hi',
        reasoning: {
          text: 'hm',
          opaque: { content: [body.content[0], { type: 'text', text: 'Hi' }, { type: 'tool_use' }] },
        },
        calls: [{ id: 'a', name: 'f', arguments: '{"n":2512292042121000001}' }],
      },
      finish: 'tool-calls',
      usage: { ...unknownUsage, promptTokens: 1, completionTokens: 2, totalTokens: 3 },
      modelSeen: 'm',
      requestId: 'msg_9',
    });
  });

  test('an object without an answer in it is none', () => {
    expect(end('{"type":"message"}')).toMatchObject({ kind: 'cut' });
    expect(end('{"type":"error","error":{"type":"overloaded_error","message":"x"}}')).toMatchObject({
      kind: 'error',
      passing: true,
    });
  });
});
