/** The limits of one plan. They narrow what the run has left and never add to it. */
import { PlanError } from './errors.ts';

export interface PlanLimits {
  /** Steps that are begun; each turn of a model step beyond its first counts as one more. */
  readonly steps: number;
  /** Levels, the plan itself being the first. */
  readonly depth: number;
  /** Branches of one `parallel`, and branches at work at once in the whole plan. */
  readonly concurrency: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly contextOps: number;
  /** UTF-8 bytes of all bound values and the final one, as JSON. */
  readonly outputBytes: number;
  readonly timeMs: number;
}

export const defaultPlanLimits: PlanLimits = {
  steps: 64,
  depth: 4,
  concurrency: 8,
  modelCalls: 8,
  toolCalls: 16,
  contextOps: 32,
  outputBytes: 65_536,
  timeMs: 120_000,
};

/** A call may be none; whatever a plan cannot do without is at least one. */
const least: PlanLimits = {
  steps: 1,
  depth: 1,
  concurrency: 1,
  modelCalls: 0,
  toolCalls: 0,
  contextOps: 0,
  outputBytes: 1,
  timeMs: 1,
};

/** The default limits overlaid by some. Throws `plan.bad-limit` for an unknown name or a number out of range. */
export function planLimits(overlay: Partial<PlanLimits> = {}): PlanLimits {
  for (const [name, value] of Object.entries(overlay)) {
    if (!Object.hasOwn(least, name)) {
      throw new PlanError('plan.bad-limit', `'${name}' is no limit of plans.`, {
        next: `Use one of: ${Object.keys(least).join(', ')}.`,
      });
    }
    const lowest = least[name as keyof PlanLimits];
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < lowest) {
      throw new PlanError(
        'plan.bad-limit',
        `The limit ${name} expected a whole number of at least ${lowest}, found ${String(value)}.`,
        { next: `Give ${name} as a whole number, or leave it out.` },
      );
    }
  }
  return { ...defaultPlanLimits, ...overlay };
}
