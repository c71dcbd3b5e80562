/** What a design can find: its power for the question that decides, under what the experiment assumes, and the smallest p. */
import type { MetricRecord } from './metric.ts';
import type { Outcomes } from './statistics/outcomes.ts';
import { type PowerQuestion, power, smallestP } from './statistics/power.ts';

/** What an experiment says of its outcomes before there are any, word for word. All in the unit of the primary metric. */
export interface Assume {
  /** Of passes: the mean over items of how often the control arm passes. */
  readonly rate?: number;
  /** Over items, the standard deviation of that rate; of a quantity, that of the true differences. */
  readonly deviation?: number;
  /** Of a quantity: the standard deviation of the trials of an item in an arm. */
  readonly noise?: number;
  /** The true difference, treatment minus control. */
  readonly effect?: number;
}

export interface Design {
  readonly trials: number;
  /** The smallest two-sided p that the sign-flip test can give with so many items. */
  readonly smallestP: number;
  readonly power: DesignPower;
}

/** How often what is asked would be shown if the outcomes were as assumed; unknown where that says too little. */
export type DesignPower =
  | {
      readonly known: true;
      readonly question: PowerQuestion;
      /** `given` where the experiment said all of it. */
      readonly assumed: Outcomes & { readonly given: boolean };
      /** Mean true effect over the simulated items: less than assumed where rates are cut to 0 and 1. */
      readonly effect: number;
      readonly power: number;
      /** Of `power`, by the number of simulated experiments. */
      readonly standardError: number;
      readonly simulations: number;
    }
  | { readonly known: false; readonly reason: string };

/** What of a registration decides what it can find. */
export interface Designed {
  readonly items: readonly { readonly groups: Readonly<Record<string, string>> }[];
  readonly repeats: number;
  readonly seed: number | string;
  readonly alpha: number;
  readonly resamples: number;
  readonly primary: MetricRecord | null;
  readonly assume: Assume | null;
}

/** Computed from what is registered, and from nothing else. Throws `statistics.bad-option` for what no outcomes have. */
export function designOf(designed: Designed): Design {
  const { items, repeats, resamples } = designed;
  return {
    trials: 2 * items.length * repeats,
    smallestP: smallestP({ test: 'sign-flip', items: items.length, resamples }),
    power: powerOf(designed),
  };
}

function powerOf({ items, repeats, seed, alpha, primary, assume }: Designed): DesignPower {
  if (primary === null) return { known: false, reason: 'no metric was named as the one that decides' };
  const assumed = assumedOf(primary, assume ?? {});
  if (typeof assumed === 'string') return { known: false, reason: assumed };
  const { given: _given, ...outcomes } = assumed;
  const question = questionOf(primary);
  const groups = groupSizes(items, primary);
  const found = power({
    items: items.length,
    repeats,
    outcomes,
    seed,
    alpha,
    question,
    ...(groups === undefined ? {} : { groups }),
  });
  const { effect, power: share, standardError, simulations } = found;
  return { known: true, question, assumed, effect, power: share, standardError, simulations };
}

/** The effect that is assumed of passes where neither an effect nor a margin is named. */
const usualEffect = 0.1;

/** The outcomes, or why they are not known. What was not said of a margin is that the arms do not differ. */
function assumedOf(
  { metric, values, question, margin }: MetricRecord,
  { rate, deviation, noise, effect }: Assume,
): (Outcomes & { readonly given: boolean }) | string {
  if (values === 'ratio') return 'of a ratio of two sums no outcomes can be assumed';
  const asked = question === 'difference' ? effect : (effect ?? 0);
  if (values === 'binary') {
    const difference = asked ?? margin ?? usualEffect;
    return {
      kind: 'binary',
      // Rates on both sides of one half that all items share: with the same effect no others spread more.
      rate: rate ?? (Math.abs(difference) < 1 ? (1 - difference) / 2 : 0.5),
      deviation: deviation ?? 0,
      effect: difference,
      given: rate !== undefined && deviation !== undefined && asked !== undefined,
    };
  }
  const missing = Object.entries({ effect: asked, deviation, noise }).flatMap(([name, value]) =>
    value === undefined ? [name] : [],
  );
  if (asked === undefined || deviation === undefined || noise === undefined)
    return `how far ${metric} varies is not assumed: assume in the file has no ${missing.join(', no ')}`;
  return { kind: 'quantity', effect: asked, deviation, noise, given: true };
}

function questionOf({ question, margin, better }: MetricRecord): PowerQuestion {
  if (question === 'difference' || margin === null) return { kind: 'difference' };
  return question === 'equivalence' ? { kind: question, margin } : { kind: question, margin, better };
}

/** How many items each group has, where groups are weighed. */
function groupSizes(items: Designed['items'], { estimand }: MetricRecord): readonly number[] | undefined {
  if (estimand.kind === 'micro' || estimand.by === 'item') return undefined;
  const sizes = new Map<string, number>();
  for (const { groups } of items) {
    const group = groups[estimand.by] ?? '';
    sizes.set(group, (sizes.get(group) ?? 0) + 1);
  }
  return [...sizes.values()];
}

/** A power as a sentence, with all that it was computed for; what the experiment did not assume itself is marked. */
export function powerText(power: DesignPower, said: Assume | null): string {
  if (!power.known) return `unknown: ${power.reason}`;
  const { question, assumed, standardError, simulations } = power;
  const { kind: _kind, given, ...numbers } = assumed;
  const shown =
    question.kind === 'difference'
      ? 'a difference'
      : `${question.kind === 'equivalence' ? 'equivalence' : 'no loss'} within ${question.margin}`;
  const words = Object.entries(numbers).map(
    ([name, value]) => `${name} ${value}${Object.hasOwn(said ?? {}, name) ? '' : ' (a guess)'}`,
  );
  const whose = given ? '' : '; assume in the file replaces a guess';
  return `${(100 * power.power).toFixed(0)} % to show ${shown}, if ${words.join(', ')}${whose} (${simulations} simulated experiments, standard error ${(100 * standardError).toFixed(1)} %)`;
}
