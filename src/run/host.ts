/** What the runtime gives a harness: record, budget, effects and approvals of one run, and nothing of the ledger itself. */
import type { Clock } from '../clock.ts';
import {
  type EffectRecord,
  type EffectView,
  effectsOf,
  isApproved,
  openEffects,
  wasDispatched,
} from '../effects/effects.ts';
import { runEffect, settleEffect } from '../effects/run-effect.ts';
import type { BudgetShare, Host } from '../harness.ts';
import type { Store } from '../ledger/store.ts';
import type { EffectCall } from '../protocol/effect.ts';
import type { EventBody, LiveDelta, RunEvent } from '../protocol/events.ts';
import { type ApprovalDesk, forgedTicket } from './approval.ts';
import { type Budget, type Overrun, openBudget } from './budget.ts';
import type { Children } from './children.ts';
import { RunError } from './errors.ts';
import type { Line } from './line.ts';

/** After a cancel or a spent deadline, a dispatched write gets this long to answer before it is unknown. */
const settleGraceMs = 2_000;

export interface HostParts {
  readonly run: string;
  readonly store: Store;
  /** The id of the store. */
  readonly namespace: string;
  /** Events of the session's earlier runs. */
  readonly sessionEvents: readonly RunEvent[];
  readonly line: Line;
  readonly budget: Budget;
  readonly children: Children;
  readonly desk: ApprovalDesk;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onLive: ((delta: LiveDelta) => void) | undefined;
}

/** Builds the host of one run. */
export function openHost(parts: HostParts): Host {
  const { run, store, namespace, line, budget, children, desk, clock, signal, onLive } = parts;
  let view: EffectView = new Map();
  let viewed = 0;
  // The view grows with the record; only what is new since the last look is read.
  const viewNow = (): EffectView => {
    view = effectsOf(line.events.slice(viewed), view, namespace);
    viewed = line.events.length;
    return view;
  };
  const earlier = earlierEffects(parts);
  const noteOverruns = (overruns: readonly Overrun[]): void => {
    if (overruns.length > 0) line.note(overruns.map((overrun) => ({ type: 'budget-overrun', ...overrun })));
  };
  const drawing = (from: Budget): BudgetShare => ({
    reserve: (amount) => from.reserve(amount),
    charge: (reservation, actual, unknown) => noteOverruns(from.charge(reservation, actual, unknown)),
    spend: (amount) => noteOverruns(from.spend(amount)),
    left: (counter) => from.left(counter),
  });
  const about = (call: EffectCall, part: AbortSignal) => ({
    store: namespace,
    run,
    view: viewNow,
    earlier,
    call,
    record: (events: readonly EventBody[], options: Parameters<Line['put']>[1]) => line.put(events, options),
    recall: (digest: string) => store.blob(digest),
    signal: part,
    settleGraceMs,
    clock,
  });

  return {
    clock,
    signal,
    async record(events, blobs = []) {
      mustNotBeReserved(events);
      await line.put(events, { blobs });
    },
    note(events, blobs) {
      mustNotBeReserved(events);
      line.note(events, blobs);
    },
    live(delta) {
      try {
        onLive?.(delta);
      } catch {
        // A watcher's fault must not end the run that it watches.
      }
    },
    recall: (digest) => store.blob(digest),
    ...drawing(budget),
    share: (limits, spent) => drawing(openBudget(limits, spent, budget)),
    async effect(call, dispatch, part = signal) {
      const { ticket } = call;
      if (ticket !== undefined && !isApproved(viewNow(), ticket, call))
        throw forgedTicket(run, ticket, 'nobody approved it for this call');
      return runEffect({ ...about(call, part), dispatch });
    },
    async settled(call, reconcile) {
      const settled = await settleEffect({ ...about(call, signal), reconcile });
      return 'outcome' in settled ? settled.outcome : undefined;
    },
    dispatched: (place) => wasDispatched(viewNow(), place),
    approve: (question, part) => desk.approve(question, part),
    child: (request, part) => children.child(request, part),
  };
}

/**
 * The open effects of the session's earlier runs. Where there are any their records are read again each time: a person may
 * have decided about them meanwhile.
 */
function earlierEffects({ store, sessionEvents }: HostParts): () => Promise<readonly EffectRecord[]> {
  let open: readonly string[] | undefined;
  return async () => {
    open ??= runsWithOpen(sessionEvents);
    const found = await Promise.all(
      open.map(async (run) => ({ run, effects: openEffects(effectsOf(await store.events(run))) })),
    );
    // What is closed never opens again.
    open = found.filter(({ effects }) => effects.length > 0).map(({ run }) => run);
    return found.flatMap(({ effects }) => effects);
  };
}

function runsWithOpen(events: readonly RunEvent[]): readonly string[] {
  const byRun = new Map<string, RunEvent[]>();
  for (const event of events) {
    const own = byRun.get(event.run);
    if (own === undefined) byRun.set(event.run, [event]);
    else own.push(event);
  }
  return [...byRun].filter(([, own]) => openEffects(effectsOf(own)).length > 0).map(([run]) => run);
}

const reserved: ReadonlySet<EventBody['type']> = new Set([
  'run-start',
  'run-resume',
  'run-pause',
  'run-finish',
  'cancel-request',
  'approval-request',
  'approval-answer',
  'effect-dispatch',
  'effect-observe',
  'effect-not-dispatched',
  'effect-unknown',
  'effect-replay',
  'effect-reconcile',
  'effect-resolve',
  'child-start',
  'child-finish',
]);

// A harness that could write these could answer for a person, or say of an effect what nobody saw.
function mustNotBeReserved(events: readonly EventBody[]): void {
  const forged = events.find(({ type }) => reserved.has(type));
  if (forged === undefined) return;
  throw new RunError(
    'run.event-reserved',
    `A harness tried to write '${forged.type}', which only the runtime may.`,
    {
      next: 'Use effect, approve and child of the host: they write it.',
      details: { type: forged.type },
    },
  );
}
