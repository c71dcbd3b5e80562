/** The figures of the published experiment, recomputed from trials that have its totals; and single cases that others met. */
import { describe, expect, test } from 'vitest';
import { clusterBootstrap } from './bootstrap.ts';
import { blocksOf, estimate, itemNumbers } from './estimand.ts';
import { mcNemar, signTest, signTestOfItems } from './exact-tests.ts';
import { holm } from './holm.ts';
import { equivalence, superiority } from './margin.ts';
import { countRows, timeRows, trialRows } from './reference.cases.ts';
import { signFlip } from './sign-flip.ts';
import { compareSurvival, pairTimes } from './survival.ts';
import { armTotals, manipulationCheck } from './totals.ts';
import { pairTrials } from './trials.ts';

const refuse = { kind: 'refuse' } as const;
const passes = pairTrials(trialRows('passed'), refuse);
const rounded = (value: number | null, digits: number) => Number((value ?? Number.NaN).toFixed(digits));

describe('the published experiment: 54 items, 5 repeats, 2 arms', () => {
  test('183 and 193 passes of 270', () => {
    const found = estimate(blocksOf(passes, { kind: 'micro' }));
    expect([found.control, found.treatment, found.difference].map((one) => rounded(one, 4))).toEqual([
      0.6778, 0.7148, 0.037,
    ]);
  });

  test('macro by item equals micro under equal repeats, and macro over unequal groups does not', () => {
    const byItem = estimate(blocksOf(passes, { kind: 'macro', by: 'item' }));
    const byCategory = estimate(blocksOf(passes, { kind: 'macro', by: 'category' }));
    expect(byItem.difference).toBeCloseTo(10 / 270, 12);
    expect(rounded(byCategory.difference, 4)).toBe(0.0557);
    expect(byCategory.groups.map(({ group, items }) => [group, items])).toEqual([
      ['aggregates', 14],
      ['dates', 6],
      ['joins', 20],
      ['nulls', 3],
      ['windows', 11],
    ]);
  });

  test('16 items better, 11 worse, 27 tied', () => {
    const found = signTestOfItems(itemNumbers(passes));
    expect({ ...found, p: rounded(found.p, 4) }).toEqual({
      test: 'sign',
      better: 16,
      worse: 11,
      ties: 27,
      p: 0.4421,
      smallestP: 2 / 2 ** 27,
    });
    expect(signTestOfItems(itemNumbers(passes), 'lower')).toMatchObject({ better: 11, worse: 16, ties: 27 });
  });

  test('the interval holds 0, so no effect is detected, and no equivalence within two points is shown', () => {
    const found = clusterBootstrap(blocksOf(passes, { kind: 'micro' }), { seed: 1, levels: [0.95, 0.9] });
    const [wide, narrow] = found.intervals;
    if (wide === undefined || narrow === undefined) throw new Error('two intervals were asked for');
    expect(superiority(wide).verdict).toBe('no-effect-detected');
    expect(equivalence(narrow, { margin: 0.02 }).verdict).toBe('not-shown');
    expect(signFlip(blocksOf(passes, { kind: 'micro' }), { seed: 1 }).p).toBeGreaterThan(0.05);
  });

  test('restricted mean 440.9 to 319.4 s at 900 s, 27 and 16 timeouts', () => {
    const found = compareSurvival(pairTimes(timeRows(), refuse), 900);
    expect([found.control, found.treatment, found.difference].map((one) => rounded(one, 1))).toEqual([
      440.9, 319.4, -121.5,
    ]);
    expect(rounded(found.relative, 3)).toBe(-0.276);
    expect([found.arms.control.censored, found.arms.treatment.censored]).toEqual([27, 16]);
  });

  test('generations of a trial 11.9 to 8.6, 27.7 % less', () => {
    const found = estimate(blocksOf(pairTrials(trialRows('generations'), refuse), { kind: 'micro' }));
    expect([rounded(found.control, 1), rounded(found.treatment, 1), rounded(found.relative, 3)]).toEqual([
      11.9, 8.6, -0.277,
    ]);
  });

  test('arm totals of the tool calls', () => {
    const totals = (['validate', 'analyze', 'execute'] as const).map((tool) => {
      const { control, treatment, difference } = armTotals(countRows(tool));
      return [control.total, treatment.total, difference];
    });
    expect(totals).toEqual([
      [1476, 0, -1476],
      [1329, 0, -1329],
      [1716, 2554, 838],
    ]);
    expect(rounded(armTotals(countRows('execute')).relative, 2)).toBe(0.49);
  });

  test('the removed ritual is exactly gone; the calls that stayed are no sign of it', () => {
    expect(manipulationCheck(countRows('validate'), { zeroIn: 'treatment' }).verdict).toBe('acted');
    expect(manipulationCheck(countRows('execute'), { zeroIn: 'treatment' }).verdict).toBe('leaked');
  });
});

describe('cases that others met', () => {
  const pairOf = (item: string, control: number, treatment: number) => [
    { item, side: 'control' as const, repeat: 1, value: control },
    { item, side: 'treatment' as const, repeat: 1, value: treatment },
  ];

  test('40 items, 20 passed by both and 8 by the treatment alone: paired p 0.0078, whatever the order of the rows', () => {
    const rows = Array.from({ length: 40 }, (_, at) =>
      pairOf(`q${at}`, at < 20 ? 1 : 0, at < 28 ? 1 : 0),
    ).flat();
    const expected = {
      test: 'mcnemar',
      bothPass: 20,
      controlOnly: 0,
      treatmentOnly: 8,
      neitherPass: 12,
      p: 0.0078125,
      smallestP: 2 / 2 ** 40,
    };
    expect(mcNemar(pairTrials(rows, refuse))).toEqual(expected);
    expect(mcNemar(pairTrials([...rows].reverse(), refuse))).toEqual(expected);
    expect(signFlip(blocksOf(pairTrials(rows, refuse), { kind: 'micro' }), { seed: 1 }).p).toBe(0.0078125);
    expect(signTest(8, 0, 32).p).toBe(0.0078125);
  });

  test('12 metrics, one of them at 0.03: none is significant once corrected', () => {
    const family = Array.from({ length: 12 }, (_, at) => ({
      name: `m${at}`,
      p: at === 4 ? 0.03 : 0.2 + at / 20,
    }));
    expect(holm(family).filter(({ rejected }) => rejected)).toEqual([]);
    expect(holm(family)[4]?.adjusted).toBeCloseTo(0.36, 12);
  });

  test('6 of 20 trials die in an outage: their pairs leave both arms and are counted', () => {
    const rows = Array.from({ length: 20 }, (_, at) => pairOf(`q${at}`, 1, 1)).flat();
    const hurt = rows.map((row) =>
      row.side === 'treatment' && Number(row.item.slice(1)) < 6 ? { ...row, value: null } : row,
    );
    const table = pairTrials(hurt, { kind: 'leave-pairs' });
    expect(estimate(blocksOf(table, { kind: 'micro' }))).toMatchObject({
      control: 1,
      treatment: 1,
      items: 14,
    });
    expect(table.missing).toEqual({
      policy: { kind: 'leave-pairs' },
      control: { trials: 20, unknown: 0, absent: 0 },
      treatment: { trials: 20, unknown: 6, absent: 0 },
      onlyControl: 0,
      onlyTreatment: 6,
      both: 0,
      pairsLeft: 6,
      itemsLeft: ['q0', 'q1', 'q2', 'q3', 'q4', 'q5'],
      countedAs: 0,
    });
  });

  test('a gate that ran once in 252 steps did not act', () => {
    const rows = Array.from({ length: 252 }, (_, at) =>
      (['control', 'treatment'] as const).map((side) => ({
        item: `q${at}`,
        side,
        repeat: 1,
        count: side === 'treatment' && at === 17 ? 1 : 0,
      })),
    ).flat();
    const found = manipulationCheck(rows, { zeroIn: 'control', shareLeast: 0.5 });
    expect([found.verdict, found.share]).toEqual(['did-not-act', 1 / 252]);
  });
});
