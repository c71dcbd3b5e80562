/** Errors, usage, and servers that do not stream, as OpenAI Chat Completions brings them. */
import { describe, expect, test } from 'vitest';
import { unknownUsage } from '../protocol/usage.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiUsage } from './openai-usage.ts';
import type { WireEnd } from './wire.ts';

function end(text: string, size = text.length || 1): WireEnd {
  const bytes = Buffer.from(text);
  const reader = openaiChat().reader();
  for (let from = 0; from < bytes.length; from += size) reader.push(bytes.subarray(from, from + size));
  return reader.end();
}

const said = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
const stop = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n';

describe('an error inside the stream', () => {
  test.each([
    ['OpenAI', '{"error":{"message":"Overloaded","type":"server_error"}}', 'server_error', 'Overloaded'],
    [
      'OpenRouter',
      '{"id":"g","error":{"code":502,"message":"Gone"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}',
      '502',
      'Gone',
    ],
    [
      'in the choice',
      '{"choices":[{"delta":{},"finish_reason":"error","error":{"code":429,"message":"Slow"}}]}',
      '429',
      'Slow',
    ],
    [
      'without a word',
      '{"choices":[{"delta":{},"finish_reason":"error"}]}',
      null,
      'The provider ended the answer with an error it did not name.',
    ],
    ['as text', '{"error":"no memory"}', null, 'no memory'],
  ])('%s', (_name, chunk, code, message) => {
    expect(end(`${said}data: ${chunk}\n\ndata: [DONE]\n\n`)).toEqual({
      kind: 'error',
      code,
      message,
      usage: unknownUsage,
    });
  });

  test('as a named event', () => {
    expect(end(`${said}event: error\ndata: {"message":"Broken","code":"x"}\n\n`)).toMatchObject({
      kind: 'error',
      code: 'x',
      message: 'Broken',
    });
  });

  test('keeps the usage that follows it', () => {
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\n';
    expect(end(`${said}data: {"error":"x"}\n\n${usage}`)).toMatchObject({
      kind: 'error',
      usage: { totalTokens: 4 },
    });
  });
});

describe('what cannot be read', () => {
  test.each([
    ['an event that is no JSON', `${said}data: oops\n\n${stop}`, 'found "oops"'],
    ['an event that is no object', `${said}data: [1]\n\n`, 'found "[1]"'],
    ['plain text', 'Service warming up', 'begins with "Service warming up"'],
    ['a page', ' <!doctype html>\n<p>Hi', 'begins with "<!doctype html> <p>Hi"'],
    ['half a JSON object', '{"choices":[{"mess', 'found "{\\"choices\\":[{\\"mess"'],
    ['JSON lines', '{"a":1}\n{"a":2}', 'one JSON object'],
  ])('%s', (_name, text, found) => {
    const expected = {
      kind: 'error',
      code: 'wire.bad-response',
      message: expect.stringContaining(found),
      usage: unknownUsage,
    };
    expect(end(text)).toEqual(expected);
    expect(end(text, 1)).toEqual(expected);
  });

  test('an event beyond the limit', () => {
    const reader = openaiChat().reader();
    for (let i = 0; i < 17; i += 1) reader.push(Buffer.from(`data: ${'x'.repeat(1024 * 1024)}\n`));
    expect(reader.finished).toBe(true);
    expect(reader.end()).toMatchObject({ kind: 'error', code: 'wire.event-too-large' });
  });
});

describe('a server that does not stream', () => {
  const body = {
    id: 'chatcmpl-9',
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hi',
          reasoning_details: [
            { type: 'reasoning.text', text: 'h', index: 0 },
            { type: 'reasoning.text', text: 'm', index: 0 },
          ],
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
            { id: 'a', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  };

  test.each([1, 7, 100_000])('is one whole message, in pieces of %i bytes', (size) => {
    expect(end(`\n${JSON.stringify(body, null, 2)}\n`, size)).toEqual({
      kind: 'message',
      message: {
        role: 'assistant',
        text: 'Hi',
        reasoning: {
          text: 'hm',
          opaque: { reasoning_details: body.choices[0]?.message.reasoning_details as never },
        },
        calls: [
          { id: 'a', name: 'f', arguments: '' },
          { id: 'a', name: 'g', arguments: '{}' },
        ],
      },
      finish: 'tool-calls',
      usage: { ...unknownUsage, promptTokens: 1, completionTokens: 2, totalTokens: 3 },
      modelSeen: 'm',
      requestId: 'chatcmpl-9',
    });
  });

  test('may report an error with a success status', () => {
    expect(end('{"error":{"message":"No","code":429}}')).toEqual({
      kind: 'error',
      code: '429',
      message: 'No',
      usage: unknownUsage,
    });
  });

  test('may have no answer in it', () => {
    expect(end('{"choices":[]}')).toMatchObject({ kind: 'cut' });
  });
});

describe('usage', () => {
  test('has cached tokens inside the prompt and reasoning inside the completion', () => {
    expect(
      openaiUsage({
        prompt_tokens: 1000,
        completion_tokens: 50,
        total_tokens: 1050,
        prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 40 },
        cost: 0.0125,
      }),
    ).toEqual({
      modelCalls: 1,
      promptTokens: 1000,
      cachedTokens: 600,
      cacheWriteTokens: 10,
      completionTokens: 50,
      reasoningTokens: 40,
      totalTokens: 1050,
      costUsd: 0.0125,
      costSource: 'reported',
    });
  });

  test.each<[string, unknown, object]>([
    ['missing', undefined, {}],
    ['null', null, {}],
    [
      'a total from its parts',
      { prompt_tokens: 2, completion_tokens: 3 },
      { promptTokens: 2, completionTokens: 3, totalTokens: 5 },
    ],
    ['a part that is unknown', { prompt_tokens: 2 }, { promptTokens: 2 }],
    ['negative', { prompt_tokens: -1, completion_tokens: 3 }, { completionTokens: 3 }],
    ['not whole', { prompt_tokens: 1.5, completion_tokens: '3', total_tokens: Number.NaN }, {}],
    [
      "DeepSeek's cache",
      { prompt_tokens: 5, prompt_cache_hit_tokens: 4 },
      { promptTokens: 5, cachedTokens: 4 },
    ],
    ['a free call', { cost: 0 }, { costUsd: 0, costSource: 'reported' }],
    ['a negative cost', { cost: -1 }, {}],
    ['a cost of another shape', { cost: { total_cost: 1 } }, {}],
  ])('%s', (_name, usage, expected) => {
    expect(openaiUsage(usage)).toEqual({ ...unknownUsage, ...expected });
  });

  test('said in several chunks counts once, with the last values', () => {
    const usage = (tokens: number) =>
      `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":${tokens},"total_tokens":${9 + tokens}}}\n\n`;
    expect(
      end(`${said}${usage(1)}${usage(4)}data: {"choices":[],"usage":null}\n\n${stop}data: [DONE]\n\n`),
    ).toMatchObject({
      usage: { modelCalls: 1, promptTokens: 9, completionTokens: 4, totalTokens: 13 },
    });
  });

  test('not said is unknown, never zero', () => {
    expect(end(`${said}${stop}data: [DONE]\n\n`)).toMatchObject({ kind: 'message', usage: unknownUsage });
  });
});
