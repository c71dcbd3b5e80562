/** Effects of unknown outcome: the tool looks, a person decides, other words for the same effect wait; nothing is sent twice. */
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import type { Store } from '../src/ledger/store.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { defineTool, failed, notDispatched, stillUnknown } from '../src/native/tool/define-tool.ts';
import type { Tool, ToolContext } from '../src/native/tool/tool.ts';
import { forgetSession } from '../src/run/forget.ts';
import { type EffectDecision, reconcileEffect } from '../src/run/reconcile.ts';
import { unsettledOf } from '../src/run/unsettled.ts';
import { dyingAt } from './dying-store.ts';
import { openRig, type Rig } from './rig.ts';
import type { Script } from './scripted-provider.ts';

const opened: Rig[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const approved = {
  approve: 'ask' as const,
  ask: async () => ({ decision: 'approved' as const, by: 'ana', reason: '' }),
};
const call = (id: string, seat: string, name = 'book') => ({ id, name, arguments: JSON.stringify({ seat }) });
const said = (content: unknown) => String(content).slice(0, 200);
/** Books 4A, then tells all that it has read. */
const script: Script = ({ json }) => {
  const results = json.messages.filter((m: { role: string }) => m.role === 'tool');
  if (results.length === 0) return { calls: [call('a', '4A')] };
  return { text: results.map((m: { content: string }) => said(m.content)).join(' | ') };
};

type Reconcile = (args: unknown, context: ToolContext) => unknown;

function desk({ reconcile, breaks = false }: { reconcile?: Reconcile; breaks?: boolean } = {}) {
  const acted: string[] = [];
  const keys: string[] = [];
  const tool: Tool = defineTool<{ seat: string }>({
    name: 'book',
    description: 'Books.',
    parameters: { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] },
    capability: 'c',
    access: 'write',
    repeat: 'once',
    look: 'Ask the desk.',
    execute: async ({ seat }, { idempotencyKey }) => {
      acted.push(seat);
      keys.push(idempotencyKey);
      if (breaks) throw new Error('the line was cut');
      return `booked ${seat}`;
    },
    ...(reconcile === undefined ? {} : { reconcile }),
  });
  return { tool, acted, keys };
}

/** A run whose process died after it had booked and before that was recorded. */
async function interrupted(store: Store, { tool }: { tool: Tool }) {
  const rig = await openRig({ script, tools: [tool], store: dyingAt(store, 'effect-observe') });
  opened.push(rig);
  return rig.run('Book 4A.', approved);
}

async function rigOn(store: Store, { tool }: { tool: Tool }, steps: Script = script) {
  const rig = await openRig({ script: steps, tools: [tool], store: { ...store, close: async () => {} } });
  opened.push(rig);
  return rig;
}

const effectEvents = async (store: Store, run: string) =>
  (await store.events(run)).filter(({ type }) => type.startsWith('effect-'));

describe('a resume asks the tool that can look', () => {
  test.each<[string, Reconcile, string, number, string[]]>([
    [
      'it was carried out',
      () => 'booked 4A, says the desk',
      'booked 4A, says the desk',
      0,
      ['effect-reconcile', 'effect-observe'],
    ],
    [
      'it was carried out and failed',
      () => failed('full', 'No seat is left.'),
      'failed(full): No seat is left.',
      0,
      ['effect-reconcile', 'effect-observe'],
    ],
    [
      'it never arrived, so it is sent now',
      () => notDispatched('unavailable', 'The desk never heard of it.'),
      'booked 4A',
      1,
      ['effect-reconcile', 'effect-not-dispatched', 'effect-dispatch', 'effect-observe'],
    ],
    [
      'it cannot be told',
      () => stillUnknown('The desk is closed.'),
      'failed(tool.outcome-unknown): The outcome is unknown. The desk is closed. It may have happened',
      0,
      ['effect-reconcile'],
    ],
    ['it says nothing', () => undefined, 'Looking brought no answer.', 0, ['effect-reconcile']],
    [
      'looking fails',
      () => {
        throw new Error('no line');
      },
      'Looking failed: no line',
      0,
      ['effect-reconcile'],
    ],
  ])('%s', async (_what, reconcile, answer, sentAgain, events) => {
    const store = memoryStore({ clock: systemClock });
    const died = await interrupted(store, desk());
    const asked: string[] = [];
    const after = desk({
      reconcile: (args, context) => {
        asked.push(`${JSON.stringify(args)} ${context.idempotencyKey}`);
        return reconcile(args, context);
      },
    });
    const before = (await effectEvents(store, died.run)).length;
    const done = await (await rigOn(store, after)).resume(died.run, approved);
    expect(done).toMatchObject({ status: 'completed', answer: expect.stringContaining(answer) });
    expect(after.acted).toHaveLength(sentAgain);
    expect(asked).toEqual([`{"seat":"4A"} ${died.run}:1:1`]);
    if (sentAgain > 0) expect(after.keys).toEqual([`${died.run}:1:1`]);
    expect((await effectEvents(store, died.run)).slice(before).map(({ type }) => type)).toEqual(events);
  });

  test('a cancelled run asks nobody', async () => {
    const store = memoryStore({ clock: systemClock });
    const died = await interrupted(store, desk());
    const after = desk({ reconcile: () => Promise.reject(new Error('asked')) });
    const ended = await (await rigOn(store, after)).resume(died.run, { signal: AbortSignal.abort() });
    expect(ended.status).toBe('cancelled');
    expect((await effectEvents(store, died.run)).map(({ type }) => type)).not.toContain('effect-reconcile');
  });
});

describe('a person decides', () => {
  const given = (run: string, more: Partial<EffectDecision>): EffectDecision => ({
    ...{ run, turn: 1, position: 1, decision: 'abandoned', by: 'ana', reason: 'I rang the desk.' },
    ...more,
  });
  const decide = (store: Store, run: string, more: Partial<EffectDecision>) =>
    reconcileEffect(store, 'test:2:2', given(run, more));

  test.each<[string, Partial<EffectDecision>, string, number]>([
    ['it happened', { decision: 'observed' }, 'A person looked: it was carried out. I rang the desk.', 0],
    [
      'it happened, in words',
      { decision: 'observed', observation: { status: 'failed', text: 'refused: full' } },
      'refused: full',
      0,
    ],
    ['it did not happen', { decision: 'not-dispatched' }, 'booked 4A', 1],
    ['it is given up', { decision: 'abandoned' }, 'A person gave it up as unknown.', 0],
    ['it may be sent again', { decision: 'retry-authorized' }, 'booked 4A', 1],
  ])('%s', async (_what, more, answer, sent) => {
    const store = memoryStore({ clock: systemClock });
    const died = await interrupted(store, desk());
    await decide(store, died.run, more);
    const decision = more.decision ?? 'abandoned';
    const told = (await effectEvents(store, died.run)).find(
      ({ type }) => type === 'effect-reconcile' || type === 'effect-resolve',
    );
    expect(told).toMatchObject({ by: 'ana', reason: 'I rang the desk.', turn: 1, position: 1 });
    const after = desk();
    const done = await (await rigOn(store, after)).resume(died.run, approved);
    expect(done).toMatchObject({ status: 'completed', answer: expect.stringContaining(answer) });
    expect(after.acted).toHaveLength(sent);
    // What was decided once is decided.
    await expect(decide(store, died.run, { decision: 'abandoned' })).rejects.toMatchObject({
      code: 'run.effect-settled',
      details: { state: decision === 'abandoned' ? 'abandoned' : 'observed' },
    });
    const lineage = (await effectEvents(store, died.run)).flatMap((event) =>
      event.type === 'effect-dispatch' ? [[event.attempt, event.lineage.mode, event.ticket !== null]] : [],
    );
    expect(lineage).toEqual(
      sent === 0
        ? [[1, 'initial', true]]
        : [
            [1, 'initial', true],
            [2, 'retry', true],
          ],
    );
  });

  test('with a reason and a name, about what was sent, while nobody is at work', async () => {
    const store = memoryStore({ clock: systemClock });
    const died = await interrupted(store, desk());
    const { run } = died;
    const refusals: [Partial<EffectDecision>, string][] = [
      [{ reason: ' ' }, 'run.reason-missing'],
      [{ by: '' }, 'run.reason-missing'],
      [{ position: 7 }, 'run.unknown-effect'],
      [{ position: 0 }, 'run.unknown-effect'],
      [{ run: 'run_none' }, 'run.unknown-run'],
    ];
    const before = await store.events(run);
    for (const [more, code] of refusals)
      await expect(decide(store, run, more)).rejects.toMatchObject({ code });
    const lease = await store.acquire(run, 'test:9:9', 60_000);
    await expect(decide(store, run, {})).rejects.toMatchObject({ code: 'ledger.lease-held' });
    await store.release(lease);
    expect(await store.events(run)).toEqual(before);
  });

  test('what is known and can be done is told', async () => {
    const store = memoryStore({ clock: systemClock });
    const { run } = await interrupted(store, desk());
    const [effect, ...others] = unsettledOf(await store.events(run));
    expect(others).toEqual([]);
    expect(effect).toEqual({
      effect: '1.1',
      tool: 'book',
      arguments: '{"seat":"4A"}',
      repeat: 'once',
      key: 'book',
      state: 'dispatching',
      attempts: 1,
      sentAt: expect.any(Number),
      reason: null,
      approvedBy: 'ana',
      can: ['observed', 'not-dispatched', 'abandoned', 'retry-authorized'],
    });
  });
});

describe('the same effect in other words', () => {
  const other = call('b', '5B');
  const results = (rig: Rig) =>
    rig.provider.requests
      .at(-1)
      ?.json.messages.filter((m: { role: string }) => m.role === 'tool')
      .map((m: { content: string }) => m.content);

  test('waits in a later run of the session until a person has settled it', async () => {
    const store = memoryStore({ clock: systemClock });
    const broken = desk({ breaks: true });
    const first = await rigOn(store, broken, [{ calls: [call('a', '4A')] }, { text: 'Unknown.' }]);
    const lost = await first.run('Book 4A.', approved);
    expect([lost.status, broken.acted]).toEqual(['completed', ['4A']]);

    const works = desk();
    const second = await rigOn(store, works, [{ calls: [other] }, { text: 'Held.' }]);
    const { session } = lost;
    await second.run('Any seat.', { ...approved, session });
    expect(works.acted).toEqual([]);
    expect(results(second).at(-1)).toMatch(
      new RegExp(`^failed\\(tool.not-dispatched\\): .* of an earlier run, ${lost.run}, is still unknown`),
    );

    // A run that has ended sends nothing: only what was seen, or giving up, settles it.
    const decision = { run: lost.run, turn: 1, position: 1, by: 'ana', reason: 'The desk has it.' };
    await expect(
      reconcileEffect(store, 'test:2:2', { ...decision, decision: 'retry-authorized' }),
    ).rejects.toMatchObject({ code: 'run.already-ended' });
    expect(unsettledOf(await store.events(lost.run))[0]?.can).not.toContain('retry-authorized');
    await reconcileEffect(store, 'test:2:2', { ...decision, decision: 'observed' });
    const third = await rigOn(store, works, [{ calls: [{ ...other, id: 'c' }] }, { text: 'Booked.' }]);
    await third.run('Any seat.', { ...approved, session });
    expect(works.acted).toEqual(['5B']);
  });

  test('goes on in a living run as soon as the earlier one is settled', async () => {
    const store = memoryStore({ clock: systemClock });
    const first = await rigOn(store, desk({ breaks: true }), [
      { calls: [call('a', '4A')] },
      { text: 'Unknown.' },
    ]);
    const { run, session } = await first.run('Book 4A.', approved);
    const works = desk();
    const settle = async () => {
      await reconcileEffect(store, 'test:2:2', {
        ...{ run, turn: 1, position: 1, decision: 'abandoned', by: 'ana', reason: 'Never mind.' },
      });
      return { calls: [{ ...other, id: 'c' }] };
    };
    const second = await rigOn(store, works, [{ calls: [other] }, settle, { text: 'Booked.' }]);
    await second.run('Any seat.', { ...approved, session });
    expect(works.acted).toEqual(['5B']);
  });
});

describe('forgetting', () => {
  test('waits until all is known, and is no way around a lease', async () => {
    const store = memoryStore({ clock: systemClock });
    const { run, session } = await interrupted(store, desk());
    await expect(forgetSession(store, 'test:2:2', session)).rejects.toMatchObject({
      code: 'run.effects-open',
      details: { effects: [`${run} 1.1`] },
    });
    // Refused, it holds nothing back.
    const lease = await store.acquire(run, 'test:9:9', 60_000);
    await expect(forgetSession(store, 'test:2:2', session)).rejects.toMatchObject({
      code: 'ledger.lease-held',
    });
    await store.release(lease);
    const decision = { run, turn: 1, position: 1, decision: 'abandoned', by: 'ana', reason: 'Old.' } as const;
    await reconcileEffect(store, 'test:2:2', decision);
    await forgetSession(store, 'test:2:2', session);
    expect(await store.run(run)).toBeUndefined();
    await forgetSession(store, 'test:2:2', session);
  });
});
