/** The full text of a profile: every fragment in, whatever its condition; what a changelog speaks of. */
import type { Agent } from '../agent.ts';
import { compose } from '../compose.ts';
import { settle } from '../settle.ts';

/** Composes all fragments of a profile. Facts that nothing gives are unknown, so templates take their first branch. */
export async function fullText(agent: Agent, profile: string): Promise<string> {
  const fragments = new Map([...agent.fragments].map(([id, fragment]) => [id, { ...fragment, when: null }]));
  const whole = { ...agent, fragments };
  return compose(whole, await settle(whole, { profile }, [])).text;
}
