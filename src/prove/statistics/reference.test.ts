/** Agreement with SciPy and R: to 1e-9 where a number is exact, within the error of resampling where it is drawn. */
import { describe, expect, test } from 'vitest';
import { type Bootstrap, clusterBootstrap } from './bootstrap.ts';
import { blocksOf, type Estimand, itemNumbers } from './estimand.ts';
import { mcNemar, twoSided } from './exact-tests.ts';
import { holm } from './holm.ts';
import { pairedDifference } from './paired-difference.ts';
import { power } from './power.ts';
import { type Booted, items, r, scipy, timeRows, trialRows } from './reference.cases.ts';
import { signFlip } from './sign-flip.ts';
import { incompleteBeta, logGamma, studentCritical, studentTwoSided } from './student-t.ts';
import { compareSurvival, kaplanMeier, pairTimes, restrictedMean, survivalBootstrap } from './survival.ts';
import { pairTrials } from './trials.ts';

const refuse = { kind: 'refuse' } as const;
const micro = { kind: 'micro' } as const;
const byCategory = { kind: 'macro', by: 'category' } as const;

/** Equal to 1e-9 of the expected value. */
function near(found: number | null, expected: number): void {
  expect(found).not.toBeNull();
  expect(Math.abs((found ?? 0) - expected)).toBeLessThanOrEqual(1e-9 * Math.max(Math.abs(expected), 1e-3));
}

const passes = pairTrials(trialRows('passed'), refuse);
const costs = pairTrials(trialRows('cost'), refuse);

describe(`exact tests beside ${scipy.program}`, () => {
  test.each(scipy.twoSidedCoin)('$fewer of $trials coins', ({ fewer, trials, p }) => {
    near(twoSided(fewer, trials), p);
  });

  test('sign flips of 16 continuous differences, all enumerated', () => {
    const first = new Set(items.slice(0, 16).map(({ item }) => item));
    const table = pairTrials(
      trialRows('cost').filter(({ item }) => first.has(item)),
      refuse,
    );
    const found = signFlip(blocksOf(table, micro), { seed: 1 });
    expect(found).toMatchObject({ method: 'exact', resamples: 65_536, itemsThatDiffer: 16 });
    near(found.p, scipy.signFlip.costOfFirst16.p);
  });

  test('swaps of 10 items under a ratio whose divisor is swapped too', () => {
    const chosen = new Set(scipy.signFlip.costPerPassOf10.items);
    const rows = trialRows('cost', 'passed').filter(({ item }) => chosen.has(item));
    const found = signFlip(blocksOf(pairTrials(rows, refuse), micro), { seed: 1 });
    expect(found).toMatchObject({ method: 'exact', resamples: 1024 });
    near(found.p, scipy.signFlip.costPerPassOf10.p);
  });

  test.each<[string, Estimand, number]>([
    ['micro', micro, scipy.signFlip.passesExact.p],
    ['macro by category', byCategory, scipy.signFlip.passesByCategoryExact.p],
  ])(
    '20,000 random flips of 27 items, %s, are within four standard errors of the exact p',
    (_, estimand, p) => {
      const found = signFlip(blocksOf(passes, estimand), { seed: 'registered' });
      expect(found).toMatchObject({ method: 'monte-carlo', resamples: 20_000, itemsThatDiffer: 27 });
      expect(Math.abs((found.p ?? 0) - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / 20_000));
      expect(found.pStandardError).toBeCloseTo(Math.sqrt((p * (1 - p)) / 20_000), 4);
    },
  );

  test('the paired t test', () => {
    const found = pairedDifference(itemNumbers(costs));
    for (const expected of [scipy.pairedT, r.pairedT]) {
      near(found.t, expected.t);
      near(found.p, expected.p);
      near(found.intervals[0]?.low ?? null, expected.low);
      near(found.intervals[0]?.high ?? null, expected.high);
    }
    near(found.median, r.pairedT.median);
  });

  test.each(scipy.logGamma)('log gamma of $x', ({ x, value }) => {
    near(logGamma(x), value);
  });

  test.each(scipy.incompleteBeta)('incomplete beta at $x of $a, $b', ({ x, a, b, value }) => {
    near(incompleteBeta(x, a, b), value);
  });
});

describe(`beside ${r.program}`, () => {
  test.each(r.studentTwoSided)('t of $t with $freedom degrees', ({ freedom, t, p }) => {
    expect(Math.abs(studentTwoSided(t, freedom) - p)).toBeLessThanOrEqual(1e-9 * p);
  });

  test.each(r.studentCritical)('critical t with $freedom degrees', ({ freedom, share, t }) => {
    near(studentCritical(share, freedom), t);
  });

  test("Holm's adjusted values", () => {
    const found = holm(r.holm.p.map((p, at) => ({ name: `m${at}`, p })));
    found.forEach(({ adjusted }, at) => {
      near(adjusted, r.holm.adjusted[at] ?? 0);
    });
  });

  test("McNemar's test", () => {
    const { controlOnly, treatmentOnly, p } = r.mcnemar;
    const table = pairTrials(
      Array.from({ length: controlOnly + treatmentOnly }, (_, at) =>
        (['control', 'treatment'] as const).map((side) => ({
          item: `q${at}`,
          side,
          repeat: 1,
          value: (side === 'control') === at < controlOnly ? 1 : 0,
        })),
      ).flat(),
      refuse,
    );
    near(mcNemar(table).p, p);
  });

  test.each(r.survival.curves)(
    'a curve up to $horizon',
    ({ time, finished, horizon, steps, mean, standardError }) => {
      const found = kaplanMeier(time.map((one, at) => ({ time: one, finished: finished[at] === 1 })));
      expect(found.length).toBe(steps.length);
      found.forEach((step, at) => {
        for (const [name, value] of Object.entries(step)) near(value, steps[at]?.[name] ?? Number.NaN);
      });
      const restricted = restrictedMean(found, horizon);
      near(restricted.mean, mean);
      near(restricted.standardError, standardError);
    },
  );

  test('restricted means of both arms', () => {
    const found = compareSurvival(pairTimes(timeRows(), refuse), 900);
    for (const side of ['control', 'treatment'] as const) {
      near(found.arms[side].restricted.mean, r.survival[side].mean);
      near(found.arms[side].restricted.standardError, r.survival[side].standardError);
    }
  });

  // Standard error of an end: sqrt(q (1 - q) / R) by the density there; 0.02 standard deviations at 20,000 and level 0.95.
  const sameInterval = (found: Bootstrap, expected: Booted, grid: number) => {
    near(found.estimate, expected.estimate);
    const error = 0.08 * expected.standardError + grid;
    expect(Math.abs((found.standardError ?? 0) / expected.standardError - 1)).toBeLessThan(0.03);
    found.intervals.forEach(({ level, low, high }, at) => {
      const other = expected.intervals[at];
      expect(level).toBe(other?.level);
      expect(Math.abs((low ?? Number.NaN) - (other?.low ?? 0))).toBeLessThanOrEqual(error);
      expect(Math.abs((high ?? Number.NaN) - (other?.high ?? 0))).toBeLessThanOrEqual(error);
    });
  };
  const options = { seed: 7, levels: [0.95, 0.9] };

  test('cluster bootstrap of micro and of macro inside categories', () => {
    const grid = 1 / 270;
    sameInterval(clusterBootstrap(blocksOf(passes, micro), options), r.boot.micro, grid);
    sameInterval(clusterBootstrap(blocksOf(passes, byCategory), options), r.boot.macroByCategory, grid);
  });

  test('cluster bootstrap of a relative change and of a ratio metric', () => {
    const relative = clusterBootstrap(blocksOf(costs, micro), { ...options, effect: 'relative' });
    sameInterval(relative, r.boot.relativeCost, 0);
    const perPass = blocksOf(pairTrials(trialRows('cost', 'passed'), refuse), micro);
    sameInterval(clusterBootstrap(perPass, options), r.boot.costPerPass, 0);
  });

  test('cluster bootstrap of restricted means, with timeouts at the end alone and with trials that leave early', () => {
    sameInterval(survivalBootstrap(pairTimes(timeRows(), refuse), 900, options), r.boot.restrictedMean, 0);
    const early = timeRows().map((row) =>
      row.repeat === 1 && (row.time ?? 0) > 500 ? { ...row, time: 500, finished: false } : row,
    );
    sameInterval(
      survivalBootstrap(pairTimes(early, refuse), 900, options),
      r.boot.restrictedMeanLeftEarly,
      0,
    );
  });

  test('power of a quantity is near that of the paired t test', () => {
    const { items: count, effect, deviation, power: expected } = r.powerOfT;
    const outcomes = { kind: 'quantity' as const, effect, deviation, noise: 0 };
    const found = power({ items: count, repeats: 1, outcomes, seed: 3, simulations: 2000 });
    expect(Math.abs(found.power - expected)).toBeLessThan(4 * found.standardError);
  });
});
