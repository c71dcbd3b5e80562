/** The host of a part of a plan: the run's own, with the plan's share of the budget, the part's signal and its lane. */
import type { BudgetShare, Host, Reservation } from '../../harness.ts';
import type { BudgetAmount } from '../../protocol/budget.ts';
import type { EventBody } from '../../protocol/events.ts';
import { openTab } from './tab.ts';

export interface PartOptions {
  readonly host: Host;
  readonly allotment: BudgetShare;
  /** Aborts with the run's. */
  readonly signal: AbortSignal;
  /** One for the whole plan: of writes only one is under way, whichever branch it is in. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/** For the tool steps of a branch. */
export function partHost({ host, allotment, signal, inTurn }: PartOptions): Host {
  return {
    ...host,
    ...allotment,
    signal,
    // Several conversations side by side would mix their texts; the record has each of them.
    live: () => {},
    effect: (call, dispatch) => inTurn(() => host.effect(call, dispatch, signal)),
    settled: (call, reconcile) => inTurn(() => host.settled(call, reconcile)),
    approve: (question) => host.approve(question, signal),
    child: (request, part = signal) => host.child(request, part),
  };
}

export interface LaneOptions extends PartOptions {
  readonly lane: string;
  /** True if the step's first request was set aside with the step. */
  readonly prepaid: boolean;
  onEvents(events: readonly EventBody[]): void;
}

export interface LaneHost extends Host {
  /** True once the request that was set aside with the step was made. */
  firstUsed(): boolean;
  /** Charges what the conversation has used, and the bytes of its value, in one check. To be called once, at its end. */
  settle(valueBytes: number): Reservation;
}

/**
 * For the conversation of a model step. Its first request was set aside with the step; each further turn is a step of the
 * plan, set aside together with its request before it is sent. What was used is charged in one check, by `settle`.
 */
export function laneHost(options: LaneOptions): LaneHost {
  const { lane, allotment, onEvents } = options;
  const part = partHost(options);
  const tab = openTab(allotment);
  const open = new Map<number, BudgetAmount>();
  let prepaid = options.prepaid;
  const told = (events: readonly EventBody[]): readonly EventBody[] => {
    onEvents(events);
    return events.map((event) =>
      event.type === 'turn-start' || event.type === 'session-compact' ? { ...event, lane } : event,
    );
  };
  const reserve = (amount: BudgetAmount): Reservation => {
    const reservation = allotment.reserve(amount);
    if (reservation.granted) open.set(reservation.id, amount);
    return reservation;
  };
  return {
    ...part,
    firstUsed: () => options.prepaid && !prepaid,
    settle: (valueBytes) => tab.settle(valueBytes),
    record: (events, blobs) => part.record(told(events), blobs),
    note: (events, blobs) => part.note(told(events), blobs),
    // The only output that a conversation spends without asking is its answer, charged as the value of the step.
    spend: ({ outputBytes: _, ...rest }) => part.spend(rest),
    reserve(amount) {
      if (amount.modelCalls === undefined) return reserve(amount);
      if (!prepaid) return reserve(amount.turns === undefined ? amount : { ...amount, steps: 1 });
      const reservation = reserve({ ...amount, modelCalls: 0 });
      prepaid = !reservation.granted;
      return reservation;
    },
    charge(reservation, actual, unknown) {
      const reserved = open.get(reservation);
      if (reserved === undefined) return;
      open.delete(reservation);
      // The step pays for the request that was set aside with it.
      const own = reserved.modelCalls === 0 ? { ...actual, modelCalls: 0 } : actual;
      tab.charge(reservation, reserved, own, unknown);
    },
  };
}
