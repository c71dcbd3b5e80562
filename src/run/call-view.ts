/** A call as the record of its run tells it: who allowed it, what became of it, and who decided what about it. */
import type { Store } from '../ledger/store.ts';
import type { AttemptId, EffectState, Lineage } from '../protocol/effect.ts';
import type { RunEvent } from '../protocol/events.ts';
import type { TicketAnswer } from '../protocol/ticket.ts';
import type { EffectDecisionKind } from './unsettled.ts';

export interface ApprovalView {
  readonly ticket: string;
  /** Null while the question is open, and where nobody was there to answer it. */
  readonly answer: Pick<TicketAnswer, 'decision' | 'by' | 'reason'> | null;
}

/** A look at a call of unknown outcome, or a decision about it. */
export interface DecisionView {
  readonly decision: Extract<RunEvent, { type: 'effect-reconcile' }>['answer'] | EffectDecisionKind;
  /** Null where the tool itself looked. */
  readonly by: string | null;
  readonly reason: string;
  /** What stands in the place of the call's result; left out where nothing does. */
  readonly text?: string;
}

/** One sending of a write, and what became of it. */
export interface AttemptView {
  /** From 1. */
  readonly attempt: number;
  readonly lineage: Lineage['mode'];
  /** In milliseconds since the Unix epoch. */
  readonly sentAt: number;
  readonly state: EffectState;
  /** Why its outcome became unknown; null if it never did, and where its process died. */
  readonly unknown: string | null;
  /** Who decided what about it while its outcome was unknown, oldest first. */
  readonly decisions: readonly DecisionView[];
  /** What was seen of it after that; null for nothing. */
  readonly late: 'succeeded' | 'failed' | null;
}

export interface CallView {
  readonly position: number;
  readonly tool: string;
  readonly arguments: string;
  readonly approval: ApprovalView | null;
  /** A write's, oldest first; none of a read, and of what was not sent yet. */
  readonly attempts: readonly AttemptView[];
  /** Which attempt's outcome it got, where nothing was sent for it because an equal call had brought one. */
  readonly replayOf: AttemptId | null;
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

/** What a person said in the place of a result. */
export async function observedText(store: Store, event: RunEvent): Promise<string | null> {
  return event.type === 'effect-observe' && event.late ? textOf(store, event.text) : null;
}

/** The calls of a turn after one more event of it. */
export function callsAfter(calls: CallView[], event: RunEvent, observed: string | null): CallView[] {
  const change = (position: number, what: Partial<CallView>) =>
    calls.map((call) => (call.position === position ? { ...call, ...what } : call));
  switch (event.type) {
    case 'tool-call': {
      const { position, tool, arguments: args } = event;
      const opened = { approval: null, attempts: [], replayOf: null, result: null };
      return [...calls, { position, tool, arguments: args, ...opened }];
    }
    case 'approval-request':
      return change(event.ticket.position, { approval: { ticket: event.ticket.id, answer: null } });
    case 'approval-answer': {
      const { ticket, decision, by, reason } = event;
      const asked = calls.find((call) => call.approval?.ticket === ticket);
      if (asked === undefined) return calls;
      return change(asked.position, { approval: { ticket, answer: { decision, by, reason } } });
    }
    case 'effect-replay': {
      const { turn, position, parent } = event;
      // A resume that gives a call its own recorded outcome is no other call's.
      const own = parent.turn === turn && parent.position === position;
      return own ? calls : change(position, { replayOf: parent });
    }
    case 'effect-dispatch':
    case 'effect-unknown':
    case 'effect-not-dispatched':
    case 'effect-reconcile':
    case 'effect-resolve':
    case 'effect-observe': {
      const { position } = event;
      const before = calls.find((call) => call.position === position)?.attempts ?? [];
      return change(position, { attempts: attemptsAfter(before, event, observed) });
    }
    case 'tool-result': {
      const { status, code, bytes, truncated, elapsedMs, message } = event;
      return change(event.position, { result: { status, code, bytes, truncated, elapsedMs, message } });
    }
    default:
      return calls;
  }
}

type AttemptEvent = Extract<
  RunEvent,
  {
    type:
      | 'effect-dispatch'
      | 'effect-unknown'
      | 'effect-not-dispatched'
      | 'effect-reconcile'
      | 'effect-resolve'
      | 'effect-observe';
  }
>;

function attemptsAfter(
  attempts: readonly AttemptView[],
  event: AttemptEvent,
  observed: string | null,
): readonly AttemptView[] {
  if (event.type === 'effect-dispatch') {
    const { attempt, lineage, at } = event;
    const sent = { attempt, lineage: lineage.mode, sentAt: at, state: 'dispatching' } as const;
    return [...attempts, { ...sent, unknown: null, decisions: [], late: null }];
  }
  // A decision to give up or to try again is about the effect as it stands: its newest attempt.
  const of = event.type === 'effect-resolve' ? attempts.length : event.attempt;
  return attempts.map((one) => (one.attempt === of ? attemptAfter(one, event, observed) : one));
}

function attemptAfter(
  attempt: AttemptView,
  event: Exclude<AttemptEvent, { type: 'effect-dispatch' }>,
  observed: string | null,
): AttemptView {
  const { decisions } = attempt;
  switch (event.type) {
    case 'effect-unknown':
      return { ...attempt, state: 'unknown', unknown: event.reason };
    case 'effect-not-dispatched':
      return { ...attempt, state: attempt.state === 'abandoned' ? 'abandoned' : 'not-dispatched' };
    case 'effect-reconcile': {
      const { answer: decision, by, reason } = event;
      // What was learned by the look stands in the next event.
      const state = attempt.state === 'dispatching' ? 'unknown' : attempt.state;
      return { ...attempt, state, decisions: [...decisions, { decision, by, reason }] };
    }
    case 'effect-resolve': {
      const { decision, by, reason } = event;
      return { ...attempt, state: decision, decisions: [...decisions, { decision, by, reason }] };
    }
    case 'effect-observe': {
      if (!event.late) return { ...attempt, state: 'observed' };
      const last = decisions.at(-1);
      // The look comes right before what it saw.
      const told =
        last === undefined || observed === null
          ? decisions
          : [...decisions.slice(0, -1), { ...last, text: observed }];
      return { ...attempt, state: 'observed', late: event.status, decisions: told };
    }
  }
}

/** A stored text; null for none, and where it is no longer in the ledger. */
export async function textOf(store: Store, digest: string | null | undefined): Promise<string | null> {
  if (digest === null || digest === undefined) return null;
  const bytes = await store.blob(digest);
  return bytes === undefined ? null : Buffer.from(bytes).toString('utf8');
}
