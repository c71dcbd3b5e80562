/** A call as the record of its run tells it: who allowed it, what became of it, and who decided what about it. */
import type { Store } from '../ledger/store.ts';
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

export interface CallView {
  readonly position: number;
  readonly tool: string;
  readonly arguments: string;
  readonly approval: ApprovalView | null;
  /** True once a write was sent; without a result its outcome is unknown. */
  readonly sent: boolean;
  /** Why its outcome became unknown; null if it never did. */
  readonly unknown: string | null;
  /** What was seen of it after that; null for nothing. */
  readonly late: 'succeeded' | 'failed' | null;
  /** Who decided what about it while its outcome was unknown, oldest first; left out where nobody did. */
  readonly decisions?: readonly DecisionView[];
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
      const opened = { sent: false, approval: null, unknown: null, late: null, result: null };
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
    case 'effect-dispatch':
      return change(event.position, { sent: true });
    case 'effect-unknown':
      return change(event.position, { unknown: event.reason });
    case 'effect-reconcile':
    case 'effect-resolve': {
      const { by, reason } = event;
      const decision = event.type === 'effect-resolve' ? event.decision : event.answer;
      const before = calls.find(({ position }) => position === event.position)?.decisions ?? [];
      return change(event.position, { decisions: [...before, { decision, by, reason }] });
    }
    case 'effect-observe': {
      if (!event.late) return calls;
      const decisions = calls.find(({ position }) => position === event.position)?.decisions ?? [];
      const last = decisions.at(-1);
      // The look comes right before what it saw.
      const told =
        last === undefined || observed === null
          ? {}
          : { decisions: [...decisions.slice(0, -1), { ...last, text: observed }] };
      return change(event.position, { late: event.status, ...told });
    }
    case 'tool-result': {
      const { status, code, bytes, truncated, elapsedMs, message } = event;
      return change(event.position, { result: { status, code, bytes, truncated, elapsedMs, message } });
    }
    default:
      return calls;
  }
}

/** A stored text; null for none, and where it is no longer in the ledger. */
export async function textOf(store: Store, digest: string | null | undefined): Promise<string | null> {
  if (digest === null || digest === undefined) return null;
  const bytes = await store.blob(digest);
  return bytes === undefined ? null : Buffer.from(bytes).toString('utf8');
}
