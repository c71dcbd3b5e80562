/** What servers of OpenAI Chat Completions really send, and what is made of it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unknownUsage } from '../protocol/usage.ts';
import { openaiChat } from './openai-chat.ts';
import type { WireDelta, WireEnd } from './wire.ts';

type Chunk = Record<string, unknown>;
const wire = openaiChat();

function read(bytes: Uint8Array, size = bytes.length || 1): { deltas: WireDelta[]; end: WireEnd } {
  const reader = wire.reader();
  const deltas: WireDelta[] = [];
  for (let from = 0; from < bytes.length; from += size)
    deltas.push(...reader.push(bytes.subarray(from, from + size)));
  return { deltas, end: reader.end() };
}

const sse = (chunks: readonly (Chunk | string)[]): Buffer =>
  Buffer.from(
    chunks.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join(''),
  );
const delta = (fields: Chunk, finish: string | null = null): Chunk => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const stop = delta({}, 'stop');
const calls = (...parts: readonly Chunk[]): Chunk => delta({ tool_calls: parts });
const end = (...chunks: readonly (Chunk | string)[]): WireEnd => read(sse(chunks)).end;

const message = (fields: Partial<Extract<WireEnd, { kind: 'message' }>> & { text?: string }): WireEnd => {
  const { text = '', ...rest } = fields;
  return {
    kind: 'message',
    message: { role: 'assistant', text, calls: [] },
    finish: 'stop',
    usage: unknownUsage,
    modelSeen: null,
    requestId: null,
    ...rest,
  };
};

describe('text', () => {
  const stream = sse([
    { id: 'chatcmpl-1', model: 'gpt-x', ...delta({ role: 'assistant', content: '' }) },
    delta({ content: 'Hé' }),
    delta({ content: '😀' }),
    stop,
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
    '[DONE]',
  ]);

  test('comes as deltas and as the whole', () => {
    expect(read(stream)).toEqual({
      deltas: [
        { type: 'text', text: 'Hé' },
        { type: 'text', text: '😀' },
      ],
      end: message({
        text: 'Hé😀',
        modelSeen: 'gpt-x',
        requestId: 'chatcmpl-1',
        usage: { ...unknownUsage, promptTokens: 3, completionTokens: 2, totalTokens: 5 },
      }),
    });
  });

  test('says the state of the service that answered, where it is said', () => {
    const said = (...fingerprints: unknown[]) =>
      end(...fingerprints.map((one) => ({ system_fingerprint: one, ...stop })), '[DONE]');
    expect(said('', null, 'fp-1', 'fp-2')).toEqual(message({ fingerprint: 'fp-1' }));
    expect(said('', null, 7)).toEqual(message({}));
  });

  test('is the same however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: stream.length }), (size) => {
        expect(read(stream, size)).toEqual(read(stream));
      }),
    );
  });

  test.each([
    ['an empty answer', [delta({ content: '' }), stop, '[DONE]'], message({})],
    ['content null', [delta({ content: null }), stop, '[DONE]'], message({})],
    [
      'content in parts',
      [delta({ content: [{ type: 'text', text: 'a' }, { type: 'x' }] }), stop],
      message({ text: 'a' }),
    ],
    ['a refusal', [delta({ refusal: 'I will not' }), stop], message({ text: 'I will not' })],
    [
      'another choice, left out',
      [{ choices: [{ index: 1, delta: { content: 'x' } }] }, delta({ content: 'a' }), stop],
      message({ text: 'a' }),
    ],
    [
      'what follows the end mark, left out',
      [delta({ content: 'a' }), stop, '[DONE]', delta({ content: 'b' })],
      message({ text: 'a' }),
    ],
    [
      'empty and foreign events',
      [' ', { type: 'ping' }, delta({ content: 'a' }), stop],
      message({ text: 'a' }),
    ],
  ])('%s', (_name, chunks, expected) => {
    expect(end(...chunks)).toEqual(expected);
  });
});

describe('how it ends', () => {
  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['MAX_TOKENS', 'length'],
    ['max_output_tokens', 'length'],
    ['model_length', 'length'],
    ['tool_calls', 'tool-calls'],
    ['content_filter', 'content-filter'],
    ['eos', 'other'],
  ] as const)('finish reason %s is %s', (reason, finish) => {
    expect(end(delta({ content: 'a' }, reason), '[DONE]')).toEqual(message({ text: 'a', finish }));
  });

  test('a finish reason without the end mark is whole', () => {
    expect(end(delta({ content: 'a' }), stop)).toEqual(message({ text: 'a' }));
  });

  test('the end mark without a finish reason is whole', () => {
    expect(end(delta({ content: 'a' }), '[DONE]')).toEqual(message({ text: 'a', finish: 'other' }));
  });

  test.each([
    ['neither', sse([delta({ content: 'a' })]), /without a finish reason and without \[DONE\]/],
    ['the last event in half', sse([delta({ content: 'a' }), stop]).subarray(0, -40), /not whole/],
    ['only the end mark', sse(['[DONE]']), /without an answer/],
    ['only comments', Buffer.from(': WAITING\n\n: WAITING\n\n'), /without an answer/],
    ['no bytes', Buffer.alloc(0), /without an answer/],
    ['only blanks', Buffer.from('\n\n  \n'), /without an answer/],
  ])('%s is cut', (_name, bytes, text) => {
    expect(read(bytes).end).toEqual({
      kind: 'cut',
      message: expect.stringMatching(text),
      usage: unknownUsage,
    });
    expect(read(bytes, 1).end).toEqual(read(bytes).end);
  });

  test('tells when nothing more is needed', () => {
    const seen = (chunk: string) => {
      const reader = wire.reader();
      reader.push(Buffer.from(chunk));
      return reader.finished;
    };
    expect(seen('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n')).toBe(false);
    expect(seen('data: [DONE]\n\n')).toBe(true);
    expect(seen('data: {"error":"x"}\n\n')).toBe(true);
    expect(seen('data: oops\n\n')).toBe(true);
  });

  test('nothing behind the end mark is even read', () => {
    const reader = wire.reader();
    reader.push(sse([delta({ content: 'a' }), stop, '[DONE]']));
    for (let i = 0; i < 17; i += 1) reader.push(Buffer.alloc(1024 * 1024, 'x'));
    expect(reader.end()).toEqual(message({ text: 'a' }));
  });
});

describe('tool calls', () => {
  const f = { id: 'a', name: 'f', arguments: '{"x":1}' };
  const g = { id: 'b', name: 'g', arguments: '{"y":2}' };

  test.each<[string, Chunk[], unknown[]]>([
    [
      'in pieces by index, mixed',
      [
        calls({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
        calls({ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '{"y"' } }),
        calls({ index: 0, function: { arguments: '{"x":' } }, { index: 1, function: { arguments: ':2}' } }),
        calls({ index: 0, id: null, function: { name: null, arguments: '1}' } }),
      ],
      [f, g],
    ],
    [
      'with id and name in every piece',
      [
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }),
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: ':1}' } }),
      ],
      [f],
    ],
    [
      'with a new id in every piece',
      [
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }),
        calls({ index: 0, id: 'z', function: { arguments: ':1}' } }),
      ],
      [f],
    ],
    [
      'whole, all of index 0',
      [calls({ index: 0, id: 'a', function: f }), calls({ index: 0, id: 'b', function: g })],
      [f, g],
    ],
    [
      'whole, in one delta',
      [calls({ index: 0, id: 'a', function: f }, { index: 1, id: 'b', function: g })],
      [f, g],
    ],
    ['whole, without index', [calls({ id: 'a', function: f }, { id: 'b', function: g })], [f, g]],
    [
      'in pieces without index',
      [
        calls({ id: 'a', function: { name: 'f', arguments: '' } }),
        calls({ function: { arguments: '{"x"' } }),
        calls({ id: 'a', function: { arguments: ':1}' } }),
        calls({ id: 'b', function: g }),
      ],
      [f, g],
    ],
    [
      'in pieces without index, with id and name in every piece',
      [
        calls({ id: 'a', function: { name: 'f', arguments: '{"x"' } }),
        calls({ id: 'a', function: { name: 'f', arguments: ':1}' } }),
      ],
      [f],
    ],
    [
      'with one id twice',
      [calls({ index: 0, id: 'a', function: f }), calls({ index: 1, id: 'a', function: g })],
      [f, { ...g, id: 'a' }],
    ],
    [
      'whole with one id twice, without index',
      [calls({ id: 'a', function: f }, { id: 'a', function: g })],
      [f, { ...g, id: 'a' }],
    ],
    ['without arguments', [calls({ index: 0, id: 'a', function: { name: 'f' } })], [{ ...f, arguments: '' }]],
    [
      'broken arguments, kept',
      [calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x' } })],
      [{ ...f, arguments: '{"x' }],
    ],
  ])('%s', (_name, chunks, expected) => {
    expect(end(...chunks, delta({}, 'tool_calls'), '[DONE]')).toEqual(
      message({ finish: 'tool-calls', message: { role: 'assistant', text: '', calls: expected as never } }),
    );
  });

  test('count as tool calls although the server says stop, but not where the limit cut them', () => {
    const call = calls({ index: 0, id: 'a', function: f });
    expect(end(call, stop, '[DONE]')).toMatchObject({ finish: 'tool-calls' });
    expect(end(call, delta({}, 'length'), '[DONE]')).toMatchObject({ finish: 'length' });
  });

  test('arguments sent as an object keep every digit', () => {
    const raw =
      '{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments": {"n":2512292042121000001}}}]}}]}';
    expect(end(raw, delta({}, 'tool_calls'))).toMatchObject({
      message: { calls: [{ id: 'a', name: 'f', arguments: '{"n":2512292042121000001}' }] },
    });
  });

  test.each([
    [
      'no id',
      calls({ index: 0, function: { name: 'f', arguments: '{}' } }),
      'Tool call 1 of 1 (function "f") has no id.',
    ],
    [
      'an empty id',
      calls({ index: 0, id: '', function: { name: 'f' } }),
      'Tool call 1 of 1 (function "f") has no id.',
    ],
    [
      'no name',
      calls({ index: 0, id: 'a', function: { arguments: '{}' } }),
      'Tool call 1 of 1 has no function name (id "a").',
    ],
    ['no id, twice', calls({ function: f }, { function: g }), 'Tool call 1 of 2 (function "f") has no id.'],
  ])('a call with %s is an error and never made up', (_name, chunk, text) => {
    const expected = { kind: 'error', code: 'wire.bad-response', message: text, usage: unknownUsage };
    expect(end(chunk, delta({}, 'tool_calls'), '[DONE]')).toEqual(expected);
  });
});

describe('reasoning', () => {
  const back = (...chunks: readonly Chunk[]): unknown => {
    const got = end(...chunks, delta({ content: 'x' }, 'stop'), '[DONE]');
    return got.kind === 'message' ? JSON.parse(wire.message(got.message)) : got;
  };

  test('plain, in the field it came in', () => {
    expect(
      read(
        sse([
          delta({ reasoning_content: 'a' }),
          delta({ reasoning_content: 'b' }),
          delta({ content: 'x' }, 'stop'),
        ]),
      ),
    ).toEqual({
      deltas: [
        { type: 'reasoning', text: 'a' },
        { type: 'reasoning', text: 'b' },
        { type: 'text', text: 'x' },
      ],
      end: message({
        message: {
          role: 'assistant',
          text: 'x',
          calls: [],
          reasoning: { text: 'ab', opaque: { reasoning_content: 'ab' } },
        },
      }),
    });
    expect(back(delta({ reasoning: 'a' }))).toEqual({ role: 'assistant', content: 'x', reasoning: 'a' });
  });

  test('structured: pieces of one block are joined, blocks stay apart, and the text counts once', () => {
    const piece = (fields: Chunk, reasoning?: string): Chunk =>
      delta({ ...(reasoning === undefined ? {} : { reasoning }), reasoning_details: [fields] });
    const chunks = [
      piece({ type: 'reasoning.text', text: 'a', index: 0, format: 'f' }, 'a'),
      piece({ type: 'reasoning.text', text: 'b', index: 0, format: 'f' }, 'b'),
      piece({ type: 'reasoning.text', signature: 'S', text: null, index: 0 }),
      piece({ type: 'reasoning.encrypted', data: 'E1', index: 1, id: 'r1' }),
      piece({ type: 'reasoning.encrypted', data: 'E2', index: 1, id: 'r1' }),
      piece({ type: 'reasoning.summary', summary: 'c', index: 2, id: 's1' }, 'c'),
      piece({ type: 'reasoning.summary', summary: 'd', index: 2, id: 's2' }, 'd'),
    ];
    expect(end(...chunks, stop)).toMatchObject({ message: { reasoning: { text: 'abcd' } } });
    expect(back(...chunks)).toEqual({
      role: 'assistant',
      content: 'x',
      reasoning_details: [
        { type: 'reasoning.text', text: 'ab', index: 0, format: 'f', signature: 'S' },
        { type: 'reasoning.encrypted', data: 'E1', index: 1, id: 'r1' },
        { type: 'reasoning.encrypted', data: 'E2', index: 1, id: 'r1' },
        { type: 'reasoning.summary', summary: 'c', index: 2, id: 's1' },
        { type: 'reasoning.summary', summary: 'd', index: 2, id: 's2' },
      ],
    });
  });

  test('structured alone gives the text too', () => {
    expect(
      read(sse([delta({ reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0 }] }), stop]))
        .deltas,
    ).toEqual([{ type: 'reasoning', text: 'a' }]);
  });
});

describe('a batch of very many calls', () => {
  const call = (index: number): Chunk => ({
    index,
    id: `c${index}`,
    function: { name: 'f', arguments: '{}' },
  });

  test('is taken whole up to the limit', () => {
    const whole = end(calls(...Array.from({ length: 512 }, (_, i) => call(i))), delta({}, 'tool_calls'));
    expect(whole.kind === 'message' ? whole.message.calls.length : whole).toBe(512);
  });

  test('beyond the limit is an error, and no more of it is read', () => {
    const reader = wire.reader();
    reader.push(sse([calls(...Array.from({ length: 513 }, (_, i) => call(i)))]));
    expect(reader.finished).toBe(true);
    expect(reader.end()).toEqual({
      kind: 'error',
      code: 'wire.too-many-calls',
      message: 'Expected at most 512 tool calls in one answer; more came.',
      usage: unknownUsage,
    });
  });

  test.each<[string, (i: number) => Chunk]>([
    ['by index', call],
    ['by id', (i) => ({ id: `c${i}`, function: { name: 'f', arguments: '{}' } })],
    ['as pieces of one', () => ({ id: 'c', function: { name: 'f', arguments: ',{"a":"}' } })],
  ])('given %s takes no long time', (_how, part) => {
    const bytes = sse([calls(...Array.from({ length: 100_000 }, (_, i) => part(i)))]);
    const started = performance.now();
    read(bytes);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
