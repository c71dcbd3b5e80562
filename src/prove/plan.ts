/** The order of trials: both arms of a pair one after the other, in an order that the seed draws and nobody chooses. */
import type { Registration } from './registration.ts';
import { type Generator, stream } from './statistics/generator.ts';
import type { PlannedTrial } from './trial.ts';

/**
 * All trials: round by round of repeats, in each round all items in a new order, and of each item which arm comes first.
 * What drifts while the experiment runs, a provider or a machine, so meets both arms alike. Equal seeds give equal plans.
 */
export function planTrials({
  items,
  repeats,
  seed,
}: Pick<Registration, 'items' | 'repeats' | 'seed'>): readonly PlannedTrial[] {
  const plan: PlannedTrial[] = [];
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    // A stream a round, so that an extension leaves the rounds before it as they were.
    const generator = stream(seed, `plan ${repeat}`);
    for (const { id } of shuffled(items, generator)) {
      const sides =
        generator.below(2) === 0 ? (['control', 'treatment'] as const) : (['treatment', 'control'] as const);
      for (const side of sides) plan.push({ item: id, side, repeat, position: plan.length + 1 });
    }
  }
  return plan;
}

/** The values in a drawn order; the ones given stay as they are. Fisher and Yates, as by Durstenfeld, 1964. */
export function shuffled<T>(values: readonly T[], generator: Generator): T[] {
  const drawn = [...values];
  for (let last = drawn.length - 1; last > 0; last -= 1) {
    const at = generator.below(last + 1);
    const held = drawn[last] as T;
    drawn[last] = drawn[at] as T;
    drawn[at] = held;
  }
  return drawn;
}
