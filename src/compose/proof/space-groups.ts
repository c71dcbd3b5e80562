/** The fragments of a profile in groups that share no fact, each explored by itself. */
import type { Agent } from '../agent.ts';
import type { FactTypes } from '../conditions.ts';
import type { Fact } from '../facts.ts';
import { fragmentsOf, type Situation } from '../situation.ts';
import { type Cuts, cutsOf, type Possible, possibleValues } from './fact-values.ts';
import { type FragmentDecider, fragmentDecider } from './fragment-decider.ts';
import { type FactRange, type Reached, reach } from './reach.ts';

/** At most so many combinations of one group are kept at once. */
export const combinationsMax = 200_000;

/** Facts by name; undefined is unknown. */
export type Example = ReadonlyMap<string, Possible>;

export interface Group {
  readonly deciders: readonly FragmentDecider[];
  readonly ranges: readonly FactRange[];
  /** Null where there were more than `combinationsMax`. */
  readonly reached: readonly Reached[] | null;
}

/** All groups of a profile, in the order of their first fragments, and the constants that cut their facts. */
export function exploredGroups(
  agent: Agent,
  profile: string,
  types: FactTypes,
): { readonly groups: readonly Group[]; readonly cuts: Cuts } {
  const deciders = fragmentsOf(agent, profile).flatMap((one) => fragmentDecider(one, types) ?? []);
  const cuts = cutsOf(deciders.flatMap(({ fragment }) => conditionSources(fragment)));
  return { groups: grouped(deciders).map((group) => explored(agent, group, cuts)), cuts };
}

function conditionSources(fragment: FragmentDecider['fragment']): string[] {
  const inside = (pieces: NonNullable<typeof fragment.template>['pieces']): string[] =>
    pieces.flatMap((piece) =>
      piece.kind === 'when'
        ? [piece.condition.source, ...inside(piece.first), ...inside(piece.otherwise)]
        : [],
    );
  return [
    ...(fragment.when === null ? [] : [fragment.when.source]),
    ...inside(fragment.template?.pieces ?? []),
  ];
}

/** Union-find over the facts: deciders that share one, directly or through others, belong together. */
function grouped(deciders: readonly FragmentDecider[]): FragmentDecider[][] {
  const parent = new Map<string, string>();
  const root = (name: string): string => {
    let at = name;
    for (let up = parent.get(at); up !== undefined && up !== at; up = parent.get(at)) at = up;
    return at;
  };
  for (const { facts } of deciders) for (const name of facts) parent.set(root(name), root(facts[0] ?? name));
  const groups = new Map<string, FragmentDecider[]>();
  for (const decider of deciders) {
    // A condition over literals alone reads no fact and stands by itself.
    const key = decider.facts[0] === undefined ? ` ${decider.fragment.id}` : root(decider.facts[0]);
    groups.set(key, [...(groups.get(key) ?? []), decider]);
  }
  return [...groups.values()];
}

function explored(agent: Agent, deciders: readonly FragmentDecider[], cuts: Cuts): Group {
  const names = [...new Set(deciders.flatMap((decider) => decider.facts))].sort();
  const ranges = names.map((name) => ({ name, values: possibleValues(agent, name, cuts) }));
  return { deciders, ranges, reached: reach(deciders, ranges, combinationsMax) };
}

/** The base situation with these facts in it. */
export function situationAt(base: Situation, example: Example): Situation {
  const facts = new Map(base.facts);
  const source = 'space';
  for (const [name, value] of example) {
    const unknown: Fact = { known: false, reason: 'unknown here', source };
    facts.set(name, value === undefined ? unknown : { known: true, value, source });
  }
  return { ...base, facts };
}

/** One situation of a group that was not enumerated. */
export function firstOf(group: Group): Example {
  return new Map(group.ranges.map(({ name, values }) => [name, values[0]]));
}
