/** What a run goes to work with, once everything about it is known to be good. */
import type { Session } from '../harness.ts';
import type { BudgetAmount, BudgetLimits } from '../protocol/budget.ts';
import type { EventBody, RunEvent } from '../protocol/events.ts';
import type { Blob, SessionRecord } from '../protocol/record.ts';
import type { Budget } from './budget.ts';
import type { RunSeat } from './seat.ts';

export interface RunWork extends RunSeat {
  readonly run: string;
  readonly session: Session;
  readonly prompt: string;
  readonly limits: BudgetLimits;
  readonly task: string;
  readonly notices: readonly string[];
  /** Events of the session's earlier runs. */
  readonly sessionEvents: readonly RunEvent[];
  /** Events of this run before it was resumed. */
  readonly runEvents: readonly RunEvent[];
  readonly opening: EventBody;
  readonly openingBlobs: readonly Blob[];
  readonly origin: SessionRecord['origin'];
  /** What children that have no end yet drew from the budget before this run was resumed. */
  readonly openSpent: BudgetAmount;
  /** Of a child. */
  readonly parent?: {
    readonly budget: Budget;
    /** The fingerprints of every run above it. */
    readonly above: ReadonlySet<string>;
  };
}
