/** The port to an agent program, ours or a vendor's: what it declares, and how one session of it is driven. */
import type { Clock } from './clock.ts';
import type { ErrorJson } from './errors.ts';
import type { BudgetAmount, BudgetCounter, BudgetLimits } from './protocol/budget.ts';
import type { Composition } from './protocol/composition.ts';
import type { EffectCall, EffectOutcome, NonDispatch, Observation, Reconciled } from './protocol/effect.ts';
import type { EventBody, LiveDelta, RunEvent } from './protocol/events.ts';
import type { HarnessOutcome } from './protocol/outcome.ts';
import type { Blob } from './protocol/record.ts';
import type { Ticket } from './protocol/ticket.ts';
import type { Usage } from './protocol/usage.ts';

/** How far a harness really does a thing: it stops what is not allowed, it only reports it, or neither. */
export type Guarantee = 'enforced' | 'observed' | 'none';

export const guarantees = ['budget', 'approval', 'effects', 'resume', 'cancel'] as const;
export type Declarations = { readonly [G in (typeof guarantees)[number]]: Guarantee };

/** What the model sees beside the text. Made once per session, stored, and the same bytes on every continuation. */
export interface Projection {
  readonly tools: readonly string[];
  /** The exact JSON text of the tool block; empty where there is none. */
  readonly text: string;
  /** By tool: the digest of what an outside server said the tool is. Only of tools that can change while a session lives. */
  readonly definitions?: { readonly [tool: string]: string };
  /** How tools beyond the listed ones were chosen; left out where there were none to choose from. */
  readonly surface?: SurfaceRecord;
}

/** What was decided of the tools that a session was offered beside those its agent lists. */
export interface SurfaceRecord {
  /** SHA-256 over all that the choice hangs on. */
  readonly fingerprint: string;
  readonly mode: 'compiled' | 'all_tools';
  /** `room` where all that is allowed was taken as far as it fits, `task` where the words of the task chose. */
  readonly chosenBy: 'task' | 'room';
  readonly budgetTokens: number | null;
  /** What the chosen tools take of it. */
  readonly tokens: number;
  readonly offered: number;
  /** Of each tool that something spoke for: whether it is shown, and one sentence that says why. */
  readonly decisions: readonly { readonly tool: string; readonly shown: boolean; readonly text: string }[];
  /** Tools that the task speaks for, below the most that are considered. */
  readonly cut: readonly string[];
  /** Tools that nothing in the task speaks for. */
  readonly hidden: readonly string[];
  /** Tools whose schema is too large to be shown. */
  readonly oversized: readonly string[];
}

export interface Session {
  readonly id: string;
  readonly composition: Composition;
  readonly projection: Projection;
  readonly capabilities: readonly string[];
}

export interface Harness {
  readonly name: string;
  readonly declares: Declarations;
  /** The model it will ask; null where the harness chooses. */
  readonly model: string | null;
  /** Throws what makes the session impossible (a clash of tool names, an unknown model) before anything is recorded. */
  project(request: {
    readonly capabilities: readonly string[];
    readonly task: string;
    /** Only these, where given: a child sees no tool that its parent does not hand on. */
    readonly tools?: readonly string[];
  }): Promise<Projection>;
  /** The limits it cannot keep, for instance money where the model's price is unknown. Empty when it can keep them all. */
  unkeepable(
    limits: readonly BudgetCounter[],
  ): readonly { readonly counter: BudgetCounter; readonly reason: string; readonly next: string }[];
  /**
   * Throws what makes this task impossible in this session, before the session or the run exists. Looks only: nothing is
   * started, connected or written by it.
   */
  admit?(session: Session, input: Pick<TaskInput, 'task' | 'earlier' | 'child'>): Promise<void>;
  open(session: Session, host: Host): Promise<OpenSession>;
}

export interface TaskInput {
  readonly task: string;
  /** Every event of the session so far in order: earlier runs, then this run where it is resumed. */
  readonly earlier: readonly RunEvent[];
  /** This run. */
  readonly run: string;
  /** True for a child: its task was written for it, whatever kind of task its parent has. */
  readonly child?: true;
}

export interface OpenSession {
  /**
   * Works on the task and yields after each turn. Returns how it ended; throws only faults of Writ itself. After the
   * host's signal aborts it settles every call (real, unknown or not run) and returns `cancelled` in bounded time.
   */
  turns(input: TaskInput): AsyncGenerator<{ readonly turn: number }, HarnessOutcome, void>;
  /** Frees what the session holds; safe to call twice. */
  close(): Promise<void>;
}

export type Reservation =
  | { readonly granted: true; readonly id: number }
  | {
      readonly granted: false;
      readonly counter: BudgetCounter;
      readonly limit: number;
      readonly left: number;
      readonly wanted: number;
    };

export type Approval =
  | { readonly answer: 'approved' | 'denied'; readonly by: string; readonly reason: string }
  /** Nobody was there to ask and the run may not wait: it ends as refused. */
  | { readonly answer: 'nobody'; readonly reason: string }
  | { readonly answer: 'paused' };

/**
 * A task for a child: an ordinary run of the same harness with this run as its parent, in a session and a conversation of
 * its own. What it may do and use is a part of what this run may, and everything it uses is drawn from this run's budget.
 */
export interface ChildRequest {
  /** Which child of this run it is. Asked for again under the same key, as after a crash, it is told or carried on. */
  readonly key: string;
  readonly task: string;
  /** One sentence for the record. */
  readonly reason: string;
  /** The composed text of this run, or this text in its place. */
  readonly instructions: 'parent' | { readonly text: string };
  /** Each must be held by this run. */
  readonly capabilities: readonly string[];
  /** Each must be shown by this session. */
  readonly tools: readonly string[];
  /** What this run has and the child has not, with a reason for the record. */
  readonly withheld: readonly { readonly name: string; readonly reason: string }[];
  readonly limits: BudgetLimits;
}

/** How a child ended. `child` is its run; null where none was made. */
export type ChildEnd = { readonly usage: Usage } & (
  | { readonly status: 'completed'; readonly child: string; readonly answer: string }
  | {
      readonly status: 'failed' | 'refused' | 'cancelled' | 'unknown';
      readonly child: string | null;
      readonly error: ErrorJson;
    }
  /** It waits for a person, and so must this run: `ticket` says what for, null where `error` does. */
  | {
      readonly status: 'paused';
      readonly child: string;
      readonly ticket: Ticket | null;
      readonly error: ErrorJson | null;
    }
);

/** What may be drawn from a part of a run's budget, in the way of the host's own. */
export type BudgetShare = Pick<Host, 'reserve' | 'charge' | 'spend' | 'left'>;

/** What a harness gets from the runtime. Only `run` implements it; a harness never sees the ledger. */
export interface Host {
  readonly clock: Clock;
  /** Aborts when the run is cancelled or its time is spent; the reason says which. */
  readonly signal: AbortSignal;
  /**
   * Resolves when these events, and all that were noted before them, are durable. Events of one call stay together. The
   * record is one line in order: once a part of it could not be written, this and every later call rejects. An event that
   * only the runtime may write (of an effect, an approval, or the run itself) is refused: `run.event-reserved`.
   */
  record(events: readonly EventBody[], blobs?: readonly Blob[]): Promise<void>;
  /** Puts events into the same line without waiting. A failure shows at the next `record`. */
  note(events: readonly EventBody[], blobs?: readonly Blob[]): void;
  /** Shows text as it arrives; never stored, never waited for. */
  live(delta: LiveDelta): void;
  /** Bytes that this session recorded earlier. */
  recall(digest: string): Promise<Uint8Array | undefined>;
  /** Sets an amount aside, all or nothing, before it is spent. */
  reserve(amount: BudgetAmount): Reservation;
  /** Replaces a reservation by what was really used; `unknown` counters are charged as reserved. */
  charge(reservation: number, actual: BudgetAmount, unknown?: readonly BudgetCounter[]): void;
  /** Charges what was used without having been set aside; what goes beyond what was left is overrun. */
  spend(amount: BudgetAmount): void;
  /** What is left of one counter; null where there is no limit. */
  left(counter: BudgetCounter): number | null;
  /**
   * A part of the budget with limits of its own, of which `spent` is used already: each amount is drawn from the part and
   * from the run's budget, or from neither, in one go.
   */
  share(limits: BudgetLimits, spent: BudgetAmount): BudgetShare;
  /**
   * Runs one call at most once. For a write the dispatch is durable before `dispatch` is entered; whatever `dispatch`
   * throws after that is an unknown outcome, unless it returns typed proof that nothing was sent. A `signal` of a part of
   * the run, which aborts with the run's, takes its place. A call whose ticket nobody approved is refused.
   */
  effect(
    call: EffectCall,
    dispatch: (signal: AbortSignal) => Promise<Observation | NonDispatch>,
    signal?: AbortSignal,
  ): Promise<EffectOutcome>;
  /**
   * What the record already decides of this call: its result, that it is unknown, or that an unknown effect holds it.
   * Undefined if it may still be run. Where the outcome of an earlier attempt is unknown, `reconcile` looks what became of
   * it; it changes nothing outside.
   */
  settled(
    call: EffectCall,
    reconcile?: (signal: AbortSignal) => Promise<Reconciled>,
  ): Promise<EffectOutcome | undefined>;
  /** True if the record says that the call at this place was sent at least once. */
  dispatched(place: { readonly turn: number; readonly position: number }): boolean;
  /** Asks a person, or finds the answer given earlier. A `signal` of a part of the run takes the place of the run's. */
  approve(
    question: Omit<Ticket, 'id' | 'digest'>,
    signal?: AbortSignal,
  ): Promise<Approval & { readonly ticket: Ticket }>;
  /**
   * Has a child work on a task, and resolves with how it ended, within bounded time after the signal (of a part of the
   * run, or the run's) aborts. What may not begin ends as refused, with an error of `run` or a spent budget, and no child
   * is made. Rejects only if the record fails.
   */
  child(request: ChildRequest, signal?: AbortSignal): Promise<ChildEnd>;
}
