/** Margins and power beside R: two one-sided t tests to 1e-9, resampled margins and simulated power within their error. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { clusterBootstrap } from './bootstrap.ts';
import { blocksOf, itemNumbers } from './estimand.ts';
import { equivalence, hull, nonInferiority } from './margin.ts';
import type { Outcomes } from './outcomes.ts';
import { pairedDifference } from './paired-difference.ts';
import { type PowerDesign, power } from './power.ts';
import { r, trialRows } from './reference.cases.ts';
import { pairTrials } from './trials.ts';

type Normal = Readonly<Record<'items' | 'effect' | 'deviation' | 'margin' | 'power', number>>;

// A door of its own: the file is written by margins.R alone.
const reference = JSON.parse(readFileSync(new URL('./reference/margins.json', import.meta.url), 'utf8')) as {
  readonly program: string;
  readonly alpha: number;
  readonly tost: readonly {
    readonly metric: 'cost' | 'passed' | 'generations';
    readonly low: number;
    readonly high: number;
    /** The margins at which p is alpha: of equivalence, and of a treatment that is lower, or higher, by less. */
    readonly equivalence: number;
    readonly noLess: number;
    readonly noMore: number;
  }[];
  readonly power: {
    readonly nonInferiority: readonly Normal[];
    readonly equivalence: readonly Normal[];
    readonly passesNoWorse: Readonly<
      Record<'items' | 'repeats' | 'rate' | 'deviation' | 'margin' | 'power', number>
    >;
    readonly mcnemar: Readonly<Record<'items' | 'rate' | 'effect' | 'power', number>>;
  };
};

const micro = { kind: 'micro' } as const;
const tableOf = (metric: 'cost' | 'passed' | 'generations') =>
  pairTrials(trialRows(metric), { kind: 'refuse' });

describe(`two one-sided tests beside ${reference.program}`, () => {
  const { alpha } = reference;
  /** Shown just above the margin at which R's p is alpha, and not just below it. */
  const turnsAt = (margin: number, verdict: (margin: number) => string) => {
    // A margin is above 0: where R's p is below alpha at 0 already, every margin is shown.
    if (margin <= 0) expect(verdict(1e-12)).toBe('shown');
    else {
      expect(verdict(margin * (1 + 1e-9))).toBe('shown');
      expect(verdict(margin * (1 - 1e-9))).toBe('not-shown');
    }
  };

  test.each(reference.tost)('by t, of $metric', ({ metric, low, high, ...turn }) => {
    const [interval] = pairedDifference(itemNumbers(tableOf(metric)), [1 - 2 * alpha]).intervals;
    if (interval === undefined) throw new Error('one level was asked for');
    expect(Math.abs((interval.low ?? 0) / low - 1)).toBeLessThan(1e-9);
    expect(Math.abs((interval.high ?? 0) / high - 1)).toBeLessThan(1e-9);
    turnsAt(turn.equivalence, (margin) => equivalence(interval, { margin, alpha }).verdict);
    turnsAt(turn.noLess, (margin) => nonInferiority(interval, { margin, alpha, better: 'higher' }).verdict);
    turnsAt(turn.noMore, (margin) => nonInferiority(interval, { margin, alpha, better: 'lower' }).verdict);
  });

  test('by the bootstrap, within the error of resampling', () => {
    const expected = r.boot.micro.intervals.find(({ level }) => level === 0.9);
    const options = { seed: 'registered', levels: [0.9] };
    const [interval] = clusterBootstrap(blocksOf(tableOf('passed'), micro), options).intervals;
    if (interval === undefined || expected === undefined) throw new Error('both have that level');
    const error = 0.08 * r.boot.micro.standardError + 1 / 270;
    const margin = Math.max(-expected.low, expected.high);
    expect(equivalence(interval, { margin: margin + error }).verdict).toBe('shown');
    expect(equivalence(interval, { margin: margin - error }).verdict).toBe('not-shown');
    expect(nonInferiority(interval, { margin: error - expected.low }).verdict).toBe('shown');
    expect(nonInferiority(interval, { margin: -expected.low - error }).verdict).toBe('not-shown');
  });

  test('of two intervals the hull, and nothing where an end is unknown', () => {
    const one = { level: 0.9, low: -1, high: 2 };
    expect(hull(one, { level: 0.9, low: -2, high: 1 })).toEqual({ level: 0.9, low: -2, high: 2 });
    expect(hull(one, { level: 0.9, low: null, high: 3 })).toEqual({ level: 0.9, low: null, high: 3 });
    expect(hull({ ...one, high: null }, one)).toEqual({ level: 0.9, low: -1, high: null });
  });
});

describe(`power beside ${reference.program}`, () => {
  const simulations = 1000;
  const found = (design: Omit<PowerDesign, 'seed' | 'simulations' | 'repeats'> & { repeats?: number }) =>
    power({ repeats: 1, ...design, seed: 'power', simulations });
  const near = (one: ReturnType<typeof found>, expected: number) =>
    expect(Math.abs(one.power - expected)).toBeLessThan(3.5 * one.standardError);
  const normal = ({ effect, deviation }: Normal): Outcomes => ({
    kind: 'quantity',
    effect,
    deviation,
    noise: 0,
  });

  test.each(reference.power.nonInferiority)('non-inferiority of $items items within $margin', (design) => {
    const { items, margin } = design;
    const question = { kind: 'non-inferiority', margin } as const;
    near(found({ items, outcomes: normal(design), question }), design.power);
  });

  test('non-inferiority where less is better is the same the other way round', () => {
    const [design] = reference.power.nonInferiority.slice(1);
    if (design === undefined) throw new Error('margins.json has three of them');
    const outcomes = normal({ ...design, effect: -design.effect });
    const question = { kind: 'non-inferiority', margin: design.margin, better: 'lower' } as const;
    near(found({ items: design.items, outcomes, question }), design.power);
  });

  test.each(reference.power.equivalence)('equivalence of $items items within $margin', (design) => {
    const { items, margin } = design;
    near(found({ items, outcomes: normal(design), question: { kind: 'equivalence', margin } }), design.power);
  });

  test('non-inferiority of passes, by the deviation that rates and repeats make', () => {
    const { items, repeats, rate, deviation, margin, power: expected } = reference.power.passesNoWorse;
    const outcomes: Outcomes = { kind: 'binary', rate, deviation, effect: 0 };
    near(found({ items, repeats, outcomes, question: { kind: 'non-inferiority', margin } }), expected);
  });

  test("a difference of passes, one pair an item: McNemar's exact test over all tables", () => {
    const { items, rate, effect, power: expected } = reference.power.mcnemar;
    near(found({ items, outcomes: { kind: 'binary', rate, deviation: 0, effect } }), expected);
  });

  test('groups of unequal size, each of the same weight, find less than items of the same weight', () => {
    const outcomes: Outcomes = { kind: 'quantity', effect: 0.4, deviation: 1, noise: 0 };
    const alike = found({ items: 60, outcomes });
    expect(alike.power - found({ items: 60, outcomes, groups: [54, 6] }).power).toBeGreaterThan(0.2);
    const margin = { kind: 'equivalence', margin: 0.5 } as const;
    // A group of one item has no interval, and so no margin is ever shown.
    expect(found({ items: 60, outcomes, groups: [59, 1], question: margin }).power).toBe(0);
    expect(() => found({ items: 60, outcomes, groups: [30, 31] })).toThrow(
      expect.objectContaining({ code: 'statistics.bad-option' }),
    );
  });

  test('at the margin itself it is no more than alpha, also of few items', () => {
    const outcomes: Outcomes = { kind: 'quantity', effect: 0.5, deviation: 0.5, noise: 0 };
    const question = { kind: 'equivalence', margin: 0.5 } as const;
    expect(found({ items: 8, outcomes, question }).power).toBeLessThan(
      0.05 + 3 * Math.sqrt(0.0475 / simulations),
    );
  });
});
