/** Matches trials into pairs by item and repeat, and does with missing ones what was registered. */
import { StatisticsError } from './errors.ts';

export type Side = 'control' | 'treatment';

/** What every row says of its trial. Rows are matched by `item` and `repeat`, never by their order. */
export interface TrialKey {
  /** The task. It is the block of the permutation test and the cluster of the bootstrap. */
  readonly item: string;
  readonly side: Side;
  /** Which repetition: `1` of the one arm is the partner of `1` of the other. */
  readonly repeat: number;
  /** Groupings by name, as `{ category: 'joins' }`. The same for all trials of an item. */
  readonly groups?: Readonly<Record<string, string>>;
}

/**
 * What an unknown value or an absent trial does, as registered before the first trial.
 * - `leave-pairs`: the trial and its partner of the other arm leave;
 * - `leave-items`: all trials of the item leave, in both arms;
 * - `count-as`: it counts as this value (0 for a failure); for times, as not finished by this time. Not for ratios;
 * - `refuse`: there is no analysis, and `statistics.unknown-value` is thrown.
 */
export type MissingPolicy =
  | { readonly kind: 'leave-pairs' }
  | { readonly kind: 'leave-items' }
  | { readonly kind: 'count-as'; readonly value: number }
  | { readonly kind: 'refuse' };

export interface MissingSide {
  /** Rows that were given. */
  readonly trials: number;
  /** Rows whose value is unknown. */
  readonly unknown: number;
  /** Trials that only the other arm has a row for. */
  readonly absent: number;
}

/** What was missing and what the policy did about it. Belongs beside every number of the analysis. */
export interface MissingReport {
  readonly policy: MissingPolicy;
  readonly control: MissingSide;
  readonly treatment: MissingSide;
  /** Pairs of which only this side was missing, or both: `signTest` of the first two shows an asymmetry of outages. */
  readonly onlyControl: number;
  readonly onlyTreatment: number;
  readonly both: number;
  /** Pairs that were taken out. */
  readonly pairsLeft: number;
  /** Items of which nothing remains, in order. */
  readonly itemsLeft: readonly string[];
  /** Trials that were given the value of `count-as`. */
  readonly countedAs: number;
}

export interface MatchedItem<Value> {
  readonly item: string;
  readonly groups: Readonly<Record<string, string>>;
  readonly control: readonly Value[];
  readonly treatment: readonly Value[];
}

/**
 * The matching, for values of any form: `isKnown` tells which are there, `filled` makes what `count-as` puts in place.
 * Items come in code unit order and repeats in number order, so that no result hangs on the order of the rows.
 * Throws `statistics.duplicate-trial`, `statistics.unknown-group`, `statistics.unknown-value`, `statistics.no-pairs`.
 */
export function matchPairs<Row extends TrialKey, Filled>(
  rows: readonly Row[],
  policy: MissingPolicy,
  isKnown: (row: Row) => boolean,
  filled: (value: number) => Filled,
): { readonly items: readonly MatchedItem<Row | Filled>[]; readonly missing: MissingReport } {
  const byItem = rowsByItem(rows);
  const tally = new Tally(policy);
  const items: MatchedItem<Row | Filled>[] = [];
  for (const [item, { groups, repeats }] of byItem) {
    const pairs = [...repeats].sort(([a], [b]) => a - b).map(([, pair]) => pair);
    const whole = pairs.map((pair) => tally.see(pair, isKnown));
    const kept = { control: [] as (Row | Filled)[], treatment: [] as (Row | Filled)[] };
    pairs.forEach((pair, at) => {
      if (policy.kind === 'refuse' && whole[at] !== true) throw unknownValue(item, pair, isKnown);
      if (policy.kind !== 'count-as' && !stays(policy, whole, at)) {
        tally.pairsLeft += 1;
        return;
      }
      for (const side of ['control', 'treatment'] as const) {
        const row = pair[side];
        if (row !== undefined && isKnown(row)) kept[side].push(row);
        else if (policy.kind === 'count-as') {
          kept[side].push(filled(policy.value));
          tally.countedAs += 1;
        }
      }
    });
    if (kept.control.length > 0) items.push({ item, groups, ...kept });
    else tally.itemsLeft.push(item);
  }
  if (items.length === 0) throw noPairs(byItem.length, rows.length);
  return { items, missing: tally.report() };
}

function stays(policy: MissingPolicy, whole: readonly boolean[], at: number): boolean {
  return policy.kind === 'leave-items' ? whole.every(Boolean) : whole[at] === true;
}

function noPairs(items: number, rows: number): StatisticsError {
  return new StatisticsError(
    'statistics.no-pairs',
    `Expected an item that both arms have tried, found none among ${items} items and ${rows} rows.`,
    { next: 'Look at what is missing: without pairs nothing can be compared.' },
  );
}

interface Pair<Row> {
  control?: Row;
  treatment?: Row;
}

interface ItemRows<Row> {
  readonly groups: Readonly<Record<string, string>>;
  readonly repeats: Map<number, Pair<Row>>;
}

function rowsByItem<Row extends TrialKey>(rows: readonly Row[]): [string, ItemRows<Row>][] {
  const byItem = new Map<string, ItemRows<Row>>();
  for (const row of rows) {
    let one = byItem.get(row.item);
    if (one === undefined) {
      one = { groups: row.groups ?? {}, repeats: new Map() };
      byItem.set(row.item, one);
    }
    checkGroups(row, one.groups);
    const pair = one.repeats.get(row.repeat) ?? {};
    if (pair[row.side] !== undefined) {
      throw new StatisticsError('statistics.duplicate-trial', `${nameOf(row)} has two rows; expected one.`, {
        next: 'Give each trial once; a trial that was run again replaces the first only if the rules said so before.',
      });
    }
    pair[row.side] = row;
    one.repeats.set(row.repeat, pair);
  }
  return [...byItem].sort(([a], [b]) => (a < b ? -1 : 1));
}

function checkGroups(row: TrialKey, groups: Readonly<Record<string, string>>): void {
  const own = Object.entries(row.groups ?? {});
  const same = own.length === Object.keys(groups).length && own.every(([name, one]) => groups[name] === one);
  if (same) return;
  throw new StatisticsError(
    'statistics.unknown-group',
    `Expected the same groups for all trials of '${row.item}', found ${JSON.stringify(groups)} and ${JSON.stringify(row.groups ?? {})}.`,
    { next: 'Give an item its groups once and for all.' },
  );
}

/** `item 'q1', treatment, repeat 3` */
export function nameOf(row: TrialKey): string {
  return `item '${row.item}', ${row.side}, repeat ${row.repeat}`;
}

function unknownValue<Row extends TrialKey>(item: string, pair: Pair<Row>, isKnown: (row: Row) => boolean) {
  const side = pair.control !== undefined && isKnown(pair.control) ? 'treatment' : 'control';
  const repeat = (pair.control ?? pair.treatment)?.repeat ?? 0;
  const found = pair[side] === undefined ? 'no trial' : 'an unknown value';
  return new StatisticsError(
    'statistics.unknown-value',
    `Expected a known value of ${nameOf({ item, side, repeat })}, found ${found}.`,
    { next: 'Find the value out, or register a policy for missing values before the first trial.' },
  );
}

class Tally {
  pairsLeft = 0;
  countedAs = 0;
  readonly itemsLeft: string[] = [];
  readonly #policy: MissingPolicy;
  readonly #sides = {
    control: { trials: 0, unknown: 0, absent: 0 },
    treatment: { trials: 0, unknown: 0, absent: 0 },
  };
  readonly #only = { control: 0, treatment: 0, both: 0 };

  constructor(policy: MissingPolicy) {
    this.#policy = policy;
  }

  /** Counts what is missing of a pair; true where nothing is. */
  see<Row>(pair: Pair<Row>, isKnown: (row: Row) => boolean): boolean {
    const missing = { control: false, treatment: false };
    for (const side of ['control', 'treatment'] as const) {
      const row = pair[side];
      const count = this.#sides[side];
      if (row === undefined) count.absent += 1;
      else {
        count.trials += 1;
        if (isKnown(row)) continue;
        count.unknown += 1;
      }
      missing[side] = true;
    }
    if (missing.control && missing.treatment) this.#only.both += 1;
    else if (missing.control) this.#only.control += 1;
    else if (missing.treatment) this.#only.treatment += 1;
    return !missing.control && !missing.treatment;
  }

  report(): MissingReport {
    return {
      policy: this.#policy,
      control: this.#sides.control,
      treatment: this.#sides.treatment,
      onlyControl: this.#only.control,
      onlyTreatment: this.#only.treatment,
      both: this.#only.both,
      pairsLeft: this.pairsLeft,
      itemsLeft: this.itemsLeft,
      countedAs: this.countedAs,
    };
  }
}
