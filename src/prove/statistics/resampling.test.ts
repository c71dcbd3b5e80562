/** Sign flips and bootstraps: their methods, ties, empty and undefined cases, seeds and refusals. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clusterBootstrap, type Effect, resample, summarise } from './bootstrap.ts';
import { blocksOf, type Estimand, estimate } from './estimand.ts';
import { twoSided } from './exact-tests.ts';
import { forestRows } from './forest.ts';
import { stream } from './generator.ts';
import { histogramOf } from './histogram.ts';
import { finitePart, leastFrom, select } from './order-statistics.ts';
import { trialRows } from './reference.cases.ts';
import { flipsOf, signFlip } from './sign-flip.ts';
import { pairTimes, survivalBootstrap } from './survival.ts';
import { pairTrials, type TrialRow } from './trials.ts';

const refuse = { kind: 'refuse' } as const;
const micro: Estimand = { kind: 'micro' };

/** Items of one pair each, as [control, treatment] or [control, treatment, control's divisor, treatment's divisor]. */
function blocksFrom(
  pairs: readonly (readonly number[])[],
  estimand = micro,
  group = (at: number) => `g${at % 2}`,
) {
  const rows = pairs.flatMap((pair, at) =>
    (['control', 'treatment'] as const).map(
      (side, arm): TrialRow => ({
        item: `q${String(at).padStart(3, '0')}`,
        side,
        repeat: 1,
        groups: { half: group(at) },
        value: pair[arm] ?? 0,
        ...(pair.length > 2 ? { per: pair[2 + arm] ?? 0 } : {}),
      }),
    ),
  );
  return blocksOf(pairTrials(rows, refuse), estimand);
}

describe('sign flips', () => {
  test('items without a difference stay in the count and flip nothing', () => {
    const found = signFlip(
      blocksFrom([
        [0, 1],
        [0, 1],
        [0, 1],
        [1, 1],
        [0, 0],
        [0, 0],
        [0, 0],
        [0, 0],
      ]),
      { seed: 1 },
    );
    expect({ ...found, histogram: found.histogram?.counts.reduce((total, one) => total + one, 0) }).toEqual({
      test: 'sign-flip',
      estimand: micro,
      difference: 0.375,
      items: 8,
      itemsThatDiffer: 3,
      method: 'exact',
      resamples: 8,
      atLeastAsExtreme: 2,
      p: 0.25,
      pStandardError: 0,
      smallestP: 0.25,
      histogram: 8,
    });
  });

  test('no item differs: p is 1', () => {
    expect(
      signFlip(
        blocksFrom([
          [1, 1],
          [0, 0],
        ]),
        { seed: 1 },
      ),
    ).toMatchObject({ p: 1, resamples: 1, smallestP: 1 });
  });

  test('an item whose arms differ by rounding alone does not differ', () => {
    const pairs = [
      [0.3, 0.1 + 0.2],
      [0, 1],
    ];
    expect(signFlip(blocksFrom(pairs), { seed: 1 })).toMatchObject({ itemsThatDiffer: 1, resamples: 2 });
  });

  test('20 items are enumerated, 21 are drawn; the p of a draw is never 0', () => {
    const all = (items: number) => Array.from({ length: items }, () => [0, 1]);
    expect(signFlip(blocksFrom(all(20)), { seed: 1 })).toMatchObject({ method: 'exact', p: 2 / 2 ** 20 });
    expect(signFlip(blocksFrom(all(21)), { seed: 1 })).toMatchObject({
      method: 'monte-carlo',
      resamples: 20_000,
      atLeastAsExtreme: 0,
      p: 1 / 20_001,
      smallestP: 1 / 20_001,
    });
  });

  test('more items than a word has bits flip by bits of their own', () => {
    // Differences of one size make the test a sign test, whose p is known.
    const pairs = Array.from({ length: 70 }, (_, at) => (at % 3 === 0 ? [1, 0] : [0, 1]));
    const { p, difference } = signFlip(blocksFrom(pairs), { seed: 1 });
    const exact = twoSided(24, 70);
    expect(difference).toBeCloseTo(22 / 70, 12);
    expect(Math.abs((p ?? 0) - exact)).toBeLessThan(4 * Math.sqrt((exact * (1 - exact)) / 20_000));
  });

  test('ties in tenths are ties, though their sums differ in the last digit', () => {
    // 0.1 + 0.2 - 0.3 is not 0 in binary: an exact comparison would lose arrangements.
    const found = signFlip(
      blocksFrom([
        [0, 0.1],
        [0, 0.2],
        [0.3, 0],
        [0, 0.3],
      ]),
      { seed: 1 },
    );
    const brute = [...Array(16).keys()].filter((mask) => {
      const tenths = [1, 2, -3, 3].reduce((total, one, at) => total + ((mask >> at) & 1 ? -one : one), 0);
      return Math.abs(tenths) >= 3;
    }).length;
    expect([found.atLeastAsExtreme, found.p]).toEqual([brute, brute / 16]);
  });

  test('a grouping changes the weight of an item, and so the test', () => {
    const pairs = [
      [0, 1],
      [0, 1],
      [0, 1],
      [1, 0],
      [0, 1],
    ];
    const lone = (at: number) => (at === 3 ? 'lone' : 'many');
    expect(signFlip(blocksFrom(pairs), { seed: 1 }).p).toBe(12 / 32);
    expect(signFlip(blocksFrom(pairs, { kind: 'macro', by: 'half' }, lone), { seed: 1 })).toMatchObject({
      difference: 0,
      p: 1,
    });
  });

  test('a swapped ratio gives what swapping the rows gives', () => {
    const pairs = [
      [3, 1, 2, 1],
      [2, 5, 1, 3],
      [4, 4, 2, 2],
      [1, 2, 1, 4],
    ];
    const swapped = (mask: number) =>
      pairs.map((pair, at) => ((mask >> at) & 1 ? [pair[1], pair[0], pair[3], pair[2]] : pair)) as number[][];
    const all = [...Array(16).keys()].map((mask) => estimate(blocksFrom(swapped(mask))).difference ?? 0);
    const found = flipsOf(blocksFrom(pairs));
    // The third item is the same in both arms and is no flip.
    expect(found.count).toBe(3);
    const sorted = (values: Iterable<number>) => [...values].map((one) => one.toFixed(12)).sort();
    expect(sorted([...found.all(), ...found.all()])).toEqual(sorted(all));
  });

  test('random swaps of a ratio agree with the enumeration', () => {
    const pairs = Array.from({ length: 24 }, (_, at) => [1 + (at % 5), 1 + ((at * 3) % 4), 1 + (at % 3), 2]);
    const few = signFlip(blocksFrom(pairs.slice(0, 12)), { seed: 1 });
    const drawn = signFlip(blocksFrom(pairs), { seed: 1 });
    expect([few.method, drawn.method]).toEqual(['exact', 'monte-carlo']);
    const again = signFlip(blocksFrom(pairs), { seed: 2 });
    expect(Math.abs((again.p ?? 0) - (drawn.p ?? 0))).toBeLessThan(6 * (drawn.pStandardError ?? 0));
    expect(again.p).not.toBe(drawn.p);
  });

  test('an effect that divides by 0 has no p', () => {
    expect(signFlip(blocksFrom([[1, 1, 0, 1]]), { seed: 1 })).toMatchObject({
      difference: null,
      p: null,
      pStandardError: null,
      histogram: null,
    });
  });

  test('arrangements that divide by 0 count as extreme', () => {
    // Observed 4/1 - 1/1; swapping either item alone leaves an arm with 0/0, swapping both gives -3.
    const found = signFlip(
      blocksFrom([
        [0, 4, 0, 1],
        [1, 0, 1, 0],
      ]),
      { seed: 1 },
    );
    expect([found.difference, found.resamples, found.atLeastAsExtreme]).toEqual([3, 4, 4]);
  });
});

describe('the cluster bootstrap', () => {
  const passes = pairTrials(trialRows('passed'), refuse);

  test('one item alone has no interval', () => {
    expect(clusterBootstrap(blocksFrom([[0, 1]]), { seed: 1 })).toEqual({
      method: 'cluster-bootstrap',
      estimand: micro,
      effect: 'difference',
      estimate: 1,
      standardError: null,
      resamples: 20_000,
      undefinedResamples: 0,
      intervals: [{ level: 0.95, low: null, high: null }],
      singleItemGroups: [''],
    });
  });

  test('a group of one item takes the interval away and is named', () => {
    const blocks = blocksFrom(
      [
        [0, 1],
        [1, 1],
        [0, 0],
      ],
      { kind: 'macro', by: 'half' },
    );
    expect(clusterBootstrap(blocks, { seed: 1 })).toMatchObject({
      singleItemGroups: ['g1'],
      intervals: [{ low: null, high: null }],
    });
  });

  test('items that all agree give an interval of one point', () => {
    const [interval] = clusterBootstrap(
      blocksFrom([
        [0, 1],
        [0, 1],
      ]),
      { seed: 1 },
    ).intervals;
    expect(interval).toEqual({ level: 0.95, low: 1, high: 1 });
  });

  test.each<Effect>(['difference', 'relative', 'control', 'treatment'])(
    '%s lies in its interval',
    (effect) => {
      const found = clusterBootstrap(blocksOf(passes, micro), { seed: 1, effect });
      const [interval] = found.intervals;
      expect(interval?.low).toBeLessThan(found.estimate ?? Number.NaN);
      expect(interval?.high).toBeGreaterThan(found.estimate ?? Number.NaN);
    },
  );

  test('the quick way of equal divisors and the general one agree', () => {
    const doubled = blocksOf(passes, micro);
    // One divisor apart by nothing that matters takes the general way.
    const general = {
      ...doubled,
      controlBottom: doubled.controlBottom.map((one, at) => one + (at === 0 ? 1e-9 : 0)),
    };
    const [quick, slow] = [doubled, general].map((blocks) => clusterBootstrap(blocks, { seed: 3 }));
    expect(Math.abs((quick?.standardError ?? 0) / (slow?.standardError ?? 1) - 1)).toBeLessThan(0.03);
    expect(quick?.intervals[0]?.low).toBeCloseTo(slow?.intervals[0]?.low ?? 0, 2);
    expect(quick?.intervals[0]?.high).toBeCloseTo(slow?.intervals[0]?.high ?? 0, 2);
  });

  test.each([255, 256, 257, 300])('%s items have the spread of a mean', (items) => {
    const pairs = Array.from({ length: items }, (_, at) => [0, at % 2]);
    const expected = Math.sqrt((0.25 - (items % 2) / 4 / items ** 2) / items);
    const found = clusterBootstrap(blocksFrom(pairs), { seed: items }).standardError ?? 0;
    expect(Math.abs(found / expected - 1)).toBeLessThan(0.03);
  });

  test('70,000 items need no table of all pairs', () => {
    const ones = new Float64Array(70_000).fill(1);
    const blocks = {
      ...blocksOf(passes, micro),
      starts: Int32Array.of(0, ones.length),
      controlTop: new Float64Array(ones.length),
      controlBottom: ones,
      treatmentTop: ones,
      treatmentBottom: ones,
    };
    const values = new Float64Array(2);
    resample(blocks, 'difference', stream(1, 'large'), values);
    expect([...values]).toEqual([expect.closeTo(1, 9), expect.closeTo(1, 9)]);
  });

  test('resamples that divide by 0 widen the interval instead of leaving it', () => {
    const pairs = [
      [1, 1, 0, 1],
      [1, 2, 1, 1],
      [1, 3, 1, 1],
    ];
    const found = clusterBootstrap(blocksFrom(pairs), { seed: 1 });
    // One resample in 27 draws the first item alone.
    expect(Math.abs(found.undefinedResamples / 20_000 - 1 / 27)).toBeLessThan(0.006);
    expect(found.intervals).toEqual([{ level: 0.95, low: null, high: null }]);
    const narrow = clusterBootstrap(blocksFrom(pairs), { seed: 1, levels: [0.5] });
    expect(narrow.intervals[0]?.low).not.toBeNull();
  });

  test('percentiles stand at (R + 1) alpha, between neighbours by straight line', () => {
    const values = Float64Array.from({ length: 99 }, (_, at) => 99 - at);
    const about = { effect: 'difference', estimate: 50, singleItemGroups: [] } as const;
    expect(summarise(values.slice(), { ...about, levels: [0.9, 0.95] }).intervals).toEqual([
      { level: 0.9, low: expect.closeTo(5, 9), high: expect.closeTo(95, 9) },
      { level: 0.95, low: expect.closeTo(2.5, 9), high: expect.closeTo(97.5, 9) },
    ]);
    const holed = Float64Array.from(values, (one, at) => (at % 33 === 0 ? Number.NaN : one));
    const { intervals, undefinedResamples } = summarise(holed, { ...about, levels: [0.9] });
    expect([undefinedResamples, intervals]).toEqual([
      3,
      [{ level: 0.9, low: expect.closeTo(2, 9), high: expect.closeTo(97, 9) }],
    ]);
  });

  test('survival looks no further than the horizon, and lets those who finish go before those who leave', () => {
    const trial = (item: string, repeat: number, time: number, finished: boolean) =>
      (['control', 'treatment'] as const).map((side) => ({ item, side, repeat, time, finished }));
    const whole = (item: string) => [
      ...trial(item, 1, 100, false),
      ...trial(item, 2, 100, true),
      ...trial(item, 3, 500, true),
    ];
    const table = pairTimes([...whole('a'), ...whole('b')], refuse);
    const found = survivalBootstrap(table, 300, { seed: 1, effect: 'control' });
    // All wait until 100, when a third finishes; the rest is at two thirds until 300.
    const mean = 100 + (2 / 3) * 200;
    expect(found.estimate).toBeCloseTo(mean, 9);
    expect(found.intervals).toEqual([
      { level: 0.95, low: expect.closeTo(mean, 9), high: expect.closeTo(mean, 9) },
    ]);
  });

  test('survival over one item has no interval either', () => {
    const rows = (['control', 'treatment'] as const).map((side) => ({
      item: 'a',
      side,
      repeat: 1,
      time: 3,
      finished: true,
    }));
    expect(survivalBootstrap(pairTimes(rows, refuse), 9, { seed: 1 })).toMatchObject({
      standardError: null,
      intervals: [{ low: null, high: null }],
    });
  });
});

describe('seeds and refusals', () => {
  const blocks = blocksOf(pairTrials(trialRows('cost'), refuse), micro);

  test('equal seeds give equal results, bit for bit, and other seeds others', () => {
    for (const analyse of [signFlip, clusterBootstrap]) {
      expect(analyse(blocks, { seed: 'a' })).toEqual(analyse(blocks, { seed: 'a' }));
      expect(analyse(blocks, { seed: 'a' })).not.toEqual(analyse(blocks, { seed: 'b' }));
    }
  });

  test.each([19_999, 0, 20_000.5, Number.NaN, 1e9])('%s resamples are refused', (resamples) => {
    for (const analyse of [signFlip, clusterBootstrap]) {
      expect(() => analyse(blocks, { seed: 1, resamples })).toThrow(
        expect.objectContaining({ code: 'statistics.bad-option' }),
      );
    }
  });

  test.each([0, 1, Number.NaN])('a level of %s is refused', (level) => {
    expect(() => clusterBootstrap(blocks, { seed: 1, levels: [level] })).toThrow(
      expect.objectContaining({ code: 'statistics.bad-option' }),
    );
  });
});

describe('forest rows', () => {
  test('one row a group, then the whole under its estimand', () => {
    const table = pairTrials(trialRows('passed'), refuse);
    const rows = forestRows(table, 'category', { kind: 'macro', by: 'category' }, { seed: 1 });
    expect(rows.map(({ group, items, pairs }) => [group, items, pairs])).toEqual([
      ['aggregates', 14, 70],
      ['dates', 6, 30],
      ['joins', 20, 100],
      ['nulls', 3, 15],
      ['windows', 11, 55],
      [null, 54, 270],
    ]);
    const whole = rows.at(-1);
    const mean = rows.slice(0, 5).reduce((total, { difference }) => total + (difference ?? 0), 0) / 5;
    expect(whole?.difference).toBeCloseTo(mean, 12);
    for (const { interval, difference } of rows) {
      expect(interval.low).toBeLessThanOrEqual(difference ?? Number.NaN);
      expect(interval.high).toBeGreaterThanOrEqual(difference ?? Number.NaN);
    }
  });

  test('by item each row is one item, without an interval', () => {
    const rows = forestRows(pairTrials(trialRows('passed').slice(0, 30), refuse), 'item', micro, { seed: 1 });
    expect(rows.map(({ group, items, interval }) => [group, items, interval.low === null])).toEqual([
      ['q01', 1, true],
      ['q02', 1, true],
      ['q03', 1, true],
      [null, 3, false],
    ]);
  });
});

describe('order and bins', () => {
  test('selecting equals sorting', () => {
    const double = fc.double({ noNaN: true });
    // Negative zero is no other number than zero; sorting alone tells them apart.
    const number = fc.oneof(fc.integer({ min: -3, max: 3 }), double).map((one) => one + 0);
    const numbers = fc.array(number, { minLength: 1 });
    fc.assert(
      fc.property(numbers, fc.nat(), (list, at) => {
        const index = at % list.length;
        expect(select(Float64Array.from(list), index)).toBe(Float64Array.from(list).sort()[index]);
      }),
    );
    expect([select(new Float64Array(3), -1), select(new Float64Array(3), 3)]).toEqual([undefined, undefined]);
  });

  test('the least of what stands behind a selected number is the next one in order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1 }), fc.nat(60), (list, index) => {
        const values = Float64Array.from(list);
        select(values, index);
        expect(leastFrom(values, index + 1)).toBe(Float64Array.from(list).sort()[index + 1]);
      }),
    );
  });

  test('the finite part keeps its order', () => {
    const values = Float64Array.from([1, Number.NaN, -2, Number.POSITIVE_INFINITY, 3]);
    expect([...finitePart(values)]).toEqual([1, -2, 3]);
  });

  test('a histogram is even around 0, holds every value, and takes zeros alone', () => {
    const found = histogramOf(Float64Array.from([-2, -1, 0, 0, 1, 2]), 2, 2);
    expect(found).toEqual({ edges: [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], counts: [1, 1, 2, 1, 1], observed: 2 });
    expect(histogramOf(new Float64Array(4), 0, 1)).toEqual({
      edges: [-1.5, -0.5, 0.5, 1.5],
      counts: [0, 4, 0],
      observed: 0,
    });
  });
});
