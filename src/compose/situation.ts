/** The situation of one session as a value: its facts, each with its source, and the texts and skills given for it. */
import type { Agent, Fragment } from './agent.ts';
import type { ReadFact } from './conditions.ts';
import type { Fact } from './facts.ts';
import { unknownName } from './nearest.ts';
import type { Skill } from './skills.ts';

/** Texts given for the session; a blank one is none. */
export interface SessionTexts {
  readonly identity?: string | undefined;
  readonly governance?: string | undefined;
  readonly memory?: string | undefined;
  readonly session?: string | undefined;
}

/** All that `compose` reads beside the agent. Plain values: two equal situations compose to the same bytes. */
export interface Situation {
  readonly profile: string;
  readonly facts: ReadonlyMap<string, Fact>;
  readonly texts: SessionTexts;
  /** The chosen skills by name; left out where there are none. */
  readonly skills?: readonly Skill[];
}

/** A reader over settled facts: known-absent is the empty text, a fact that is not there is unknown. */
export function factReader(facts: ReadonlyMap<string, Fact>): ReadFact {
  return (name) => {
    const fact = facts.get(name);
    return fact?.known ? (fact.value ?? '') : undefined;
  };
}

/** The fragments of a profile in order. Throws `compose.unknown-name`. */
export function fragmentsOf(agent: Agent, profile: string): Fragment[] {
  const ids = agent.profiles.get(profile);
  if (ids === undefined) throw unknownName('profile', profile, agent.profiles.keys());
  // The loader resolved every id of every profile.
  return ids.flatMap((id) => agent.fragments.get(id) ?? []);
}

/** True for a fragment in whose place the identity given for the session stands. */
export function isReplaced(fragment: Fragment, texts: SessionTexts): boolean {
  return fragment.layer === 'identity' && hasText(texts.identity);
}

/** True for a text with more in it than blank space. */
export function hasText(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '';
}
