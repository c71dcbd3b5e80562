import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../protocol/events.ts';
import { noUsage, unknownUsage } from '../protocol/usage.ts';
import { openBudget, spentBy } from './budget.ts';

const stamp = (seq: number, at = seq, epoch = 1) => ({ run: 'run_1', seq, at, epoch });

describe('a budget', () => {
  test('reserves all or nothing', () => {
    const budget = openBudget({ modelCalls: 2, tokens: 100 });
    expect(budget.reserve({ modelCalls: 1, tokens: 101 })).toEqual({
      granted: false,
      counter: 'tokens',
      limit: 100,
      left: 100,
      wanted: 101,
    });
    expect([budget.left('modelCalls'), budget.left('tokens'), budget.left('costUsd')]).toEqual([
      2,
      100,
      null,
    ]);
  });

  test('charges what was used, the whole reservation where it is unknown, and reports what went beyond', () => {
    const budget = openBudget({ tokens: 100, costUsd: 1 });
    const first = budget.reserve({ tokens: 60, costUsd: 0.5 });
    expect(budget.charge(first.granted ? first.id : 0, { tokens: 70 }, ['costUsd'])).toEqual([
      { counter: 'tokens', reserved: 60, actual: 70 },
    ]);
    expect(budget.report()).toEqual({
      tokens: { limit: 100, used: 70, reserved: 0, overrun: 10, left: 30 },
      costUsd: { limit: 1, used: 0.5, reserved: 0, overrun: 0, left: 0.5 },
    });
    expect(budget.charge(first.granted ? first.id : 0, { tokens: 70 })).toEqual([]);
    expect(budget.left('tokens')).toBe(30);
  });

  test('an overrun blocks the next admission', () => {
    const budget = openBudget({ tokens: 10 });
    const first = budget.reserve({ tokens: 10 });
    budget.charge(first.granted ? first.id : 0, { tokens: 25 });
    expect(budget.left('tokens')).toBe(0);
    expect(budget.reserve({ tokens: 1 }).granted).toBe(false);
  });

  test.each([
    [{ turns: -1 }, /whole number of zero or more; found -1/],
    [{ turns: 1.5 }, /found 1.5/],
    [{ costUsd: Number.NaN }, /found NaN/],
    [{ turn: 3 } as object, /'turn' is no counter/],
  ])('refuses the limits %j', (limits, message) => {
    expect(() => openBudget(limits)).toThrow(message);
  });

  test('never admits beyond what is left, whatever the order of reservations and charges', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('reserve' as const), amount: fc.nat(40) }),
      fc.record({
        kind: fc.constant('charge' as const),
        which: fc.nat(10),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
    );
    fc.assert(
      fc.property(fc.nat(100), fc.array(step, { maxLength: 40 }), (limit, steps) => {
        const budget = openBudget({ tokens: limit });
        const open: { id: number; amount: number }[] = [];
        for (const one of steps) {
          if (one.kind === 'reserve') {
            const room = budget.left('tokens') ?? 0;
            const reservation = budget.reserve({ tokens: one.amount });
            expect(reservation.granted).toBe(one.amount <= room);
            if (reservation.granted) open.push({ id: reservation.id, amount: one.amount });
          } else {
            const [taken] = open.splice(one.which % Math.max(1, open.length), 1);
            if (taken !== undefined)
              budget.charge(taken.id, { tokens: Math.floor(taken.amount * one.share) });
          }
          const line = budget.report().tokens;
          expect((line?.used ?? 0) + (line?.reserved ?? 0)).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });
});

test('what a run has spent: unknown usage and a request without an end count as reserved, pauses do not count as time', () => {
  const request = {
    type: 'model-request' as const,
    turn: 1,
    attempt: 1,
    model: 'm',
    wire: 'w',
    url: 'u',
    keep: 0,
    add: [],
    tools: null,
    parameters: {},
    body: '',
    bodyBytes: 0,
    reserved: { modelCalls: 1, tokens: 100, costUsd: 0.2 },
  };
  const response = {
    type: 'model-response' as const,
    turn: 1,
    attempt: 1,
    httpStatus: 200,
    response: '',
    finish: 'stop',
    modelSeen: null,
    requestId: null,
    firstByteMs: 0,
    elapsedMs: 0,
  };
  const result = {
    type: 'tool-result' as const,
    turn: 1,
    callId: 'c',
    tool: 't',
    code: null,
    message: '',
    truncated: false,
    elapsedMs: 0,
  };
  const events: RunEvent[] = [
    { ...stamp(1, 1000), type: 'turn-start', turn: 1 },
    { ...stamp(2, 1000), ...request },
    { ...stamp(3, 1400), ...response, usage: { ...noUsage, modelCalls: 1, totalTokens: 30, costUsd: 0.01 } },
    { ...stamp(4, 1400), ...result, position: 1, status: 'ok', bytes: 7 },
    { ...stamp(5, 1500), ...result, position: 2, status: 'rejected', bytes: 99 },
    { ...stamp(6, 1500), ...request },
    { ...stamp(7, 1500), ...response, usage: unknownUsage },
    { ...stamp(8, 9000, 2), ...request },
    { ...stamp(9, 9100, 2), ...request },
  ];
  const { costUsd, ...spent } = spentBy(events);
  expect(spent).toEqual({
    turns: 1,
    modelCalls: 4,
    toolCalls: 1,
    tokens: 330,
    outputBytes: 7,
    wallTimeMs: 600,
  });
  expect(costUsd).toBeCloseTo(0.61, 10);
});
