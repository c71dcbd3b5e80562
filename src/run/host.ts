/** What the runtime gives a harness: record, budget, effects and approvals of one run, and nothing of the ledger itself. */
import type { Clock } from '../clock.ts';
import { decide, type EffectView, effectsOf, wasDispatched } from '../effects/effects.ts';
import { runEffect } from '../effects/run-effect.ts';
import type { Host } from '../harness.ts';
import type { Store } from '../ledger/store.ts';
import type { LiveDelta } from '../protocol/events.ts';
import type { ApprovalDesk } from './approval.ts';
import type { Budget, Overrun } from './budget.ts';
import type { Line } from './line.ts';

/** After a cancel or a spent deadline, a dispatched write gets this long to answer before it is unknown. */
const settleGraceMs = 2_000;

export interface HostParts {
  readonly store: Store;
  readonly line: Line;
  readonly budget: Budget;
  readonly desk: ApprovalDesk;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onLive: ((delta: LiveDelta) => void) | undefined;
}

/** Builds the host of one run. */
export function openHost({ store, line, budget, desk, clock, signal, onLive }: HostParts): Host {
  let view: EffectView = new Map();
  let viewed = 0;
  // The view grows with the record; only what is new since the last look is read.
  const viewNow = (): EffectView => {
    view = effectsOf(line.events.slice(viewed), view);
    viewed = line.events.length;
    return view;
  };
  const noteOverruns = (overruns: readonly Overrun[]): void => {
    if (overruns.length > 0) line.note(overruns.map((overrun) => ({ type: 'budget-overrun', ...overrun })));
  };
  const effect: Host['effect'] = (call, dispatch, part = signal) =>
    runEffect({
      view: viewNow(),
      call,
      dispatch,
      record: (events, options) => line.put(events, options),
      recall: (digest) => store.blob(digest),
      signal: part,
      settleGraceMs,
      clock,
    });

  return {
    clock,
    signal,
    record: (events, blobs = []) => line.put(events, { blobs }),
    note: (events, blobs) => line.note(events, blobs),
    live(delta) {
      try {
        onLive?.(delta);
      } catch {
        // A watcher's fault must not end the run that it watches.
      }
    },
    recall: (digest) => store.blob(digest),
    reserve: (amount) => budget.reserve(amount),
    charge: (reservation, actual, unknown) => noteOverruns(budget.charge(reservation, actual, unknown)),
    spend: (amount) => noteOverruns(budget.spend(amount)),
    left: (counter) => budget.left(counter),
    effect,
    async settled(call) {
      const decision = decide(viewNow(), call);
      // These decisions dispatch nothing; all others leave the call to be run, and a person may be asked about it.
      if (decision.do !== 'replay' && decision.do !== 'unknown' && decision.do !== 'held') return undefined;
      return effect(call, () => Promise.reject(new Error('A settled call is never dispatched.')));
    },
    dispatched: (place) => wasDispatched(viewNow(), place),
    approve: (question, part) => desk.approve(question, part),
  };
}
