/** The space of an agent's prompts: everything that its conditions can make of one profile, as far as it is finite work. */
import type { Composition } from '../../protocol/composition.ts';
import { type Agent, factTypesOf } from '../agent.ts';
import { compose } from '../compose.ts';
import { settle } from '../settle.ts';
import { fragmentsOf } from '../situation.ts';
import { type Contradiction, contradictions } from './contradictions.ts';
import { type Cuts, cutNotes, type Possible } from './fact-values.ts';
import type { FactRange } from './reach.ts';
import {
  combinationsMax,
  type Example,
  exploredGroups,
  firstOf,
  type Group,
  situationAt,
} from './space-groups.ts';
import { extremes } from './space-sizes.ts';

/** At most so many prompts are composed and listed one by one. */
export const listedMax = 256;

/** Facts and fragments that hang together: no fragment outside reads one of these facts. */
export interface SpaceGroup {
  readonly facts: readonly FactRange[];
  readonly fragments: readonly string[];
  /** How many situations the facts make. */
  readonly points: number;
  /** The distinct ways its fragments come out; null where there were too many to enumerate. */
  readonly ways: number | null;
}

export interface SpacePrompt {
  readonly digest: string;
  readonly bytes: number;
  readonly tokens: number;
  /** Facts of one situation that composes to it; null is unknown. */
  readonly example: Readonly<Record<string, Exclude<Possible, undefined> | null>>;
  readonly fragments: readonly string[];
  readonly locked: boolean;
  readonly text: string;
}

export interface Space {
  readonly agent: string;
  readonly profile: string;
  readonly groups: readonly SpaceGroup[];
  /** Distinct prompts; a lower bound where `complete` is false. */
  readonly count: number;
  readonly complete: boolean;
  readonly bytes: { readonly min: number; readonly max: number };
  /** All of them, or the first `listedMax`. */
  readonly prompts: readonly SpacePrompt[];
  readonly never: readonly string[];
  readonly always: readonly string[];
  readonly contradictions: readonly Contradiction[];
  /** How many no pin of the lock covers; a lower bound where not all are listed. */
  readonly notLocked: number;
  readonly notes: readonly string[];
}

/** Explores one profile. `locked` holds the digests that a lock pins for it. Throws `compose.unknown-name`. */
export async function spaceOf(agent: Agent, profile: string, locked: ReadonlySet<string>): Promise<Space> {
  const types = factTypesOf(agent);
  const { groups, cuts } = exploredGroups(agent, profile, types);
  const base = await settle(agent, { profile, env: {} }, []);
  const product = groups.reduce((count, { reached }) => count * (reached?.length ?? 1), 1);
  const all = product <= listedMax;
  const prompts = listed(groups, (example) => compose(agent, situationAt(base, example)), locked);
  const written = writtenNotes(agent, profile);
  const sizes = prompts.map((prompt) => prompt.bytes);
  return {
    agent: agent.key,
    profile,
    groups: groups.map(described),
    // Two ways may come to the same text, which shows only where all are composed.
    count: all ? prompts.length : product,
    complete: groups.every(({ reached }) => reached !== null) && written.length === 0,
    bytes: all ? { min: Math.min(...sizes), max: Math.max(...sizes) } : extremes(agent, base, groups),
    prompts,
    ...presence(groups),
    contradictions: groups.flatMap((group) => contradictions(group, types)),
    notLocked: all ? prompts.filter((one) => !one.locked).length : Math.max(0, product - locked.size),
    notes: [...notesOf(agent, groups, cuts), ...written],
  };
}

function described({ deciders, ranges, reached }: Group): SpaceGroup {
  return {
    facts: ranges,
    fragments: deciders.map(({ fragment }) => fragment.id),
    points: ranges.reduce((product, { values }) => product * values.length, 1),
    ways: reached?.length ?? null,
  };
}

/** Composes the combinations of all groups, at most `listedMax` of them; equal texts are listed once. */
function listed(
  groups: readonly Group[],
  composeAt: (example: Example) => Composition,
  locked: ReadonlySet<string>,
): SpacePrompt[] {
  const found = new Map<string, SpacePrompt>();
  const counts = groups.map(({ reached }) => reached?.length ?? 1);
  const total = Math.min(
    counts.reduce((a, b) => a * b, 1),
    listedMax,
  );
  for (let i = 0; i < total; i += 1) {
    let rest = i;
    const example = new Map<string, Possible>();
    groups.forEach((group, g) => {
      const count = counts[g] ?? 1;
      for (const [name, value] of group.reached?.[rest % count]?.example() ?? firstOf(group))
        example.set(name, value);
      rest = Math.floor(rest / count);
    });
    const composition = composeAt(example);
    if (!found.has(composition.digest)) found.set(composition.digest, promptOf(composition, example, locked));
  }
  return [...found.values()];
}

function promptOf(
  { digest, bytes, tokens, layers, text }: Composition,
  example: Example,
  locked: ReadonlySet<string>,
): SpacePrompt {
  const facts = [...example].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    digest,
    bytes,
    tokens,
    example: Object.fromEntries(facts.map(([name, value]) => [name, value ?? null])),
    fragments: layers.flatMap((layer) => [...layer.fragments]),
    locked: locked.has(digest),
    text,
  };
}

/** Conditional fragments that are in no prompt, and those that are in every one. */
function presence(groups: readonly Group[]): Pick<Space, 'never' | 'always'> {
  const never: string[] = [];
  const always: string[] = [];
  for (const { deciders, reached } of groups) {
    if (reached === null) continue;
    deciders.forEach(({ fragment }, i) => {
      const out = reached.filter(({ outcomes }) => outcomes[i] === 'out').length;
      if (out === reached.length) never.push(fragment.id);
      if (out === 0 && fragment.when !== null) always.push(fragment.id);
    });
  }
  return { never, always };
}

// What a function makes of facts cannot be told by looking at it.
function writtenNotes(agent: Agent, profile: string): string[] {
  return fragmentsOf(agent, profile).flatMap(({ id, render }) =>
    render === undefined || render.facts.length === 0
      ? []
      : [`not enumerated: what a function writes for ${id}`],
  );
}

function notesOf(agent: Agent, groups: readonly Group[], cuts: Cuts): string[] {
  const skipped = groups.filter(({ reached }) => reached === null).map(described);
  const names = groups.flatMap(({ ranges }) => ranges.map(({ name }) => name));
  return [
    ...skipped.map(
      ({ facts, fragments, points }) =>
        `not enumerated: ${fragments.join(', ')} over ${facts.map(({ name }) => name).join(', ')}; its ${points} situations make more than ${combinationsMax} combinations`,
    ),
    ...cutNotes(agent, names, cuts),
  ];
}
