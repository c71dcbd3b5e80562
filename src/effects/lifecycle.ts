/** The life of one attempt at an effect: from each state, which steps are possible and where they lead. */
import type { EffectState } from '../protocol/effect.ts';
import type { EventBody } from '../protocol/events.ts';

/**
 * What an event does to an attempt. `dispatch-again` starts another attempt of an effect whose repetition does no harm;
 * `ask-again` asks a model once more, which costs what the budget admits and does nothing outside; `ask-person` puts a
 * question, which is put once and has one answer.
 */
export const effectSteps = [
  'dispatch',
  'dispatch-again',
  'ask-again',
  'ask-person',
  'observe',
  'prove-not-dispatched',
  'lose-sight',
  'request-cancel',
  'reconcile',
  'authorize-retry',
  'abandon',
] as const;
export type EffectStep = (typeof effectSteps)[number];

// Nothing leads from an open state (dispatching, cancel-requested, unknown) to a plain dispatch: what was not seen is
// asked about, never sent again. What is learned late is always taken in, but undoes no person's decision to give up.
const table = {
  admitted: {
    dispatch: 'dispatching',
    'dispatch-again': 'dispatching',
    'ask-again': 'dispatching',
    'ask-person': 'dispatching',
  },
  dispatching: {
    'dispatch-again': 'dispatching',
    'ask-again': 'dispatching',
    observe: 'observed',
    'prove-not-dispatched': 'not-dispatched',
    'lose-sight': 'unknown',
    'request-cancel': 'cancel-requested',
    reconcile: 'unknown',
    'authorize-retry': 'retry-authorized',
    abandon: 'abandoned',
  },
  'cancel-requested': {
    'dispatch-again': 'dispatching',
    'ask-again': 'dispatching',
    observe: 'observed',
    'prove-not-dispatched': 'not-dispatched',
    'lose-sight': 'unknown',
    'request-cancel': 'cancel-requested',
    reconcile: 'unknown',
    'authorize-retry': 'retry-authorized',
    abandon: 'abandoned',
  },
  unknown: {
    'dispatch-again': 'dispatching',
    'ask-again': 'dispatching',
    observe: 'observed',
    'prove-not-dispatched': 'not-dispatched',
    reconcile: 'unknown',
    'authorize-retry': 'retry-authorized',
    abandon: 'abandoned',
  },
  'not-dispatched': { dispatch: 'dispatching', 'dispatch-again': 'dispatching', 'ask-again': 'dispatching' },
  'retry-authorized': {
    dispatch: 'dispatching',
    'dispatch-again': 'dispatching',
    observe: 'observed',
    'prove-not-dispatched': 'not-dispatched',
    reconcile: 'retry-authorized',
    abandon: 'abandoned',
  },
  observed: { 'ask-again': 'dispatching' },
  abandoned: { observe: 'observed', 'prove-not-dispatched': 'abandoned', reconcile: 'abandoned' },
} as const satisfies Record<EffectState, Partial<Record<EffectStep, EffectState>>>;

export type Transition =
  | { readonly ok: true; readonly state: EffectState }
  | { readonly ok: false; readonly state: EffectState; readonly step: EffectStep };

/** Where a step leads, or that it is not possible from there. */
export function next(state: EffectState, step: EffectStep): Transition {
  const steps: Partial<Record<EffectStep, EffectState>> = table[state];
  const to = steps[step];
  return to === undefined ? { ok: false, state, step } : { ok: true, state: to };
}

/** True while it is not known what the attempt did: it holds its key, and only a person or an observation ends that. */
export function isOpen(state: EffectState): boolean {
  return state === 'dispatching' || state === 'cancel-requested' || state === 'unknown';
}

/** The step that an event stands for; undefined for an event that does not concern effects. */
export function stepOf(event: EventBody): EffectStep | undefined {
  switch (event.type) {
    case 'effect-dispatch':
      return event.repeat === 'once' ? 'dispatch' : 'dispatch-again';
    case 'approval-request':
      return 'ask-person';
    case 'model-request':
      return 'ask-again';
    case 'effect-observe':
    case 'model-response':
    case 'approval-answer':
      return 'observe';
    case 'model-fault':
      // An answer that says no is an answer; without one only `no` is proof.
      if (event.httpStatus !== null) return 'observe';
      return event.dispatched === 'no' ? 'prove-not-dispatched' : 'lose-sight';
    case 'effect-not-dispatched':
      return 'prove-not-dispatched';
    case 'effect-unknown':
      return 'lose-sight';
    case 'effect-reconcile':
      return 'reconcile';
    case 'effect-resolve':
      return event.decision === 'abandoned' ? 'abandon' : 'authorize-retry';
    case 'cancel-request':
      return 'request-cancel';
    default:
      return undefined;
  }
}
