/** Usage out of recorded answers of all four protocols, and what a request may use at most. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { unknownUsage } from '../../protocol/usage.ts';
import type { Exchange } from '../recorder/exchange.ts';
import { type Protocol, protocols } from '../recorder/model-request.ts';
import { answerSaid, usedNothing } from './answer-usage.ts';
import { refusalOf } from './refusal-body.ts';
import { reservationOf } from './reservation.ts';

const events = (...values: unknown[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');

/** A stream and a whole answer of each, which used eleven tokens: eight and three. */
const answers: Readonly<Record<Protocol, { readonly stream: string; readonly whole: unknown }>> = {
  'openai-chat': {
    stream: `${events(
      { id: 'a', choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] },
      { id: 'a', choices: [], usage: { prompt_tokens: 8, completion_tokens: 3 } },
    )}data: [DONE]\n\n`,
    whole: {
      id: 'a',
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 8, completion_tokens: 3 },
    },
  },
  'openai-responses': {
    stream: events(
      { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'x' },
      {
        type: 'response.completed',
        response: {
          id: 'r',
          status: 'completed',
          output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }],
          usage: { input_tokens: 8, output_tokens: 3, total_tokens: 11 },
        },
      },
    ),
    whole: {
      id: 'r',
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }],
      usage: { input_tokens: 8, output_tokens: 3, total_tokens: 11 },
    },
  },
  anthropic: {
    stream: events(
      { type: 'message_start', message: { id: 'm', usage: { input_tokens: 8, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ),
    whole: {
      id: 'm',
      type: 'message',
      content: [{ type: 'text', text: 'x' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 8, output_tokens: 3 },
    },
  },
  gemini: {
    stream: events(
      { candidates: [{ content: { role: 'model', parts: [{ text: 'x' }] } }] },
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'y' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 3, totalTokenCount: 11 },
      },
    ),
    whole: {
      candidates: [{ content: { role: 'model', parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 3, totalTokenCount: 11 },
    },
  },
};

function exchange(body: string | Uint8Array, more: Partial<Exchange> = {}, encoding = ''): Exchange {
  const bytes = Buffer.from(body);
  return {
    number: 1,
    at: 0,
    durationMs: 1,
    method: 'POST',
    path: '/x',
    request: { headers: [], body: { bytes: Buffer.alloc(0), bytesSeen: 0, complete: true } },
    response: {
      status: 200,
      headers: encoding === '' ? [] : [['Content-Encoding', encoding]],
      body: { bytes, bytesSeen: bytes.length, complete: true },
    },
    fault: null,
    ...more,
  };
}

const used = { modelCalls: 1, promptTokens: 8, completionTokens: 3, totalTokens: 11 };

describe.each(protocols)('%s', (protocol) => {
  const { stream, whole } = answers[protocol];

  test('a stream, a whole answer and a compressed one say what they used', () => {
    expect(answerSaid(protocol, exchange(stream)).usage).toMatchObject(used);
    expect(answerSaid(protocol, exchange(JSON.stringify(whole))).usage).toMatchObject(used);
    expect(answerSaid(protocol, exchange(gzipSync(stream), {}, 'gzip')).usage).toMatchObject(used);
  });

  test('an answer that is cut or none, one in an unknown form, and none at all: unknown', () => {
    const parts = stream.split('\n\n');
    const before = parts.slice(
      0,
      parts.findLastIndex((part) => part.includes('"usage')),
    );
    const cut = exchange(`${before.join('\n\n')}\n\n`);
    for (const one of [
      cut,
      exchange(stream, { fault: { what: 'upstream-cut', message: 'x' } }),
      exchange(stream, { response: null, fault: { what: 'client-left' } }),
      exchange('hello'),
      exchange(stream, {}, 'zstd'),
    ])
      expect(answerSaid(protocol, one).usage.totalTokens).toBeNull();
  });

  test('a refusal of the provider used nothing; a fault of its own is unknown', () => {
    const status = (code: number) => {
      const one = exchange('{}');
      return { ...one, response: one.response === null ? null : { ...one.response, status: code } };
    };
    expect(answerSaid(protocol, status(429))).toEqual({ usage: usedNothing, modelSeen: null });
    expect(answerSaid(protocol, status(503)).usage.totalTokens).toEqual(unknownUsage.totalTokens);
  });

  test('our refusal has the form of the protocol, and is an error in it', () => {
    const { status, body } = refusalOf(protocol, 'No more.');
    const { error, type } = JSON.parse(body);
    expect([status, error.message]).toEqual([400, 'No more.']);
    if (protocol === 'anthropic') expect([type, error.type]).toEqual(['error', 'invalid_request_error']);
    else if (protocol === 'gemini') expect([error.code, error.status]).toEqual([400, 'FAILED_PRECONDITION']);
    else expect(error.type).toBe('invalid_request_error');
  });
});

test.each<[Protocol, Readonly<Record<string, unknown>>, number]>([
  ['anthropic', { max_tokens: 9 }, 9],
  ['openai-responses', { max_output_tokens: 9 }, 9],
  ['openai-chat', { max_completion_tokens: 9, n: 2 }, 18],
  ['openai-chat', { max_tokens: 9 }, 9],
  ['gemini', { generationConfig: { maxOutputTokens: 9 } }, 9],
  ['gemini', {}, 4096],
  ['openai-responses', { max_output_tokens: -1 }, 4096],
])('%s: %j sets aside its size and %d tokens of an answer', (protocol, body, output) => {
  const bytes = Buffer.byteLength(JSON.stringify(body));
  const tariff = { atMost: (a: number, b: number) => a + b, price: () => unknownUsage };
  const tokens = Math.ceil(bytes / 3) + output;
  expect(reservationOf({ protocol, bytes }, body, { isTurn: true, tariff })).toEqual({
    turns: 1,
    modelCalls: 1,
    tokens,
    costUsd: tokens,
  });
  expect(reservationOf({ protocol, bytes }, body, { isTurn: false, tariff: null })).toEqual({
    modelCalls: 1,
    tokens,
  });
});
