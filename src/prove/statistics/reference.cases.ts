/** The made-up experiment of `reference/`, as rows, and what SciPy and R compute from it. */
import { readFileSync } from 'node:fs';
import type { TimeRow } from './survival.ts';
import type { CountRow } from './totals.ts';
import type { TrialRow } from './trials.ts';

type Metric = 'passed' | 'seconds' | 'finished' | 'cost' | 'validate' | 'analyze' | 'execute' | 'generations';

interface ReferenceItem {
  readonly item: string;
  readonly category: string;
  readonly control: Readonly<Record<Metric, readonly number[]>>;
  readonly treatment: Readonly<Record<Metric, readonly number[]>>;
}

// A door of its own: the file is written by reference.py alone.
const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`./reference/${name}`, import.meta.url), 'utf8'));

export const items = read('data.json') as readonly ReferenceItem[];
export const scipy = read('scipy.json') as ScipyValues;
export const r = read('r.json') as RValues;

function rows<Row>(make: (item: ReferenceItem, side: 'control' | 'treatment', at: number) => Row): Row[] {
  return items.flatMap((item) =>
    (['control', 'treatment'] as const).flatMap((side) =>
      item[side].passed.map((_, at) => make(item, side, at)),
    ),
  );
}

const keyOf = ({ item, category }: ReferenceItem, side: 'control' | 'treatment', at: number) => ({
  item,
  side,
  repeat: at + 1,
  groups: { category },
});

/** One metric of all trials, by another where `per` is named. */
export function trialRows(metric: Metric, per?: Metric): TrialRow[] {
  return rows((item, side, at) => ({
    ...keyOf(item, side, at),
    value: item[side][metric][at] ?? null,
    ...(per === undefined ? {} : { per: item[side][per][at] ?? null }),
  }));
}

export function timeRows(): TimeRow[] {
  return rows((item, side, at) => ({
    ...keyOf(item, side, at),
    time: item[side].seconds[at] ?? null,
    finished: item[side].finished[at] === 1,
  }));
}

export function countRows(metric: Metric): CountRow[] {
  return rows((item, side, at) => ({ ...keyOf(item, side, at), count: item[side][metric][at] ?? null }));
}

interface ScipyValues {
  readonly program: string;
  readonly twoSidedCoin: readonly { readonly fewer: number; readonly trials: number; readonly p: number }[];
  readonly signFlip: {
    readonly costOfFirst16: { readonly p: number };
    readonly passesExact: { readonly p: number };
    readonly passesByCategoryExact: { readonly p: number };
    readonly costPerPassOf10: { readonly items: readonly string[]; readonly p: number };
  };
  readonly pairedT: { readonly t: number; readonly p: number; readonly low: number; readonly high: number };
  readonly logGamma: readonly { readonly x: number; readonly value: number }[];
  readonly incompleteBeta: readonly {
    readonly x: number;
    readonly a: number;
    readonly b: number;
    readonly value: number;
  }[];
}

export interface Booted {
  readonly estimate: number;
  readonly standardError: number;
  readonly intervals: readonly { readonly level: number; readonly low: number; readonly high: number }[];
}

interface RValues {
  readonly program: string;
  readonly boot: Readonly<
    Record<
      | 'micro'
      | 'macroByCategory'
      | 'relativeCost'
      | 'costPerPass'
      | 'restrictedMean'
      | 'restrictedMeanLeftEarly',
      Booted
    >
  >;
  readonly survival: {
    readonly control: { readonly mean: number; readonly standardError: number };
    readonly treatment: { readonly mean: number; readonly standardError: number };
    readonly curves: readonly {
      readonly time: readonly number[];
      readonly finished: readonly number[];
      readonly horizon: number;
      readonly steps: readonly Readonly<Record<string, number>>[];
      readonly mean: number;
      readonly standardError: number;
    }[];
  };
  readonly pairedT: Readonly<Record<'t' | 'p' | 'low' | 'high' | 'median', number>>;
  readonly studentTwoSided: readonly { readonly freedom: number; readonly t: number; readonly p: number }[];
  readonly studentCritical: readonly {
    readonly freedom: number;
    readonly share: number;
    readonly t: number;
  }[];
  readonly holm: { readonly p: readonly number[]; readonly adjusted: readonly number[] };
  readonly mcnemar: { readonly controlOnly: number; readonly treatmentOnly: number; readonly p: number };
  readonly powerOfT: Readonly<Record<'items' | 'effect' | 'deviation' | 'power', number>>;
}
