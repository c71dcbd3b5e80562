/** One answer of the model inside a plan: kept whatever became of the step that asked for it. */
import type { EventBodies } from '../../protocol/events.ts';
import type { Usage } from '../../protocol/usage.ts';

export interface PlanResponse {
  /** The model step that asked. */
  readonly path: string;
  readonly turn: number;
  readonly reason: 'direct_plan_model' | 'nested_recurse_model' | 'parallel_model' | 'retry_model';
  /** Digest of the raw response, which the ledger has. */
  readonly response: string;
  readonly finish: string;
  readonly modelSeen: string | null;
  readonly usage: Usage;
}

/** The answer as its event tells it. The innermost form around the step says why it was asked. */
export function planResponse(event: EventBodies['model-response'], path: string): PlanResponse {
  const { turn, response, finish, modelSeen, usage } = event;
  return { path, turn, reason: reasonOf(path), response, finish, modelSeen, usage };
}

function reasonOf(path: string): PlanResponse['reason'] {
  const around = path.split('/').findLast((part) => /^[rbt]/.test(part));
  if (around === undefined) return 'direct_plan_model';
  if (around.startsWith('r')) return 'nested_recurse_model';
  return around.startsWith('b') ? 'parallel_model' : 'retry_model';
}
