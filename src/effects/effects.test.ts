import { describe, expect, test } from 'vitest';
import { openLedger } from '../ledger/ledger.ts';
import { begin } from '../ledger/store.cases.ts';
import { memoryStore } from '../ledger/stores/memory.ts';
import type { EventBody } from '../protocol/events.ts';
import { decide, effectsOf, openEffects } from './effects.ts';
import {
  answered,
  asked,
  dispatchOf,
  effectCall,
  faulted,
  numbered,
  observeOf,
  storeId,
} from './record.cases.ts';

const call = effectCall();
const at = { turn: 1, position: 1, attempt: 1 };
const lost: EventBody = { type: 'effect-unknown', ...at, reason: 'cut' };
const notSent: EventBody = { type: 'effect-not-dispatched', ...at, reason: 'refused' };
const cancel: EventBody = { type: 'cancel-request', by: 'user', reason: '' };
const resolve = (decision: 'retry-authorized' | 'abandoned'): EventBody => ({
  type: 'effect-resolve',
  turn: 1,
  position: 1,
  decision,
  by: 'user',
  reason: '',
});
const view = (...bodies: EventBody[]) => effectsOf(numbered(bodies));
const here = { run: 'run_a', turn: 1, position: 1 };
const initial = { mode: 'initial', parent: null } as const;
const resample = { mode: 'resample', parent: at } as const;
const retry = { mode: 'retry', parent: at } as const;
const seen = { status: 'succeeded', text: 'digest', truncated: false, bytes: 2, late: false };

describe('the view of a record', () => {
  test('has every attempt with its end', () => {
    const events = [
      dispatchOf(call),
      lost,
      resolve('retry-authorized'),
      dispatchOf(call, 2),
      observeOf(call, { attempt: 2 }),
    ];
    expect([...view(...events).values()]).toEqual([
      {
        id: here,
        kind: 'call',
        tool: 'book',
        repeat: 'once',
        key: 'book',
        fingerprint: 'print-1',
        state: 'observed',
        attempts: [
          { attempt: 1, state: 'retry-authorized', lineage: initial, observation: null },
          { attempt: 2, state: 'observed', lineage: retry, observation: seen },
        ],
      },
    ]);
  });

  test('can be carried on from an earlier one, which stays as it was', () => {
    const before = view(dispatchOf(call));
    const after = effectsOf(numbered([observeOf(call)]), before);
    expect([before.get('1.1')?.state, after.get('1.1')?.state]).toEqual(['dispatching', 'observed']);
    expect(after).toEqual(view(dispatchOf(call), observeOf(call)));
  });

  test('a cancel concerns what is on its way, nothing else', () => {
    const other = effectCall({ position: 2, key: 'other', fingerprint: 'print-2' });
    const states = view(dispatchOf(call), observeOf(call), dispatchOf(other), cancel, cancel);
    expect([...states.values()].map(({ state }) => state)).toEqual(['observed', 'cancel-requested']);
  });

  test('a late observation settles the attempt it belongs to', () => {
    const effect = view(dispatchOf(call), lost, observeOf(call, { late: true })).get('1.1');
    expect([effect?.state, effect?.attempts[0]?.observation?.late]).toEqual(['observed', true]);
  });

  test.each<[string, EventBody[]]>([
    ['an observation without a dispatch', [observeOf(call)]],
    ['an attempt that was never made', [dispatchOf(call), observeOf(call, { attempt: 2 })]],
    ['two observations of one attempt', [dispatchOf(call), observeOf(call), observeOf(call)]],
    ['a second dispatch of an open once-effect', [dispatchOf(call), dispatchOf(call, 2)]],
    ['a skipped attempt', [dispatchOf(call), notSent, dispatchOf(call, 3)]],
    [
      'another call at the same place',
      [dispatchOf(call), notSent, dispatchOf(effectCall({ fingerprint: 'x' }), 2)],
    ],
  ])('refuses %s', (_what, bodies) => {
    expect(() => view(...bodies)).toThrow(
      expect.objectContaining({
        name: 'EffectsError',
        code: 'effects.impossible-event',
        next: expect.any(String),
      }),
    );
  });
});

describe('a request to a model', () => {
  const lives = (...bodies: EventBody[]) => {
    const effect = view(...bodies).get('1.0');
    return [effect?.kind, effect?.state, effect?.attempts.map(({ state }) => state)];
  };

  test('has the same life as a call, at position 0 of its turn', () => {
    expect(lives(asked({}))).toEqual(['model', 'dispatching', ['dispatching']]);
    expect(lives(asked({}), answered({}))).toEqual(['model', 'observed', ['observed']]);
    expect(lives(asked({}), faulted({ dispatched: 'no' }))).toEqual([
      'model',
      'not-dispatched',
      ['not-dispatched'],
    ]);
    expect(lives(asked({}), faulted({}), asked({ attempt: 2 }), answered({ attempt: 2 }))).toEqual([
      'model',
      'observed',
      ['unknown', 'observed'],
    ]);
    expect(view(asked({}), faulted({}), asked({ attempt: 2 })).get('1.0')?.attempts[1]?.lineage).toEqual({
      mode: 'retry',
      parent: { turn: 1, position: 0, attempt: 1 },
    });
  });

  test('holds no call and asks nobody to decide', () => {
    const open = view(asked({}), faulted({}));
    expect(openEffects(open)).toEqual([]);
    expect(decide(open, effectCall({ key: '' }))).toEqual({ do: 'dispatch', attempt: 1, lineage: initial });
  });

  test.each<[string, EventBody[]]>([
    ['an answer that nobody asked for', [answered({})]],
    ['a second answer', [asked({}), answered({}), answered({})]],
    ['a skipped attempt', [asked({}), asked({ attempt: 3 })]],
  ])('%s is refused', (_what, bodies) => {
    expect(() => view(...bodies)).toThrow(expect.objectContaining({ code: 'effects.impossible-event' }));
  });
});

describe('identity', () => {
  const other = { ...dispatchOf(call), call: 'digest of another' } as EventBody;

  test.each<[string, EventBody[]]>([
    ['of another store, run, place or call', [other]],
    [
      'that says it is a retry of nothing',
      [dispatchOf(call, 1, { mode: 'retry', parent: { ...at, attempt: 0 } })],
    ],
    [
      'that hides what went ahead of it',
      [dispatchOf(call), notSent, dispatchOf(call, 2, { mode: 'initial', parent: null })],
    ],
    [
      'that replays what nobody saw',
      [dispatchOf(call), { type: 'effect-replay', turn: 2, position: 1, parent: at }],
    ],
  ])('a call %s is refused', (_what, bodies) => {
    expect(() => effectsOf(numbered(bodies), new Map(), storeId)).toThrow(
      expect.objectContaining({ code: 'effects.impossible-event' }),
    );
  });
});

describe('the decision about the next call', () => {
  const again = effectCall({ turn: 2 });
  const other = effectCall({ turn: 2, fingerprint: 'print-2' });
  const idempotent = effectCall({ repeat: 'idempotent' });

  test.each([
    ['the first call', [], call, { do: 'dispatch', attempt: 1, lineage: initial }],
    [
      'the same place after an observation',
      [dispatchOf(call), observeOf(call)],
      call,
      { do: 'replay', from: at, observation: seen },
    ],
    [
      'the same place without one',
      [dispatchOf(call)],
      call,
      { do: 'unknown', attempt: 1, state: 'dispatching' },
    ],
    [
      'the same place, cancelled on its way',
      [dispatchOf(call), cancel],
      call,
      { do: 'unknown', attempt: 1, state: 'cancel-requested' },
    ],
    [
      'the same place, unknown',
      [dispatchOf(call), lost],
      call,
      { do: 'unknown', attempt: 1, state: 'unknown' },
    ],
    [
      'the same place, given up',
      [dispatchOf(call), lost, resolve('abandoned')],
      call,
      { do: 'unknown', attempt: 1, state: 'abandoned' },
    ],
    [
      'the same place, retry allowed',
      [dispatchOf(call), lost, resolve('retry-authorized')],
      call,
      { do: 'redo', attempt: 2, lineage: retry },
    ],
    [
      'the same place, proven not sent',
      [dispatchOf(call), notSent],
      call,
      { do: 'dispatch', attempt: 2, lineage: retry },
    ],
    [
      'the same place of an idempotent tool',
      [dispatchOf(idempotent), lost],
      idempotent,
      { do: 'redo', attempt: 2, lineage: retry },
    ],
    [
      'equal arguments elsewhere, observed',
      [dispatchOf(call), observeOf(call)],
      again,
      { do: 'replay', from: at, observation: seen },
    ],
    [
      'equal arguments, repeatable',
      [dispatchOf(call), observeOf(call)],
      { ...again, repeatable: true },
      { do: 'dispatch', attempt: 1, lineage: resample },
    ],
    [
      'equal arguments of an idempotent tool',
      [dispatchOf(idempotent), observeOf(call)],
      { ...again, repeat: 'idempotent' as const },
      { do: 'dispatch', attempt: 1, lineage: resample },
    ],
    ['equal arguments elsewhere, unknown', [dispatchOf(call), lost], again, { do: 'held', by: here }],
    [
      'other arguments under the same key, unknown',
      [dispatchOf(call), lost],
      other,
      { do: 'held', by: here },
    ],
    ['other arguments under the same key, on their way', [dispatchOf(call)], other, { do: 'held', by: here }],
    [
      'a repeatable call under the same key, unknown',
      [dispatchOf(call), lost],
      { ...again, repeatable: true },
      { do: 'held', by: here },
    ],
    [
      'another key',
      [dispatchOf(call), lost],
      { ...other, key: 'x' },
      { do: 'dispatch', attempt: 1, lineage: initial },
    ],
    [
      'the same key, given up',
      [dispatchOf(call), lost, resolve('abandoned')],
      other,
      { do: 'dispatch', attempt: 1, lineage: initial },
    ],
    [
      'a read, whatever is unknown',
      [dispatchOf(call), lost],
      { ...again, access: 'read' as const },
      { do: 'dispatch', attempt: 1, lineage: initial },
    ],
    [
      'a read at the same place',
      [dispatchOf(call), observeOf(call)],
      { ...call, access: 'read' as const },
      { do: 'dispatch', attempt: 1, lineage: initial },
    ],
  ])('%s', (_what, bodies, given, decision) => {
    expect(decide(view(...bodies), given)).toEqual(decision);
  });

  test('a key that holds a secret is held in this process and after a resume that knows no secret', async () => {
    const key = 'account canary-7f3a-9c1e';
    const secret = effectCall({ key });
    const store = memoryStore();
    const ledger = openLedger({ store, secrets: [{ name: 'KEY', value: 'canary-7f3a-9c1e' }] });
    const lease = await begin(ledger);
    const events = await ledger.append(lease, [dispatchOf(secret), lost]);
    expect(JSON.stringify(events)).not.toContain('canary');
    for (const recorded of [events, await store.events(lease.run)]) {
      const after = effectsOf(recorded);
      const second = effectCall({ key, position: 2, fingerprint: 'print-2' });
      expect(decide(after, second)).toEqual({ do: 'held', by: here });
      expect(decide(after, { ...second, key: 'account of somebody else' })).toEqual({
        do: 'dispatch',
        attempt: 1,
        lineage: initial,
      });
    }
  });

  test('a retry is held too while another effect of its key is open', () => {
    const second = effectCall({ position: 2, fingerprint: 'print-2' });
    const held = view(dispatchOf(call), lost, resolve('retry-authorized'), dispatchOf(second));
    expect(decide(held, call)).toEqual({ do: 'held', by: { run: 'run_a', turn: 1, position: 2 } });
  });

  test('an open effect of an earlier run of the session holds its key too, and replays nothing', () => {
    const before = [...view(dispatchOf(call), lost).values()];
    const now = effectCall({ turn: 1 });
    expect(decide(new Map(), now, before)).toEqual({ do: 'held', by: here });
    const done = [...view(dispatchOf(call), observeOf(call)).values()];
    expect(decide(new Map(), now, done)).toEqual({ do: 'dispatch', attempt: 1, lineage: initial });
  });

  test('a failure is an observation', () => {
    const failed = view(dispatchOf(call), observeOf(call, { status: 'failed' }));
    expect(decide(failed, again)).toMatchObject({ do: 'replay', observation: { status: 'failed' } });
  });

  test('another call at a place that is taken is an error', () => {
    expect(() => decide(view(dispatchOf(call)), effectCall({ fingerprint: 'x' }))).toThrow(
      expect.objectContaining({ code: 'effects.other-call' }),
    );
  });
});
