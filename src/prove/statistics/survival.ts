/** Time until a trial is finished, with timeouts: Kaplan-Meier curves, restricted means, and the difference of the arms. */
import { type Bootstrap, type BootstrapOptions, batchSize, effectOf, summarise } from './bootstrap.ts';
import { StatisticsError } from './errors.ts';
import { type ArmNumbers, armNumbers } from './estimand.ts';
import { stream } from './generator.ts';
import { badOption, checkResamples, resamplesLeast } from './options.ts';
import { type MissingPolicy, type MissingReport, matchPairs, nameOf, type TrialKey } from './pairing.ts';

/** One trial's time. Unit: any, the same everywhere; the report's is milliseconds. */
export interface TimeRow extends TrialKey {
  /** When it finished, or how long it was watched without finishing; null where unknown. */
  readonly time: number | null;
  /** False for a timeout or another end before the trial could finish: the time is then only a lower bound. */
  readonly finished: boolean;
}

export interface TimedTrial {
  readonly time: number;
  readonly finished: boolean;
}

export interface TimedItem {
  readonly item: string;
  readonly control: readonly TimedTrial[];
  readonly treatment: readonly TimedTrial[];
}

export interface TimedTable {
  readonly items: readonly TimedItem[];
  readonly missing: MissingReport;
}

/**
 * Matches times into pairs, like `pairTrials`. Under `count-as` a missing trial counts as not finished at that time.
 * Throws `statistics.bad-value`, `statistics.duplicate-trial`, `statistics.unknown-group`, `statistics.unknown-value`,
 * `statistics.no-pairs`, `statistics.bad-option`.
 */
export function pairTimes(rows: readonly TimeRow[], policy: MissingPolicy): TimedTable {
  if (policy.kind === 'count-as' && !(policy.value > 0 && Number.isFinite(policy.value))) {
    throw badOption('count-as', 'a time above 0', policy.value);
  }
  for (const row of rows) {
    if (row.time === null || (row.time >= 0 && Number.isFinite(row.time))) continue;
    throw new StatisticsError(
      'statistics.bad-value',
      `${nameOf(row)}: expected a time of 0 or more, or null, found ${row.time}.`,
    );
  }
  const { items, missing } = matchPairs(
    rows,
    policy,
    (row) => row.time !== null,
    (time) => ({ time, finished: false }),
  );
  const plain = (list: readonly { readonly time: number | null; readonly finished: boolean }[]) =>
    list.map(({ time, finished }) => ({ time: time ?? 0, finished }));
  return {
    items: items.map(({ item, control, treatment }) => ({
      item,
      control: plain(control),
      treatment: plain(treatment),
    })),
    missing,
  };
}

/** A time at which the curve steps or trials leave unfinished. */
export interface SurvivalStep {
  readonly time: number;
  /** Trials not yet finished and still watched just before. */
  readonly atRisk: number;
  readonly finished: number;
  /** Trials that left here without finishing. */
  readonly censored: number;
  /** Share not yet finished just after. */
  readonly survival: number;
  /** Greenwood's standard error of `survival`, for independent trials. */
  readonly standardError: number;
}

/**
 * The product-limit estimate of the share not yet finished; a trial that finishes at the time another leaves comes first.
 * Source: Kaplan and Meier, Journal of the American Statistical Association 53, 1958; variance by Greenwood, 1926.
 */
export function kaplanMeier(trials: readonly TimedTrial[]): SurvivalStep[] {
  const sorted = [...trials].sort((a, b) => a.time - b.time);
  const steps: SurvivalStep[] = [];
  let survival = 1;
  let greenwood = 0;
  for (let at = 0; at < sorted.length; ) {
    const time = sorted[at]?.time ?? 0;
    const atRisk = sorted.length - at;
    let finished = 0;
    let censored = 0;
    for (; at < sorted.length && sorted[at]?.time === time; at += 1) {
      if (sorted[at]?.finished === true) finished += 1;
      else censored += 1;
    }
    survival *= 1 - finished / atRisk;
    greenwood += finished === 0 ? 0 : finished / (atRisk * (atRisk - finished));
    const standardError = survival === 0 ? 0 : survival * Math.sqrt(greenwood);
    steps.push({ time, atRisk, finished, censored, survival, standardError });
  }
  return steps;
}

export interface RestrictedMean {
  /** Mean of min(time, horizon): the area below the curve up to the horizon. */
  readonly mean: number;
  /** For independent trials; with repeats of one item use the bootstrap of the difference. */
  readonly standardError: number;
  readonly horizon: number;
  /**
   * Where the last trial left unfinished before the horizon, nothing is known of later times and the curve is held level
   * from here on; null where the whole area is known.
   */
  readonly heldFrom: number | null;
}

/**
 * The restricted mean up to `horizon`, which must be registered (the timeout).
 * Source: Royston and Parmar, BMC Medical Research Methodology 13:152, 2013; variance as in Klein and Moeschberger,
 * Survival Analysis, 2nd ed. 2003, section 4.5. Throws `statistics.bad-option`.
 */
export function restrictedMean(steps: readonly SurvivalStep[], horizon: number): RestrictedMean {
  if (!(horizon > 0 && Number.isFinite(horizon))) throw badOption('horizon', 'a time above 0', horizon);
  const inside = steps.filter(({ time }) => time <= horizon);
  // area[i]: below the curve from step i to the horizon.
  const area: number[] = [];
  let right = horizon;
  let mean = 0;
  for (let at = inside.length - 1; at >= 0; at -= 1) {
    const step = inside[at];
    if (step === undefined) continue;
    mean += step.survival * (right - step.time);
    area[at] = mean;
    right = step.time;
  }
  mean += right;
  const variance = inside.reduce((total, { finished, atRisk }, at) => {
    if (finished === 0 || finished === atRisk) return total;
    return total + ((area[at] ?? 0) ** 2 * finished) / (atRisk * (atRisk - finished));
  }, 0);
  const last = steps.at(-1);
  const held = last !== undefined && last.survival > 0 && last.time < horizon;
  return { mean, standardError: Math.sqrt(variance), horizon, heldFrom: held ? last.time : null };
}

export interface SurvivalArm {
  readonly trials: number;
  readonly finished: number;
  readonly censored: number;
  readonly steps: readonly SurvivalStep[];
  readonly restricted: RestrictedMean;
  /** The first time by which half have finished; null where fewer ever did. */
  readonly median: number | null;
}

export interface SurvivalComparison extends ArmNumbers {
  readonly horizon: number;
  readonly arms: { readonly control: SurvivalArm; readonly treatment: SurvivalArm };
  readonly missing: MissingReport;
}

/** Both arms' curves and restricted means; `difference` is in the unit of time, negative where the treatment is faster. */
export function compareSurvival(table: TimedTable, horizon: number): SurvivalComparison {
  const arm = (side: 'control' | 'treatment'): SurvivalArm => {
    const trials = table.items.flatMap((item) => item[side]);
    const steps = kaplanMeier(trials);
    const finished = trials.filter((trial) => trial.finished).length;
    return {
      trials: trials.length,
      finished,
      censored: trials.length - finished,
      steps,
      restricted: restrictedMean(steps, horizon),
      median: steps.find(({ survival }) => survival <= 0.5 + 1e-12)?.time ?? null,
    };
  };
  const arms = { control: arm('control'), treatment: arm('treatment') };
  return {
    horizon,
    arms,
    missing: table.missing,
    ...armNumbers(arms.control.restricted.mean, arms.treatment.restricted.mean),
  };
}

/**
 * Percentile interval of an effect of the restricted means: items are drawn with replacement, each with all its trials of
 * both arms, and both curves are made anew. Sources: `clusterBootstrap`, `restrictedMean`. Throws `statistics.bad-option`.
 */
export function survivalBootstrap(table: TimedTable, horizon: number, options: BootstrapOptions): Bootstrap {
  const resamples = checkResamples(options.resamples ?? resamplesLeast);
  const effect = options.effect ?? 'difference';
  const items = table.items.length;
  const observed = compareSurvival(table, horizon);
  const control = curveOf(table, 'control', horizon);
  const treatment = curveOf(table, 'treatment', horizon);
  const generator = stream(options.seed, 'cluster-bootstrap');
  const weights = new Float64Array(items);
  const draws = new Uint32Array(items * batchSize);
  const values = new Float64Array(resamples);
  for (let round = 0; round < resamples; round += 1) {
    const from = (round % batchSize) * items;
    if (from === 0) generator.draw(draws, items);
    weights.fill(0);
    for (let at = from; at < from + items; at += 1) {
      const drawn = draws[at] as number;
      weights[drawn] = (weights[drawn] as number) + 1;
    }
    values[round] = effectOf(effect, areaOf(control, weights), areaOf(treatment, weights));
  }
  return summarise(values, {
    effect,
    estimate: observed[effect],
    levels: options.levels,
    singleItemGroups: items < 2 ? [''] : [],
  });
}

/** One arm's trials by time, finished ones first among equals; times are cut to the horizon, behind which no area is. */
interface Curve {
  readonly times: Float64Array;
  readonly finished: Uint8Array;
  readonly item: Int32Array;
  readonly horizon: number;
}

function curveOf(table: TimedTable, side: 'control' | 'treatment', horizon: number): Curve {
  const trials = table.items
    .flatMap((item, at) =>
      item[side].map(({ time, finished }) => ({
        time: Math.min(time, horizon),
        finished,
        at,
      })),
    )
    .sort((a, b) => a.time - b.time || Number(b.finished) - Number(a.finished));
  return {
    times: Float64Array.from(trials, ({ time }) => time),
    finished: Uint8Array.from(trials, ({ finished }) => (finished ? 1 : 0)),
    item: Int32Array.from(trials, ({ at }) => at),
    horizon,
  };
}

// One finish after the other gives the same product as all finishes of a time at once: (1 - 1/n)(1 - 1/(n - 1)) = 1 - 2/n.
function areaOf({ times, finished, item, horizon }: Curve, weights: Float64Array): number {
  let atRisk = 0;
  for (let at = 0; at < item.length; at += 1) atRisk += weights[item[at] as number] as number;
  let survival = 1;
  let before = 0;
  let area = 0;
  for (let at = 0; at < times.length; at += 1) {
    const weight = weights[item[at] as number] as number;
    if (weight === 0) continue;
    const time = times[at] as number;
    area += survival * (time - before);
    before = time;
    if (finished[at] === 1) survival *= 1 - weight / atRisk;
    atRisk -= weight;
  }
  return area + survival * (horizon - before);
}
