/** The smallest and the largest prompt of a space that is too large to compose one by one. */
import type { Agent, Fragment } from '../agent.ts';
import { compose, fragmentText } from '../compose.ts';
import { factReader, type Situation } from '../situation.ts';
import type { Possible } from './fact-values.ts';
import type { Reached } from './reach.ts';
import { type Example, firstOf, type Group, situationAt } from './space-groups.ts';

/**
 * What a fragment adds to the size does not depend on the others, but for a line break between layers; so each group's
 * smallest and largest way together make the smallest and largest prompt, and only these two are composed.
 */
export function extremes(
  agent: Agent,
  base: Situation,
  groups: readonly Group[],
): { readonly min: number; readonly max: number } {
  const picked = groups.map((group) => ends(agent, base, group));
  const bytesOf = (end: 'smallest' | 'largest') => {
    const example = new Map<string, Possible>(picked.flatMap((one) => [...one[end]]));
    return compose(agent, situationAt(base, example)).bytes;
  };
  return { min: bytesOf('smallest'), max: bytesOf('largest') };
}

function ends(agent: Agent, base: Situation, group: Group): { smallest: Example; largest: Example } {
  // A fragment is rendered once for each of its outcomes, not for each combination.
  const measured = group.deciders.map(() => new Map<string, number>());
  const sizeOf = ({ outcomes, example }: Reached) =>
    outcomes.reduce((sum, outcome, i) => {
      if (outcome === 'out') return sum;
      const fragment = group.deciders[i]?.fragment;
      const known = measured[i]?.get(outcome);
      if (known !== undefined || fragment === undefined) return sum + (known ?? 0);
      const bytes = bytesOf(agent, fragment, situationAt(base, example()));
      measured[i]?.set(outcome, bytes);
      return sum + bytes;
    }, 0);
  let smallest: Reached | undefined;
  let largest: Reached | undefined;
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const way of group.reached ?? []) {
    const size = sizeOf(way);
    if (size < min) [smallest, min] = [way, size];
    if (size > max) [largest, max] = [way, size];
  }
  return {
    smallest: smallest?.example() ?? firstOf(group),
    largest: largest?.example() ?? firstOf(group),
  };
}

function bytesOf(agent: Agent, fragment: Fragment, situation: Situation): number {
  const text = fragmentText(fragment, agent.join, factReader(situation.facts));
  return Buffer.byteLength(text) + (agent.join !== 'verbatim' && text !== '' ? 2 : 0);
}
