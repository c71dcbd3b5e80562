/** A plan as the record of its run tells it: each step as far as it has come, and who allowed or decided what on its way. */
import type { ErrorJson } from '../errors.ts';
import type { Store } from '../ledger/store.ts';
import type { RunEvent } from '../protocol/events.ts';
import { type CallView, callsAfter, observedText } from './call-view.ts';

/** What the record says of the call of a step beside its end. */
export type StepCallView = Pick<CallView, 'approval' | 'attempts' | 'replayOf'>;

/** A step of a plan, as far as it has come. */
export interface PlanStepView {
  readonly path: string;
  readonly operation: string;
  readonly status: 'begun' | 'ok' | 'failed';
  readonly error: ErrorJson | null;
  readonly label: string | null;
  /** Digest of its value as JSON; null while there is none. */
  readonly value: string | null;
  /** Of a step that calls a tool; left out for any other. */
  readonly call?: StepCallView;
}

/** A plan that was carried out, with its steps in the order in which they began. */
export interface PlanView {
  readonly lane: string;
  /** The turn that proposed it; 0 where the task itself is the plan. */
  readonly turn: number;
  readonly plan: string;
  readonly steps: readonly PlanStepView[];
}

/** The plans of a run in the order in which they were accepted. */
export async function plansOf(store: Store, events: readonly RunEvent[]): Promise<readonly PlanView[]> {
  const plans = new Map<string, Omit<PlanView, 'steps'> & { readonly steps: Map<string, PlanStepView> }>();
  const calls = new Map<number, CallView[]>();
  const turns = new Map<string, number>();
  for (const event of events) {
    if (event.type === 'plan-accept') {
      const { lane, turn, plan } = event;
      plans.set(lane, { lane, turn, plan, steps: new Map() });
    } else if (event.type === 'plan-step') {
      const { path, operation, status, error, value, turn, label = null } = event;
      plans.get(event.lane)?.steps.set(path, { path, operation, status, error, label, value });
      if (operation !== 'tool' || turn === 0) continue;
      turns.set(`${event.lane} ${path}`, turn);
      if (!calls.has(turn)) calls.set(turn, [unsent]);
    } else {
      const turn =
        event.type === 'approval-request' ? event.ticket.turn : 'turn' in event ? event.turn : null;
      for (const [of, call] of calls)
        if (turn === null || turn === of)
          calls.set(of, callsAfter(call, event, await observedText(store, event)));
    }
  }
  return [...plans.values()].map((plan) => ({
    ...plan,
    steps: [...plan.steps.values()].map((step) => {
      const [call] = calls.get(turns.get(`${plan.lane} ${step.path}`) ?? 0) ?? [];
      return call === undefined ? step : { ...step, call: stepCall(call) };
    }),
  }));
}

// The call of a step stands at the first place of a turn that is the step's alone.
const unsent: CallView = {
  ...{ position: 1, tool: '', arguments: '', approval: null, attempts: [], replayOf: null, result: null },
};

function stepCall({ approval, attempts, replayOf }: CallView): StepCallView {
  return { approval, attempts, replayOf };
}
