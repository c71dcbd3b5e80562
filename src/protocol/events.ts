/** The vocabulary of a run's record. Events are the truth about a run; status, usage, cost and resume derive from them. */
import type { ErrorJson } from '../errors.ts';
import type { BudgetAmount, BudgetCounter, BudgetLimits, BudgetReport } from './budget.ts';
import type { Position, Receipt, SessionBinding } from './delivery.ts';
import type { Access, AttemptId, Lineage, Reconciled, Repeat } from './effect.ts';
import type { RunStatus } from './outcome.ts';
import type { RequirementResult } from './spec.ts';
import type { ApproveMode, Ticket, TicketAnswer } from './ticket.ts';
import type { Usage } from './usage.ts';

/** `rejected`: never executed, the model may mend it. `not-run`: provably nothing was sent; the result says why. */
export type CallStatus = 'ok' | 'failed' | 'rejected' | 'denied' | 'unknown' | 'not-run';

/** A result as policies compare it: a command that ran and ended badly is a failure, one that still runs is open. */
export interface SeenResult {
  readonly outcome: 'ok' | 'failed' | 'open';
  /** Digest of what it said; of a failure without its numbers. */
  readonly content: string;
}

/** True for a call that was executed, or may have been: only such a call counts against a budget. */
export function didRun(status: CallStatus): boolean {
  return status === 'ok' || status === 'failed' || status === 'unknown';
}

/** Where a call stands in a run: its turn, and its position in the batch, both from 1. */
interface CallPlace {
  readonly turn: number;
  readonly position: number;
}

/** What a child has of its parent, and what it has not and why. Left out is what the parent has not either. */
export interface Inheritance {
  /** `parent`: the parent's composed text, byte for byte; `given`: another, which `prompt` names. */
  readonly instructions: 'parent' | 'given';
  /** Digest of its composed text. */
  readonly prompt: string;
  readonly capabilities: readonly string[];
  readonly tools: readonly string[];
  readonly withheld: readonly { readonly name: string; readonly reason: string }[];
}

/** What each event says. Digests name blobs of the ledger; texts of models and tools are always in blobs. */
export interface EventBodies {
  'run-start': {
    readonly session: string;
    readonly agent: string;
    readonly harness: string;
    readonly model: string | null;
    readonly prompt: string;
    /** Digest of the task's text. */
    readonly task: string;
    readonly taskBytes: number;
    readonly capabilities: readonly string[];
    readonly budget: BudgetLimits;
    readonly approve: ApproveMode;
    /** What is needed to open the run's harness again. Never a secret. */
    readonly origin: { readonly [name: string]: unknown };
  };
  'run-resume': {
    readonly by: string;
    /** What the agent folder composes now, where it could be told; a session keeps its own bytes all the same. */
    readonly promptNow: string | null;
    readonly changed: boolean;
    /** The limits from here on. */
    readonly budget: BudgetLimits;
    /** Work of the holder before, after its last event, as far as its last sign of life tells. */
    readonly lostMs: number;
  };
  /**
   * Turns are numbered through the whole run. `lane` names the step of a plan whose own conversation the turn belongs to;
   * it is left out for the conversation of the session.
   */
  'turn-start': { readonly turn: number; readonly lane?: string };
  'model-request': {
    readonly turn: number;
    readonly attempt: number;
    readonly model: string;
    readonly wire: string;
    readonly url: string;
    /** The first `keep` messages of the session's previous request, then those that `add` names. */
    readonly keep: number;
    readonly add: readonly string[];
    readonly tools: string | null;
    readonly parameters: { readonly [name: string]: unknown };
    /** Digest and size of the body's exact bytes. */
    readonly body: string;
    readonly bodyBytes: number;
    readonly reserved: BudgetAmount;
  };
  'model-response': {
    readonly turn: number;
    readonly attempt: number;
    /** Null where an SDK does not tell it. */
    readonly httpStatus: number | null;
    /** Digest of the raw response. */
    readonly response: string;
    readonly finish: string;
    readonly modelSeen: string | null;
    /** What the provider calls the state of its service that answered; left out where it says nothing of it. */
    readonly fingerprint?: string;
    readonly requestId: string | null;
    readonly usage: Usage;
    readonly firstByteMs: number;
    readonly elapsedMs: number;
  };
  'model-fault': {
    readonly turn: number;
    readonly attempt: number;
    readonly error: ErrorJson;
    readonly httpStatus: number | null;
    readonly response: string | null;
    /** Whether the request left this process. */
    readonly dispatched: 'no' | 'yes' | 'unknown';
    readonly usage: Usage;
    /** When the same request is sent again; null when it is not. */
    readonly retryInMs: number | null;
  };
  /**
   * An assistant's finished message: digest of its exact bytes on the wire, and of its text alone (null for none). An
   * outside harness keeps the wire to itself: there both are the text that it printed.
   */
  'message-finish': {
    readonly turn: number;
    readonly message: string;
    readonly text: string | null;
    readonly textBytes: number;
    readonly calls: number;
  };
  'tool-call': CallPlace & {
    readonly callId: string;
    readonly tool: string;
    /** The exact text the model wrote. */
    readonly arguments: string;
    /** True where an outside harness had already executed the call. */
    readonly observed?: boolean;
  };
  'tool-result': CallPlace & {
    readonly callId: string;
    readonly tool: string;
    readonly status: CallStatus;
    readonly code: string | null;
    /** What the call was charged to, where that is not `toolCalls`. */
    readonly counter?: 'contextOps';
    /** Digest of the message's exact bytes on the wire. */
    readonly message: string;
    readonly bytes: number;
    readonly truncated: boolean;
    readonly elapsedMs: number;
    /** Left out where no policy of the session looks at results. */
    readonly seen?: SeenResult;
  };
  'effect-dispatch': CallPlace & {
    readonly tool: string;
    readonly access: Access;
    readonly repeat: Repeat;
    readonly key: string;
    /** Digest of tool and arguments. */
    readonly fingerprint: string;
    /** Digest of store, run, place and fingerprint: the same for every attempt, and for no call of another store. */
    readonly call: string;
    readonly attempt: number;
    readonly lineage: Lineage;
    /** The approved ticket under which it was sent; null where the call needed none. */
    readonly ticket: string | null;
  };
  'effect-observe': CallPlace & {
    readonly attempt: number;
    readonly status: 'succeeded' | 'failed';
    /** Digest of the observation's text. */
    readonly text: string;
    readonly truncated: boolean;
    readonly bytes: number;
    /** True if it came after the effect was already unknown. */
    readonly late: boolean;
  };
  'effect-not-dispatched': CallPlace & { readonly attempt: number; readonly reason: string };
  'effect-unknown': CallPlace & { readonly attempt: number; readonly reason: string };
  /** A call that got what an earlier attempt brought; nothing was sent for it. */
  'effect-replay': CallPlace & { readonly parent: AttemptId };
  /** Somebody looked: a person, or the tool itself (`by` is then null). What was learned stands in the next event. */
  'effect-reconcile': CallPlace & {
    readonly attempt: number;
    readonly answer: Reconciled['answer'];
    readonly by: string | null;
    readonly reason: string;
  };
  'effect-resolve': CallPlace & {
    readonly decision: 'retry-authorized' | 'abandoned';
    readonly by: string;
    readonly reason: string;
  };
  'approval-request': { readonly ticket: Ticket };
  'approval-answer': TicketAnswer;
  'budget-refuse': {
    readonly counter: BudgetCounter;
    readonly limit: number;
    readonly left: number;
    readonly wanted: number;
  };
  'budget-overrun': { readonly counter: BudgetCounter; readonly reserved: number; readonly actual: number };
  'context-register': {
    readonly alias: string;
    readonly context: string;
    readonly bytes: number;
    /** Digest of a result that is kept in the ledger; null for what the session was given. */
    readonly blob: string | null;
  };
  'context-read': {
    readonly alias: string;
    readonly operation: string;
    readonly bytes: number;
    readonly truncated: boolean;
  };
  /**
   * A plan that passed every check, before its first step. `plan` is the digest of its text; `turn` the turn that proposed
   * it, 0 where the task itself is the plan; `lane` the name under which its steps stand.
   */
  'plan-accept': { readonly turn: number; readonly plan: string; readonly lane: string };
  /** A step begins, or has ended; a step that ended is never run again. */
  'plan-step': {
    readonly lane: string;
    /** Where it stands: `2`, `2/b0/1` in a branch, `3/t2/0` in the second try, `4/r/0` in a recursion. */
    readonly path: string;
    readonly operation: string;
    readonly status: 'begun' | 'ok' | 'failed';
    /** The turn under which its effects stand; 0 for a step that has none. */
    readonly turn: number;
    /** Digest of the value as JSON; null while there is none. */
    readonly value: string | null;
    readonly error: ErrorJson | null;
    /** The name of a checkpoint. */
    readonly label?: string;
    /** What a finished step was charged to, beside the step itself. */
    readonly counter?: 'toolCalls' | 'contextOps';
    /** What its value was charged as output. */
    readonly bytes: number;
  };
  /** A child is about to be made; it exists once the ledger has a run of this id. */
  'child-start': {
    readonly child: string;
    readonly session: string;
    /** Which child of its parent it is: asked for again under one key, it is the same. */
    readonly key: string;
    readonly reason: string;
    /** Digest of its task and its instructions. */
    readonly fingerprint: string;
    readonly inherits: Inheritance;
    /** Its own limits; those of all above it hold too. */
    readonly budget: BudgetLimits;
  };
  'child-finish': {
    readonly child: string;
    readonly key: string;
    readonly status: Exclude<RunStatus, 'paused'>;
    /** Digest of its answer. */
    readonly answer: string | null;
    readonly error: ErrorJson | null;
    /** Its own children included. */
    readonly usage: Usage;
    /** What it drew from the budget of its parent. */
    readonly spent: BudgetAmount;
  };
  /** Messages left the requests of the session. The composed text never does: the next request begins with it again. */
  'session-compact': {
    /** How many messages stay, and how many went. */
    readonly keep: number;
    readonly dropped: number;
    /** Digest of the note that stands in their place. */
    readonly summary: string;
    /** Estimates of the whole conversation, before and after. */
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    /** The context in which they can be looked into; null where the run has none. */
    readonly context: string | null;
    /** As of `turn-start`: whose requests they left. */
    readonly lane?: string;
  };
  'policy-speak': { readonly policy: string; readonly text: string };
  /** What a policy that only annotates would have said, or why it would have ended the run. The model does not read it. */
  'policy-note': { readonly policy: string; readonly would: 'speak' | 'stop'; readonly text: string };
  /** What was changed in the workspace while the calls of a turn ran, by whatever: seen, not reported. */
  'workspace-change': {
    readonly turn: number;
    /** Paths from the workspace, sorted; `more` others are not named. */
    readonly files: readonly string[];
    readonly more: number;
  };
  /** A run is bound to a specification; `source` is the digest of its frozen form. */
  'spec-freeze': { readonly spec: string; readonly subject: string; readonly source: string };
  /** The world was looked at after the answer of a turn; 0 where the answer is that of a plan or a decision. */
  'spec-verdict': {
    readonly turn: number;
    readonly spec: string;
    /** From 1. */
    readonly attempt: number;
    readonly accepted: boolean;
    readonly results: readonly RequirementResult[];
  };
  /** What a person should know although the run goes on. */
  notice: { readonly code: string; readonly text: string };
  'cancel-request': { readonly by: string; readonly reason: string };
  /** What went to an outside program with its start. */
  'delivery-receipt': { readonly receipt: Receipt };
  /** The vendor's own session, with what a later run has to ask for alike to go on with it. */
  'vendor-session': { readonly id: string; readonly binding: SessionBinding };
  /**
   * What an outside program said of its requests, which it makes itself: those of a turn, or in the place of all such
   * reports the whole run's, under turn 0.
   */
  'usage-report': { readonly turn: number; readonly modelSeen: string | null; readonly usage: Usage };
  /** The requests of an outside program go through our recorder to `upstream`: an address without a path. */
  'meter-open': { readonly upstream: string };
  /** A request of an outside program that was let through; written before any of it is sent on. */
  'meter-admit': {
    /** Counts all that the program sends through this recorder, from 1. */
    readonly number: number;
    /** `side`: what the program asks beside the task, with a prompt of its own. */
    readonly lane: 'main' | 'side';
    readonly protocol: string;
    readonly model: string | null;
    /** Digest and size of the body's exact bytes. */
    readonly body: string;
    readonly bodyBytes: number;
    readonly tools: number;
    /** Where our text stands in it, byte for byte and once; null beside the task, and for an empty text. */
    readonly text: Position | null;
    readonly reserved: BudgetAmount;
  };
  /** How the request of this number ended, and what it used as far as its answer says. */
  'meter-answer': {
    readonly number: number;
    /** Null where no answer came. */
    readonly httpStatus: number | null;
    /** The name under which its model answered; null where the answer names none or cannot be read. */
    readonly modelSeen: string | null;
    /** As in `model-response`. */
    readonly fingerprint?: string;
    readonly usage: Usage;
    /** Digest of the raw answer; null where none came. */
    readonly response: string | null;
    /** Why it is not whole; null where it is. */
    readonly fault: string | null;
    readonly elapsedMs: number;
  };
  /** A request of an outside program that was answered in the upstream's place; nothing of it was sent on. */
  'meter-refuse': { readonly number: number; readonly error: ErrorJson };
  'turn-finish': { readonly turn: number; readonly calls: number; readonly elapsedMs: number };
  /** It waits for the answer to a ticket, or for what `error` says is missing. */
  'run-pause': { readonly ticket: string | null; readonly error: ErrorJson | null };
  'run-finish': {
    readonly status: Exclude<RunStatus, 'paused'>;
    /** Digest of the answer's text. */
    readonly answer: string | null;
    readonly error: ErrorJson | null;
    readonly usage: Usage;
    readonly budget: BudgetReport;
    readonly elapsedMs: number;
  };
}

export type EventType = keyof EventBodies;

/** What a harness or the runtime hands over for the record. */
export type EventBody = { [T in EventType]: { readonly type: T } & EventBodies[T] }[EventType];

/** An event as it is stored: numbered from 1 without a gap within its run. */
export type RunEvent = EventBody & {
  readonly run: string;
  readonly seq: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** The lease under which it was written. */
  readonly epoch: number;
};

/** Text as it arrives. Live only: numbered within its turn, never stored. */
export interface LiveDelta {
  readonly type: 'text-delta' | 'reasoning-delta';
  readonly turn: number;
  readonly n: number;
  readonly text: string;
}
