/** `estimatePlan`: what a plan needs at its worst, every retry made and every branch run. */
import type { Plan, Step } from './ast.ts';

export interface PlanEstimate {
  readonly steps: number;
  /** Levels, the plan itself being the first. */
  readonly depth: number;
  /** The widest `parallel`. */
  readonly concurrency: number;
  /** One for each model step; a conversation that goes on is admitted turn by turn. */
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly contextOps: number;
}

const none: PlanEstimate = { steps: 0, depth: 0, concurrency: 1, modelCalls: 0, toolCalls: 0, contextOps: 0 };

/** `isContextTool` says of a tool's name that its calls are charged as looks into contexts. */
export function estimatePlan(
  plan: Plan,
  isContextTool: (name: string) => boolean = () => false,
): PlanEstimate {
  const of = (inner: Plan): PlanEstimate => {
    const parts = inner.steps.map((step) => ofStep(step));
    const total = parts.reduce(sum, none);
    return { ...total, depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)) };
  };
  const ofStep = (step: Step): PlanEstimate => {
    const one = { ...none, steps: 1 };
    switch (step.op) {
      case 'context':
        return { ...one, contextOps: 1 };
      case 'tool':
        return isContextTool(step.name) ? { ...one, contextOps: 1 } : { ...one, toolCalls: 1 };
      case 'model':
        return { ...one, modelCalls: 1 };
      case 'recurse':
        return sum(one, of(step.plan));
      case 'parallel': {
        const branches = step.plans.map(of);
        const total = branches.reduce(sum, one);
        return { ...total, concurrency: Math.max(total.concurrency, branches.length) };
      }
      case 'retry':
        return sum(one, times(of(step.plan), step.attempts));
      case 'checkpoint':
      case 'final':
        return one;
    }
  };
  return of(plan);
}

function sum(a: PlanEstimate, b: PlanEstimate): PlanEstimate {
  return {
    steps: a.steps + b.steps,
    depth: Math.max(a.depth, b.depth),
    concurrency: Math.max(a.concurrency, b.concurrency),
    modelCalls: a.modelCalls + b.modelCalls,
    toolCalls: a.toolCalls + b.toolCalls,
    contextOps: a.contextOps + b.contextOps,
  };
}

function times({ depth, concurrency, ...amounts }: PlanEstimate, count: number): PlanEstimate {
  const { steps, modelCalls, toolCalls, contextOps } = amounts;
  return {
    depth,
    concurrency,
    steps: steps * count,
    modelCalls: modelCalls * count,
    toolCalls: toolCalls * count,
    contextOps: contextOps * count,
  };
}
