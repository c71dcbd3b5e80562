import { afterEach, describe, expect, test } from 'vitest';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { RunEvent } from '../src/protocol/events.ts';
import { dying } from './dying-store.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';
import type { Step } from './scripted-provider.ts';

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const look = defineTool<{ readonly at?: number }>({
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: { at: { type: 'integer' } }, additionalProperties: false },
  capability: 'look',
  access: 'read',
  execute: ({ at = 0 }) => `seen ${at} ${'x'.repeat(at)}`,
});
let calls = 0;
const lookStep = (args = '{}') => {
  calls += 1;
  return { calls: [{ id: `c${calls}`, name: 'look', arguments: args }], usage };
};
const say = (text: string) => ({ text, usage });

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});
async function opened(options: RigOptions): Promise<Rig> {
  rig = await openRig({ tools: [look], ...options });
  return rig;
}
const spoken = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'policy-speak' ? [event.policy] : []));

describe('the completion contract', () => {
  const policies = { completion: {} };
  test('is told with the task, and its token is not part of the answer', async () => {
    const { run, provider } = await opened({ policies, script: [say('All good.\n\nDONE\n')] });
    expect((await run('go')).answer).toBe('All good.');
    expect(provider.requests[0]?.json.messages[1].content).toMatch(
      /^go\n\nWhen the task is finished, .* exactly DONE/,
    );
  });

  test('questions an answer without it once; then the run has failed', async () => {
    const { run, provider, events } = await opened({
      policies,
      script: [say('I think so.'), say('Yes. Done.')],
    });
    expect(await run('go')).toMatchObject({
      status: 'failed',
      answer: null,
      error: { code: 'native.policy-stopped', details: { policy: 'completion' } },
      usage: { totalTokens: 30 },
    });
    expect(provider.requests[1]?.json.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: 'I think so.' },
      { role: 'user', content: expect.stringContaining('did not end with the line DONE') },
    ]);
    expect(spoken(events)).toEqual(['completion']);
  });

  test('lets the model go on with the work, and questions it anew after that', async () => {
    const { run } = await opened({
      policies,
      script: [say('hm'), lookStep(), say('hm again'), say('finished\nDONE')],
    });
    expect((await run('go')).answer).toBe('finished');
  });

  test('holds for a run that was interrupted behind an answer', async () => {
    const { run, resume, store, provider } = await opened({ policies, script: [say('hm'), say('ok\nDONE')] });
    const first = await run('go', {
      store: dying(store, (_, event) => event.type === 'model-request' && event.turn === 2),
    });
    expect(first.status).toBe('unknown');
    const result = await resume(first.run);
    expect([result.status, result.answer]).toEqual(['completed', 'ok']);
    expect(spoken(await store.events(first.run))).toEqual(['completion']);
    expect(provider.requests).toHaveLength(2);
  });
});

describe('the breakers', () => {
  test('speak, ask and stop, each once', async () => {
    const { run, events, provider } = await opened({
      policies: { repetition: { nudge: 2, check: 3, stop: 4 } },
      script: [lookStep(), lookStep('{ }'), lookStep(), lookStep()],
    });
    expect(await run('go')).toMatchObject({
      status: 'failed',
      error: { code: 'native.policy-stopped', details: { policy: 'repetition' } },
    });
    expect(spoken(events)).toEqual(['repetition', 'repetition']);
    expect(provider.requests[2]?.json.messages.at(-1)).toMatchObject({
      role: 'user',
      content: expect.stringContaining("'look' was called 2 times in a row"),
    });
  });

  test('of starvation counts writes that succeeded only', async () => {
    const { run, events } = await opened({
      policies: { starvation: { turns: 2 } },
      script: [lookStep('{"at":1}'), lookStep('{"at":2}'), lookStep('{"at":3}'), say('end')],
    });
    await run('go');
    expect(spoken(events)).toEqual(['starvation']);
  });

  test('say nothing where no policy is named', async () => {
    const { run, events } = await opened({
      script: [...Array.from({ length: 10 }, () => lookStep()), say('end')],
    });
    expect((await run('go')).status).toBe('completed');
    expect(spoken(events)).toEqual([]);
  });
});

test('a result beyond the cap keeps its ends, and the record says that it was cut', async () => {
  const { run, events, provider } = await opened({
    policies: { 'result-cap': { bytes: 300 } },
    script: [lookStep('{"at":5000}'), say('end')],
  });
  await run('go');
  const content: string = provider.requests[1]?.json.messages.at(-1).content;
  expect(Buffer.byteLength(content)).toBeLessThanOrEqual(300);
  expect(content).toMatch(/^seen 5000 x+\n\[The call succeeded\. \d+ of 5010 bytes are shown/);
  expect(events.find((event) => event.type === 'tool-result')).toMatchObject({ truncated: true });
});

const idle = (...later: readonly Step[]) =>
  opened({
    policies: { completion: { challenges: 1 }, 'idle-done': { compactions: 0, turns: 2 } },
    tools: [
      look,
      defineTool<object>({
        name: 'command_start',
        description: 'Runs.',
        parameters: { type: 'object', properties: { command: { type: 'string' } } },
        capability: 'look',
        access: 'read',
        execute: (args) =>
          `[command id00000000 ended exit=${JSON.stringify(args).includes('bad') ? 1 : 0}]\n`,
      }),
    ],
    script: [
      { calls: [{ id: 'k1', name: 'command_start', arguments: '{"command":"echo x > a"}' }], usage },
      { calls: [{ id: 'k2', name: 'command_start', arguments: '{"command":"npm test"}' }], usage },
      say('it works'),
      say('it works, I said'),
      ...later,
    ],
  });

describe('idle-done', () => {
  test('asks a run that has changed, checked and compacted, and only talks, to confirm its end', async () => {
    const { run, events, provider } = await idle(say('it works\nDONE'));
    const result = await run('go');
    expect([result.status, result.answer]).toEqual(['completed', 'it works']);
    expect(spoken(events)).toEqual(['completion', 'idle-done']);
    expect(provider.requests[4]?.json.messages.at(-1).content).toContain('succeeded after your last change');
  });
  test('lets what was not confirmed go on for one turn, and then the run has failed', async () => {
    const { run, events } = await idle(say('hm'), say('hm'));
    expect(await run('go')).toMatchObject({ status: 'failed', error: { code: 'native.policy-stopped' } });
    expect(spoken(events)).toEqual(['completion', 'idle-done', 'completion']);
  });
  test('asks once, also where work came after it', async () => {
    const { run, events } = await idle(
      { calls: [{ id: 'k3', name: 'command_start', arguments: '{"command":"npm test"}' }], usage },
      say('hm'),
      say('hm'),
      say('ok\nDONE'),
    );
    expect((await run('go')).answer).toBe('ok');
    expect(spoken(events)).toEqual(['completion', 'idle-done', 'completion', 'completion']);
  });
});

test('the token counts only where the model stopped by itself', async () => {
  const { run, events } = await opened({
    policies: { completion: {} },
    script: [{ text: 'All good.\nDONE', finish: 'something_else', usage }, say('All good.\nDONE')],
  });
  expect((await run('go')).answer).toBe('All good.');
  expect(spoken(events)).toEqual(['completion']);
});

describe('the budget reminder', () => {
  const steps = (count: number) => Array.from({ length: count }, (_, at) => lookStep(`{"at":${at}}`));
  test.each([{ turns: 6 }, { modelCalls: 6 }])('speaks once when three are left of %j', async (limits) => {
    const { run, events, provider } = await opened({
      policies: { 'budget-reminder': {} },
      script: [...steps(5), say('end')],
    });
    expect((await run('go', { limits })).status).toBe('completed');
    expect(spoken(events)).toEqual(['budget-reminder']);
    expect(provider.requests[3]?.json.messages.at(-1).content).toMatch(
      /^3 more turns are left in the budget/,
    );
  });
  test('gives way to a breaker, and comes in the next turn', async () => {
    const { run, events } = await opened({
      policies: { 'budget-reminder': {}, repetition: { nudge: 2 } },
      script: [lookStep(), lookStep(), lookStep('{"at":1}'), say('end')],
    });
    await run('go', { limits: { turns: 5 } });
    expect(spoken(events)).toEqual(['repetition', 'budget-reminder']);
  });
  test('says nothing where no limit is near, or there is none', async () => {
    const { run, events } = await opened({
      policies: { 'budget-reminder': { left: 1 } },
      script: [...steps(2), say('end')],
    });
    await run('go', { limits: { turns: 4, tokens: 90_000 } });
    expect(spoken(events)).toEqual([]);
  });
});

test('a request whose answer stood still is sent again, once, and nothing of the half answer is kept', async () => {
  const hang = { text: 'half an ans', usage, ending: 'hang' as const };
  const { run, events, provider } = await opened({
    policies: { 'stall-recovery': {} },
    limits: { idleTimeoutMs: 60, firstByteTimeoutMs: 2_000 },
    script: [hang, say('whole'), lookStep(), hang, hang],
  });
  expect((await run('go')).answer).toBe('whole');
  expect(provider.requests[1]?.raw).toBe(provider.requests[0]?.raw);
  const faults = () => events.flatMap((event) => (event.type === 'model-fault' ? [event.error.code] : []));
  expect(faults()).toEqual(['model.stalled']);
  // With one retry a second standstill is the end; the call that came before is not made again.
  const second = await run('go on');
  expect([second.status, second.error?.code]).toEqual(['failed', 'model.stalled']);
  expect(provider.requests).toHaveLength(5);
  expect(events.filter((event) => event.type === 'tool-result')).toHaveLength(1);
});

test('without the policy a standstill is the end at once', async () => {
  const { run } = await opened({
    limits: { idleTimeoutMs: 60 },
    script: [{ text: 'half', usage, ending: 'hang' }],
  });
  expect((await run('go')).error?.code).toBe('model.stalled');
});
