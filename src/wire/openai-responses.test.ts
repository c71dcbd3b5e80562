import { describe, expect, test } from 'vitest';
import { openaiResponses } from './openai-responses.ts';

const wire = openaiResponses();
const read = (...events: readonly object[]) => {
  const reader = wire.reader();
  for (const event of events) reader.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  return { end: reader.end(), finished: reader.finished };
};

describe('OpenAI Responses', () => {
  test('writes a conversation as items, and keeps nothing at the provider', () => {
    const messages = [
      wire.message({ role: 'system', text: 'Be brief.' }),
      wire.message({ role: 'user', text: 'Hi' }),
      wire.message({
        role: 'assistant',
        text: '',
        reasoning: {
          text: '',
          opaque: [
            { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'S' },
            { type: 'reasoning', id: 'rs_2', summary: [] },
          ],
        },
        calls: [{ id: 'c1', name: 'look', arguments: '{ "n": 1 }' }],
      }),
      wire.message({ role: 'tool', callId: 'c1', name: 'look', text: 'seen' }),
    ];
    const tools = wire.tools([{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }]);
    const body = wire.body({ model: 'm', messages, tools, maxTokens: 9, parameters: { temperature: 0 } });
    expect(JSON.parse(body)).toEqual({
      model: 'm',
      input: [
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        // One without its sealed content is a name of something that nobody kept.
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'S' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{ "n": 1 }' },
        { type: 'function_call_output', call_id: 'c1', output: 'seen' },
      ],
      tools: [
        {
          type: 'function',
          name: 'look',
          description: 'Looks.',
          parameters: { type: 'object' },
          strict: false,
        },
      ],
      tool_choice: 'auto',
      stream: true,
      store: false,
      max_output_tokens: 9,
      temperature: 0,
    });
    for (const message of messages) expect(body).toContain(message.slice(1, -1));
  });

  test('refuses a message of another protocol', () => {
    const messages = ['{"role":"user","content":"Hi"}'];
    expect(() => wire.body({ model: 'm', messages, tools: '', maxTokens: null, parameters: {} })).toThrow(
      expect.objectContaining({ code: 'wire.foreign-message' }),
    );
  });

  test('reads a server that does not stream', () => {
    const reader = wire.reader();
    const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }];
    reader.push(
      Buffer.from(JSON.stringify({ id: 'r', model: 'm', status: 'completed', output, usage: null })),
    );
    expect(reader.end()).toMatchObject({
      kind: 'message',
      message: { text: 'Hi' },
      finish: 'stop',
      requestId: 'r',
    });
  });

  test.each([
    [
      {
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'server_error', message: 'Oh' } },
      },
      { code: 'server_error', message: 'Oh' },
    ],
    [
      { type: 'error', code: 'rate_limit', message: 'Slow' },
      { code: 'rate_limit', message: 'Slow' },
    ],
    [{ type: 'response.failed', response: { status: 'failed', error: null } }, { code: null }],
  ])('tells what %j says', (event, expected) => {
    const { end, finished } = read(event);
    expect([end.kind, finished]).toEqual(['error', true]);
    expect(end).toMatchObject(expected);
  });

  test.each([
    [{ type: 'function_call', call_id: '', name: 'look', arguments: '{}' }],
    [{ type: 'function_call', call_id: 'c', name: '', arguments: '{}' }],
  ])('makes up nothing for the call %j', (item) => {
    const { end } = read({ type: 'response.completed', response: { status: 'completed', output: [item] } });
    expect(end).toMatchObject({ kind: 'error', code: 'wire.bad-response' });
  });

  test('takes no more calls than one answer may have', () => {
    const items = Array.from({ length: 513 }, (_, i) => ({
      type: 'function_call',
      call_id: `c${i}`,
      name: 'f',
      arguments: '{}',
    }));
    const { end } = read({ type: 'response.completed', response: { status: 'completed', output: items } });
    expect(end).toMatchObject({ kind: 'error', code: 'wire.too-many-calls' });
  });
});
