/** Trials as rows with one value each, and the table of pairs that all analyses of such values start from. */
import { StatisticsError } from './errors.ts';
import { type MissingPolicy, type MissingReport, matchPairs, nameOf, type TrialKey } from './pairing.ts';

export type { MissingPolicy, MissingReport, MissingSide, Side, TrialKey } from './pairing.ts';

export interface TrialRow extends TrialKey {
  /** 1 or 0 for passed or not, or a quantity in the metric's unit; null where it is unknown. */
  readonly value: number | null;
  /** What the value is divided by, for ratio metrics (cost *per* passed task); absent counts as 1, null is unknown. */
  readonly per?: number | null;
}

/** The trials of one item in one arm; `values[i]` and `per[i]` belong together. */
export interface PairedSide {
  readonly values: readonly number[];
  readonly per: readonly number[];
}

export interface PairedItem {
  readonly item: string;
  readonly groups: Readonly<Record<string, string>>;
  readonly control: PairedSide;
  readonly treatment: PairedSide;
}

/** The trials that are analysed: items in code unit order, in each the same repeats of both arms. */
export interface PairedTable {
  readonly items: readonly PairedItem[];
  /** True where any row has a `per`. */
  readonly ratio: boolean;
  readonly missing: MissingReport;
}

/**
 * Matches rows into pairs and applies the policy. The result does not depend on the order of the rows.
 * Throws `statistics.bad-value`, `statistics.duplicate-trial`, `statistics.unknown-group`, `statistics.unknown-value`,
 * `statistics.no-pairs`, and `statistics.bad-option` for `count-as` on a ratio.
 */
export function pairTrials(rows: readonly TrialRow[], policy: MissingPolicy): PairedTable {
  const ratio = rows.some((row) => row.per !== undefined);
  if (policy.kind === 'count-as') checkCountAs(policy.value, ratio);
  for (const row of rows) checkRow(row);
  const matched = matchPairs(
    rows,
    policy,
    (row) => row.value !== null && row.per !== null,
    (value) => ({ value, per: 1 }),
  );
  const side = (list: readonly { readonly value: number | null; readonly per?: number | null }[]) => ({
    values: list.map((row) => row.value ?? 0),
    per: list.map((row) => row.per ?? 1),
  });
  return {
    items: matched.items.map(({ item, groups, control, treatment }) => ({
      item,
      groups,
      control: side(control),
      treatment: side(treatment),
    })),
    ratio,
    missing: matched.missing,
  };
}

function checkCountAs(value: number, ratio: boolean): void {
  if (ratio) {
    throw new StatisticsError(
      'statistics.bad-option',
      'A ratio metric cannot count a missing trial as a value: expected a policy that leaves or refuses, found count-as.',
      { next: 'Use the policy leave-pairs.' },
    );
  }
  if (!Number.isFinite(value)) {
    throw new StatisticsError('statistics.bad-option', `count-as: expected a finite number, found ${value}.`);
  }
}

function checkRow(row: TrialRow): void {
  const wrong =
    row.value !== null && !Number.isFinite(row.value)
      ? `a finite number or null as value, found ${row.value}`
      : row.per !== undefined && row.per !== null && !(Number.isFinite(row.per) && row.per >= 0)
        ? `a finite number of 0 or more, or null, as per, found ${row.per}`
        : undefined;
  if (wrong !== undefined) {
    throw new StatisticsError('statistics.bad-value', `${nameOf(row)}: expected ${wrong}.`, {
      next: 'Write null for what is not known.',
    });
  }
}
