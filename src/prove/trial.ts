/** A trial: its place in the plan, what was seen of its run, and what that makes of it. All JSON. */
import type { Digest } from '../digest.ts';
import type { CallStatus } from '../protocol/events.ts';
import type { RunStatus } from '../protocol/outcome.ts';
import type { Usage } from '../protocol/usage.ts';
import type { Side } from './statistics/trials.ts';
import type { Surroundings } from './surroundings.ts';

export interface TrialKey {
  readonly item: string;
  readonly side: Side;
  /** From 1. */
  readonly repeat: number;
}

export interface PlannedTrial extends TrialKey {
  /** Its place in the order of all trials, from 1. */
  readonly position: number;
}

/** One text for one trial. */
export function keyOf({ item, side, repeat }: TrialKey): string {
  return `${side} ${repeat} ${item}`;
}

/**
 * - `answered`: the run came to an end of its own, and its answer is graded;
 * - `agent-failure`: the agent spent its budget, gave no answer or was refused something: a result, and no pass;
 * - `outage`: something else than the agent failed; no result, and the pair leaves;
 * - `invalid`: not the trial that was registered: another text, model, version or environment, a canary, an answer out of a
 *   cache.
 */
export type TrialOutcome = 'answered' | 'agent-failure' | 'outage' | 'invalid';

/** True for a trial whose numbers count: a result, whatever it is. */
export function isResult({ outcome }: { readonly outcome: TrialOutcome }): boolean {
  return outcome === 'answered' || outcome === 'agent-failure';
}

/** What the record of a run says, before anything is made of it. */
export interface Measured {
  /** The transcript is in the ledger under this id. */
  readonly run: string;
  readonly session: string;
  readonly status: RunStatus;
  /** The code of the error that ended the run; null for none. */
  readonly code: string | null;
  /** Codes of tool calls that failed, each once. */
  readonly callCodes: readonly string[];
  /** Digest of the text that the run says it was given. */
  readonly prompt: Digest;
  /** Digest of the system text in the first request as it was sent; null where the record does not show it. */
  readonly promptSent: Digest | null;
  readonly harness: string;
  /** What an agent program said that it is, null where nobody knows; left out for our own harness. */
  readonly harnessVersion?: string | null;
  readonly model: string | null;
  /** Models that the requests of an agent program's task named, each once; left out for our own harness. */
  readonly modelsAsked?: readonly (string | null)[];
  /** Every name under which the model of the task answered, in their order; null for answers that name none. */
  readonly modelsSeen: readonly (string | null)[];
  /** States of the provider's service (`system_fingerprint`) that answered, each once; null for answers that tell none. */
  readonly fingerprintsSeen: readonly (string | null)[];
  /** Hosts that were asked, `this machine` for a loopback address. */
  readonly servers: readonly string[];
  /** Digest of the tools that the session showed. */
  readonly projection: Digest;
  /** Names of the canaries that stood in what the model was sent. */
  readonly canaries: readonly string[];
  /** Texts of requests that are not on record, so that nothing can be looked for in them. */
  readonly unread: number;
  /** Digests of the raw responses: an answer that comes twice to the byte came out of a cache. */
  readonly responses: readonly Digest[];
  readonly answer: Digest | null;
  readonly answerBytes: number;
  readonly startedAt: number;
  readonly timeMs: number;
  /** False where the time ran out: the time is then only a lower bound. */
  readonly finished: boolean;
  readonly turns: number;
  readonly toolCalls: number;
  /** Calls that the model asked for, by tool; a tool that is not there was not asked for. */
  readonly calls: Readonly<Record<string, number>>;
  readonly usage: Usage;
  /** The parts of `usage`: requests that were answered, and requests that failed and were paid for or not. */
  readonly lanes: { readonly answered: Usage; readonly failed: Usage };
}

/** All of a trial by which it is decided what it is. */
export interface Tried extends TrialKey, Measured {
  readonly surroundings: Surroundings;
}

/** An attempt that nothing came of, because none of it left this machine. */
export interface UnsentAttempt {
  /** Its transcript is in the ledger. */
  readonly run: string;
  /** The codes of the outage. */
  readonly reason: string;
}

/** A row of the published table. */
export interface TrialRow extends Tried {
  readonly position: number;
  readonly groups: Readonly<Record<string, string>>;
  /** Attempts before this one that were cut off and have no outcome. */
  readonly interrupted: number;
  /** Attempts before this one that ended in an outage before anything was sent. */
  readonly unsent: readonly UnsentAttempt[];
  /** `environmentOf` the trial: build, agent folder, workspace, tools and the version of an agent program. */
  readonly environment: Digest;
  readonly outcome: TrialOutcome;
  /** Why it is no plain answer; null where it is one. */
  readonly reason: string | null;
  /** The grade from 0 to 1; null where there is none. */
  readonly score: number | null;
  /** Digest of the grader that gave it. */
  readonly grader: Digest | null;
  /** What judging it used; null where no model judged. */
  readonly judging: Usage | null;
}

/** A call of a trial, as a grader sees it. */
export interface CallSeen {
  readonly tool: string;
  readonly arguments: string;
  /** Null where the call has no result. */
  readonly status: CallStatus | null;
}
