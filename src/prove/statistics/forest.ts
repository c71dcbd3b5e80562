/** The rows of a forest plot: the effect in each group of a grouping, and over all items. */
import { type BootstrapOptions, clusterBootstrap, type Interval } from './bootstrap.ts';
import { type ArmNumbers, blocksOf, type Estimand, estimate } from './estimand.ts';
import type { PairedTable } from './trials.ts';

export interface ForestRow extends ArmNumbers {
  /** The group; `null` is the row of all items, the last one. */
  readonly group: string | null;
  readonly items: number;
  readonly pairs: number;
  /** Ends are null for a group of one item. */
  readonly interval: Interval;
}

/**
 * One row a group, each with its own cluster bootstrap over its items, and the whole under `estimand`. The rows of groups
 * are micro inside their group. They describe: no group was the registered question, and none is corrected for the
 * others. Estimates and intervals are those of `estimate` and `clusterBootstrap`, in the metric's unit. Source of the plot: Lewis
 * and Clarke, Forest plots, BMJ 322, 2001. Throws `statistics.unknown-group`, `statistics.bad-option`.
 */
export function forestRows(
  table: PairedTable,
  by: string,
  estimand: Estimand,
  options: BootstrapOptions,
): ForestRow[] {
  const level = options.levels?.[0] ?? 0.95;
  const row = (group: string | null, part: PairedTable, what: Estimand): ForestRow => {
    const blocks = blocksOf(part, what);
    const { control, treatment, difference, relative } = estimate(blocks);
    const [interval] = clusterBootstrap(blocks, { ...options, levels: [level] }).intervals;
    return {
      group,
      items: part.items.length,
      pairs: part.items.reduce((total, item) => total + item.control.values.length, 0),
      control,
      treatment,
      difference,
      relative,
      interval: interval ?? { level, low: null, high: null },
    };
  };
  const groups = blocksOf(table, { kind: 'macro', by }).strata;
  const partOf = (group: string): PairedTable => ({
    ...table,
    items: table.items.filter((item) => (by === 'item' ? item.item : item.groups[by]) === group),
  });
  const names = by === 'item' ? table.items.map(({ item }) => item) : groups;
  return [...names.map((group) => row(group, partOf(group), { kind: 'micro' })), row(null, table, estimand)];
}
