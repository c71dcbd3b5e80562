/** One decision per run loop: what was composed first holds until the loop ends, and a new loop decides anew. */
import type { Composition } from '../protocol/composition.ts';
import type { Agent } from './agent.ts';
import { compose } from './compose.ts';
import type { DefinedFragment } from './define-fragment.ts';
import type { Probe } from './facts.ts';
import { type SituationInput, settle } from './settle.ts';
import type { Situation } from './situation.ts';
import { withFragments } from './with-fragments.ts';

export interface Decided {
  readonly situation: Situation;
  readonly composition: Composition;
}

/** Settles and composes when it is called first, and gives that same value ever after, whatever it is called with. */
export type LoopComposer = (input: SituationInput) => Promise<Decided>;

/**
 * The composer of one run loop; make a new one for each. A loop may itself change what its conditions ask about, as where
 * it starts a project, and must not change its own instructions by that. The agent stays as it is: whoever needs the whole
 * text, such as a compaction, composes it beside. A failure is no decision, so the next call tries again.
 */
export function composeOnce(
  agent: Agent,
  probes: readonly Probe[],
  extra: readonly DefinedFragment[] = [],
): LoopComposer {
  const scoped = withFragments(agent, extra);
  let decided: Promise<Decided> | undefined;
  const decide = async (input: SituationInput): Promise<Decided> => {
    const situation = await settle(scoped, input, probes);
    return { situation, composition: compose(scoped, situation) };
  };
  return (input) => {
    if (decided !== undefined) return decided;
    const deciding = decide(input);
    decided = deciding;
    deciding.catch(() => {
      if (decided === deciding) decided = undefined;
    });
    return deciding;
  };
}
