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
  example(): ReadonlyMap<string, Possible>;
}

/** The state of each decider by its number in that decider's table, and the facts that led there. */
interface Partial {
  readonly states: readonly number[];
  readonly values: readonly Possible[];
}

/**
 * All reachable combinations, or null where more than `max` of them, finished or not, would have to be kept at once.
 * Facts are taken in an order in which deciders are finished early; states that are equal are followed once. Equal
 * states have equal futures, so that a decider is asked once for each state and value, not for each combination.
 */
export function reach(
  deciders: readonly Decider[],
  ranges: readonly FactRange[],
  max: number,
): Reached[] | null {
  const facts = ordered(deciders, ranges);
  const place = new Map(facts.map((fact, i) => [fact.name, i]));
  const tables = deciders.map(() => new Table());
  let values: readonly Possible[] = [];
  const read: ReadFact = (name) => values[place.get(name) ?? facts.length];
  const settled = (name: string) => (place.get(name) ?? facts.length) < values.length;
  const ask = (at: number) => tables[at]?.numberOf(deciders[at]?.state(read, settled) ?? '') ?? 0;
  let partials: Partial[] = [{ states: deciders.map((_one, at) => ask(at)), values }];
  for (const fact of facts) {
    // Numbers are written as characters, of which there are a million.
    if (tables.some((table) => table.size + 2 * max > 0x10ffff)) return null;
    const readers = deciders.flatMap((one, at) => (one.facts.includes(fact.name) ? [at] : []));
    const known = deciders.map(() => new Map<number, number>());
    const next = new Map<string, Partial>();
    for (const partial of partials) {
      const waiting = readers.filter((at) => !isFinal(tables[at]?.stateOf(partial.states[at])));
      const tried = waiting.length === 0 ? fact.values.slice(0, 1) : fact.values;
      tried.forEach((value, v) => {
        values = [...partial.values, value];
        const states = [...partial.states];
        for (const at of waiting) {
          const asked = known[at];
          const key = (partial.states[at] ?? 0) * fact.values.length + v;
          const after = asked?.get(key) ?? ask(at);
          asked?.set(key, after);
          states[at] = after;
        }
        const key = String.fromCodePoint(...states);
        if (!next.has(key)) next.set(key, { states, values });
      });
      if (next.size > max) return null;
    }
    partials = [...next.values()];
  }
  return partials.map(({ states, values: found }) => ({
    outcomes: states.map((number, at) => tables[at]?.outcomeOf(number) ?? ''),
    // Only some are looked at, and a map for each would cost more than finding them.
    example: () => new Map(facts.map(({ name }, i) => [name, found[i]])),
  }));
}

/** States by number, in the order in which they were met. */
class Table {
  readonly #states: string[] = [];
  readonly #outcomes: string[] = [];
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#states.length;
  }

  numberOf(state: string): number {
    const known = this.#numbers.get(state);
    if (known !== undefined) return known;
    // Halves of characters are passed over: two of them in a key would be one character.
    if (this.#states.length === 0xd800) this.#states.length = 0xe000;
    this.#numbers.set(state, this.#states.length);
    this.#outcomes[this.#states.length] = state.slice(1);
    return this.#states.push(state) - 1;
  }

  outcomeOf(number: number): string | undefined {
    return this.#outcomes[number];
  }

  stateOf(number: number | undefined): string | undefined {
    return number === undefined ? undefined : this.#states[number];
  }
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
