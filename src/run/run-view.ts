/** A run as its record tells it: one value that `writ runs show` draws for people or prints as JSON. */
import type { ErrorJson } from '../errors.ts';
import type { Store } from '../ledger/store.ts';
import type { BudgetReport } from '../protocol/budget.ts';
import type { RunEvent } from '../protocol/events.ts';
import type { RunRecord, SessionRecord } from '../protocol/record.ts';
import type { Ticket } from '../protocol/ticket.ts';
import type { Usage } from '../protocol/usage.ts';
import { openBudget } from './budget.ts';
import {
  countsOf,
  lastOf,
  limitsOf,
  openTicketOf,
  type RunState,
  spentBy,
  stateOf,
  usageOf,
} from './derive.ts';

export interface CallView {
  readonly position: number;
  readonly tool: string;
  readonly arguments: string;
  /** True once a write was sent; without a result its outcome is unknown. */
  readonly sent: boolean;
  /** Null while the call has no result. */
  readonly result: {
    readonly status: Extract<RunEvent, { type: 'tool-result' }>['status'];
    readonly code: string | null;
    readonly bytes: number;
    readonly truncated: boolean;
    readonly elapsedMs: number;
    /** Digest of the message that the model got. */
    readonly message: string;
  } | null;
}

export interface TurnView {
  readonly turn: number;
  readonly text: string | null;
  readonly calls: readonly CallView[];
  readonly faults: readonly ErrorJson[];
  readonly usage: Usage;
}

export interface RunView {
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
  readonly toolCalls: number;
  readonly usage: Usage;
  readonly budget: BudgetReport;
  readonly elapsedMs: number;
  readonly answer: string | null;
  readonly error: ErrorJson | null;
  readonly ticket: Ticket | null;
  readonly notices: readonly string[];
}

/** Reads the record of a run. */
export async function readRunView(store: Store, run: RunRecord, session: SessionRecord): Promise<RunView> {
  const events = await store.events(run.id);
  const held = (await store.holder(run.id)) !== undefined;
  const start = lastOf(events, 'run-start');
  const finish = lastOf(events, 'run-finish');
  const spent = spentBy(events);
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
    toolCalls: countsOf(events).toolCalls,
    usage: finish?.usage ?? usageOf(events),
    budget: finish?.budget ?? openBudget(limitsOf(events) ?? {}, spent).report(),
    elapsedMs: finish?.elapsedMs ?? spent.wallTimeMs ?? 0,
    answer: await textOf(store, finish?.answer),
    error: finish?.error ?? null,
    ticket: openTicketOf(events) ?? null,
    notices: events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])),
  };
}

async function textOf(store: Store, digest: string | null | undefined): Promise<string | null> {
  if (digest === null || digest === undefined) return null;
  const bytes = await store.blob(digest);
  return bytes === undefined ? null : Buffer.from(bytes).toString('utf8');
}

interface OpenTurn {
  turn: number;
  text: string | null;
  calls: CallView[];
  faults: ErrorJson[];
  events: RunEvent[];
}

async function turnsOf(store: Store, events: readonly RunEvent[]): Promise<readonly TurnView[]> {
  const turns: OpenTurn[] = [];
  for (const event of events) {
    const at = turns.at(-1);
    if (event.type === 'turn-start' || at === undefined) {
      if (event.type === 'turn-start')
        turns.push({ turn: event.turn, text: null, calls: [], faults: [], events: [] });
      continue;
    }
    at.events.push(event);
    switch (event.type) {
      case 'model-fault':
        at.faults.push(event.error);
        break;
      case 'message-finish':
        at.text = await textOf(store, event.text);
        break;
      case 'tool-call':
        at.calls.push({
          position: event.position,
          tool: event.tool,
          arguments: event.arguments,
          sent: false,
          result: null,
        });
        break;
      case 'effect-dispatch':
        at.calls = at.calls.map((call) =>
          call.position === event.position ? { ...call, sent: true } : call,
        );
        break;
      case 'tool-result':
        at.calls = at.calls.map((call) =>
          call.position === event.position ? withResult(call, event) : call,
        );
        break;
    }
  }
  // A request in flight has no usage yet, and none is not zero.
  return turns.map(({ events: own, ...turn }) => ({ ...turn, usage: usageOf(own) }));
}

function withResult(call: CallView, event: Extract<RunEvent, { type: 'tool-result' }>): CallView {
  const { status, code, bytes, truncated, elapsedMs, message } = event;
  return { ...call, result: { status, code, bytes, truncated, elapsedMs, message } };
}
