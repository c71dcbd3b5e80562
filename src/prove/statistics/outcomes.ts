/** What a design assumes of its outcomes, and how one item of a simulated experiment comes out of that. */
import type { Generator } from './generator.ts';
import { badOption, checkShare } from './options.ts';

/**
 * What is assumed of the outcomes.
 * - `binary`: an item's pass rate in the control arm is drawn from the beta distribution with mean `rate` and standard
 *   deviation `deviation` over items; the treatment adds `effect`, cut to 0 and 1;
 * - `quantity`: an item's true difference is normal with mean `effect` and standard deviation `deviation` over items, and
 *   each trial adds noise with standard deviation `noise`. All in the metric's unit.
 */
export type Outcomes =
  | { readonly kind: 'binary'; readonly rate: number; readonly deviation: number; readonly effect: number }
  | {
      readonly kind: 'quantity';
      readonly effect: number;
      readonly deviation: number;
      readonly noise: number;
    };

/** One item of a simulated experiment: the difference that is seen, and the true one, in the metric's unit. */
export function simulateItem(
  outcomes: Outcomes,
  repeats: number,
  generator: Generator,
): { readonly difference: number; readonly effect: number } {
  if (outcomes.kind === 'quantity') {
    const effect = outcomes.effect + outcomes.deviation * generator.normal();
    const noise = outcomes.noise * Math.sqrt(2 / repeats) * generator.normal();
    return { difference: effect + noise, effect };
  }
  const control = betaRate(outcomes.rate, outcomes.deviation, generator);
  const treatment = Math.min(1, Math.max(0, control + outcomes.effect));
  let passes = 0;
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    if (generator.unit() < treatment) passes += 1;
    if (generator.unit() < control) passes -= 1;
  }
  return { difference: passes / repeats, effect: treatment - control };
}

/** A rate from the beta distribution with this mean and standard deviation. */
export function betaRate(mean: number, deviation: number, generator: Generator): number {
  if (deviation === 0) return mean;
  const size = (mean * (1 - mean)) / deviation ** 2 - 1;
  const passes = gamma(mean * size, generator);
  return passes / (passes + gamma((1 - mean) * size, generator));
}

// Marsaglia and Tsang, A simple method for generating gamma variables, ACM TOMS 26, 2000; shapes below 1 by their section 6.
function gamma(shape: number, generator: Generator): number {
  if (shape < 1) return gamma(shape + 1, generator) * generator.unit() ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = generator.normal();
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(generator.unit()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Throws `statistics.bad-option` for what no outcomes have. */
export function checkOutcomes(outcomes: Outcomes): void {
  const { deviation, effect } = outcomes;
  if (!Number.isFinite(effect)) throw badOption('effect', 'a finite number', effect);
  if (outcomes.kind === 'quantity') {
    if (!(deviation >= 0 && Number.isFinite(deviation)))
      throw badOption('deviation', 'a number of 0 or more', deviation);
    if (!(outcomes.noise >= 0 && Number.isFinite(outcomes.noise))) {
      throw badOption('noise', 'a number of 0 or more', outcomes.noise);
    }
    return;
  }
  const rate = checkShare('rate', outcomes.rate);
  const most = Math.sqrt(rate * (1 - rate));
  if (!(deviation >= 0 && deviation < most)) {
    throw badOption('deviation', `a number from 0 to below sqrt(rate (1 - rate)) = ${most}`, deviation);
  }
}
