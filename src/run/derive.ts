/** What the events of a run say about it: its state, its usage, its open ticket. Nothing else stores these. */
import { addAmounts, amountOf, type BudgetAmount, type BudgetLimits } from '../protocol/budget.ts';
import { didRun, type EventBodies, type EventBody, type RunEvent } from '../protocol/events.ts';
import type { RunStatus } from '../protocol/outcome.ts';
import type { SpecReport } from '../protocol/spec.ts';
import type { Ticket } from '../protocol/ticket.ts';
import { addUsage, noUsage, type Usage, unknownUsage } from '../protocol/usage.ts';

/** `interrupted`: nobody holds the run and its record has no end; it can be resumed. */
export type RunState = RunStatus | 'running' | 'interrupted';

/** The state of a run; `held` says whether a living process has its lease. */
export function stateOf(events: readonly RunEvent[], held: boolean): RunState {
  const finish = lastOf(events, 'run-finish');
  if (finish !== undefined) return finish.status;
  if (held) return 'running';
  return events.at(-1)?.type === 'run-pause' || openTicketOf(events) !== undefined ? 'paused' : 'interrupted';
}

/** The newest event of a type. */
export function lastOf<T extends keyof EventBodies>(
  events: readonly RunEvent[],
  type: T,
): (RunEvent & { readonly type: T }) | undefined {
  return events.findLast((event): event is RunEvent & { readonly type: T } => event.type === type);
}

/** What the newest verdict says of a run's specification; undefined while there is none. */
export function specOf(events: readonly EventBody[]): SpecReport | undefined {
  const verdict = events.findLast((event) => event.type === 'spec-verdict');
  if (verdict?.type !== 'spec-verdict') return undefined;
  const { spec, attempt: attempts, accepted, results } = verdict;
  return { spec, attempts, accepted, results };
}

/** All that the run's model requests and its children used. One without an end is unknown, so the sum is. */
export function usageOf(events: readonly EventBody[]): Usage {
  let usage = noUsage;
  // By turn: requests of a plan's branches are open side by side. Turn 0 is an outside program.
  const open = new Set<number>();
  const openChildren = new Set<string>();
  const metered = isMetered(events);
  let estimate: Pick<Usage, 'estimatedUsd'> = {};
  const openMetered = new Set<number>();
  for (const event of events) {
    if (event.type === 'meter-admit') openMetered.add(event.number);
    else if (event.type === 'meter-answer') {
      usage = addUsage(usage, event.usage);
      openMetered.delete(event.number);
    } else if (metered && event.type === 'usage-report') {
      const { estimatedUsd } = event.usage;
      if (event.turn === 0 && estimatedUsd !== undefined) estimate = { estimatedUsd };
    } else if (event.type === 'model-request' || (!metered && isOutsideStart(event))) {
      if (open.has(event.turn)) usage = addUsage(usage, unknownUsage);
      open.add(event.turn);
    } else if (event.type === 'model-response' || event.type === 'model-fault') {
      usage = addUsage(usage, event.usage);
      open.delete(event.turn);
    } else if (event.type === 'usage-report') {
      usage = event.turn === 0 ? event.usage : addUsage(usage, event.usage);
      open.delete(event.turn);
    } else if (event.type === 'effect-not-dispatched' && event.turn === 0) open.delete(0);
    else if (event.type === 'child-start') openChildren.add(event.key);
    else if (event.type === 'child-finish') {
      usage = addUsage(usage, event.usage);
      openChildren.delete(event.key);
    }
  }
  if (openChildren.size > 0) usage = addUsage(usage, { ...unknownUsage, modelCalls: 0 });
  for (const _ of [...open, ...openMetered]) usage = addUsage(usage, unknownUsage);
  return { ...usage, ...estimate };
}

/** Whether the requests of an outside program were measured on their way: then what it says of them counts for nothing. */
function isMetered(events: readonly EventBody[]): boolean {
  return events.some(({ type }) => type === 'meter-open');
}

/** The start of an outside program, whose use is unknown until it reported all of it. */
function isOutsideStart(event: EventBody): event is EventBody & { readonly type: 'effect-dispatch' } {
  return event.type === 'effect-dispatch' && event.turn === 0;
}

/** What is known of it, where `usageOf` cannot say the whole: it was at least this much. */
export interface KnownUsage {
  readonly totalTokens: number;
  readonly costUsd: number;
}

/** The known parts of the run's usage added up; what no provider reported is left out. */
export function knownUsageOf(events: readonly RunEvent[]): KnownUsage {
  let totalTokens = 0;
  let costUsd = 0;
  const metered = isMetered(events);
  for (const event of events) {
    if (metered && event.type === 'usage-report') continue;
    if (event.type === 'usage-report' && event.turn === 0) {
      totalTokens = 0;
      costUsd = 0;
    } else if (
      event.type !== 'model-response' &&
      event.type !== 'model-fault' &&
      event.type !== 'meter-answer' &&
      event.type !== 'child-finish' &&
      event.type !== 'usage-report'
    )
      continue;
    totalTokens += event.usage.totalTokens ?? 0;
    costUsd += event.usage.costUsd ?? 0;
  }
  return { totalTokens, costUsd };
}

/** Turns that were started and calls that really ran. */
export function countsOf(events: readonly EventBody[]): {
  readonly turns: number;
  readonly toolCalls: number;
} {
  let turns = 0;
  let toolCalls = 0;
  for (const event of events) {
    if (event.type === 'turn-start') turns += 1;
    if (event.type === 'tool-result' && didRun(event.status)) toolCalls += 1;
    if (event.type === 'plan-step' && event.counter !== undefined) toolCalls += 1;
  }
  return { turns, toolCalls };
}

/** The question that has no answer yet, if the run is waiting for one. */
export function openTicketOf(events: readonly RunEvent[]): Ticket | undefined {
  const asked = lastOf(events, 'approval-request')?.ticket;
  if (asked === undefined) return undefined;
  const answered = events.some((event) => event.type === 'approval-answer' && event.ticket === asked.id);
  return answered || lastOf(events, 'run-finish') !== undefined ? undefined : asked;
}

/** The limits that hold for the run: those of its start, or of its newest resume. */
export function limitsOf(events: readonly RunEvent[]): BudgetLimits | undefined {
  return (lastOf(events, 'run-resume') ?? lastOf(events, 'run-start'))?.budget;
}

/**
 * What the events of a run have already used. A request without an end, and one whose usage is unknown, count with the
 * whole of what was reserved for them. Time counts from the first to the last event of each holder, and beyond it what a
 * resume found lost (`lostMs` for a resume that is not recorded yet); a clock that ran backwards counts as no time.
 */
export function spentBy(events: readonly RunEvent[], lostMs = 0): BudgetAmount {
  const spent = {
    turns: 0,
    steps: 0,
    modelCalls: 0,
    toolCalls: 0,
    contextOps: 0,
    tokens: 0,
    costUsd: 0,
    outputBytes: 0,
    wallTimeMs: lostMs,
  };
  const charge = (reserved: BudgetAmount, usage: Usage | undefined) => {
    const { known } = usage === undefined ? { known: { modelCalls: 1 } as BudgetAmount } : amountOf(usage);
    spent.modelCalls += known.modelCalls ?? 1;
    spent.tokens += known.tokens ?? reserved.tokens ?? 0;
    spent.costUsd += known.costUsd ?? reserved.costUsd ?? 0;
  };
  // By turn: requests of a plan's branches wait side by side.
  const waiting = new Map<number, BudgetAmount>();
  const metered = isMetered(events);
  const admitted = new Map<number, BudgetAmount>();
  const lanes = new Set<string>();
  let children: BudgetAmount = {};
  let epochFirst: RunEvent | undefined;
  let last: RunEvent | undefined;
  for (const event of events) {
    if (epochFirst === undefined || event.epoch !== epochFirst.epoch) {
      if (epochFirst !== undefined && last !== undefined)
        spent.wallTimeMs += Math.max(0, last.at - epochFirst.at);
      epochFirst = event;
    }
    last = event;
    if (event.type === 'turn-start') {
      spent.turns += 1;
      // The first turn of a step is the step itself.
      if (event.lane !== undefined && lanes.has(event.lane)) spent.steps += 1;
      if (event.lane !== undefined) lanes.add(event.lane);
    } else if (event.type === 'run-resume') spent.wallTimeMs += event.lostMs;
    else if (event.type === 'model-request') {
      const before = waiting.get(event.turn);
      if (before !== undefined) charge(before, undefined);
      waiting.set(event.turn, event.reserved);
    } else if (event.type === 'model-response' || event.type === 'model-fault') {
      const reserved = waiting.get(event.turn);
      if (reserved !== undefined) charge(reserved, event.usage);
      waiting.delete(event.turn);
    } else if (event.type === 'meter-open') {
      for (const reserved of admitted.values()) charge(reserved, undefined);
      admitted.clear();
    } else if (event.type === 'meter-admit') admitted.set(event.number, event.reserved);
    else if (event.type === 'meter-answer') {
      const reserved = admitted.get(event.number);
      if (reserved !== undefined) charge(reserved, event.usage);
      admitted.delete(event.number);
    } else if (event.type === 'usage-report' && event.turn > 0 && !metered) charge({}, event.usage);
    else if (event.type === 'tool-result') {
      if (didRun(event.status)) {
        spent[event.counter ?? 'toolCalls'] += 1;
        spent.outputBytes += event.bytes;
      }
    } else if (event.type === 'child-finish') children = addAmounts(children, event.spent);
    else if (event.type === 'plan-step') {
      if (event.status === 'begun') spent.steps += 1;
      if (event.counter !== undefined) spent[event.counter] += 1;
      spent.outputBytes += event.bytes;
    }
  }
  for (const reserved of [...waiting.values(), ...admitted.values()]) charge(reserved, undefined);
  if (epochFirst !== undefined && last !== undefined)
    spent.wallTimeMs += Math.max(0, last.at - epochFirst.at);
  const { contextOps, steps, ...others } = spent;
  const own = { ...others, ...(contextOps === 0 ? {} : { contextOps }), ...(steps === 0 ? {} : { steps }) };
  return addAmounts(own, children);
}
