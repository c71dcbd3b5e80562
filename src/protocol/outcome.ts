/** How a run ends. It is returned, never thrown, and always carries what was used so far. */
import type { ErrorJson } from '../errors.ts';
import type { BudgetReport } from './budget.ts';
import type { SpecReport } from './spec.ts';
import type { Ticket } from './ticket.ts';
import type { Usage } from './usage.ts';

export const runStatuses = ['completed', 'failed', 'refused', 'cancelled', 'paused', 'unknown'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** How a harness says that its work on a task ended. */
export type HarnessOutcome =
  | { readonly status: 'completed'; readonly answer: string }
  | { readonly status: 'failed' | 'refused' | 'cancelled' | 'unknown'; readonly error: ErrorJson }
  | { readonly status: 'paused'; readonly ticket: Ticket }
  /** Nothing failed and nothing was sent: what the run needs is not there, and `error` says how to go on. */
  | { readonly status: 'paused'; readonly ticket: null; readonly error: ErrorJson };

export interface RunResult {
  readonly status: RunStatus;
  readonly run: string;
  readonly session: string;
  readonly agent: string;
  readonly harness: string;
  readonly model: string | null;
  /** The composition's digest: the same on every run of the session. */
  readonly prompt: string;
  /** The final text; null unless completed. */
  readonly answer: string | null;
  readonly error: ErrorJson | null;
  /** The open question of a paused run; null too where it waits for something else, which `error` then tells. */
  readonly ticket: Ticket | null;
  readonly turns: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  readonly budget: BudgetReport;
  readonly elapsedMs: number;
  /**
   * What a caller should know although the run went on: lowered guarantees, a folder that composes differently now, a
   * setting that a model's SDK drops.
   */
  readonly notices: readonly string[];
  /** Of a run under a specification: what its world was seen to be at last. */
  readonly spec?: SpecReport;
}
