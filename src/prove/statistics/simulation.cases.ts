/** Whole experiments with a known truth, simulated again and again: how often a test finds what is not there, an interval misses. */
import { clusterBootstrap } from './bootstrap.ts';
import { blocksOf, itemNumbers } from './estimand.ts';
import { signTestOfItems } from './exact-tests.ts';
import { type Generator, stream } from './generator.ts';
import { equivalence } from './margin.ts';
import { betaRate } from './outcomes.ts';
import { pairedDifference } from './paired-difference.ts';
import { signFlip } from './sign-flip.ts';
import { pairTimes, survivalBootstrap, type TimeRow } from './survival.ts';
import { pairTrials, type TrialRow } from './trials.ts';

/** What is counted: intervals that hold the truth, or claims of what is not so. */
export type Counted = 'coverage' | 'false claims';

export interface Cell {
  readonly name: string;
  readonly counted: Counted;
  readonly nominal: number;
  /** One simulated experiment: true where the interval holds the truth, or the false claim is made. */
  readonly run: (generator: Generator, seed: number) => boolean;
}

export interface CellResult {
  readonly name: string;
  readonly counted: Counted;
  readonly nominal: number;
  readonly simulations: number;
  readonly share: number;
  /** Of `share`, by the number of simulations. */
  readonly standardError: number;
}

/** Runs one cell; its own stream, so that cells do not hang on each other. */
export function runCell(cell: Cell, simulations: number): CellResult {
  const generator = stream('simulation', cell.name);
  let hits = 0;
  for (let at = 0; at < simulations; at += 1) if (cell.run(generator, at)) hits += 1;
  const share = hits / simulations;
  const standardError = Math.sqrt((share * (1 - share)) / simulations);
  const { name, counted, nominal } = cell;
  return { name, counted, nominal, simulations, share, standardError };
}

const sides = ['control', 'treatment'] as const;
const refuse = { kind: 'refuse' } as const;
const micro = { kind: 'micro' } as const;

/** Passes: an item's rate from the beta distribution (0.5, deviation 0.15), in the treatment arm higher by `effect`. */
function passes(items: number, repeats: number, effect: number, generator: Generator): TrialRow[] {
  return Array.from({ length: items }, (_, item) => {
    const rate = betaRate(0.5, 0.15, generator);
    return sides.flatMap((side) =>
      Array.from({ length: repeats }, (__, repeat) => ({
        item: `q${item}`,
        side,
        repeat,
        groups: { size: item % 3 === 0 ? 'small' : 'large' },
        value: generator.unit() < rate + (side === 'treatment' ? effect : 0) ? 1 : 0,
      })),
    );
  }).flat();
}

/** Costs: skewed, exp(normal), an item's level in both arms, its true difference exactly `effect` on average. */
function costs(items: number, repeats: number, effect: number, generator: Generator): TrialRow[] {
  return Array.from({ length: items }, (_, item) => {
    const level = Math.exp(0.5 * generator.normal());
    const shift = effect + 0.3 * generator.normal();
    return sides.flatMap((side) =>
      Array.from({ length: repeats }, (__, repeat) => ({
        item: `q${item}`,
        side,
        repeat,
        value: level * Math.exp(0.4 * generator.normal() - 0.08) + (side === 'treatment' ? shift : 0),
      })),
    );
  }).flat();
}

/** Exponential times with rates 1 and 1.5, watched up to 2: a known area below each curve. */
function times(items: number, repeats: number, generator: Generator): TimeRow[] {
  return Array.from({ length: items }, (_, item) =>
    sides.flatMap((side) =>
      Array.from({ length: repeats }, (__, repeat) => {
        const time = -Math.log(generator.unit()) / (side === 'control' ? 1 : 1.5);
        // A fifth of the trials is watched for less: what they would have taken is not known.
        const watched = generator.unit() < 0.2 ? 2 * generator.unit() : 2;
        return { item: `q${item}`, side, repeat, time: Math.min(time, watched), finished: time <= watched };
      }),
    ),
  ).flat();
}

const restrictedTruth = (1 - Math.exp(-3)) / 1.5 - (1 - Math.exp(-2));

function holds(
  interval: { readonly low: number | null; readonly high: number | null } | undefined,
  truth: number,
) {
  return interval !== undefined && (interval.low ?? 0) <= truth && truth <= (interval.high ?? 0);
}

const blocksFor = (rows: readonly TrialRow[]) => blocksOf(pairTrials(rows, refuse), micro);

const flipCells = (
  [
    [8, 5],
    [20, 3],
    [54, 5],
  ] as const
).map(
  ([items, repeats]): Cell => ({
    name: `sign-flip, p <= 0.05 without an effect, ${items} items x ${repeats}`,
    counted: 'false claims',
    nominal: 0.05,
    run: (generator, seed) =>
      (signFlip(blocksFor(passes(items, repeats, 0, generator)), { seed }).p ?? 0) <= 0.05,
  }),
);

const coverageCells = (
  [
    [10, 3],
    [20, 3],
    [54, 5],
  ] as const
).flatMap(([items, repeats]): Cell[] => [
  {
    name: `bootstrap 95 %, passes, effect 0.1, ${items} items x ${repeats}`,
    counted: 'coverage',
    nominal: 0.95,
    run: (generator, seed) =>
      holds(clusterBootstrap(blocksFor(passes(items, repeats, 0.1, generator)), { seed }).intervals[0], 0.1),
  },
  {
    name: `bootstrap 95 %, skewed costs, effect 0.2, ${items} items x ${repeats}`,
    counted: 'coverage',
    nominal: 0.95,
    run: (generator, seed) =>
      holds(clusterBootstrap(blocksFor(costs(items, repeats, 0.2, generator)), { seed }).intervals[0], 0.2),
  },
]);

/** All that is simulated. */
export const cells: readonly Cell[] = [
  ...flipCells,
  {
    name: 'sign test, p <= 0.05 without an effect, 54 items x 5',
    counted: 'false claims',
    nominal: 0.05,
    run: (generator) =>
      signTestOfItems(itemNumbers(pairTrials(passes(54, 5, 0, generator), refuse))).p <= 0.05,
  },
  ...coverageCells,
  {
    name: 'bootstrap 95 %, passes, macro of two groups, effect 0.1, 54 items x 5',
    counted: 'coverage',
    nominal: 0.95,
    run: (generator, seed) => {
      const table = pairTrials(passes(54, 5, 0.1, generator), refuse);
      const blocks = blocksOf(table, { kind: 'macro', by: 'size' });
      return holds(clusterBootstrap(blocks, { seed }).intervals[0], 0.1);
    },
  },
  {
    name: 'paired t 95 %, skewed costs, effect 0.2, 20 items x 3',
    counted: 'coverage',
    nominal: 0.95,
    run: (generator) =>
      holds(
        pairedDifference(itemNumbers(pairTrials(costs(20, 3, 0.2, generator), refuse))).intervals[0],
        0.2,
      ),
  },
  {
    name: 'bootstrap 95 %, restricted means, a fifth censored, 20 items x 3',
    counted: 'coverage',
    nominal: 0.95,
    run: (generator, seed) =>
      holds(
        survivalBootstrap(pairTimes(times(20, 3, generator), refuse), 2, { seed }).intervals[0],
        restrictedTruth,
      ),
  },
  {
    name: 'equivalence within 0.1 at 5 %, true effect 0.1, 54 items x 5',
    counted: 'false claims',
    nominal: 0.05,
    run: (generator, seed) => {
      const blocks = blocksFor(passes(54, 5, 0.1, generator));
      const [interval] = clusterBootstrap(blocks, { seed, levels: [0.9] }).intervals;
      return interval !== undefined && equivalence(interval, { margin: 0.1 }).verdict === 'shown';
    },
  },
];
