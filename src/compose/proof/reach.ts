/** Every combination of outcomes that some situation can reach, found fact by fact with equal rests taken as one. */
import type { ReadFact } from '../conditions.ts';
import type { Possible } from './fact-values.ts';

/** Something that situations decide. Its state is final where it begins with `=`. */
export interface Decider {
  readonly facts: readonly string[];
  state(read: ReadFact, settled: (name: string) => boolean): string;
}

export interface FactRange {
  readonly name: string;
  readonly values: readonly Possible[];
}

/** A reachable combination: the final state of each decider, and the facts of one situation that leads there. */
export interface Reached {
  readonly outcomes: readonly string[];
  readonly example: ReadonlyMap<string, Possible>;
}

interface Partial {
  readonly states: readonly string[];
  readonly values: readonly Possible[];
}

/**
 * All reachable combinations, or null where more than `max` of them, finished or not, would have to be kept at once.
 * Facts are taken in an order in which deciders are finished early; states that are equal are followed once.
 */
export function reach(
  deciders: readonly Decider[],
  ranges: readonly FactRange[],
  max: number,
): Reached[] | null {
  const facts = ordered(deciders, ranges);
  const place = new Map(facts.map((fact, i) => [fact.name, i]));
  const readers = facts.map(({ name }) =>
    deciders.flatMap((one, i) => (one.facts.includes(name) ? [i] : [])),
  );
  let values: readonly Possible[] = [];
  const read: ReadFact = (name) => values[place.get(name) ?? facts.length];
  const settled = (name: string) => (place.get(name) ?? facts.length) < values.length;
  let partials: Partial[] = [{ states: deciders.map((one) => one.state(read, settled)), values }];
  for (const [i, fact] of facts.entries()) {
    const next = new Map<string, Partial>();
    for (const partial of partials) {
      const waiting = (readers[i] ?? []).filter((at) => !isFinal(partial.states[at]));
      for (const value of waiting.length === 0 ? fact.values.slice(0, 1) : fact.values) {
        values = [...partial.values, value];
        const states = [...partial.states];
        for (const at of waiting) states[at] = deciders[at]?.state(read, settled) ?? '';
        const key = states.join('\u0000');
        if (!next.has(key)) next.set(key, { states, values });
      }
      if (next.size > max) return null;
    }
    partials = [...next.values()];
  }
  return partials.map(({ states, values: found }) => ({
    outcomes: states.map((state) => state.slice(1)),
    example: new Map(facts.map(({ name }, i) => [name, found[i]])),
  }));
}

function isFinal(state: string | undefined): boolean {
  return state?.startsWith('=') === true;
}

// Again and again the decider with the fewest facts left, so that as little as possible is under way at once.
function ordered(deciders: readonly Decider[], ranges: readonly FactRange[]): FactRange[] {
  const byName = new Map(ranges.map((range) => [range.name, range]));
  const taken = new Map<string, FactRange>();
  const left = new Set(deciders);
  while (left.size > 0) {
    const open = (one: Decider) => one.facts.filter((name) => !taken.has(name));
    const next = [...left].reduce((a, b) => (open(b).length < open(a).length ? b : a));
    left.delete(next);
    for (const name of open(next)) {
      const range = byName.get(name);
      if (range !== undefined) taken.set(name, range);
    }
  }
  return [...taken.values()];
}
