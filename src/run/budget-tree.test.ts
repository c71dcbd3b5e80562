import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Budget, openBudget } from './budget.ts';

describe('a budget under another', () => {
  test('draws each amount from both, and gives back to both', () => {
    const parent = openBudget({ tokens: 100, modelCalls: 3 });
    const child = openBudget({ tokens: 80 }, {}, parent);
    const first = child.reserve({ tokens: 60, modelCalls: 1 });
    expect([child.left('tokens'), parent.left('tokens'), child.left('modelCalls')]).toEqual([20, 40, 2]);
    child.charge(first.granted ? first.id : 0, { tokens: 10, modelCalls: 1 });
    child.spend({ tokens: 5, toolCalls: 2 });
    expect(parent.report()).toEqual({
      tokens: { limit: 100, used: 15, reserved: 0, overrun: 0, left: 85 },
      modelCalls: { limit: 3, used: 1, reserved: 0, overrun: 0, left: 2 },
      toolCalls: { limit: null, used: 2, reserved: 0, overrun: 0, left: null },
    });
  });

  test('is refused by whichever has no room, and then neither has set anything aside', () => {
    const parent = openBudget({ tokens: 50 });
    const child = openBudget({ tokens: 80, turns: 1 }, {}, parent);
    expect(child.reserve({ turns: 1, tokens: 60 })).toEqual({
      granted: false,
      counter: 'tokens',
      limit: 50,
      left: 50,
      wanted: 60,
    });
    expect(child.reserve({ turns: 2, tokens: 10 })).toMatchObject({ granted: false, counter: 'turns' });
    expect([child.report().turns?.reserved ?? 0, parent.report().tokens?.reserved]).toEqual([0, 0]);
  });

  test('charges an unknown amount whole to both', () => {
    const parent = openBudget({ tokens: 100 });
    const child = openBudget({}, {}, parent);
    const first = child.reserve({ tokens: 70 });
    child.charge(first.granted ? first.id : 0, {}, ['tokens']);
    expect([child.left('tokens'), parent.report().tokens?.used]).toEqual([30, 70]);
  });

  test('what a resumed child spent before was drawn above before; time and depth are its own', () => {
    const parent = openBudget({ tokens: 100, wallTimeMs: 50, depth: 2 }, { tokens: 30 });
    const child = openBudget({ wallTimeMs: 1000, depth: 1 }, { tokens: 30 }, parent);
    child.spend({ wallTimeMs: 900 });
    expect([parent.left('tokens'), parent.left('wallTimeMs'), child.left('wallTimeMs')]).toEqual([
      70, 50, 100,
    ]);
    expect([child.left('depth'), parent.left('depth')]).toEqual([1, 2]);
  });

  test('under any interleaving nothing is admitted beyond what is left anywhere, and the root counts all', () => {
    const limit = fc.option(fc.nat(120), { nil: undefined });
    const step = fc.record({
      at: fc.nat(4),
      kind: fc.constantFrom('reserve' as const, 'charge' as const, 'unknown' as const),
      amount: fc.nat(40),
      which: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(limit, { minLength: 5, maxLength: 5 }), fc.array(step), (limits, steps) => {
        // 0 is the root; 1 and 2 are its children, 3 and 4 those of 1.
        const above = [undefined, 0, 0, 1, 1];
        const budgets: Budget[] = [];
        const limitsOf = (i: number) => {
          const tokens = limits[i];
          return tokens === undefined ? {} : { tokens };
        };
        for (const [i, parent] of above.entries())
          budgets.push(openBudget(limitsOf(i), {}, parent === undefined ? undefined : budgets[parent]));
        const open: { at: number; id: number; amount: number }[] = [];
        let charged = 0;
        for (const { at, kind, amount, which } of steps) {
          const budget = budgets[at] ?? openBudget({});
          if (kind === 'reserve') {
            const room = budget.left('tokens');
            const reservation = budget.reserve({ tokens: amount });
            expect(reservation.granted).toBe(room === null || amount <= room);
            if (reservation.granted) open.push({ at, id: reservation.id, amount });
          } else {
            const [taken] = open.splice(which % Math.max(1, open.length), 1);
            if (taken === undefined) continue;
            const used = kind === 'unknown' ? taken.amount : Math.min(amount, taken.amount);
            charged += used;
            budgets[taken.at]?.charge(taken.id, { tokens: used }, kind === 'unknown' ? ['tokens'] : []);
          }
          for (const one of budgets) {
            const line = one.report().tokens;
            if (line === undefined || line.limit === null) continue;
            expect(line.used + line.reserved).toBeLessThanOrEqual(line.limit);
          }
        }
        const root = budgets[0]?.report().tokens;
        expect(root?.used ?? 0).toBe(charged);
        expect(root?.reserved ?? 0).toBe(open.reduce((sum, one) => sum + one.amount, 0));
      }),
    );
  });
});
