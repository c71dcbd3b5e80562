/** The port of a tool: what the model is told, what it may do, and how it is run. */
import type { Clock } from '../../clock.ts';
import type { ChildEnd } from '../../harness.ts';
import type { BudgetLimits } from '../../protocol/budget.ts';
import type { Access, NonDispatch, Repeat } from '../../protocol/effect.ts';
import type { ExactJson } from '../../protocol/json.ts';
import type { ToolSchema } from '../../protocol/messages.ts';
import type { BoundFile } from '../../protocol/ticket.ts';
import type { ContextReader } from '../context/reader.ts';

export interface ToolLimits {
  /** Wall time of one call; the tool's signal aborts when it is spent. */
  readonly timeoutMs: number;
  /** UTF-8 bytes of a result that the model may read; more is cut on a character boundary and said to be cut. */
  readonly outputBytesMax: number;
}

export interface ToolContext {
  /** Aborts on cancel and when `limits.timeoutMs` is spent. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The same for every attempt of one effect: hand it to a service that knows such keys. */
  readonly idempotencyKey: string;
  /** The context of this alias, for as long as the call lasts; where there is none, its operations say so. */
  context(alias: string): ContextReader;
  /**
   * Has a child of the run work on a task and resolves with how it ended; it ends with the call at the latest. Equal for
   * every attempt of one call: an interrupted child goes on. Left out where no run is at work.
   */
  child?(task: Subtask): Promise<ChildEnd>;
}

/** A task for a child. What is left out it has as its run has it. */
export interface Subtask {
  readonly task: string;
  /** One sentence for the record. */
  readonly reason: string;
  /** A text in place of the instructions of the run. */
  readonly instructions?: string;
  readonly capabilities?: readonly string[];
  readonly tools?: readonly string[];
  readonly limits?: BudgetLimits;
}

/** How a call ended. A failure is for the model to deal with; `not-dispatched` is proof that nothing was done. */
export type ToolOutput =
  | { readonly status: 'succeeded'; readonly value: ExactJson }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }
  | {
      readonly status: 'not-dispatched';
      readonly nonDispatch: NonDispatch;
      /** True where the tool has tried as often as it may, and the call waits until what is missing is there. */
      readonly park?: boolean;
    };

/** What a tool found when it looked for an earlier attempt. `unknown` leaves it as it is. */
export type ToolFinding = ToolOutput | { readonly status: 'unknown'; readonly message: string };

export type ArgumentCheck =
  | { readonly ok: true; readonly value: unknown }
  /** One sentence per problem, naming the place (`/limit`), what was expected and what was found. */
  | {
      readonly ok: false;
      readonly problems: readonly string[];
      /** The same without a word of what was given, for those who must not repeat it. */
      readonly misfits?: readonly Misfit[];
    };

/** A place (`/limit`; empty for the arguments as a whole) by the schema's own names, and what it expects there. */
export type Misfit =
  | { readonly kind: 'missing' | 'wrong'; readonly place: string; readonly expected: string }
  | { readonly kind: 'unexpected'; readonly place: string; readonly count: number };

export interface Tool {
  readonly schema: ToolSchema;
  /** The capability a run must hold for the tool to be shown and run. */
  readonly capability: string;
  readonly access: Access;
  readonly repeat: Repeat;
  /** True where equal arguments in one run are meant to act again. */
  readonly repeatable: boolean;
  readonly limits: ToolLimits;
  /** What a call is charged to; `toolCalls` unless it only looks into contexts. */
  readonly counter?: 'contextOps';
  /** `plan`: the session itself carries the call out, as the plan that its arguments hold, and nothing else beside it. */
  readonly runs?: 'plan';
  /** True where others write what it returns: the model then reads that between marks, as data. */
  readonly untrusted?: boolean;
  /** How the model can look at what happened after an unknown outcome. */
  readonly look?: string;
  /**
   * Digest of what an outside server says now that the tool is; null where it withdrew it. A session keeps the one it
   * began with, and the tool is unavailable in it while this is another. Left out by tools that cannot change.
   */
  definition?(): string | null;
  /** Checks arguments against the schema. An integer beyond ±2^53 arrives as a bigint. */
  check(args: ExactJson): ArgumentCheck;
  /** What is held while an effect is unknown; the tool's name unless it says otherwise. `value` is a checked one. */
  effectKey(value: unknown): string;
  /**
   * The files that a call with these arguments names, as they are now. Never rejects. A person's approval of a write counts
   * for exactly these: once one is another, it is asked again.
   */
  bound?(value: unknown): Promise<readonly BoundFile[]>;
  /**
   * Why a write with these arguments is refused whoever allows it, as things are now; undefined if nothing stands against it.
   * Changes nothing. Asked before a person is, who is not bothered with what cannot be. What it throws refuses nothing.
   */
  preflight?(value: unknown): Promise<{ readonly code: string; readonly message: string } | undefined>;
  /** Runs a call with checked arguments. A thrown error is a failure of a read and an unknown outcome of a write. */
  execute(value: unknown, context: ToolContext): Promise<ToolOutput>;
  /**
   * Looks what became of an attempt of this very call whose outcome is unknown, for instance by the idempotency key. Sends
   * nothing and changes nothing outside; what it throws leaves the outcome unknown. Writes may have it.
   */
  reconcile?(value: unknown, context: ToolContext): Promise<ToolFinding>;
  /** Told once, before its first call, of each run in which the tool may be called; a resumed run is one too. */
  attend?(run: string): void;
  /**
   * Told of each run in which the tool could be called, once its work is over, however it ended, and before that is
   * recorded. Ends what the run left at work, within seconds. Resolves with a sentence for each thing that is not proven
   * gone; what it throws is told as one.
   */
  settle?(run: string): Promise<readonly string[]>;
  /** Frees what the tool holds (a child process, a connection); safe to call twice. */
  close(): Promise<void>;
}
