/** Quantities and designs: estimates that divide by 0, paired differences, curves and restricted means, power. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { armNumbers, blocksOf, estimate, itemNumbers, sum } from './estimand.ts';
import { stream } from './generator.ts';
import { betaRate, type Outcomes } from './outcomes.ts';
import { medianOf, pairedDifference } from './paired-difference.ts';
import { power, smallestP } from './power.ts';
import { compareSurvival, kaplanMeier, pairTimes, restrictedMean, type TimedTrial } from './survival.ts';
import { pairTrials, type TrialRow } from './trials.ts';

const coded = (code: string) => expect.objectContaining({ code: `statistics.${code}` });
const refuse = { kind: 'refuse' } as const;

function rows(
  item: string,
  control: [number, number][],
  treatment: [number, number][],
  group = 'g',
): TrialRow[] {
  return (['control', 'treatment'] as const).flatMap((side) =>
    (side === 'control' ? control : treatment).map(([value, per], at) => ({
      item,
      side,
      repeat: at + 1,
      value,
      per,
      groups: { kind: group },
    })),
  );
}

describe('estimates', () => {
  const table = pairTrials(
    [
      ...rows(
        'a',
        [
          [4, 2],
          [2, 2],
        ],
        [
          [1, 1],
          [3, 1],
        ],
        'x',
      ),
      ...rows(
        'b',
        [
          [5, 1],
          [1, 1],
        ],
        [
          [2, 2],
          [0, 0],
        ],
        'y',
      ),
    ],
    refuse,
  );

  test('micro sums over all, macro over each group, by item over each item', () => {
    expect(estimate(blocksOf(table, { kind: 'micro' }))).toEqual({
      estimand: { kind: 'micro' },
      items: 2,
      control: 12 / 6,
      treatment: 6 / 4,
      difference: -0.5,
      relative: -0.25,
      groups: [{ group: '', items: 2, control: 2, treatment: 1.5, difference: -0.5, relative: -0.25 }],
    });
    const macro = estimate(blocksOf(table, { kind: 'macro', by: 'kind' }));
    expect(macro).toMatchObject({ control: 2.25, treatment: 1.5, difference: -0.75 });
    expect(macro.groups.map(({ group, control, treatment }) => [group, control, treatment])).toEqual([
      ['x', 1.5, 2],
      ['y', 3, 1],
    ]);
    expect(estimate(blocksOf(table, { kind: 'macro', by: 'item' }))).toMatchObject({
      control: 2.25,
      treatment: 1.5,
    });
  });

  test('each item by itself', () => {
    expect(itemNumbers(table)).toEqual([
      {
        item: 'a',
        groups: { kind: 'x' },
        pairs: 2,
        control: 1.5,
        treatment: 2,
        difference: 0.5,
        relative: 2 / 1.5 - 1,
      },
      {
        item: 'b',
        groups: { kind: 'y' },
        pairs: 2,
        control: 3,
        treatment: 1,
        difference: -2,
        relative: 1 / 3 - 1,
      },
    ]);
  });

  test('what divides by 0 is null, in one arm or both', () => {
    const empty = pairTrials(rows('a', [[1, 1]], [[1, 0]]), refuse);
    const expected = { control: 1, treatment: null, difference: null, relative: null };
    expect(estimate(blocksOf(empty, { kind: 'micro' }))).toMatchObject(expected);
    expect(itemNumbers(empty)).toMatchObject([expected]);
    expect(armNumbers(0, 2)).toEqual({ control: 0, treatment: 2, difference: 2, relative: null });
  });

  test('a sum loses nothing to its order', () => {
    expect(sum([1e16, 1, -1e16, 1])).toBe(2);
    expect(sum(Array.from({ length: 10 }, () => 0.1))).toBe(1);
  });
});

describe('paired differences', () => {
  const items = (differences: (number | null)[]) =>
    differences.map((difference, at) => ({
      item: `q${at}`,
      groups: {},
      pairs: 5,
      control: 0,
      treatment: difference,
      difference,
      relative: null,
    }));

  test('one item has a difference and no spread', () => {
    expect(pairedDifference(items([2]))).toEqual({
      test: 'paired-t',
      items: 1,
      mean: 2,
      median: 2,
      deviation: null,
      standardError: null,
      t: null,
      freedom: 0,
      p: null,
      intervals: [{ level: 0.95, low: null, high: null }],
    });
  });

  test('items that all agree have no t', () => {
    expect(pairedDifference(items([2, 2]), [0.9])).toMatchObject({
      deviation: 0,
      t: null,
      p: null,
      intervals: [{ level: 0.9, low: 2, high: 2 }],
    });
  });

  test('an item without a number, none at all, or no level is refused', () => {
    expect(() => pairedDifference(items([1, null]))).toThrow(coded('no-pairs'));
    expect(() => pairedDifference([])).toThrow(coded('no-pairs'));
    expect(() => pairedDifference(items([1, 2]), [1])).toThrow(coded('bad-option'));
  });

  test('the median of an odd and of an even number', () => {
    expect([medianOf([3, 1, 2]), medianOf([4, 1, 2, 3])]).toEqual([2, 2.5]);
  });
});

describe('survival', () => {
  const trial = fc.record({ time: fc.integer({ min: 0, max: 20 }), finished: fc.boolean() });

  test('where nothing leaves early the restricted mean is the mean of min(T, horizon)', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1 }), (list) => {
        const trials = list.map((time): TimedTrial => ({ time: Math.min(time, 12), finished: time < 12 }));
        const expected = list.reduce((total, time) => total + Math.min(time, 12), 0) / list.length;
        expect(restrictedMean(kaplanMeier(trials), 12).mean).toBeCloseTo(expected, 9);
      }),
    );
  });

  test('a curve falls from 1, counts everybody, and its restricted mean stays inside the horizon', () => {
    fc.assert(
      fc.property(fc.array(trial, { minLength: 1 }), (list) => {
        const steps = kaplanMeier(list);
        let before = 1;
        for (const { survival } of steps) {
          expect(survival).toBeLessThanOrEqual(before);
          before = survival;
        }
        expect(steps.reduce((total, one) => total + one.finished + one.censored, 0)).toBe(list.length);
        const { mean } = restrictedMean(steps, 15);
        expect(mean).toBeGreaterThanOrEqual(0);
        expect(mean).toBeLessThanOrEqual(15 + 1e-9);
      }),
    );
  });

  test('a curve that is held beyond the last trial says from where', () => {
    const steps = kaplanMeier([
      { time: 2, finished: true },
      { time: 5, finished: false },
    ]);
    expect(restrictedMean(steps, 9)).toMatchObject({ mean: 2 + 7 / 2, heldFrom: 5 });
    expect(restrictedMean(steps, 5).heldFrom).toBeNull();
    expect(restrictedMean(kaplanMeier([{ time: 2, finished: true }]), 9)).toEqual({
      mean: 2,
      standardError: 0,
      horizon: 9,
      heldFrom: null,
    });
  });

  test('a comparison gives both arms, their medians and what was missing', () => {
    const row = (item: string, side: 'control' | 'treatment', time: number | null, finished = true) => ({
      item,
      side,
      repeat: 1,
      time,
      finished,
    });
    const table = pairTimes(
      [
        ...[row('a', 'control', 4), row('a', 'treatment', 1)],
        ...[row('b', 'control', 10, false), row('b', 'treatment', 3)],
        ...[row('c', 'control', 10, false), row('c', 'treatment', null)],
      ],
      { kind: 'leave-pairs' },
    );
    const found = compareSurvival(table, 10);
    expect([found.control, found.treatment, found.difference]).toEqual([7, 2, -5]);
    expect([found.arms.control.median, found.arms.treatment.median]).toEqual([4, 1]);
    expect(found.missing).toMatchObject({ onlyTreatment: 1, pairsLeft: 1, itemsLeft: ['c'] });
    const slow = compareSurvival(
      pairTimes([row('a', 'control', 9, false), row('a', 'treatment', 9, false)], refuse),
      9,
    );
    expect(slow.arms.control.median).toBeNull();
  });

  test.each([0, Number.POSITIVE_INFINITY, Number.NaN])('a horizon of %s is refused', (horizon) => {
    expect(() => restrictedMean([], horizon)).toThrow(coded('bad-option'));
  });
});

describe('power', () => {
  const passes = (effect: number, deviation = 0.2): Outcomes => ({
    kind: 'binary',
    rate: 0.6,
    deviation,
    effect,
  });

  test('more items find more, and what is not there is found no oftener than alpha', () => {
    const of = (items: number, effect: number) =>
      power({ items, repeats: 3, outcomes: passes(effect), seed: 1, simulations: 400 });
    const [few, many, none] = [of(15, 0.15), of(60, 0.15), of(60, 0)];
    expect(many.power).toBeGreaterThan(few.power + 0.2);
    expect(none.power).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / 400));
  });

  test('the true effect is less than asked where rates are cut', () => {
    const found = power({ items: 20, repeats: 1, outcomes: passes(0.5), seed: 1, simulations: 50 });
    expect(found.effect).toBeLessThan(0.45);
    expect(found.effect).toBeGreaterThan(0.25);
  });

  test('four items can never reach 0.05', () => {
    const outcomes = { kind: 'quantity', effect: 9, deviation: 0.1, noise: 0.1 } as const;
    expect(power({ items: 4, repeats: 9, outcomes, seed: 1, simulations: 20 })).toEqual({
      design: { items: 4, repeats: 9, outcomes, seed: 1, simulations: 20 },
      alpha: 0.05,
      simulations: 20,
      power: 0,
      standardError: 0,
      effect: expect.closeTo(9, 0),
      smallestP: 0.125,
    });
    expect(power({ items: 6, repeats: 9, outcomes, seed: 1, simulations: 20 }).power).toBe(1);
  });

  test('the smallest p of a design', () => {
    expect(smallestP({ test: 'sign-flip', items: 1 })).toBe(1);
    expect(smallestP({ test: 'sign-flip', items: 20 })).toBe(2 / 2 ** 20);
    expect(smallestP({ test: 'sign-flip', items: 54 })).toBe(1 / 20_001);
    expect(smallestP({ test: 'sign-flip', items: 54, resamples: 99_999 })).toBe(1e-5);
    expect(smallestP({ test: 'sign', items: 54 })).toBe(2 / 2 ** 54);
    expect(smallestP({ test: 'mcnemar', items: 6 })).toBe(2 / 64);
  });

  test.each([0.001, 0.1, 0.3, 0.45])(
    'rates have the mean and the deviation %s that were asked for',
    (deviation) => {
      const generator = stream('rates', String(deviation));
      const list = Array.from({ length: 20_000 }, () => betaRate(0.6, deviation, generator));
      const mean = list.reduce((total, one) => total + one, 0) / list.length;
      const spread = Math.sqrt(list.reduce((total, one) => total + (one - mean) ** 2, 0) / list.length);
      expect(Math.abs(mean - 0.6)).toBeLessThan(0.03 * deviation + 0.0001);
      expect(Math.abs(spread / deviation - 1)).toBeLessThan(0.03);
      expect(betaRate(0.6, 0, generator)).toBe(0.6);
    },
  );

  const design = { items: 10, repeats: 1, seed: 1 };
  test.each<[string, Parameters<typeof power>[0]]>([
    ['no items', { ...design, items: 0, outcomes: passes(0.1) }],
    ['half a repeat', { ...design, repeats: 0.5, outcomes: passes(0.1) }],
    ['no simulations', { ...design, simulations: 0, outcomes: passes(0.1) }],
    ['an alpha of 1', { ...design, alpha: 1, outcomes: passes(0.1) }],
    ['an endless effect', { ...design, outcomes: passes(Number.POSITIVE_INFINITY) }],
    ['a deviation that no rates have', { ...design, outcomes: passes(0.1, 0.5) }],
    ['a rate of 1', { ...design, outcomes: { kind: 'binary', rate: 1, deviation: 0, effect: 0 } }],
    [
      'a deviation below 0',
      { ...design, outcomes: { kind: 'quantity', effect: 1, deviation: -1, noise: 1 } },
    ],
    ['a noise below 0', { ...design, outcomes: { kind: 'quantity', effect: 1, deviation: 1, noise: -1 } }],
  ])('%s is refused', (_, given) => {
    expect(() => power(given)).toThrow(coded('bad-option'));
  });

  test('the smallest p of no items, or of too few resamples, is refused', () => {
    expect(() => smallestP({ test: 'sign', items: 0 })).toThrow(coded('bad-option'));
    expect(() => smallestP({ test: 'sign-flip', items: 30, resamples: 10 })).toThrow(coded('bad-option'));
  });
});
