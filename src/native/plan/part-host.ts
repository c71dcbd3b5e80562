/** The host of a part of a plan: the run's own, with the plan's share of the budget, the part's signal and its lane. */
import type { BudgetShare, Host } from '../../harness.ts';
import type { EventBody } from '../../protocol/events.ts';

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

/**
 * For the conversation of a model step. Its first request was set aside with the step; each further turn is a step of the
 * plan, admitted together with its request in one check before it is sent.
 */
export function laneHost(options: LaneOptions): Host & { readonly firstUsed: () => boolean } {
  const { lane, allotment, onEvents } = options;
  const part = partHost(options);
  const paid = new Set<number>();
  let prepaid = options.prepaid;
  const told = (events: readonly EventBody[]): readonly EventBody[] => {
    onEvents(events);
    return events.map((event) => (event.type === 'turn-start' ? { ...event, lane } : event));
  };
  return {
    ...part,
    firstUsed: () => options.prepaid && !prepaid,
    record: (events, blobs) => part.record(told(events), blobs),
    note: (events, blobs) => part.note(told(events), blobs),
    // The only output that a conversation spends without asking is its answer, charged as the value of the step.
    spend: ({ outputBytes: _, ...rest }) => part.spend(rest),
    reserve(amount) {
      if (amount.modelCalls === undefined) return allotment.reserve(amount);
      if (!prepaid) return allotment.reserve(amount.turns === undefined ? amount : { ...amount, steps: 1 });
      const { modelCalls: _, ...rest } = amount;
      const reservation = allotment.reserve(rest);
      if (reservation.granted) {
        paid.add(reservation.id);
        prepaid = false;
      }
      return reservation;
    },
    charge(reservation, actual, unknown) {
      const { modelCalls: _, ...rest } = actual;
      allotment.charge(reservation, paid.delete(reservation) ? rest : actual, unknown);
    },
  };
}
