/** Rows become pairs by name; what is missing does what was registered and is counted. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blocksOf, estimate } from './estimand.ts';
import type { MissingPolicy } from './pairing.ts';
import { pairTimes } from './survival.ts';
import { pairTrials, type TrialRow } from './trials.ts';

const row = (
  item: string,
  side: 'control' | 'treatment',
  repeat: number,
  value: number | null,
): TrialRow => ({
  item,
  side,
  repeat,
  value,
});

/** Two items of two repeats; `b` lacks a value of the treatment and a trial of the control. */
const rows = [
  row('b', 'control', 1, 1),
  row('b', 'treatment', 1, null),
  row('b', 'treatment', 2, 1),
  row('a', 'control', 2, 0),
  row('a', 'treatment', 2, 1),
  row('a', 'treatment', 1, 0),
  row('a', 'control', 1, 1),
];
const counted = {
  control: { trials: 3, unknown: 0, absent: 1 },
  treatment: { trials: 4, unknown: 1, absent: 0 },
  onlyControl: 1,
  onlyTreatment: 1,
  both: 0,
};
const ones = (values: number[]) => ({ values, per: values.map(() => 1) });
const whole = { item: 'a', groups: {}, control: ones([1, 0]), treatment: ones([0, 1]) };

describe('policies', () => {
  test('leave-pairs takes out a trial and its partner', () => {
    const policy = { kind: 'leave-pairs' } as const;
    expect(pairTrials(rows, policy)).toEqual({
      items: [whole],
      ratio: false,
      missing: { policy, ...counted, pairsLeft: 2, itemsLeft: ['b'], countedAs: 0 },
    });
  });

  test('leave-items takes out an item of which anything is missing, leave-pairs keeps its rest', () => {
    const more = [...rows, row('b', 'control', 3, 1), row('b', 'treatment', 3, 0)];
    const byPairs = pairTrials(more, { kind: 'leave-pairs' });
    expect(byPairs.items).toEqual([
      whole,
      { item: 'b', groups: {}, control: ones([1]), treatment: ones([0]) },
    ]);
    expect([byPairs.missing.pairsLeft, byPairs.missing.itemsLeft]).toEqual([2, []]);
    const byItems = pairTrials(more, { kind: 'leave-items' });
    expect(byItems.items).toEqual([whole]);
    expect([byItems.missing.pairsLeft, byItems.missing.itemsLeft]).toEqual([3, ['b']]);
  });

  test('count-as puts the value in place of an unknown and of an absent one', () => {
    const policy = { kind: 'count-as', value: 0 } as const;
    expect(pairTrials(rows, policy)).toEqual({
      items: [whole, { item: 'b', groups: {}, control: ones([1, 0]), treatment: ones([0, 1]) }],
      ratio: false,
      missing: { policy, ...counted, pairsLeft: 0, itemsLeft: [], countedAs: 2 },
    });
  });

  test.each([
    ['an unknown value', rows, "item 'b', treatment, repeat 1, found an unknown value"],
    [
      'an absent trial',
      rows.filter(({ value }) => value !== null),
      "item 'b', treatment, repeat 1, found no trial",
    ],
  ])('refuse names %s', (_, given, message) => {
    expect(() => pairTrials(given, { kind: 'refuse' })).toThrow(
      expect.objectContaining({
        code: 'statistics.unknown-value',
        message: expect.stringContaining(message),
      }),
    );
  });

  test('a time that counts as missing is one of a trial that did not finish', () => {
    const time = { item: 'a', repeat: 1, finished: true };
    const table = pairTimes(
      [
        { ...time, side: 'control', time: 5 },
        { ...time, side: 'treatment', time: null },
      ],
      { kind: 'count-as', value: 900 },
    );
    expect(table.items).toEqual([
      {
        item: 'a',
        control: [{ time: 5, finished: true }],
        treatment: [{ time: 900, finished: false }],
      },
    ]);
  });

  test('a ratio leaves when its divisor is unknown', () => {
    const given = rows
      .slice(3)
      .map((one) => ({ ...one, per: one.repeat === 1 && one.side === 'control' ? null : 3 }));
    const table = pairTrials(given, { kind: 'leave-pairs' });
    expect(table.items).toEqual([
      {
        item: 'a',
        groups: {},
        control: { values: [0], per: [3] },
        treatment: { values: [1], per: [3] },
      },
    ]);
    expect([table.ratio, table.missing.control.unknown]).toEqual([true, 1]);
  });
});

describe('what is refused', () => {
  const leave = { kind: 'leave-pairs' } as const;
  test.each<[string, readonly TrialRow[], MissingPolicy, string]>([
    ['two rows of one trial', [...rows, row('a', 'control', 1, 1)], leave, 'statistics.duplicate-trial'],
    ['a value that is no number', [row('a', 'control', 1, Number.NaN)], leave, 'statistics.bad-value'],
    ['a divisor below 0', [{ ...row('a', 'control', 1, 1), per: -1 }], leave, 'statistics.bad-value'],
    ['arms without a common trial', [row('a', 'control', 1, 1)], leave, 'statistics.no-pairs'],
    ['no rows', [], leave, 'statistics.no-pairs'],
    [
      'an item in two groups',
      [
        { ...row('a', 'control', 1, 1), groups: { c: 'x' } },
        { ...row('a', 'control', 2, 1), groups: { c: 'y' } },
      ],
      leave,
      'statistics.unknown-group',
    ],
    [
      'an item with a group in one row and none in the next',
      [{ ...row('a', 'control', 1, 1), groups: { c: 'x' } }, row('a', 'control', 2, 1)],
      leave,
      'statistics.unknown-group',
    ],
    [
      'count-as on a ratio',
      rows.map((one) => ({ ...one, per: 2 })),
      { kind: 'count-as', value: 0 },
      'statistics.bad-option',
    ],
    ['count-as nothing', rows, { kind: 'count-as', value: Number.NaN }, 'statistics.bad-option'],
  ])('%s', (_, given, policy, code) => {
    expect(() => pairTrials(given, policy)).toThrow(expect.objectContaining({ code }));
  });

  test.each([Number.POSITIVE_INFINITY, -1])('a time of %s', (time) => {
    expect(() => pairTimes([{ item: 'a', side: 'control', repeat: 1, time, finished: true }], leave)).toThrow(
      expect.objectContaining({ code: 'statistics.bad-value' }),
    );
  });

  test('a time of 0 for what is missing', () => {
    expect(() => pairTimes([], { kind: 'count-as', value: 0 })).toThrow(
      expect.objectContaining({ code: 'statistics.bad-option' }),
    );
  });

  test('an estimand over a grouping that an item has no group of', () => {
    const table = pairTrials(rows, leave);
    for (const by of ['category', 'constructor']) {
      expect(() => blocksOf(table, { kind: 'macro', by })).toThrow(
        expect.objectContaining({ code: 'statistics.unknown-group' }),
      );
    }
  });
});

describe('laws', () => {
  const anyRows = fc
    .uniqueArray(
      fc.record({
        item: fc.constantFrom('a', 'b', 'c'),
        side: fc.constantFrom('control' as const, 'treatment' as const),
        repeat: fc.integer({ min: 1, max: 3 }),
        value: fc.option(fc.integer({ min: 0, max: 1 })),
      }),
      { selector: ({ item, side, repeat }) => `${item}${side}${repeat}` },
    )
    .filter((given) => given.length > 0);
  const policies = [
    { kind: 'leave-pairs' },
    { kind: 'leave-items' },
    { kind: 'count-as', value: 0 },
  ] as const;

  test('the order of the rows changes nothing', () => {
    fc.assert(
      fc.property(
        anyRows.chain((given) =>
          fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
        ),
        fc.constantFrom(...policies),
        ([given, shuffled], policy) => {
          expect(outcome(shuffled, policy)).toEqual(outcome(given, policy));
        },
      ),
    );
  });

  test('both arms keep the same repeats, and every row is analysed, left out or counted', () => {
    fc.assert(
      fc.property(anyRows, fc.constantFrom(...policies), (given, policy) => {
        const table = outcome(given, policy);
        if (table === 'statistics.no-pairs') return;
        const pairs = new Set(given.map(({ item, repeat }) => `${item}${repeat}`)).size;
        const kept = table.items.reduce((total, { control }) => total + control.values.length, 0);
        expect(kept + table.missing.pairsLeft).toBe(pairs);
        for (const { control, treatment } of table.items) {
          expect(treatment.values.length).toBe(control.values.length);
        }
        const { control, treatment } = estimate(blocksOf(table, { kind: 'micro' }));
        expect([control, treatment].every((rate) => rate !== null && rate >= 0 && rate <= 1)).toBe(true);
      }),
    );
  });

  function outcome(given: readonly TrialRow[], policy: MissingPolicy) {
    try {
      return pairTrials(given, policy);
    } catch (error) {
      expect(error).toMatchObject({ code: 'statistics.no-pairs' });
      return 'statistics.no-pairs';
    }
  }
});
