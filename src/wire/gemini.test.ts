import { describe, expect, test } from 'vitest';
import { gemini } from './gemini.ts';

const wire = gemini('gemini-9/pro');
const read = (...objects: readonly object[]) => {
  const reader = wire.reader();
  for (const object of objects) reader.push(Buffer.from(`data: ${JSON.stringify(object)}\n\n`));
  return reader.end();
};
const candidate = (parts: readonly object[], finishReason?: string) => ({
  responseId: 'r1',
  candidates: [
    { content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
});
const bodyOf = (messages: readonly string[], parameters = {}) =>
  JSON.parse(wire.body({ model: 'm', messages, tools: '', maxTokens: 7, parameters }));

describe('Gemini', () => {
  test('names the model in the address and the key in a header', () => {
    expect(wire.path).toBe('/models/gemini-9%2Fpro:streamGenerateContent?alt=sse');
    expect([wire.headers('k'), wire.headers(null)]).toEqual([{ 'x-goog-api-key': 'k' }, {}]);
  });

  test('puts parameters where the API wants them', () => {
    const messages = [wire.message({ role: 'system', text: 'S' }), wire.message({ role: 'user', text: 'U' })];
    expect(bodyOf(messages, { temperature: 0, safetySettings: [] })).toEqual({
      systemInstruction: { parts: [{ text: 'S' }] },
      contents: [{ role: 'user', parts: [{ text: 'U' }] }],
      generationConfig: { maxOutputTokens: 7, temperature: 0 },
      safetySettings: [],
    });
  });

  test('gives calls without ids ids of their own, which are never sent; signatures go back on their parts', () => {
    const call = (n: number) => ({ functionCall: { name: 'look', args: { n } } });
    const end = read(
      candidate([{ text: 'Let' }]),
      candidate([{ text: ' me' }, { ...call(1), thoughtSignature: 'S' }, call(2)], 'STOP'),
    );
    if (end.kind !== 'message') throw new Error('no message');
    expect(end.message).toEqual({
      role: 'assistant',
      text: 'Let me',
      reasoning: {
        text: '',
        opaque: { parts: [{ text: 'Let me' }, { thoughtSignature: 'S', call: 0 }, { call: 1 }] },
      },
      calls: [
        { id: 'gemini:r1:1', name: 'look', arguments: '{"n":1}' },
        { id: 'gemini:r1:2', name: 'look', arguments: '{"n":2}' },
      ],
    });
    const results = end.message.calls.map(({ id, name }) =>
      wire.message({ role: 'tool', callId: id, name, text: 'seen' }),
    );
    expect(bodyOf([wire.message(end.message), ...results]).contents).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'Let me' },
          { functionCall: { name: 'look', args: { n: 1 } }, thoughtSignature: 'S' },
          { functionCall: { name: 'look', args: { n: 2 } } },
        ],
      },
      {
        role: 'user',
        parts: [1, 2].map(() => ({ functionResponse: { name: 'look', response: { result: 'seen' } } })),
      },
    ]);
  });

  test('a prompt that is blocked is an answer withheld', () => {
    expect(read({ promptFeedback: { blockReason: 'OTHER' } })).toMatchObject({
      kind: 'message',
      finish: 'content-filter',
    });
  });

  test.each([
    [
      { promptTokenCount: 10, candidatesTokenCount: 2, thoughtsTokenCount: 3, totalTokenCount: 15 },
      10,
      5,
      15,
    ],
    [{ promptTokenCount: 10, thoughtsTokenCount: 3, totalTokenCount: 13 }, 10, 3, 13],
    [{ promptTokenCount: 10, toolUsePromptTokenCount: 4, candidatesTokenCount: 1 }, 14, 1, 15],
    [{ candidatesTokenCount: 1 }, null, 1, null],
  ])('counts %j', (usageMetadata, promptTokens, completionTokens, totalTokens) => {
    const end = read({ ...candidate([{ text: 'x' }], 'STOP'), usageMetadata });
    expect(end.usage).toMatchObject({ promptTokens, completionTokens, totalTokens });
  });

  test('refuses a call without a name, a call that nothing can name, and a message of another protocol', () => {
    expect(read(candidate([{ functionCall: { args: {} } }], 'STOP'))).toMatchObject({
      kind: 'error',
      code: 'wire.bad-response',
    });
    const { responseId: _, ...nameless } = candidate([{ functionCall: { name: 'f', args: {} } }], 'STOP');
    expect(read(nameless)).toMatchObject({ kind: 'error', code: 'wire.bad-response' });
    expect(() => bodyOf(['{"role":"user","content":"Hi"}'])).toThrow(
      expect.objectContaining({ code: 'wire.foreign-message' }),
    );
  });
});
