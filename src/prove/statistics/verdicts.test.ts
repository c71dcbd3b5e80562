/** Verdicts and corrections: sign and McNemar tests, Holm, margins, totals, the manipulation check. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mcNemar, signTest, signTestOfItems, twoSided } from './exact-tests.ts';
import { holm } from './holm.ts';
import { equivalence, nonInferiority, superiority } from './margin.ts';
import { armTotals, type CountRow, manipulationCheck } from './totals.ts';
import { pairTrials, type TrialRow } from './trials.ts';

const coded = (code: string) => expect.objectContaining({ code: `statistics.${code}` });
const sides = ['control', 'treatment'] as const;

describe('sign test', () => {
  test('nothing decided gives 1', () => {
    expect(signTest(0, 0, 9)).toEqual({ test: 'sign', better: 0, worse: 0, ties: 9, p: 1, smallestP: 1 });
  });

  test('it is symmetric, at most 1, and smallest when all agree', () => {
    fc.assert(
      fc.property(fc.nat(200), fc.nat(200), (better, worse) => {
        const one = signTest(better, worse, 0);
        expect(one.p).toBe(signTest(worse, better, 3).p);
        expect(one.p).toBeLessThanOrEqual(1);
        expect(one.p).toBeGreaterThanOrEqual(one.smallestP);
      }),
    );
  });

  test('thousands of items need no more than whole numbers', () => {
    expect(twoSided(0, 1000)).toBe(2 / 2 ** 1000);
    expect(twoSided(0, 5000)).toBe(0);
    expect(twoSided(2500, 5000)).toBe(1);
  });

  test.each([
    [-1, 0, 0],
    [0, 0.5, 0],
    [0, 0, Number.NaN],
  ])('%s, %s, %s are no counts', (better, worse, ties) => {
    expect(() => signTest(better, worse, ties)).toThrow(coded('bad-option'));
  });

  test('a rate reached over different numbers of trials is a tie', () => {
    const item = { item: 'a', groups: {}, pairs: 3, difference: 0, relative: 0 };
    expect(signTestOfItems([{ ...item, control: 0.3, treatment: 0.1 + 0.2 }])).toMatchObject({ ties: 1 });
  });

  test('an item without a number is not passed over', () => {
    const item = {
      item: 'a',
      groups: {},
      pairs: 3,
      control: null,
      treatment: 1,
      difference: null,
      relative: null,
    };
    expect(() => signTestOfItems([item])).toThrow(coded('no-pairs'));
  });
});

describe('McNemar', () => {
  const row = (repeat: number, value: number): TrialRow[] =>
    sides.map((side) => ({ item: 'a', side, repeat, value }));

  test('several pairs of one item are refused', () => {
    const table = pairTrials([...row(1, 1), ...row(2, 1)], { kind: 'refuse' });
    expect(() => mcNemar(table)).toThrow(coded('dependent-pairs'));
  });

  test('what neither passed nor failed is refused', () => {
    expect(() => mcNemar(pairTrials(row(1, 0.5), { kind: 'refuse' }))).toThrow(coded('bad-value'));
  });
});

describe('Holm', () => {
  test('a test that gave no p stays in the family', () => {
    expect(
      holm([
        { name: 'cost', p: 0.02 },
        { name: 'lost', p: null },
        { name: 'time', p: 0.01 },
      ]),
    ).toEqual([
      { name: 'cost', p: 0.02, adjusted: 0.04, rejected: true },
      { name: 'lost', p: null, adjusted: null, rejected: false },
      { name: 'time', p: 0.01, adjusted: 0.03, rejected: true },
    ]);
  });

  test('once one stands, none after it falls', () => {
    const found = holm([0.01, 0.04, 0.041].map((p, at) => ({ name: `m${at}`, p })));
    expect(found.map(({ adjusted }) => adjusted)).toEqual([0.03, 0.08, 0.08]);
    expect(found.map(({ rejected }) => rejected)).toEqual([true, false, false]);
  });

  test('adjusted values keep the order and never shrink', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (list) => {
        const found = holm(list.map((p, at) => ({ name: `m${at}`, p })));
        for (const one of found) {
          expect(one.adjusted).toBeGreaterThanOrEqual(one.p ?? 0);
          for (const other of found) {
            if ((one.p ?? 0) < (other.p ?? 0)) expect(one.adjusted).toBeLessThanOrEqual(other.adjusted ?? 0);
          }
        }
      }),
    );
  });

  test.each([-0.1, 1.1, Number.NaN])('a p of %s is refused', (p) => {
    expect(() => holm([{ name: 'a', p }])).toThrow(coded('bad-option'));
    expect(() => holm([], p)).toThrow(coded('bad-option'));
  });
});

describe('margins', () => {
  const at = (low: number | null, high: number | null, level = 0.9) => ({ level, low, high });

  test.each([
    [-0.01, 0.02, 'shown', 'shown'],
    [-0.05, 0.02, 'not-shown', 'not-shown'],
    [-0.03, 0.02, 'not-shown', 'not-shown'],
    [-0.01, 0.03, 'not-shown', 'shown'],
    [0.04, 0.09, 'not-shown', 'shown'],
    [null, 0.02, 'unknown', 'unknown'],
    [null, 0.05, 'not-shown', 'unknown'],
    [-0.05, null, 'not-shown', 'not-shown'],
    [-0.01, null, 'unknown', 'shown'],
  ])('%s to %s within 0.03: equivalence %s, non-inferiority %s', (low, high, equal, noWorse) => {
    expect(equivalence(at(low, high), { margin: 0.03 })).toEqual({
      question: 'equivalence',
      margin: 0.03,
      alpha: 0.05,
      interval: at(low, high),
      verdict: equal,
    });
    expect(nonInferiority(at(low, high), { margin: 0.03 }).verdict).toBe(noWorse);
  });

  test('where lower is better the upper end decides', () => {
    const question = { margin: 0.03, better: 'lower' } as const;
    expect(nonInferiority(at(-9, 0.02), question).verdict).toBe('shown');
    expect(nonInferiority(at(-9, 0.03), question).verdict).toBe('not-shown');
    expect(nonInferiority(at(-9, null), question).verdict).toBe('unknown');
  });

  test.each([
    [0.01, 0.02, 'better', 'worse'],
    [-0.02, -0.01, 'worse', 'better'],
    [0, 0.02, 'no-effect-detected', 'no-effect-detected'],
    [-0.01, 0, 'no-effect-detected', 'no-effect-detected'],
    [null, 0.02, 'unknown', 'unknown'],
    [0.01, null, 'unknown', 'unknown'],
  ])('%s to %s is %s where higher is better, %s where lower is', (low, high, higher, lower) => {
    expect(superiority(at(low, high)).verdict).toBe(higher);
    expect(superiority(at(low, high), 'lower').verdict).toBe(lower);
  });

  test.each<[string, number, number, number]>([
    ['the level 0.95 at alpha 0.05', 0.03, 0.05, 0.95],
    ['a margin of 0', 0, 0.05, 0.9],
    ['an endless margin', Number.POSITIVE_INFINITY, 0.05, 0.9],
    ['an alpha of 0', 0.03, 0, 1],
  ])('%s is refused', (_, margin, alpha, level) => {
    for (const judge of [equivalence, nonInferiority]) {
      expect(() => judge(at(-0.01, 0.01, level), { margin, alpha })).toThrow(coded('bad-option'));
    }
  });
});

/** Counts by trial, control's first. */
const counts = (control: (number | null)[], treatment: (number | null)[]): CountRow[] =>
  sides.flatMap((side) =>
    (side === 'control' ? control : treatment).map((count, at) => ({
      item: `q${at}`,
      side,
      repeat: 1,
      count,
    })),
  );

describe('arm totals', () => {
  test('an unknown count makes the total unknown, and what is known a lower bound', () => {
    expect(armTotals(counts([2, null, 0], [1, 1, 1]))).toEqual({
      control: { total: null, known: 2, trials: 3, unknown: 1, trialsWithAny: 1 },
      treatment: { total: 3, known: 3, trials: 3, unknown: 0, trialsWithAny: 3 },
      difference: null,
      relative: null,
    });
  });

  test('nothing in control has no relative change', () => {
    expect(armTotals(counts([0], [4]))).toMatchObject({ difference: 4, relative: null });
  });

  test.each([-1, Number.NaN])('a count of %s is refused', (count) => {
    expect(() => armTotals(counts([count], [1]))).toThrow(coded('bad-value'));
  });
});

describe('manipulation check', () => {
  test.each<[string, (number | null)[], (number | null)[], number | undefined]>([
    ['acted', [3, 0, 2], [0, 0, 0], undefined],
    ['acted', [3, 1, 2], [0, 0, 0], 1],
    ['did-not-act', [0, 0, 0], [0, 0, 0], undefined],
    ['did-not-act', [1, 0, 0], [0, 0, 0], 0.5],
    ['leaked', [3, 3, 3], [0, 1, 0], undefined],
    ['leaked', [3, null, 3], [null, 1, 0], undefined],
    ['unknown', [3, 3, 3], [0, null, 0], undefined],
    ['unknown', [null, 0, 0], [0, 0, 0], undefined],
    ['did-not-act', [null, 0, 0], [0, 0, 0], 0.5],
    ['acted', [null, 3, 3], [0, 0, 0], 0.5],
    ['unknown', [null, 3, 0], [0, 0, 0], 0.5],
    ['unknown', [1], [], undefined],
    ['unknown', [], [0], undefined],
  ])('%s: %s against %s', (verdict, control, treatment, shareLeast) => {
    const asked = { zeroIn: 'treatment', ...(shareLeast === undefined ? {} : { shareLeast }) } as const;
    expect(manipulationCheck(counts(control, treatment), asked).verdict).toBe(verdict);
  });

  test('leaks are named, and the share of the other arm is of what is known', () => {
    const found = manipulationCheck(counts([1, null, 0], [0, 2, 0]), { zeroIn: 'treatment' });
    expect([found.leaks, found.share]).toEqual([[{ item: 'q1', repeat: 1, count: 2 }], 0.5]);
    expect(manipulationCheck(counts([null], [0]), { zeroIn: 'treatment' }).share).toBeNull();
  });

  test.each([0, 1.5])('a least share of %s is refused', (shareLeast) => {
    expect(() => manipulationCheck([], { zeroIn: 'control', shareLeast })).toThrow(coded('bad-option'));
  });
});
