/** What a call asks of a child, and what the child then has of its run: all of it, less what is held back and why. */
import type { ChildRequest } from '../harness.ts';
import { depthUsual } from '../protocol/budget.ts';
import type { Subtask, Tool } from './tool/tool.ts';

/** The capability under which children are made; one that could make none does not get it. */
export const childCapability = 'subagents';

/** What a run has to hand on. */
export interface Holding {
  readonly capabilities: readonly string[];
  /** The tools that its model sees. */
  readonly shown: readonly string[];
  readonly tools: ReadonlyMap<string, Tool>;
}

/**
 * The request for a child, under the key of the call that asks. What the call names and the run has not stays in, to be
 * refused by the runtime; what it does not name is held back, and the record says so. `depthLeft` is that of the run.
 */
export function childRequest(
  { task, reason, instructions, capabilities, tools, limits = {} }: Subtask,
  key: string,
  holding: Holding,
  depthLeft: number | null,
): ChildRequest {
  const withheld: { name: string; reason: string }[] = [];
  const hold = (name: string, why: string) => {
    withheld.push({ name, reason: why });
    return false;
  };
  const deeper = Math.min(limits.depth ?? Number.POSITIVE_INFINITY, (depthLeft ?? depthUsual) - 1) > 0;
  const wanted = capabilities ?? holding.capabilities;
  for (const name of holding.capabilities)
    if (!wanted.includes(name)) hold(name, 'The call hands on other capabilities only.');
  const held = wanted.filter(
    (name) =>
      name !== childCapability || deeper || hold(name, 'No level below the child is left in the budget.'),
  );
  for (const name of holding.shown)
    if (tools !== undefined && !tools.includes(name)) hold(name, 'The call hands on other tools only.');
  const handed = (tools ?? holding.shown).filter((name) => {
    const needs = holding.tools.get(name)?.capability;
    if (needs === undefined || held.includes(needs)) return true;
    return hold(name, `It needs the capability '${needs}', which the child has not.`);
  });
  return {
    key,
    task,
    reason,
    instructions: instructions === undefined ? 'parent' : { text: instructions },
    capabilities: held,
    tools: handed,
    withheld,
    limits,
  };
}
