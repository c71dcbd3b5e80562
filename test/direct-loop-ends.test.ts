/** How runs of the direct loop are bounded and stopped: budgets before dispatch, cancel at any point, faults of the provider. */
import { afterEach, describe, expect, test } from 'vitest';
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

const noArguments = { type: 'object', properties: {}, additionalProperties: false } as const;
const call = (id: string, name = 'read') => ({ id, name, arguments: '' });

function tool(name: string, execute: (signal: AbortSignal) => Promise<string>, more: object = {}): Tool {
  return defineTool({
    name,
    description: `The tool ${name}.`,
    parameters: noArguments,
    capability: 'c',
    access: 'read',
    repeat: 'safe',
    execute: (_args, context) => execute(context.signal),
    ...more,
  });
}

const results = (one: Rig) =>
  one.events.flatMap((event) => (event.type === 'tool-result' ? [`${event.callId} ${event.status}`] : []));

describe('budgets', () => {
  test('model calls: the second request is refused before it leaves', async () => {
    const one = await rig({ tools: [tool('read', async () => 'x')], script: [{ calls: [call('a')] }] });
    const result = await one.run('Go.', { limits: { modelCalls: 1 } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'budget.exhausted', details: { counter: 'modelCalls', limit: 1, left: 0, wanted: 1 } },
      usage: { totalTokens: 15 },
      budget: { modelCalls: { limit: 1, used: 1, reserved: 0, left: 0, overrun: 0 } },
    });
    expect(one.events.some((event) => event.type === 'budget-refuse')).toBe(true);
  });

  test('tool calls: a batch that does not fit whole does not run at all, and its session stays usable', async () => {
    let ran = 0;
    const read = tool('read', async () => String(++ran));
    const one = await rig({ tools: [read], script: [{ calls: [call('a'), call('b')] }, { text: 'ok' }] });
    const result = await one.run('Go.', { limits: { toolCalls: 1 } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'budget.exhausted', details: { counter: 'toolCalls' } },
    });
    expect(ran).toBe(0);
    expect(results(one)).toEqual(['a not-run', 'b not-run']);
    expect(await one.run('Again.', { session: result.session })).toMatchObject({
      status: 'completed',
      answer: 'ok',
    });
    expect(one.provider.requests[1]?.json.messages.map((m: { role: string }) => m.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ]);
  });

  test('tokens: the output limit shrinks to what is left, and a request that cannot fit is refused', async () => {
    const one = await rig({ tools: [tool('read', async () => 'x')], script: [{ calls: [call('a')] }] });
    const result = await one.run('Go.', { limits: { tokens: 185 } });
    const sent = one.provider.requests[0]?.json;
    expect(sent.max_tokens).toBeGreaterThan(0);
    expect(sent.max_tokens).toBeLessThan(185);
    expect(result).toMatchObject({ status: 'failed', error: { details: { counter: 'tokens' } } });
  });

  test('tokens: usage that the provider keeps to itself is charged as reserved', async () => {
    const one = await rig({ script: [{ text: 'ok', usage: null }] });
    const result = await one.run('Go.', { limits: { tokens: 500 } });
    expect(result).toMatchObject({ status: 'completed', usage: { totalTokens: null, costUsd: null } });
    expect(result.budget.tokens).toMatchObject({ limit: 500, used: 500, left: 0 });
  });

  test('money: without a price the run is refused before anything is stored or sent', async () => {
    const one = await rig({ script: [] });
    await expect(one.run('Go.', { limits: { costUsd: 1 } })).rejects.toMatchObject({
      code: 'run.limit-unkeepable',
      kind: 'refused',
      next: expect.stringContaining('prices'),
    });
    expect(await one.store.runs()).toEqual([]);
  });

  test('money: with a price, cost is known and bounded', async () => {
    const one = await rig({
      script: [{ text: 'ok' }],
      prices: { 'local/scripted-1': { prompt: 1000, completion: 2000 } },
    });
    const result = await one.run('Go.', { limits: { costUsd: 1 } });
    expect(result.usage).toMatchObject({ costUsd: 0.02, costSource: 'priced' });
    expect(result.budget.costUsd?.used).toBeCloseTo(0.02, 10);
  });

  test('output: the model reads what still fits, and the run ends', async () => {
    const one = await rig({
      tools: [tool('read', async () => 'y'.repeat(500))],
      script: [{ calls: [call('a'), call('b')] }],
    });
    const result = await one.run('Go.', { limits: { outputBytes: 600 } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { details: { counter: 'outputBytes', limit: 600 } },
    });
    expect(result.budget.outputBytes?.used).toBeLessThanOrEqual(600);
    expect(results(one)).toEqual(['a ok', 'b ok']);
  });

  test('wall time ends a run whose provider never answers', async () => {
    const one = await rig({ script: [{ text: 'never ends', ending: 'hang' }] });
    const result = await one.run('Go.', { limits: { wallTimeMs: 150 } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'budget.exhausted', details: { counter: 'wallTimeMs' } },
    });
    expect(result.budget.wallTimeMs?.used).toBeGreaterThanOrEqual(150);
  });
});

describe('cancel', () => {
  test('interrupts a model turn at work; the record ends and the usage is unknown', async () => {
    const one = await rig({ script: [{ text: 'never ends', ending: 'hang' }] });
    const stop = new AbortController();
    const running = one.run('Go.', { signal: stop.signal });
    await one.provider.arrived(1);
    stop.abort('by Ctrl-C');
    const result = await running;
    expect(result).toMatchObject({
      status: 'cancelled',
      error: { code: 'run.cancelled', message: 'The run was cancelled: by Ctrl-C.' },
      usage: { modelCalls: 1, totalTokens: null },
    });
    expect(one.events.slice(-3).map((event) => event.type)).toEqual([
      'cancel-request',
      'model-fault',
      'run-finish',
    ]);
  });

  test('in a batch every call has a result: real, unknown, not run; and the session goes on', async () => {
    const stop = new AbortController();
    const write = tool('write', () => new Promise(() => stop.abort()), { access: 'write', repeat: 'once' });
    const one = await rig({
      tools: [tool('read', async () => 'real'), write],
      script: [{ calls: [call('a'), call('b', 'write'), call('c')] }, { text: 'ok' }],
    });
    const result = await one.run('Go.', {
      signal: stop.signal,
      approve: 'ask',
      ask: async () => ({ decision: 'approved', by: 'tester', reason: '' }),
    });
    expect(result.status).toBe('cancelled');
    expect(results(one)).toEqual(['a ok', 'b unknown', 'c not-run']);
    expect(await one.run('Again.', { session: result.session })).toMatchObject({ status: 'completed' });
    const texts = one.provider.requests[1]?.json.messages.filter((m: { role: string }) => m.role === 'tool');
    expect(texts.map((m: { content: string }) => m.content)).toEqual([
      'real',
      expect.stringMatching(/^failed\(tool\.outcome-unknown\): .*do not repeat/),
      expect.stringMatching(/^failed\(tool\.not-run\)/),
    ]);
  });

  test('interrupts a read that ignores its signal', async () => {
    const stop = new AbortController();
    const deaf = tool('read', () => new Promise(() => setTimeout(() => stop.abort(), 20)));
    const one = await rig({ tools: [deaf], script: [{ calls: [call('a')] }] });
    expect(await one.run('Go.', { signal: stop.signal })).toMatchObject({ status: 'cancelled' });
    expect(results(one)).toEqual(['a failed']);
  });

  test('before the first request sends nothing', async () => {
    const one = await rig({ script: [] });
    expect(await one.run('Go.', { signal: AbortSignal.abort() })).toMatchObject({
      status: 'cancelled',
      turns: 0,
    });
  });
});

describe('tools', () => {
  test('reads of a batch run at once, a write alone, results in provider order', async () => {
    const trace: string[] = [];
    const slow = (name: string, ms: number, more = {}) =>
      tool(
        name,
        async () => {
          trace.push(`${name} starts`);
          await new Promise((resolve) => setTimeout(resolve, ms));
          trace.push(`${name} ends`);
          return name;
        },
        more,
      );
    const one = await rig({
      tools: [
        slow('r1', 40),
        slow('r2', 10),
        slow('w', 10, { access: 'write', repeat: 'once' }),
        slow('r3', 1),
      ],
      script: [
        { calls: [call('a', 'r1'), call('b', 'r2'), call('c', 'w'), call('d', 'r3')] },
        { text: 'ok' },
      ],
    });
    await one.run('Go.', {
      approve: 'ask',
      ask: async () => ({ decision: 'approved', by: 'tester', reason: '' }),
    });
    expect(trace).toEqual([
      'r1 starts',
      'r2 starts',
      'r2 ends',
      'r1 ends',
      'w starts',
      'w ends',
      'r3 starts',
      'r3 ends',
    ]);
    const texts = one.provider.requests[1]?.json.messages
      .slice(-4)
      .map((m: { content: string }) => m.content);
    expect(texts).toEqual(['r1', 'r2', 'w', 'r3']);
  });

  test('a read that fails or is too slow is a result, not the end', async () => {
    const one = await rig({
      tools: [
        tool('bad', async () => {
          throw new Error('disk on fire');
        }),
        tool('slow', () => new Promise(() => {}), { limits: { timeoutMs: 30 } }),
      ],
      script: [{ calls: [call('a', 'bad'), call('b', 'slow')] }, { text: 'ok' }],
    });
    expect(await one.run('Go.')).toMatchObject({ status: 'completed', toolCalls: 2 });
    const texts = one.provider.requests[1]?.json.messages
      .slice(-2)
      .map((m: { content: string }) => m.content);
    expect(texts).toEqual([
      'failed(tool.failed): disk on fire',
      expect.stringMatching(/^failed\(tool\.timeout\): .*30 ms/),
    ]);
  });
});

describe('a provider that fails', () => {
  test('429 with a wait is obeyed, and each attempt is recorded', async () => {
    const one = await rig({ script: [{ status: 429, headers: { 'retry-after': '0' } }, { text: 'ok' }] });
    expect(await one.run('Go.')).toMatchObject({ status: 'completed', turns: 1 });
    expect(one.events.filter((event) => event.type === 'model-fault')).toEqual([
      expect.objectContaining({ attempt: 1, httpStatus: 429, retryInMs: expect.any(Number) }),
    ]);
  });

  test('a longer wait than allowed ends the run with that wait', async () => {
    const one = await rig({ script: [{ status: 429, headers: { 'retry-after': '7200' } }] });
    expect(await one.run('Go.')).toMatchObject({
      status: 'failed',
      error: { code: 'native.retry-too-late', next: 'Run the task again in 7200 s.' },
    });
  });

  test.each([
    [{ status: 401 }, 'model.'],
    [{ text: 'half an ans', ending: 'cut' as const }, 'model.'],
    [{ text: 'half an ans', ending: 'no-mark' as const }, 'model.'],
  ])('%j ends the run as failed, without a second request', async (step, code) => {
    const one = await rig({ script: [step] });
    const result = await one.run('Go.');
    expect(result).toMatchObject({ status: 'failed', answer: null });
    expect(result.error?.code).toContain(code);
    expect(result.error?.next).toMatch(/\w/);
  });

  test('keeps asking only so often', async () => {
    const one = await rig({ script: [{ status: 503 }, { status: 503 }], request: { attemptsMax: 2 } });
    expect(await one.run('Go.')).toMatchObject({ status: 'failed', usage: { modelCalls: 2 } });
  });
});
