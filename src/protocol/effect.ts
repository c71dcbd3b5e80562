/** The life of an outside effect: one call, its attempts, its observations. */
import type { Json } from './json.ts';

/** `read` changes nothing outside; `write` may. */
export type Access = 'read' | 'write';

/** What a second dispatch would do: nothing new (`safe`), nothing new under the same key (`idempotent`), act again (`once`). */
export type Repeat = 'safe' | 'idempotent' | 'once';

/** Identity of an effect in a run: never the provider's call id. */
export interface EffectId {
  readonly run: string;
  readonly turn: number;
  readonly position: number;
}

/** A call to the outside as a harness announces it. */
export interface EffectCall {
  readonly turn: number;
  readonly position: number;
  readonly tool: string;
  readonly access: Access;
  readonly repeat: Repeat;
  /** What is held while an effect of this key is unknown. */
  readonly key: string;
  /** Digest of tool and arguments: equal calls of a `once` tool in one run get the first observation. */
  readonly fingerprint: string;
  readonly repeatable: boolean;
  /** After this long the call is settled as unknown; its observation may still come late. */
  readonly timeoutMs: number;
  /** How the model can look at what happened, shown beside an unknown outcome. */
  readonly look?: string;
  /** The approved ticket that this call needed; left out where none was. */
  readonly ticket?: string;
}

/** One attempt of a run: where its call stands, and which try it is, from 1. */
export interface AttemptId {
  readonly turn: number;
  readonly position: number;
  readonly attempt: number;
}

/**
 * Where an attempt comes from. `retry`: the same call once more, after proof that it was not sent, because that does no
 * harm, or because a person allowed it. `resample`: a call that means to act again although an equal one was seen to act.
 */
export type Lineage =
  | { readonly mode: 'initial'; readonly parent: null }
  | { readonly mode: 'retry' | 'resample'; readonly parent: AttemptId };

export const effectStates = [
  'admitted',
  'dispatching',
  'observed',
  'not-dispatched',
  'cancel-requested',
  'unknown',
  'retry-authorized',
  'abandoned',
] as const;
export type EffectState = (typeof effectStates)[number];

/** What happened outside, as far as it was seen. */
export interface Observation {
  readonly status: 'succeeded' | 'failed';
  /** The exact text the model reads. */
  readonly text: string;
  readonly truncated: boolean;
  /** Size of the whole result in UTF-8 bytes, before any cut. */
  readonly bytes: number;
  readonly details?: { readonly [key: string]: Json };
}

/**
 * Proof that nothing left this process. Only this licenses another attempt; a timeout, a closed connection or an error
 * text never does. It can be made only by code that stopped before its outside call began.
 */
export interface NonDispatch {
  readonly proof: 'not-dispatched';
  readonly reason: 'cancelled' | 'unavailable' | 'rejected-locally';
  readonly message: string;
}

/** What looking at an attempt of unknown outcome brought. */
export type Reconciled =
  | { readonly answer: 'observed'; readonly observation: Observation }
  | { readonly answer: 'not-dispatched'; readonly nonDispatch: NonDispatch }
  | { readonly answer: 'unknown'; readonly message: string };

/** How one attempt ended. `unknown` is a result that the model can read, not an error. */
export type EffectOutcome =
  | { readonly state: 'observed'; readonly observation: Observation; readonly replayed: boolean }
  | { readonly state: 'not-dispatched'; readonly nonDispatch: NonDispatch }
  | { readonly state: 'unknown'; readonly reason: string; readonly look?: string };
