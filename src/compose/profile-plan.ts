/** What composing asks about the fragments of a profile and is the same in every situation, found out once. */
import type { Agent, Fragment } from './agent.ts';
import { fragmentsOf } from './situation.ts';

export interface ProfilePlan {
  readonly fragments: readonly PlannedFragment[];
  /** The facts that may differ between two sessions without anything having been changed. */
  readonly volatile: ReadonlySet<string>;
}

export interface PlannedFragment {
  readonly fragment: Fragment;
  /** True where its condition names a volatile fact. */
  readonly volatileWhen: boolean;
  /** True where its text may hang on one. A template or a function is not asked more closely. */
  readonly volatileText: boolean;
}

const plansByAgent = new WeakMap<Agent, Map<string, ProfilePlan>>();

/** The plan of a profile. Throws `compose.unknown-name`. */
export function profilePlan(agent: Agent, profile: string): ProfilePlan {
  const plans = plansByAgent.get(agent) ?? new Map<string, ProfilePlan>();
  const known = plans.get(profile);
  if (known !== undefined) return known;
  const plan = planOf(agent, profile);
  plansByAgent.set(agent, plans.set(profile, plan));
  return plan;
}

function planOf(agent: Agent, profile: string): ProfilePlan {
  // Whatever a fragment reads is declared by then, variables of the environment too.
  const volatile = new Set([...agent.facts.values()].flatMap((fact) => (fact.volatile ? [fact.name] : [])));
  const hangs = (names: readonly string[] = []) => names.some((name) => volatile.has(name));
  const fragments = fragmentsOf(agent, profile).map((fragment) => ({
    fragment,
    volatileWhen: hangs(fragment.when?.facts),
    volatileText: hangs(fragment.template?.facts) || hangs(fragment.render?.facts),
  }));
  return { fragments, volatile };
}
