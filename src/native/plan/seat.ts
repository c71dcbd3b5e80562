/** What the execution of a plan works with: its seat in a session, its frames, and how a step can end. */
import type { ErrorJson } from '../../errors.ts';
import type { BudgetShare, Host, Reservation } from '../../harness.ts';
import type { BudgetAmount } from '../../protocol/budget.ts';
import type { RunEvent } from '../../protocol/events.ts';
import type { ExactJson } from '../../protocol/json.ts';
import type { HarnessOutcome } from '../../protocol/outcome.ts';
import type { Toolbox, Waiting } from '../call.ts';
import type { SessionContexts } from '../context/session-contexts.ts';
import type { StepOptions } from './ast.ts';
import type { AcceptedPlan } from './check-plan.ts';
import { PlanError } from './errors.ts';
import type { Names } from './evaluate.ts';
import type { PlanRecord } from './plan-record.ts';
import type { PlanResponse } from './plan-response.ts';

/** Gives each turn of a run a number of its own, whichever conversation it belongs to. */
export interface TurnNumbers {
  next(): number;
}

/** A model step, for the session to carry out with the same loop as its own turns. */
export interface Conversing {
  readonly host: Host;
  readonly lane: string;
  readonly prompt: string;
  readonly options: StepOptions;
  readonly capabilities: readonly string[];
}

export interface PlanSeat {
  readonly host: Host;
  readonly run: string;
  /** The name under which the plan's steps stand in the record. */
  readonly lane: string;
  /** The turn that proposed the plan; 0 where the task itself is the plan. */
  readonly turn: number;
  /** The run's events so far. */
  readonly events: readonly RunEvent[];
  readonly inputs: { readonly [name: string]: ExactJson };
  readonly toolbox: Toolbox;
  readonly contexts: SessionContexts | undefined;
  readonly numbers: TurnNumbers;
  /** Resolves with every end of the conversation, after it has settled. */
  converse(request: Conversing): Promise<HarnessOutcome>;
}

/** One execution of one plan. Its counters are shared by all of its parts. */
export interface PlanRun {
  readonly accepted: AcceptedPlan;
  readonly seat: PlanSeat;
  readonly record: PlanRecord;
  readonly allotment: BudgetShare;
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  readonly responses: PlanResponse[];
  readonly checkpoints: string[];
}

/** Where a step stands: what it sees, what it may do, and what stops it. */
export interface Frame {
  readonly path: string;
  readonly names: Names;
  readonly capabilities: readonly string[];
  readonly signal: AbortSignal;
  /** True in a branch that counts as one at work. */
  readonly holdsSlot: boolean;
}

export type Ended =
  | { readonly kind: 'ok'; readonly value: ExactJson }
  | { readonly kind: 'failed'; readonly error: ErrorJson };

/** A step that was stopped has not ended: it is begun again when the run is resumed. */
export type StepEnd =
  | Ended
  | { readonly kind: 'cancelled' }
  /** It waits, for a person mostly, or nobody is there who could allow it. */
  | { readonly kind: 'held'; readonly outcome: Held };

export type Held = Waiting;

/** The end of a step by an error. */
export function failedBy(error: PlanError): Ended {
  return { kind: 'failed', error: error.toJSON() };
}

/** The end of a step for which a limit leaves no room. */
export function exhausted({ counter, limit, left, wanted }: Extract<Reservation, { granted: false }>): Ended {
  return failedBy(
    new PlanError(
      'plan.budget-exhausted',
      `The next step needs ${wanted} ${counter}; ${left} of ${limit} are left.`,
      { next: 'Plan with fewer steps, or raise the limit.', details: { counter, limit, left, wanted } },
    ),
  );
}

/** How a step ended, and what it used. */
export interface Performed {
  readonly end: StepEnd;
  /** What was used of what the step had set aside; all of it where left out. */
  readonly actual?: BudgetAmount;
  /** The bytes of its value, where the step has charged them itself. */
  readonly bytes?: number;
}
