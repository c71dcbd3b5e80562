/** Exact tests of paired counts: the sign test with its ties, and McNemar's. */
import { StatisticsError } from './errors.ts';
import { type ItemNumbers, noNumber } from './estimand.ts';
import { checkCount } from './options.ts';
import type { PairedTable } from './trials.ts';

export interface SignTest {
  readonly test: 'sign';
  /** Items on which the treatment has the higher number. */
  readonly better: number;
  readonly worse: number;
  /** Items on which both arms have the same number. They leave the test and stay in the report. */
  readonly ties: number;
  /** Two-sided. */
  readonly p: number;
  /** The smallest p that as many items without ties could have given. */
  readonly smallestP: number;
}

/**
 * Exact two-sided sign test at 1/2: twice the probability of at least max(better, worse) of better + worse, at most 1.
 * Source: Conover, Practical Nonparametric Statistics, 3rd ed. 1999, section 3.4.
 * Throws `statistics.bad-option`.
 */
export function signTest(better: number, worse: number, ties: number): SignTest {
  checkCount('better', better, 0);
  checkCount('worse', worse, 0);
  checkCount('ties', ties, 0);
  const decided = better + worse;
  return {
    test: 'sign',
    better,
    worse,
    ties,
    p: twoSided(Math.min(better, worse), decided),
    smallestP: twoSided(0, decided),
  };
}

/** The sign test over the items' differences. `statistics.no-pairs` where an item has no number because it divides by 0. */
export function signTestOfItems(
  items: readonly ItemNumbers[],
  better: 'higher' | 'lower' = 'higher',
): SignTest {
  const counts = { higher: 0, lower: 0, same: 0 };
  for (const { item, control, treatment } of items) {
    if (control === null || treatment === null) throw noNumber(item);
    // The same share reached over different numbers of trials is a tie, though its last digit may differ.
    const near = 1e-12 * Math.max(Math.abs(control), Math.abs(treatment));
    if (Math.abs(treatment - control) <= near) counts.same += 1;
    else counts[treatment > control ? 'higher' : 'lower'] += 1;
  }
  const worse = better === 'higher' ? 'lower' : 'higher';
  return signTest(counts[better], counts[worse], counts.same);
}

export interface McNemar {
  readonly test: 'mcnemar';
  readonly bothPass: number;
  readonly controlOnly: number;
  readonly treatmentOnly: number;
  readonly neitherPass: number;
  /** Two-sided, exact. */
  readonly p: number;
  readonly smallestP: number;
}

/**
 * Exact McNemar test of one pair an item: the pairs that disagree are a fair coin under the null.
 * Source: McNemar, Psychometrika 12, 1947; exact form in Agresti, Categorical Data Analysis, 3rd ed. 2013, section 11.1.
 * Several pairs of one item are not independent, and this test does not know: `statistics.dependent-pairs`, use the
 * sign-flip test. Throws `statistics.bad-value` for values other than 0 and 1.
 */
export function mcNemar(table: PairedTable): McNemar {
  const counts = { both: 0, control: 0, treatment: 0, neither: 0 };
  for (const { item, control, treatment } of table.items) {
    if (control.values.length !== 1) {
      throw new StatisticsError(
        'statistics.dependent-pairs',
        `McNemar's test takes one pair an item; expected 1 of '${item}', found ${control.values.length}.`,
        { next: 'Use the sign-flip test, which keeps the repeats of an item together.' },
      );
    }
    const one = passed(item, control.values[0]);
    const other = passed(item, treatment.values[0]);
    counts[one ? (other ? 'both' : 'control') : other ? 'treatment' : 'neither'] += 1;
  }
  const disagree = counts.control + counts.treatment;
  return {
    test: 'mcnemar',
    bothPass: counts.both,
    controlOnly: counts.control,
    treatmentOnly: counts.treatment,
    neitherPass: counts.neither,
    p: twoSided(Math.min(counts.control, counts.treatment), disagree),
    smallestP: twoSided(0, table.items.length),
  };
}

function passed(item: string, value: number | undefined): boolean {
  if (value === 0 || value === 1) return value === 1;
  throw new StatisticsError('statistics.bad-value', `'${item}': expected 0 or 1, found ${value}.`, {
    next: 'Use a test of quantities, or grade trials as passed or not.',
  });
}

/** Twice P(X <= fewer) for X of `trials` fair coins, at most 1. Whole numbers until one division. */
export function twoSided(fewer: number, trials: number): number {
  let term = 1n;
  let tail = 1n;
  for (let heads = 1; heads <= fewer; heads += 1) {
    term = (term * BigInt(trials - heads + 1)) / BigInt(heads);
    tail += term;
  }
  return Math.min(1, ratio(2n * tail, BigInt(trials)));
}

/** `top` by 2^`power` as the nearest number; below the smallest one it is 0. */
function ratio(top: bigint, power: bigint): number {
  // 64 significant bits are more than a number keeps; what is cut off is below its last digit.
  const surplus = BigInt(Math.max(0, top.toString(16).length * 4 - 64));
  return Number(top >> surplus) * 2 ** Number(surplus - power);
}
