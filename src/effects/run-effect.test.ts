import { describe, expect, test } from 'vitest';
import { sha256 } from '../digest.ts';
import type { EffectCall, NonDispatch, Observation } from '../protocol/effect.ts';
import { dispatchOf, effectCall, observeOf, type Recorder, recorder, storeId } from './record.cases.ts';
import { type RunEffectOptions, runEffect } from './run-effect.ts';

const booked: Observation = { status: 'succeeded', text: 'booked', truncated: false, bytes: 6 };
const refused: NonDispatch = { proof: 'not-dispatched', reason: 'unavailable', message: 'no line' };
const at = { turn: 1, position: 1, attempt: 1 };
const observed = observeOf(effectCall(), { text: sha256('booked'), bytes: 6 });
const read = effectCall({ access: 'read', repeat: 'safe' });

/** Runs one call against a record, counting how often the outside was reached. */
function attempt(
  record: Recorder,
  dispatch: RunEffectOptions['dispatch'],
  more: Partial<RunEffectOptions> = {},
) {
  const outcome = runEffect({
    store: storeId,
    run: 'run_a',
    view: record.view,
    call: effectCall(),
    record: record.record,
    recall: record.recall,
    dispatch,
    signal: new AbortController().signal,
    settleGraceMs: 20,
    ...more,
  });
  return outcome;
}

const never = () => Promise.reject(new Error('the outside was reached'));
function gate<T>(): { readonly promise: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}
const settle = () => new Promise((resolve) => setTimeout(resolve, 10));

describe('a write', () => {
  test('is recorded power-safe before it is sent, and what was seen after it', async () => {
    const record = recorder();
    const outcome = await attempt(record, async () => {
      expect([record.events, record.powers]).toEqual([[dispatchOf(effectCall())], [true]]);
      return booked;
    });
    expect(outcome).toEqual({ state: 'observed', observation: booked, replayed: false });
    expect([record.events, record.powers]).toEqual([
      [dispatchOf(effectCall()), observed],
      [true, false],
    ]);
    expect(await record.recall(sha256('booked'))).toEqual(Buffer.from('booked'));
  });

  test('is not sent if its dispatch cannot be recorded', async () => {
    const record = recorder();
    record.breakAt('effect-dispatch');
    await expect(attempt(record, never)).rejects.toThrow('the disk is gone');
  });

  test('that proves that it was not sent may be tried again', async () => {
    const record = recorder();
    expect(await attempt(record, async () => refused)).toEqual({
      state: 'not-dispatched',
      nonDispatch: refused,
    });
    expect(record.events.at(-1)).toEqual({ type: 'effect-not-dispatched', ...at, reason: 'no line' });
    expect(await attempt(record, async () => booked)).toMatchObject({ state: 'observed' });
    expect(record.events.slice(2)).toEqual([
      dispatchOf(effectCall(), 2),
      observeOf(effectCall(), { attempt: 2, text: sha256('booked'), bytes: 6 }),
    ]);
  });

  test.each([
    ['throws', () => Promise.reject(new Error('socket hang up'))],
    [
      'throws at once',
      () => {
        throw new Error('socket hang up');
      },
    ],
  ])('that %s after it was entered is unknown and never sent again', async (_what, dispatch) => {
    const record = recorder();
    const unknown = { state: 'unknown', reason: 'It broke off: socket hang up', look: 'Ask the desk.' };
    const call = effectCall({ look: 'Ask the desk.' });
    expect(await attempt(record, dispatch, { call })).toEqual(unknown);
    expect(record.events.at(-1)).toEqual({ type: 'effect-unknown', ...at, reason: unknown.reason });
    expect(await attempt(record, never, { call })).toMatchObject({ state: 'unknown' });
    expect(record.events).toHaveLength(2);
  });

  test('whose result cannot be recorded is unknown', async () => {
    const record = recorder();
    record.breakAt('effect-observe');
    expect(await attempt(record, async () => booked)).toEqual({
      state: 'unknown',
      reason: 'Its result could not be recorded: the disk is gone',
    });
    expect(await attempt(record, never).catch((error: Error) => error.message)).toBe('the disk is gone');
  });

  test('that was sent before a crash is recorded as unknown once', async () => {
    const record = recorder();
    record.events.push(dispatchOf(effectCall()));
    const unknown = { state: 'unknown', reason: 'It was sent, and no result was recorded.' };
    expect(await attempt(record, never)).toEqual(unknown);
    expect(await attempt(record, never)).toEqual(unknown);
    expect(record.events.slice(1)).toEqual([{ type: 'effect-unknown', ...at, reason: unknown.reason }]);
  });

  test('with equal arguments gets the first result', async () => {
    const record = recorder();
    await attempt(record, async () => booked);
    const outcome = await attempt(record, never, { call: effectCall({ turn: 2 }) });
    expect(outcome).toEqual({ state: 'observed', observation: booked, replayed: true });
    expect(record.events.slice(2)).toEqual([{ type: 'effect-replay', turn: 2, position: 1, parent: at }]);
  });

  test('whose first result is no longer stored is an error, not sent again', async () => {
    const record = recorder();
    record.events.push(dispatchOf(effectCall()), observeOf(effectCall()));
    await expect(attempt(record, never)).rejects.toMatchObject({ code: 'effects.observation-lost' });
  });

  test('is held while another of its key is unknown', async () => {
    const record = recorder();
    await attempt(record, () => Promise.reject(new Error('cut')));
    const call = effectCall({ turn: 2, fingerprint: 'print-2', look: 'Ask the desk.' });
    expect(await attempt(record, never, { call })).toEqual({
      state: 'not-dispatched',
      nonDispatch: {
        proof: 'not-dispatched',
        reason: 'rejected-locally',
        message: "The outcome of turn 1, call 1 is still unknown, and 'book' waits for it. Ask the desk.",
      },
    });
    expect(record.events).toHaveLength(2);
  });

  test('of an idempotent tool is sent again', async () => {
    const record = recorder();
    const call = effectCall({ repeat: 'idempotent' });
    await attempt(record, () => Promise.reject(new Error('cut')), { call });
    expect(await attempt(record, async () => booked, { call })).toMatchObject({
      state: 'observed',
      replayed: false,
    });
  });

  test('that a person gave up stays unknown', async () => {
    const record = recorder();
    await attempt(record, () => Promise.reject(new Error('cut')));
    record.events.push({
      type: 'effect-resolve',
      turn: 1,
      position: 1,
      decision: 'abandoned',
      by: 'p',
      reason: '',
    });
    expect(await attempt(record, never)).toEqual({
      state: 'unknown',
      reason: 'A person gave it up as unknown.',
    });
  });
});

describe('time and cancel', () => {
  const aborted = AbortSignal.abort(new Error('stop'));

  test.each<[string, EffectCall]>([
    ['write', effectCall()],
    ['read', read],
  ])('a cancelled %s is not begun, and nothing is recorded', async (_what, call) => {
    const record = recorder();
    expect(await attempt(record, never, { signal: aborted, call })).toMatchObject({
      state: 'not-dispatched',
      nonDispatch: { reason: 'cancelled' },
    });
    expect(record.events).toEqual([]);
  });

  test('a cancel while the dispatch is being recorded is proof that nothing was sent', async () => {
    const record = recorder();
    const cancel = new AbortController();
    const recording: RunEffectOptions['record'] = (events, options) => {
      cancel.abort();
      return record.record(events, options);
    };
    const outcome = await attempt(record, never, { signal: cancel.signal, record: recording });
    expect(outcome).toMatchObject({ state: 'not-dispatched', nonDispatch: { reason: 'cancelled' } });
    expect(record.events.map(({ type }) => type)).toEqual(['effect-dispatch', 'effect-not-dispatched']);
  });

  test('a cancelled call may still end within its grace', async () => {
    const record = recorder();
    const cancel = new AbortController();
    const outcome = await attempt(
      record,
      (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ ...booked, text: String(signal.reason.message) }));
          cancel.abort(new Error('stop'));
        }),
      { signal: cancel.signal, settleGraceMs: 5000 },
    );
    expect(outcome).toMatchObject({ state: 'observed', observation: { text: 'stop' } });
  });

  test.each([
    ['cancel', { settleGraceMs: 15 }, true, 'The run was cancelled, and the call did not end within 15 ms.'],
    ['time', { call: effectCall({ timeoutMs: 15 }) }, false, 'It did not end within 15 ms.'],
  ])('what comes after %s is recorded late and sent no second time', async (_what, more, cancels, reason) => {
    const record = recorder();
    const cancel = new AbortController();
    const outside = gate<Observation>();
    let reached = 0;
    const dispatch = (signal: AbortSignal) => {
      reached += 1;
      if (cancels) cancel.abort();
      signal.addEventListener('abort', () => {
        reached += 10;
      });
      return outside.promise;
    };
    expect(await attempt(record, dispatch, { ...more, signal: cancel.signal })).toEqual({
      state: 'unknown',
      reason,
    });
    expect(record.events.at(-1)).toEqual({ type: 'effect-unknown', ...at, reason });
    outside.open(booked);
    await settle();
    expect(record.events.at(-1)).toEqual({ ...observed, late: true });
    expect(await attempt(record, never)).toEqual({ state: 'observed', observation: booked, replayed: true });
    expect(reached).toBeGreaterThanOrEqual(cancels ? 1 : 11);
  });

  test('late proof that nothing was sent frees the place', async () => {
    const record = recorder();
    const outside = gate<NonDispatch>();
    await attempt(record, () => outside.promise, { call: effectCall({ timeoutMs: 5 }) });
    outside.open(refused);
    await settle();
    expect(await attempt(record, async () => booked)).toMatchObject({ state: 'observed', replayed: false });
  });

  test('what comes late and cannot be recorded, or breaks off, disturbs nobody', async () => {
    const record = recorder();
    const outside = gate<Observation>();
    await attempt(record, () => outside.promise, { call: effectCall({ timeoutMs: 5 }) });
    record.breakAt('effect-observe');
    outside.open(booked);
    await settle();
    expect(record.events.map(({ type }) => type)).toEqual(['effect-dispatch', 'effect-unknown']);
  });

  test('a limit longer than a timer can wait is no limit of one millisecond', async () => {
    const record = recorder();
    const outcome = attempt(record, () => settle().then(() => booked), {
      call: effectCall({ timeoutMs: Number.POSITIVE_INFINITY }),
    });
    expect(await outcome).toMatchObject({ state: 'observed' });
  });
});

describe('a read', () => {
  test('is not recorded and always done', async () => {
    const record = recorder();
    await attempt(record, () => Promise.reject(new Error('cut')));
    for (const text of ['one', 'two']) {
      const observation = { ...booked, text };
      const outcome = await attempt(record, async () => observation, { call: read });
      expect(outcome).toEqual({ state: 'observed', observation, replayed: false });
    }
    expect(record.events).toHaveLength(2);
  });

  test('that breaks off or takes too long has failed', async () => {
    const record = recorder();
    const failed = (text: string) => ({
      state: 'observed',
      observation: { status: 'failed', text, truncated: false, bytes: text.length },
      replayed: false,
    });
    const broken = await attempt(record, () => Promise.reject(new Error('cut')), { call: read });
    const slow = await attempt(record, () => new Promise(() => {}), { call: { ...read, timeoutMs: 5 } });
    expect([broken, slow]).toEqual([failed('It broke off: cut'), failed('It did not end within 5 ms.')]);
    expect(record.events).toEqual([]);
  });

  test('that was not sent says so', async () => {
    const outcome = await attempt(recorder(), async () => refused, { call: read });
    expect(outcome).toEqual({ state: 'not-dispatched', nonDispatch: refused });
  });
});
