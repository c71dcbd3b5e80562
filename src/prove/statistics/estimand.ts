/** What is estimated: micro and macro rates of each arm and their difference, from one form that all resampling shares. */
import { StatisticsError } from './errors.ts';
import type { PairedItem, PairedSide, PairedTable } from './trials.ts';

/**
 * How trials become one number for each arm.
 * - `micro`: the sum of all values by the sum of all `per` (passes by trials). Every trial weighs the same;
 * - `macro`: the unweighted mean of the groups' own numbers, each computed like `micro` inside its group. `by` names the
 *   grouping; `'item'` makes each item a group of its own.
 * With equal repeats macro by item equals micro; over unequal groups the two differ, so the grouping is part of the name.
 * The unit is the metric's; of a ratio that of the value by that of `per`.
 * Source: Sebastiani, Machine Learning in Automated Text Categorization, ACM Computing Surveys 34, 2002, section 7.1 (micro and
 * macro averages); of ratios of sums Cochran, Sampling Techniques, 3rd ed. 1977, section 6.2.
 */
export type Estimand = { readonly kind: 'micro' } | { readonly kind: 'macro'; readonly by: string };

/**
 * Items as numbers, in strata. An arm's number is the mean over strata of top by bottom, both summed over the stratum:
 * micro has one stratum, macro one for each group. Macro by item is one stratum of rates over 1, because its items are
 * what is sampled.
 */
export interface Blocks {
  readonly estimand: Estimand;
  /** The name of each stratum: the groups, or `''`. */
  readonly strata: readonly string[];
  /** Stratum s holds the blocks from `starts[s]` to before `starts[s + 1]`. */
  readonly starts: Int32Array;
  readonly items: readonly string[];
  readonly controlTop: Float64Array;
  readonly controlBottom: Float64Array;
  readonly treatmentTop: Float64Array;
  readonly treatmentBottom: Float64Array;
}

/** Throws `statistics.unknown-group` where an item has no group of the named grouping. */
export function blocksOf(table: PairedTable, estimand: Estimand): Blocks {
  const grouped = new Map<string, PairedItem[]>();
  for (const item of table.items) {
    const group = groupOf(item, estimand);
    const list = grouped.get(group);
    if (list === undefined) grouped.set(group, [item]);
    else list.push(item);
  }
  const strata = [...grouped.keys()].sort((a, b) => (a < b ? -1 : 1));
  const items = strata.flatMap((name) => grouped.get(name) ?? []);
  const starts = new Int32Array(strata.length + 1);
  strata.forEach((name, at) => {
    starts[at + 1] = (starts[at] ?? 0) + (grouped.get(name)?.length ?? 0);
  });
  const asRate = estimand.kind === 'macro' && estimand.by === 'item';
  const column = (pick: (item: PairedItem) => PairedSide, part: 'top' | 'bottom') =>
    Float64Array.from(items, (item) => {
      const { values, per } = pick(item);
      const top = sum(values);
      const bottom = sum(per);
      if (asRate) return part === 'top' ? top / bottom : 1;
      return part === 'top' ? top : bottom;
    });
  return {
    estimand,
    strata,
    starts,
    items: items.map(({ item }) => item),
    controlTop: column((item) => item.control, 'top'),
    controlBottom: column((item) => item.control, 'bottom'),
    treatmentTop: column((item) => item.treatment, 'top'),
    treatmentBottom: column((item) => item.treatment, 'bottom'),
  };
}

function groupOf({ item, groups }: PairedItem, estimand: Estimand): string {
  if (estimand.kind === 'micro' || estimand.by === 'item') return '';
  const group = Object.hasOwn(groups, estimand.by) ? groups[estimand.by] : undefined;
  if (group !== undefined) return group;
  throw new StatisticsError(
    'statistics.unknown-group',
    `Expected a group of '${item}' in the grouping '${estimand.by}', found only ${JSON.stringify(groups)}.`,
    { next: `Give every item its '${estimand.by}', or use another grouping.` },
  );
}

/** The sum with what rounding loses carried along (Neumaier, 1974), so that ten tenths are 1 and no order matters. */
export function sum(values: Iterable<number>): number {
  let total = 0;
  let lost = 0;
  for (const value of values) {
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

/** The number of a group, an item or the whole, in the metric's unit; null where it would divide by 0. */
export interface ArmNumbers {
  readonly control: number | null;
  readonly treatment: number | null;
  /** Treatment minus control. */
  readonly difference: number | null;
  /** Treatment by control, minus 1: -0.276 is 27.6 % less. Null also where control is 0. */
  readonly relative: number | null;
}

export interface GroupNumbers extends ArmNumbers {
  readonly group: string;
  readonly items: number;
}

export interface Estimate extends ArmNumbers {
  readonly estimand: Estimand;
  readonly items: number;
  /** One row for each stratum of a named grouping; one row called `''` for micro and macro by item. */
  readonly groups: readonly GroupNumbers[];
}

/**
 * The estimate of both arms and of each group, by the definition of its estimand (`Estimand`, with its source): an arm's number
 * is the mean over strata of top by bottom, the difference is treatment minus control. In the metric's unit.
 */
export function estimate(blocks: Blocks): Estimate {
  const groups = blocks.strata.map((group, at): GroupNumbers => {
    const from = blocks.starts[at] ?? 0;
    const to = blocks.starts[at + 1] ?? 0;
    const part = (column: Float64Array) => sum(column.subarray(from, to));
    return {
      group,
      items: to - from,
      ...armNumbers(
        part(blocks.controlTop) / part(blocks.controlBottom),
        part(blocks.treatmentTop) / part(blocks.treatmentBottom),
      ),
    };
  });
  const mean = (side: 'control' | 'treatment') =>
    sum(groups.map((group) => group[side] ?? Number.NaN)) / groups.length;
  return {
    estimand: blocks.estimand,
    items: blocks.items.length,
    groups,
    ...armNumbers(mean('control'), mean('treatment')),
  };
}

/** Two numbers and what lies between them; what is not finite is null. */
export function armNumbers(control: number, treatment: number): ArmNumbers {
  return {
    control: finite(control),
    treatment: finite(treatment),
    difference: finite(treatment - control),
    relative: finite(treatment / control - 1),
  };
}

/** The number, or null where it is infinite or not a number. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** One item's numbers, as a dot or slope plot draws them. */
export interface ItemNumbers extends ArmNumbers {
  readonly item: string;
  readonly groups: Readonly<Record<string, string>>;
  /** Pairs of trials that are analysed. */
  readonly pairs: number;
}

/**
 * The numbers of every item, in the table's order: the sum of its values by the sum of its `per`, in the metric's unit; of
 * passes the item's rate. Defined as `Estimand` is, each item a group of its own.
 */
export function itemNumbers(table: PairedTable): ItemNumbers[] {
  return table.items.map(({ item, groups, control, treatment }) => ({
    item,
    groups,
    pairs: control.values.length,
    ...armNumbers(sum(control.values) / sum(control.per), sum(treatment.values) / sum(treatment.per)),
  }));
}

/** The error of an item of which an arm's number divides by 0. */
export function noNumber(item: string): StatisticsError {
  return new StatisticsError(
    'statistics.no-pairs',
    `Expected a number of '${item}' in both arms, found none.`,
    { next: 'Choose a metric that is defined for every item.' },
  );
}
