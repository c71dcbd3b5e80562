import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openBudget } from './budget.ts';

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

  test('what is spent without a reservation counts, and is overrun beyond what was left', () => {
    const budget = openBudget({ outputBytes: 10 });
    expect(budget.spend({ outputBytes: 4, toolCalls: 1 })).toEqual([]);
    expect(budget.spend({ outputBytes: 9 })).toEqual([{ counter: 'outputBytes', reserved: 6, actual: 9 }]);
    expect(budget.report()).toEqual({
      outputBytes: { limit: 10, used: 13, reserved: 0, overrun: 3, left: 0 },
      toolCalls: { limit: null, used: 1, reserved: 0, overrun: 0, left: null },
    });
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
