/** The registered analysis: from the published table of trials to numbers, and nothing that was not said before. */
import { ProveError } from './errors.ts';
import { type MetricRecord, metricValue, unitOf } from './metric.ts';
import { planTrials } from './plan.ts';
import type { Registration } from './registration.ts';
import { countsOf, type SideCounts } from './side-counts.ts';
import { type BlockBootstrap, type Bootstrap, clusterBootstrap } from './statistics/bootstrap.ts';
import { blocksOf, type Estimate, estimate, type ItemNumbers, itemNumbers } from './statistics/estimand.ts';
import { type McNemar, mcNemar, type SignTest, signTest, signTestOfItems } from './statistics/exact-tests.ts';
import { type ForestRow, forestRows } from './statistics/forest.ts';
import { holm } from './statistics/holm.ts';
import {
  equivalence,
  hull,
  type MarginAnswer,
  nonInferiority,
  type Superiority,
  superiority,
} from './statistics/margin.ts';
import { type PairedDifference, pairedDifference } from './statistics/paired-difference.ts';
import { type SignFlip, signFlip } from './statistics/sign-flip.ts';
import {
  compareSurvival,
  pairTimes,
  type SurvivalComparison,
  survivalBootstrap,
} from './statistics/survival.ts';
import { type ArmTotals, armTotals, type ManipulationCheck, manipulationCheck } from './statistics/totals.ts';
import {
  type MissingReport,
  type PairedTable,
  type TrialRow as PairingRow,
  pairTrials,
  type Side,
} from './statistics/trials.ts';
import { isResult, keyOf, type TrialRow } from './trial.ts';

/** All numbers of one metric. Null where no pair is left to compare. */
export interface MetricAnalysis {
  readonly metric: string;
  readonly per: string | null;
  readonly unit: string;
  readonly role: 'primary' | 'secondary';
  readonly better: 'higher' | 'lower';
  readonly estimate: Estimate;
  /** The effect treatment minus control, with intervals of 1 - alpha and, for margins, 1 - 2 alpha. */
  readonly bootstrap: BlockBootstrap | Bootstrap;
  readonly signFlip: SignFlip;
  readonly signTest: SignTest | null;
  /** One difference an item, and the t test: null of a ratio, and where a macro estimand weighs groups. */
  readonly paired: PairedDifference | null;
  /** Where an item has one pair, and passes or not. */
  readonly mcNemar: McNemar | null;
  readonly superiority: Superiority;
  /** By the interval that holds the bootstrap's and, where there is one, the t interval. */
  readonly margin: MarginAnswer | null;
  /** Of a secondary metric: p corrected by Holm over all of them. */
  readonly adjustedP: number | null;
  readonly missing: MissingReport;
}

export interface Analysis {
  readonly trials: number;
  readonly complete: boolean;
  readonly arms: { readonly control: SideCounts; readonly treatment: SideCounts };
  /** Pairs that an outage, an invalid or a missing trial took away, and their share of all. */
  readonly lost: {
    readonly pairs: number;
    readonly of: number;
    readonly share: number;
    readonly limit: number;
  };
  /** Whether outages met one arm more: the sign test of pairs that only one arm lost. */
  readonly asymmetry: SignTest;
  readonly manipulation: ManipulationCheck | null;
  readonly metrics: readonly (MetricAnalysis | UnknownMetric)[];
  /** The primary metric by item and by grouping, and the totals of all calls: they describe, and decide nothing. */
  readonly items: readonly ItemNumbers[];
  readonly forests: Readonly<Record<string, readonly ForestRow[]>>;
  readonly survival: SurvivalComparison | null;
  readonly calls: Readonly<Record<string, ArmTotals>>;
}

/** A metric of which nothing can be said. */
export interface UnknownMetric {
  readonly metric: string;
  readonly per: string | null;
  readonly unit: string;
  readonly role: 'primary' | 'secondary';
  readonly reason: string;
}

const leavePairs = { kind: 'leave-pairs' } as const;

/**
 * Computes everything from the registration and the rows. Equal inputs give equal numbers, bit for bit. Throws
 * `prove.mixed-graders` where grades of different graders would be compared.
 */
export function analyse(registration: Registration, rows: readonly TrialRow[]): Analysis {
  mustBeOneGrader(rows);
  const plan = planTrials(registration);
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  const planned = plan.flatMap((trial) => byKey.get(keyOf(trial)) ?? []);
  const results = planned.filter(isResult);
  const { primary, secondary } = registration;
  const metrics = adjusted(
    [
      ...(primary === null ? [] : [metricAnalysis(registration, planned, primary, 'primary')]),
      ...secondary.map((metric) => metricAnalysis(registration, planned, metric, 'secondary')),
    ],
    registration.alpha,
  );
  const pairs = standingPairs(registration, byKey);
  const shown = primary ?? secondary[0] ?? scoreAlone;
  const table = tableOf(planned, shown, registration.horizonMs);
  return {
    trials: plan.length,
    complete:
      planned.length === plan.length &&
      planned.every((row) => row.outcome !== 'answered' || row.grader !== null),
    arms: { control: countsOf(plan, planned, 'control'), treatment: countsOf(plan, planned, 'treatment') },
    lost: lostOf(pairs, registration.errors.limit),
    asymmetry: asymmetryOf(pairs),
    manipulation:
      registration.manipulation === null ? null : manipulationOf(registration.manipulation, results),
    metrics,
    items: table === undefined ? [] : itemNumbers(table),
    forests: table === undefined ? {} : forestsOf(registration, table, shown),
    survival: survivalOf(registration, results),
    calls: callsOf(results),
  };
}

const scoreAlone: MetricRecord = {
  metric: 'score',
  per: null,
  values: 'binary',
  estimand: { kind: 'micro' },
  better: 'higher',
  margin: null,
  question: 'difference',
};

function mustBeOneGrader(rows: readonly TrialRow[]): void {
  const graders = [...new Set(rows.flatMap(({ grader }) => grader ?? []))];
  if (graders.length < 2) return;
  throw new ProveError(
    'prove.mixed-graders',
    `All trials should be graded by one grader, found ${graders.map((one) => one.slice(0, 12)).join(' and ')}.`,
    { next: 'Grade all trials by the registered grader: writ experiment run FILE.', details: { graders } },
  );
}

function keyed(row: TrialRow) {
  const { item, side, repeat, groups } = row;
  return { item, side, repeat, groups };
}

function rowsOf(
  planned: readonly TrialRow[],
  { metric, per }: MetricRecord,
  horizonMs: number | null,
): readonly PairingRow[] {
  const value = (row: TrialRow, name: string) =>
    name === 'timeMs' && horizonMs !== null && isResult(row)
      ? restrictedTime(row, horizonMs)
      : metricValue(row, name);
  return planned.map((row) => ({
    ...keyed(row),
    value: value(row, metric),
    ...(per === null ? {} : { per: value(row, per) }),
  }));
}

/** Undefined where no pair is left. */
function tableOf(
  planned: readonly TrialRow[],
  metric: MetricRecord,
  horizonMs: number | null,
): PairedTable | undefined {
  const rows = rowsOf(planned, metric, horizonMs);
  const known = rows.filter(({ value, per }) => value !== null && per !== null);
  return holdsPair(known) ? pairTrials(rows, leavePairs) : undefined;
}

/** Whether both arms of any pair are among rows of which each trial has one at most. */
function holdsPair(rows: readonly Pick<TrialRow, 'item' | 'repeat'>[]): boolean {
  return new Set(rows.map(({ item, repeat }) => `${repeat} ${item}`)).size < rows.length;
}

function metricAnalysis(
  registration: Registration,
  planned: readonly TrialRow[],
  metric: MetricRecord,
  role: 'primary' | 'secondary',
): MetricAnalysis | UnknownMetric {
  const { alpha, horizonMs, seed, resamples } = registration;
  const head = { metric: metric.metric, per: metric.per, unit: unitOf(metric.metric), role };
  const table = tableOf(planned, metric, horizonMs);
  if (table === undefined) return { ...head, reason: 'no pair has a known value in both arms' };
  const blocks = blocksOf(table, metric.estimand);
  const levels = [1 - alpha, 1 - 2 * alpha];
  const options = { seed: `${seed} ${metric.metric} ${metric.per ?? ''}`, resamples, levels };
  const timed =
    metric.metric === 'timeMs' &&
    metric.per === null &&
    metric.estimand.kind === 'micro' &&
    horizonMs !== null;
  const bootstrap = timed
    ? survivalBootstrap(
        pairTimes(timesOf(planned.filter(isResult), horizonMs), leavePairs),
        horizonMs,
        options,
      )
    : clusterBootstrap(blocks, options);
  const [wide = unknownInterval(levels[0]), narrow = unknownInterval(levels[1])] = bootstrap.intervals;
  const items = itemNumbers(table);
  const { better, margin, question, estimand, values } = metric;
  const alike = values !== 'ratio' && (estimand.kind === 'micro' || estimand.by === 'item');
  const paired = alike ? pairedDifference(items, levels) : null;
  const own = paired?.intervals[1];
  const inside = own === undefined ? narrow : hull(narrow, own);
  return {
    ...head,
    better,
    estimate: estimate(blocks),
    bootstrap,
    signFlip: signFlip(blocks, options),
    signTest: items.every((one) => one.difference !== null) ? signTestOfItems(items, better) : null,
    paired,
    mcNemar: isBinaryPairs(table) ? mcNemar(table) : null,
    superiority: superiority(wide, better),
    margin:
      margin === null
        ? null
        : question === 'equivalence'
          ? equivalence(inside, { margin, alpha })
          : nonInferiority(inside, { margin, alpha, better }),
    adjustedP: null,
    missing: table.missing,
  };
}

function unknownInterval(level = 0.95) {
  return { level, low: null, high: null };
}

function isBinaryPairs({ items, ratio }: PairedTable): boolean {
  const binary = (values: readonly number[]) =>
    values.length === 1 && values.every((value) => value === 0 || value === 1);
  return (
    !ratio && items.every(({ control, treatment }) => binary(control.values) && binary(treatment.values))
  );
}

// The primary metric is alone in its family: it was named before. All others are one family, the ones nobody mentions too.
function adjusted(metrics: readonly (MetricAnalysis | UnknownMetric)[], alpha: number) {
  const family = metrics.filter(({ role }) => role === 'secondary');
  const rows = holm(
    family.map((one) => ({ name: one.metric, p: 'reason' in one ? null : one.signFlip.p })),
    alpha,
  );
  return metrics.map((one) => {
    const at = family.indexOf(one);
    return 'reason' in one || at < 0 ? one : { ...one, adjustedP: rows[at]?.adjusted ?? null };
  });
}

/** The time of a result, at most the horizon, which is also the time of one that ran out of it. */
function restrictedTime({ timeMs, finished }: TrialRow, horizonMs: number): number {
  return finished ? Math.min(timeMs, horizonMs) : horizonMs;
}

function timesOf(results: readonly TrialRow[], horizonMs: number) {
  return results.map((row) => ({
    ...keyed(row),
    time: restrictedTime(row, horizonMs),
    finished: row.finished && row.timeMs < horizonMs,
  }));
}

function survivalOf({ horizonMs }: Registration, results: readonly TrialRow[]): SurvivalComparison | null {
  const longest = results.reduce((most, row) => Math.max(most, row.timeMs), 1);
  const horizon = horizonMs ?? longest + 1;
  return holdsPair(results)
    ? compareSurvival(pairTimes(timesOf(results, horizon), leavePairs), horizon)
    : null;
}

function forestsOf(
  { items, seed, resamples, alpha }: Registration,
  table: PairedTable,
  metric: MetricRecord,
): Readonly<Record<string, readonly ForestRow[]>> {
  const names = Object.keys(items[0]?.groups ?? {}).filter((name) =>
    items.every(({ groups }) => Object.hasOwn(groups, name)),
  );
  return Object.fromEntries(
    names.sort().map((name) => [
      name,
      forestRows(table, name, metric.estimand, {
        seed: `${seed} forest ${name}`,
        resamples,
        levels: [1 - alpha],
      }),
    ]),
  );
}

function manipulationOf(
  { calls, zeroIn, shareLeast }: NonNullable<Registration['manipulation']>,
  results: readonly TrialRow[],
): ManipulationCheck {
  const rows = results.map((row) => ({ ...keyed(row), count: row.calls[calls] ?? 0 }));
  return manipulationCheck(rows, { zeroIn, ...(shareLeast === null ? {} : { shareLeast }) });
}

function callsOf(results: readonly TrialRow[]): Readonly<Record<string, ArmTotals>> {
  const tools = [...new Set(results.flatMap((row) => Object.keys(row.calls)))].sort();
  return Object.fromEntries(
    tools.map((tool) => [
      tool,
      armTotals(results.map((row) => ({ ...keyed(row), count: row.calls[tool] ?? 0 }))),
    ]),
  );
}

/** Whether the trial at this place is a result that can be compared. */
function stands(byKey: ReadonlyMap<string, TrialRow>, item: string, side: Side, repeat: number): boolean {
  const row = byKey.get(keyOf({ item, side, repeat }));
  return row !== undefined && isResult(row) && (row.outcome === 'agent-failure' || row.score !== null);
}

/** Of each planned pair whether either trial is a result that can be compared. */
function standingPairs({ items, repeats }: Registration, byKey: ReadonlyMap<string, TrialRow>) {
  return items.flatMap(({ id: item }) =>
    Array.from({ length: repeats }, (_, at) => ({
      control: stands(byKey, item, 'control', at + 1),
      treatment: stands(byKey, item, 'treatment', at + 1),
    })),
  );
}

type StandingPairs = ReturnType<typeof standingPairs>;

function lostOf(pairs: StandingPairs, limit: number): Analysis['lost'] {
  const lost = pairs.filter(({ control, treatment }) => !control || !treatment).length;
  return { pairs: lost, of: pairs.length, share: lost / pairs.length, limit };
}

function asymmetryOf(pairs: StandingPairs): SignTest {
  const onlyControl = pairs.filter(({ control, treatment }) => !control && treatment).length;
  const onlyTreatment = pairs.filter(({ control, treatment }) => control && !treatment).length;
  return signTest(onlyControl, onlyTreatment, pairs.length - onlyControl - onlyTreatment);
}
