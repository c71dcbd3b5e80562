/** Pairs of fragments whose conditions are never true together, and whether both can be in a prompt all the same. */
import type { FactTypes } from '../conditions.ts';
import { conditionDecider, type FragmentDecider } from './fragment-decider.ts';
import { type FactRange, reach } from './reach.ts';

export interface Contradiction {
  readonly fragments: readonly [string, string];
  /** True where an unknown fact keeps both: the prompt then says two things that were not meant to stand together. */
  readonly together: boolean;
}

// A pair has few facts; what is beyond these bounds is not asked.
const combinationsMax = 5_000;
const pairsMax = 2_000;

/** Looks at each pair of a group that shares a fact, where each condition can be true by itself. */
export function contradictions(
  group: { readonly deciders: readonly FragmentDecider[]; readonly ranges: readonly FactRange[] },
  types: FactTypes,
): Contradiction[] {
  const conditional = group.deciders.flatMap((decider) => {
    const { when } = decider.fragment;
    if (when === null) return [];
    return [{ fragment: decider.fragment, when, decider: conditionDecider(when, types) }];
  });
  const found: Contradiction[] = [];
  let pairs = 0;
  conditional.forEach((a, i) => {
    for (const b of conditional.slice(i + 1)) {
      if (!a.when.facts.some((name) => b.when.facts.includes(name))) continue;
      pairs += 1;
      if (pairs > pairsMax) return;
      const names = new Set([...a.when.facts, ...b.when.facts]);
      const ranges = group.ranges.filter(({ name }) => names.has(name));
      const reached = reach([a.decider, b.decider], ranges, combinationsMax)?.map(({ outcomes }) =>
        outcomes.join(''),
      );
      if (reached === undefined || reached.includes('TT')) continue;
      if (!reached.some((pair) => pair[0] === 'T') || !reached.some((pair) => pair[1] === 'T')) continue;
      const isIn = (value: string | undefined, { unknown }: { readonly unknown: string }) =>
        value === 'T' || (value === 'U' && unknown === 'keep');
      const together = reached.some((pair) => isIn(pair[0], a.fragment) && isIn(pair[1], b.fragment));
      found.push({ fragments: [a.fragment.id, b.fragment.id], together });
    }
  });
  return found;
}
