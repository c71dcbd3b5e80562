/** `typed_plan_execute`: a plan as one call of the direct loop, carried out by the session under all of its own limits. */
import { defineTool, failed } from '../tool/define-tool.ts';
import { readOptions } from '../tool/options.ts';
import type { Tool } from '../tool/tool.ts';
import { planCapability } from './capabilities.ts';
import { planForm } from './planner-text.ts';

/** It has no options; the workspace is what every built-in tool is given. */
export interface PlanToolOptions {
  readonly workspace?: string;
}

/** Needs the capability `plan`; what the plan's steps need beside it is checked before the first of them. */
export function planTool(options: PlanToolOptions = {}): Tool {
  readOptions('typed_plan_execute', options, { workspace: 'string?' });
  const tool = defineTool({
    name: 'typed_plan_execute',
    description: `Checks a whole plan and then carries it out: several looks, calls and model steps in one call. Returns the value of its "final". Inputs: "query" is the task, "context" the name of the first context.\n${planForm}`,
    parameters: {
      type: 'object',
      properties: {
        plan: {
          type: 'object',
          properties: { steps: { type: 'array', items: { type: 'object' }, minItems: 1 } },
          required: ['steps'],
          additionalProperties: false,
        },
      },
      required: ['plan'],
      additionalProperties: false,
    },
    capability: planCapability,
    // Nothing is done by the call itself: each of its steps is a read or a write with a record of its own.
    access: 'read',
    // Its value is what tools, contexts and models have brought.
    untrusted: true,
    exactIntegers: true,
    execute: () => failed('tool.unavailable', 'Only a session of Writ carries out plans.'),
  });
  return { ...tool, runs: 'plan' };
}
