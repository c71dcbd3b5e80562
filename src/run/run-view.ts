/** A run as its record tells it: one value that `writ runs show` draws for people or prints as JSON. */
import type { ErrorJson } from '../errors.ts';
import type { Store } from '../ledger/store.ts';
import type { BudgetReport } from '../protocol/budget.ts';
import type { Receipt } from '../protocol/delivery.ts';
import type { Inheritance, RunEvent } from '../protocol/events.ts';
import type { RunRecord, SessionRecord } from '../protocol/record.ts';
import type { SpecReport } from '../protocol/spec.ts';
import type { Ticket } from '../protocol/ticket.ts';
import type { Usage } from '../protocol/usage.ts';
import { openBudget } from './budget.ts';
import { type CallView, callsAfter, observedText, textOf } from './call-view.ts';
import { askingBelow, childrenOf } from './child-record.ts';
import {
  countsOf,
  type KnownUsage,
  knownUsageOf,
  lastOf,
  limitsOf,
  openTicketOf,
  type RunState,
  specOf,
  spentBy,
  stateOf,
  usageOf,
} from './derive.ts';
import { type MeterView, meterOf } from './meter-view.ts';
import { type PlanView, plansOf } from './plan-view.ts';
import { type GoesOn, goesOn } from './torn.ts';
import { settleFirst, type UnsettledEffect, unsettledNow } from './unsettled.ts';

/** A request that brought no message. */
export interface FaultView {
  readonly attempt: number;
  readonly error: ErrorJson;
  /** When the same request was sent again; null if it was not. */
  readonly retryInMs: number | null;
}

export interface TurnView {
  readonly turn: number;
  /** The step of a plan whose own conversation it belongs to; null for the conversation of the session. */
  readonly lane: string | null;
  readonly faults: readonly FaultView[];
  readonly text: string | null;
  readonly calls: readonly CallView[];
  readonly notices: readonly string[];
  readonly usage: Usage;
  readonly known: KnownUsage;
}

/** A child of the run, with its own record. */
export interface ChildView {
  readonly child: string;
  /** Which of its parent's: `turn:position` of the call that it works for. */
  readonly key: string;
  readonly reason: string;
  readonly inherits: Inheritance;
  /** Null where it never came to exist, or its record was removed. */
  readonly view: RunView | null;
}

export interface RunView extends GoesOn {
  readonly run: string;
  readonly session: string;
  /** Its place among the runs of its session, from 1. */
  readonly index: number;
  readonly state: RunState;
  readonly createdAt: number;
  readonly agent: string;
  readonly harness: string;
  readonly model: string | null;
  readonly prompt: string;
  readonly capabilities: readonly string[];
  /** Null where the text is no longer in the ledger. */
  readonly task: string | null;
  readonly turns: readonly TurnView[];
  readonly plans: readonly PlanView[];
  readonly toolCalls: number;
  readonly usage: Usage;
  /** What is known of the usage where a request did not tell its own. */
  readonly known: KnownUsage;
  readonly budget: BudgetReport;
  readonly elapsedMs: number;
  readonly answer: string | null;
  readonly error: ErrorJson | null;
  readonly ticket: Ticket | null;
  /** What it did outside and nobody knows the outcome of. */
  readonly unsettled: readonly UnsettledEffect[];
  /** Those of the run and of all its turns. */
  readonly notices: readonly string[];
  /** Of a run under a specification: what its world was seen to be at last. */
  readonly spec?: SpecReport;
  /** In the order in which they began; left out where it has none. */
  readonly children?: readonly ChildView[];
  /** The run of which it is a child; left out where it is none. */
  readonly parent?: string;
  /** Of an outside program: what was delivered to it, and its own name for the session. Null while it is not known. */
  readonly outside?: {
    readonly receipt: Receipt;
    readonly session: string | null;
    /** What went through our recorder; left out where the run was not metered. */
    readonly meter?: MeterView;
  };
}

/** Reads the record of a run. */
export async function readRunView(store: Store, run: RunRecord, session: SessionRecord): Promise<RunView> {
  const events = await store.events(run.id);
  const held = (await store.holder(run.id)) !== undefined;
  const start = lastOf(events, 'run-start');
  const finish = lastOf(events, 'run-finish');
  const spent = spentBy(events);
  const spec = specOf(events);
  const unsettled = unsettledNow(events, held);
  return {
    run: run.id,
    session: session.id,
    index: run.index,
    state: stateOf(events, held),
    createdAt: run.createdAt,
    agent: session.agent,
    harness: session.harness,
    model: start?.model ?? session.model,
    prompt: session.prompt,
    capabilities: session.capabilities,
    task: await textOf(store, start?.task),
    turns: await turnsOf(store, events),
    plans: await plansOf(store, events),
    toolCalls: countsOf(events).toolCalls,
    usage: finish?.usage ?? usageOf(events),
    known: knownUsageOf(events),
    budget: finish?.budget ?? openBudget(limitsOf(events) ?? {}, spent).report(),
    elapsedMs: finish?.elapsedMs ?? spent.wallTimeMs ?? 0,
    answer: await textOf(store, finish?.answer),
    error: finish === undefined ? waitsFor(events) : settleFirst(finish.error, unsettled, run.id),
    ticket: openTicketOf(events) ?? (await askingBelow(store, events))?.ticket ?? null,
    unsettled,
    notices: events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])),
    ...(spec === undefined ? {} : { spec }),
    ...(run.parent === null ? {} : { parent: run.parent }),
    ...(held || finish !== undefined ? {} : goesOn(events, await store.torn())),
    ...(await childViews(store, events)),
    ...outsideOf(events),
  };
}

async function childViews(store: Store, events: readonly RunEvent[]): Promise<Pick<RunView, 'children'>> {
  const children = await Promise.all(
    childrenOf(events).map(async ({ start }): Promise<ChildView> => {
      const { child, key, reason, inherits } = start;
      const [run, session] = await Promise.all([store.run(child), store.session(start.session)]);
      const here = run !== undefined && session !== undefined;
      return { child, key, reason, inherits, view: here ? await readRunView(store, run, session) : null };
    }),
  );
  return children.length === 0 ? {} : { children };
}

function outsideOf(events: readonly RunEvent[]): Pick<RunView, 'outside'> {
  const receipt = lastOf(events, 'delivery-receipt')?.receipt;
  if (receipt === undefined) return {};
  const session = lastOf(events, 'vendor-session')?.id ?? null;
  return { outside: { receipt, session, ...meterOf(events) } };
}

/** Why a run waits that asks nobody. */
function waitsFor(events: readonly RunEvent[]): ErrorJson | null {
  const last = events.at(-1);
  return last?.type === 'run-pause' ? last.error : null;
}

interface OpenTurn {
  turn: number;
  lane: string | null;
  faults: FaultView[];
  text: string | null;
  calls: CallView[];
  notices: string[];
  events: RunEvent[];
}

async function turnsOf(store: Store, events: readonly RunEvent[]): Promise<readonly TurnView[]> {
  const turns: OpenTurn[] = [];
  for (const event of events) {
    if (event.type === 'turn-start') {
      turns.push({
        turn: event.turn,
        lane: event.lane ?? null,
        faults: [],
        text: null,
        calls: [],
        notices: [],
        events: [],
      });
      continue;
    }
    // What is seen late belongs to the turn of its call.
    const of = event.type === 'approval-request' ? event.ticket.turn : 'turn' in event ? event.turn : null;
    const at = turns.findLast(({ turn }) => of === null || of === turn);
    if (at === undefined) continue;
    // What was measured on the way belongs to the run: a turn shows what its program said of it.
    if (event.type !== 'meter-answer') at.events.push(event);
    if (event.type === 'model-fault') {
      const { attempt, error, retryInMs } = event;
      at.faults.push({ attempt, error, retryInMs });
    } else if (event.type === 'message-finish') at.text = await textOf(store, event.text);
    else if (event.type === 'notice') at.notices.push(event.text);
    else at.calls = callsAfter(at.calls, event, await observedText(store, event));
  }
  // A request in flight has no usage yet, and none is not zero.
  return turns.map(({ events: own, ...turn }) => ({
    ...turn,
    usage: usageOf(own),
    known: knownUsageOf(own),
  }));
}
