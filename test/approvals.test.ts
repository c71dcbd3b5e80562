/** Writes need a person: asked, paused, refused; an answer counts for exactly one call, and an equal call acts once. */
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sha256 } from '../src/digest.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { Ticket } from '../src/protocol/ticket.ts';
import { answerTicket } from '../src/run/decide.ts';
import { openRig, type Rig } from './rig.ts';
import type { Script } from './scripted-provider.ts';

const opened: Rig[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function rig(script: Script, more: object = {}) {
  const acted: string[] = [];
  const book = defineTool({
    name: 'book',
    description: 'Books a seat.',
    parameters: { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] },
    capability: 'booking',
    access: 'write',
    repeat: 'once',
    execute: async (args) => {
      acted.push((args as { seat: string }).seat);
      return `booked ${(args as { seat: string }).seat}`;
    },
    ...more,
  });
  const one = await openRig({ script, tools: [book] });
  opened.push(one);
  return { ...one, acted };
}

const call = (id: string, seat: string) => ({ id, name: 'book', arguments: JSON.stringify({ seat }) });
const yes = async () => ({ decision: 'approved' as const, by: 'ana', reason: '' });
const toolTexts = (one: Rig) =>
  one.provider.requests
    .at(-1)
    ?.json.messages.filter((m: { role: string }) => m.role === 'tool')
    .map((m: { content: string }) => m.content);

describe('a call that writes', () => {
  test('with nobody to ask is refused at once; the open question is in the record', async () => {
    const one = await rig([{ calls: [call('a', '4A')] }]);
    const result = await one.run('Book 4A.');
    expect(result).toMatchObject({
      status: 'refused',
      error: { code: 'native.approval-missing', kind: 'refused' },
    });
    expect(one.acted).toEqual([]);
    const asked = one.events.find((event) => event.type === 'approval-request');
    expect(asked).toMatchObject({
      ticket: { tool: 'book', capability: 'booking', arguments: '{"seat":"4A"}' },
    });
    expect(one.events.map((event) => event.type).slice(-2)).toEqual(['tool-result', 'run-finish']);
  });

  test('asks with the exact arguments, and runs when approved', async () => {
    const one = await rig([{ calls: [call('a', '4A')] }, { text: 'Booked.' }]);
    const asked: Ticket[] = [];
    const ask = async (ticket: Ticket) => {
      asked.push(ticket);
      return yes();
    };
    const result = await one.run('Book 4A.', { approve: 'ask', ask });
    expect(result.status).toBe('completed');
    expect(asked).toEqual([expect.objectContaining({ turn: 1, position: 1, arguments: '{"seat":"4A"}' })]);
    expect(one.acted).toEqual(['4A']);
  });

  test('denied by a person is a result for the model, and the run goes on', async () => {
    const one = await rig([{ calls: [call('a', '4A')] }, { text: 'Then not.' }]);
    const deny = async () => ({ decision: 'denied' as const, by: 'ana', reason: 'window seats only' });
    expect(await one.run('Book 4A.', { approve: 'ask', ask: deny })).toMatchObject({
      status: 'completed',
      toolCalls: 0,
    });
    expect(toolTexts(one)).toEqual([
      'failed(tool.denied): A person denied this call; it was not run. Reason: window seats only',
    ]);
    expect(one.acted).toEqual([]);
  });

  test('bad arguments are rejected before anyone is asked', async () => {
    const one = await rig([{ calls: [{ id: 'a', name: 'book', arguments: '{"seat":4}' }] }, { text: 'Hm.' }]);
    await one.run('Book.', { approve: 'pause' });
    expect(one.events.some((event) => event.type === 'approval-request')).toBe(false);
  });

  test('the same effect again in one run gets the first observation and acts once', async () => {
    const one = await rig([{ calls: [call('a', '4A')] }, { calls: [call('b', '4A')] }, { text: 'Booked.' }]);
    await one.run('Book 4A.', { approve: 'ask', ask: yes });
    expect(one.acted).toEqual(['4A']);
    expect(toolTexts(one)).toEqual(['booked 4A', 'booked 4A']);
    expect(one.events.filter((event) => event.type === 'approval-request')).toHaveLength(1);
  });

  test('a tool that says it is repeatable acts again', async () => {
    const one = await rig([{ calls: [call('a', '4A')] }, { calls: [call('b', '4A')] }, { text: 'Twice.' }], {
      repeatable: true,
    });
    await one.run('Book 4A twice.', { approve: 'ask', ask: yes });
    expect(one.acted).toEqual(['4A', '4A']);
  });

  test('too slow is unknown at its limit, is never sent again, and its late success is recorded', async () => {
    let acted = 0;
    let succeed = () => {};
    const success = new Promise<void>((resolve) => {
      succeed = resolve;
    });
    const one = await rig(
      [{ calls: [call('a', '4A')] }, { calls: [call('b', '4A'), call('c', '5B')] }, { text: 'Unknown.' }],
      {
        limits: { timeoutMs: 60 },
        execute: async () => {
          acted += 1;
          await success;
          return 'booked at last';
        },
      },
    );
    const result = await one.run('Book 4A.', { approve: 'ask', ask: yes });
    expect(result).toMatchObject({ status: 'completed', toolCalls: 1, budget: { toolCalls: { used: 1 } } });
    const [first, again, other] = toolTexts(one);
    expect(first).toMatch(/^failed\(tool\.outcome-unknown\): .*within 60 ms/);
    for (const held of [again, other])
      expect(held).toMatch(/^failed\(tool\.not-dispatched\): .*still unknown/);
    expect(acted).toBe(1);
    // What is held already is not worth a person's time.
    expect(one.events.filter((event) => event.type === 'approval-request')).toHaveLength(1);
    succeed();
    await expect
      .poll(async () => (await one.store.events(result.run)).find((event) => event.type === 'effect-observe'))
      .toMatchObject({ turn: 1, position: 1, status: 'succeeded', late: true });
  });

  test('the arguments as given tell calls apart, whatever the tool makes of them', async () => {
    const one = await rig([{ calls: [call('a', '4A')] }, { calls: [call('b', '5B')] }, { text: 'Both.' }], {
      parameters: z.object({ seat: z.string().transform((seat) => new Set([seat])) }),
      execute: async (args: { seat: Set<string> }) => {
        one.acted.push([...args.seat].join());
        return 'booked';
      },
    });
    await one.run('Book both.', { approve: 'ask', ask: yes });
    expect(one.acted).toEqual(['4A', '5B']);
  });

  test('a way of asking that ignores its signal, or fails, does not hold the run', async () => {
    const stop = new AbortController();
    const one = await rig([{ calls: [call('a', '4A')] }, { calls: [call('b', '5B')] }]);
    const deaf = () => {
      stop.abort();
      return new Promise<undefined>(() => {});
    };
    expect((await one.run('Book.', { approve: 'ask', ask: deaf, signal: stop.signal })).status).toBe(
      'cancelled',
    );
    const broken = () => Promise.reject(new Error('no terminal'));
    expect(await one.run('Book.', { approve: 'ask', ask: broken })).toMatchObject({
      status: 'refused',
      error: { code: 'native.approval-missing' },
    });
    expect(one.acted).toEqual([]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('which?');
      },
    ],
    ['is no text', () => 7n as never],
  ])('a tool whose effect key %s is not run', async (_, effectKey) => {
    const one = await rig([{ calls: [call('a', '4A')] }, { text: 'Hm.' }], { effectKey });
    expect(await one.run('Book.', { approve: 'ask', ask: yes })).toMatchObject({
      status: 'completed',
      toolCalls: 0,
    });
    expect([one.acted, toolTexts(one)]).toEqual([[], [expect.stringContaining('failed(tool.failed)')]]);
  });
});

describe('a paused run', () => {
  test('waits with its ticket, goes on after an approval with the same prompt, and acts once', async () => {
    const one = await rig([{ calls: [call('a', '4A'), call('b', '5B')] }, { text: 'Booked.' }]);
    const paused = await one.run('Book.', { approve: 'pause' });
    expect(paused).toMatchObject({ status: 'paused', ticket: { arguments: '{"seat":"4A"}' }, error: null });
    expect(one.acted).toEqual([]);
    const approve = (ticket: string) =>
      answerTicket(one.store, 'test:2:2', {
        run: paused.run,
        ticket,
        decision: 'approved',
        by: 'ana',
        reason: '',
      });
    await expect(approve('ticket_other')).rejects.toMatchObject({ code: 'run.unknown-ticket' });
    await approve(paused.ticket?.id ?? '');
    await expect(approve(paused.ticket?.id ?? '')).rejects.toMatchObject({ code: 'run.unknown-ticket' });

    const again = await one.resume(paused.run, { approve: 'pause' });
    expect(again).toMatchObject({ status: 'paused', ticket: { arguments: '{"seat":"5B"}' } });
    expect(one.acted).toEqual(['4A']);
    await answerTicket(one.store, 'test:2:2', {
      run: paused.run,
      ticket: again.ticket?.id ?? '',
      decision: 'denied',
      by: 'ana',
      reason: 'one is enough',
    });
    const done = await one.resume(paused.run, { approve: 'pause' });
    expect(done).toMatchObject({
      status: 'completed',
      answer: 'Booked.',
      run: paused.run,
      prompt: sha256('You answer tests.'),
    });
    expect(one.acted).toEqual(['4A']);
    expect(toolTexts(one)).toEqual(['booked 4A', expect.stringContaining('one is enough')]);
    await expect(one.resume(paused.run)).rejects.toMatchObject({ code: 'run.already-ended' });
  });

  test('can be cancelled: its open call is settled as not run, and the session goes on', async () => {
    const one = await rig([{ calls: [call('a', '4A')] }, { text: 'Fine.' }]);
    const paused = await one.run('Book.', { approve: 'pause' });
    await expect(one.run('Else.', { session: paused.session })).rejects.toMatchObject({
      code: 'run.session-busy',
    });
    const cancelled = await one.resume(paused.run, { signal: AbortSignal.abort() });
    expect(cancelled.status).toBe('cancelled');
    expect(await one.run('Else.', { session: paused.session })).toMatchObject({
      status: 'completed',
      answer: 'Fine.',
    });
    expect(toolTexts(one)).toEqual([expect.stringContaining('failed(tool.not-run)')]);
  });
});
