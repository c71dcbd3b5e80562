/** What a run is doing at this moment, as far as its events and its arriving text tell. */
import type { BudgetCounter, BudgetLimits } from '../../protocol/budget.ts';
import type { LiveDelta, RunEvent } from '../../protocol/events.ts';
import { addUsage, noUsage, type Usage } from '../../protocol/usage.ts';
import { openBudget } from '../../run/budget.ts';
import { type KnownUsage, spentBy } from '../../run/derive.ts';

export interface LiveState {
  readonly turn: number;
  readonly doing:
    | 'starting'
    | 'waiting for the model'
    | 'thinking'
    | 'writing'
    | 'waiting to try again'
    | 'stopping';
  /** Calls without a result, in order. */
  readonly calls: readonly { readonly position: number; readonly text: string }[];
  /** Steps of a plan that have begun and not ended, by their place. */
  readonly steps: readonly string[];
  readonly usage: Usage;
  readonly known: KnownUsage;
  readonly limits: BudgetLimits;
  /** The end of the text that is arriving. */
  readonly text: string;
  /** The requests are measured on their way: what a program says of them counts for nothing. */
  readonly metered?: true;
}

const noKnown: KnownUsage = { totalTokens: 0, costUsd: 0 };

function addKnown({ totalTokens, costUsd }: KnownUsage, usage: Usage): KnownUsage {
  return {
    totalTokens: totalTokens + (usage.totalTokens ?? 0),
    costUsd: costUsd + (usage.costUsd ?? 0),
  };
}

/** Before the first event. */
export const startState: LiveState = {
  turn: 0,
  doing: 'starting',
  calls: [],
  steps: [],
  usage: noUsage,
  known: noKnown,
  limits: {},
  text: '',
};

/** No more of the text is kept than a view can need. */
const textCharsMax = 4096;

export function afterEvent(state: LiveState, event: RunEvent): LiveState {
  switch (event.type) {
    case 'run-start':
    case 'run-resume':
      return { ...state, limits: event.budget, calls: [], steps: [], text: '', doing: 'starting' };
    case 'turn-start':
      return { ...state, turn: event.turn, calls: [] };
    case 'model-request':
      return { ...state, doing: 'waiting for the model', text: '' };
    case 'meter-open':
      return { ...state, metered: true };
    case 'meter-answer':
      return {
        ...state,
        usage: addUsage(state.usage, event.usage),
        known: addKnown(state.known, event.usage),
      };
    case 'model-response':
    case 'model-fault':
      return {
        ...state,
        doing:
          event.type === 'model-fault' && event.retryInMs !== null ? 'waiting to try again' : state.doing,
        usage: addUsage(state.usage, event.usage),
        known: addKnown(state.known, event.usage),
      };
    case 'usage-report':
      if (state.metered) return state;
      // The whole run's takes the place of what its turns told.
      if (event.turn === 0) return { ...state, usage: event.usage, known: addKnown(noKnown, event.usage) };
      return {
        ...state,
        usage: addUsage(state.usage, event.usage),
        known: addKnown(state.known, event.usage),
      };
    case 'message-finish':
      return { ...state, doing: 'waiting for the model', text: event.calls > 0 ? '' : state.text };
    case 'tool-call': {
      const call = { position: event.position, text: `${event.tool} ${event.arguments}` };
      return { ...state, calls: [...state.calls, call] };
    }
    case 'tool-result':
      return { ...state, calls: state.calls.filter((call) => call.position !== event.position) };
    case 'plan-step': {
      const step = `${event.path} ${event.operation}`;
      const others = state.steps.filter((one) => one !== step);
      return { ...state, steps: event.status === 'begun' ? [...others, step] : others };
    }
    case 'cancel-request':
      return { ...state, doing: 'stopping', calls: [], steps: [] };
    default:
      return state;
  }
}

export function afterDelta(state: LiveState, { type, text }: LiveDelta): LiveState {
  if (state.doing === 'stopping') return state;
  if (type === 'reasoning-delta') return { ...state, doing: 'thinking' };
  return { ...state, doing: 'writing', text: (state.text + text).slice(-textCharsMax) };
}

/** What is left of each limited counter but time. What the open request has set aside still counts as left. */
export function budgetLeft(
  limits: BudgetLimits,
  events: readonly RunEvent[],
): readonly (readonly [BudgetCounter, number])[] {
  const limited = (Object.keys(limits) as BudgetCounter[]).filter((counter) => counter !== 'wallTimeMs');
  if (limited.length === 0) return [];
  const lastRequest = events.findLastIndex((event) => event.type === 'model-request');
  const answered = events
    .slice(lastRequest + 1)
    .some(({ type }) => type === 'model-response' || type === 'model-fault');
  const settled = answered ? events : events.filter((_, at) => at !== lastRequest);
  const report = openBudget(limits, spentBy(settled)).report();
  return limited.map((counter) => [counter, report[counter]?.left ?? 0]);
}
