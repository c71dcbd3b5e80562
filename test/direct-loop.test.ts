/** The direct loop of the native harness, through a real HTTP provider: what is sent, what runs, and how runs end. */
import { afterEach, describe, expect, test } from 'vitest';
import { plainComposition } from '../src/compose/plain.ts';
import { sha256 } from '../src/digest.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { Tool } from '../src/native/tool/tool.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';

const opened: Rig[] = [];
async function rig(options: RigOptions): Promise<Rig> {
  const one = await openRig(options);
  opened.push(one);
  return one;
}
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** A read tool that notes each argument it was run with. */
function lookup(
  ran: unknown[],
  answer: (name: string) => unknown = (name) => ({ name, stock: name.length }),
): Tool {
  return defineTool({
    name: 'lookup',
    description: 'Looks a part up by its name.',
    parameters: {
      type: 'object',
      properties: { name: { type: 'string', minLength: 1 }, id: { type: 'integer' } },
      required: ['name'],
      additionalProperties: false,
    },
    capability: 'stock',
    access: 'read',
    repeat: 'safe',
    exactIntegers: true,
    execute: async (args) => {
      ran.push(args);
      return answer((args as { name: string }).name);
    },
  });
}

const call = (id: string, name: string, args: unknown) => ({
  id,
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
});
const toolTexts = (request: { json: { messages: { role: string; content: string }[] } } | undefined) =>
  request?.json.messages.filter((message) => message.role === 'tool').map((message) => message.content);

describe('a run', () => {
  test('sends the composed text and the task alone, and returns the answer with its record', async () => {
    const one = await rig({ script: [{ text: 'Four.' }], prompt: 'Answer briefly.\n\n# Rule\nNo lists.\n' });
    const result = await one.run('What is 2 + 2?');
    expect(one.provider.requests[0]?.json.messages).toEqual([
      { role: 'system', content: 'Answer briefly.\n\n# Rule\nNo lists.\n' },
      { role: 'user', content: 'What is 2 + 2?' },
    ]);
    expect(one.provider.requests[0]?.json.tools).toBeUndefined();
    expect(result).toMatchObject({
      status: 'completed',
      answer: 'Four.',
      error: null,
      ticket: null,
      turns: 1,
      toolCalls: 0,
      prompt: sha256('Answer briefly.\n\n# Rule\nNo lists.\n'),
      usage: {
        modelCalls: 1,
        promptTokens: 10,
        completionTokens: 5,
        totalTokens: 15,
        costUsd: null,
        costSource: 'unknown',
      },
      notices: [],
    });
    expect(one.events.map((event) => event.type)).toEqual([
      'run-start',
      'turn-start',
      'model-request',
      'model-response',
      'message-finish',
      'turn-finish',
      'run-finish',
    ]);
    expect(one.events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('pairs results with calls, keeps the tool block byte for byte, and records every request so that it can be rebuilt', async () => {
    const ran: unknown[] = [];
    const one = await rig({
      tools: [lookup(ran)],
      script: [
        {
          text: 'Let me look.',
          calls: [call('a', 'lookup', { name: 'bolt' }), call('b', 'lookup', { name: 'nut' })],
        },
        { calls: [call('c', 'lookup', { name: 'washer' })] },
        { text: 'bolt 4, nut 3, washer 6' },
      ],
    });
    const result = await one.run('Count parts.');
    expect(result).toMatchObject({
      status: 'completed',
      answer: 'bolt 4, nut 3, washer 6',
      turns: 3,
      toolCalls: 3,
    });
    expect(ran).toEqual([{ name: 'bolt' }, { name: 'nut' }, { name: 'washer' }]);
    const [first, second, third] = one.provider.requests;
    expect(third?.json.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'lookup', arguments: '{"name":"bolt"}' } },
          { id: 'b', type: 'function', function: { name: 'lookup', arguments: '{"name":"nut"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '{"name":"bolt","stock":4}' },
      { role: 'tool', tool_call_id: 'b', content: '{"name":"nut","stock":3}' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c', type: 'function', function: { name: 'lookup', arguments: '{"name":"washer"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c', content: '{"name":"washer","stock":6}' },
    ]);
    const toolBlock = (raw = '') => raw.slice(raw.indexOf('"tools":'), raw.indexOf('"tool_choice"'));
    expect(toolBlock(first?.raw)).toContain('"lookup"');
    expect([toolBlock(second?.raw), toolBlock(third?.raw)]).toEqual([
      toolBlock(first?.raw),
      toolBlock(first?.raw),
    ]);

    // The record alone gives back the exact messages of each request, and the digest of each body.
    let digests: string[] = [];
    for (const event of one.events) {
      if (event.type !== 'model-request') continue;
      digests = [...digests.slice(0, event.keep), ...event.add];
      const request = one.provider.requests[event.turn - 1];
      const texts = await Promise.all(
        digests.map(async (digest) => Buffer.from((await one.store.blob(digest)) ?? '').toString()),
      );
      expect(texts.map((text) => JSON.parse(text))).toEqual(request?.json.messages);
      expect(request?.raw).toContain(`[${texts.join(',')}]`);
      expect(event.body).toBe(sha256(request?.raw ?? ''));
    }
  });

  test('continues a session: the earlier bytes stay, and only the new task is added', async () => {
    const one = await rig({ script: [{ text: 'One.' }, { text: 'Two.' }] });
    const first = await one.run('Say one.');
    const second = await one.run('Say two.', { session: first.session });
    expect(second).toMatchObject({ session: first.session, answer: 'Two.' });
    expect(one.provider.requests[1]?.json.messages).toEqual([
      { role: 'system', content: 'You answer tests.' },
      { role: 'user', content: 'Say one.' },
      { role: 'assistant', content: 'One.' },
      { role: 'user', content: 'Say two.' },
    ]);
  });

  test('keeps the text a session began with when the folder composes differently now, and says so', async () => {
    const one = await rig({ script: [{ text: 'One.' }, { text: 'Two.' }] });
    const first = await one.run('Say one.');
    const second = await one.run('Say two.', {
      session: first.session,
      composition: plainComposition('tester', 'You shout.'),
    });
    expect(one.provider.requests[1]?.json.messages[0]).toEqual({
      role: 'system',
      content: 'You answer tests.',
    });
    expect(second.notices).toEqual([expect.stringContaining('composes differently now')]);
    expect(second.prompt).toBe(first.prompt);
  });
});

describe('calls that may not run', () => {
  test('unknown tools and bad arguments go back to the model, valid reads beside them run, and nothing is charged for them', async () => {
    const ran: unknown[] = [];
    const one = await rig({
      tools: [lookup(ran)],
      script: [
        {
          calls: [
            call('a', 'lookup', { name: 'bolt' }),
            call('b', 'delete_all', {}),
            call('c', 'lookup', '{"name": "nu'),
            call('d', 'lookup', ''),
            call('e', 'lookup', 'null'),
            call('f', 'lookup', '["bolt"]'),
            call('g', 'lookup', { name: 'bolt', colour: 'red' }),
          ],
        },
        { text: 'done' },
      ],
    });
    const result = await one.run('Look.', { limits: { toolCalls: 1 } });
    expect(result).toMatchObject({ status: 'completed', toolCalls: 1 });
    expect(ran).toEqual([{ name: 'bolt' }]);
    const texts = toolTexts(one.provider.requests[1]) ?? [];
    expect(texts[0]).toBe('{"name":"bolt","stock":4}');
    expect(texts[1]).toMatch(/^failed\(tool\.unknown\): .*delete_all.*lookup/);
    for (const text of texts.slice(2)) expect(text).toMatch(/^failed\(tool\.[a-z-]+\): /);
    expect(texts[6]).toContain('colour');
    const ends = one.events
      .filter((event) => event.type === 'tool-result')
      .sort((a, b) => a.position - b.position);
    expect(ends.map((event) => event.status)).toEqual([
      'ok',
      'rejected',
      'rejected',
      'rejected',
      'rejected',
      'rejected',
      'rejected',
    ]);
  });

  test('arguments with half a character go back to the model, and the run goes on', async () => {
    const saved: unknown[] = [];
    const save = defineTool({
      name: 'save',
      description: 'Saves a text.',
      parameters: { type: 'object', properties: { text: { type: 'string' } } },
      capability: 'stock',
      access: 'write',
      repeat: 'safe',
      execute: async (args) => {
        saved.push(args);
        return 'saved';
      },
    });
    const one = await rig({
      tools: [save],
      script: [
        { calls: [call('a', 'save', '{"text":"a\\ud83db"}')] },
        { calls: [call('b', 'save', '{"text":"a\\ud83d\\ude00b"}')] },
        { text: 'done' },
      ],
    });
    const ask = async () => ({ decision: 'approved' as const, by: 'ana', reason: '' });
    const result = await one.run('Save.', { approve: 'ask', ask });
    expect(result).toMatchObject({ status: 'completed', toolCalls: 1 });
    expect(saved).toEqual([{ text: 'a😀b' }]);
    expect(toolTexts(one.provider.requests[2])).toEqual([
      expect.stringMatching(/^failed\(tool\.arguments-unreadable\): .*half of one/),
      'saved',
    ]);
  });

  test('a tool whose capability is not held is neither shown nor run', async () => {
    const ran: unknown[] = [];
    const one = await rig({
      tools: [lookup(ran)],
      script: [{ calls: [call('a', 'lookup', { name: 'bolt' })] }, { text: 'no tools' }],
    });
    await one.run('Look.', { capabilities: [] });
    expect(ran).toEqual([]);
    expect(one.provider.requests[0]?.json.tools).toBeUndefined();
    expect(toolTexts(one.provider.requests[1])).toEqual([expect.stringContaining('failed(tool.unknown)')]);
  });

  test('arguments cut off by the output limit are never executed, and the half answer stays out of the session', async () => {
    const ran: unknown[] = [];
    const one = await rig({
      tools: [lookup(ran)],
      script: [
        { text: 'I will', calls: [call('a', 'lookup', '{"name":"bo')], finish: 'length' },
        { text: 'fine' },
      ],
    });
    const result = await one.run('Look.');
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'native.answer-cut-off' },
      usage: { totalTokens: 15 },
    });
    expect(ran).toEqual([]);
    expect(one.events.some((event) => event.type === 'tool-call')).toBe(false);
    await one.run('Again.', { session: result.session });
    expect(one.provider.requests[1]?.json.messages.map((message: { role: string }) => message.role)).toEqual([
      'system',
      'user',
      'user',
    ]);
  });

  test.each([
    [
      'twice in one answer',
      [{ calls: [call('x', 'lookup', { name: 'a' }), call('x', 'lookup', { name: 'b' })] }],
    ],
    [
      'again in a later turn',
      [{ calls: [call('x', 'lookup', { name: 'a' })] }, { calls: [call('x', 'lookup', { name: 'b' })] }],
    ],
  ])('a call id used %s stops before the call runs', async (_, script) => {
    const ran: unknown[] = [];
    const one = await rig({ tools: [lookup(ran)], script });
    const result = await one.run('Look.');
    expect(result).toMatchObject({ status: 'failed', error: { code: 'native.call-id-reused' } });
    expect(ran).toEqual(script.length === 1 ? [] : [{ name: 'a' }]);
  });

  test.each([
    [{ reasoning: 'Hmm.', text: '' }, 'native.answer-empty'],
    [{ text: '  \n' }, 'native.answer-empty'],
    [{ text: 'I shall call.', finish: 'tool_calls' }, 'native.batch-mismatch'],
    [{ text: 'half', finish: 'content_filter' }, 'native.answer-filtered'],
  ])('the answer %j ends the run as failed with its usage', async (step, code) => {
    const one = await rig({ script: [step] });
    expect(await one.run('Go.')).toMatchObject({
      status: 'failed',
      answer: null,
      error: { code },
      usage: { modelCalls: 1, totalTokens: 15 },
    });
  });
});

describe('exactness', () => {
  test('an integer beyond 2^53 reaches the tool and is replayed digit for digit', async () => {
    const ran: unknown[] = [];
    const one = await rig({
      tools: [lookup(ran)],
      script: [{ calls: [call('a', 'lookup', '{"name":"bolt","id":2512292042121000001}')] }, { text: 'ok' }],
    });
    await one.run('Look.');
    expect(ran).toEqual([{ name: 'bolt', id: 2512292042121000001n }]);
    expect(one.provider.requests[1]?.raw).toContain('{\\"name\\":\\"bolt\\",\\"id\\":2512292042121000001}');
  });

  test('a result is cut on a character boundary, the cut is said and recorded, and the body stays valid', async () => {
    const tool = defineTool({
      name: 'lookup',
      description: 'Looks up.',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      capability: 'stock',
      access: 'read',
      repeat: 'safe',
      limits: { outputBytesMax: 512 },
      execute: async () => '😀'.repeat(200),
    });
    const one = await rig({ tools: [tool], script: [{ calls: [call('a', 'lookup', '')] }, { text: 'ok' }] });
    await one.run('Look.');
    const [text = ''] = toolTexts(one.provider.requests[1]) ?? [];
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(512);
    expect(text).toMatch(/^(😀)+\n\[cut: \d+ of 800 bytes shown/u);
    expect(one.events.find((event) => event.type === 'tool-result')).toMatchObject({
      truncated: true,
      status: 'ok',
    });
  });
});
