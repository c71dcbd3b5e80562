/** What running an experiment needs from outside, as values: the trial as a run, the ledger, the grader, the limits. */
import type { Clock } from '../clock.ts';
import type { Digest } from '../digest.ts';
import type { Store } from '../ledger/store.ts';
import type { RunResult } from '../protocol/outcome.ts';
import type { Item } from './experiment.ts';
import type { Grader } from './grade/grader.ts';
import type { Journal } from './journal.ts';
import type { Canary } from './measure.ts';
import type { Side } from './statistics/trials.ts';
import type { Build, Surroundings } from './surroundings.ts';
import type { TrialKey } from './trial.ts';

/** What the session of a trial says in its origin, by which the trial is found again. */
export interface TrialStamp extends TrialKey {
  readonly experiment: Digest;
  /** What was around it when it began. */
  readonly surroundings: Surroundings;
}

/** One trial as an ordinary run: it is to be started anew, never answered out of a cache. */
export interface RunRequest {
  readonly side: Side;
  readonly task: string;
  /** A fresh copy of the item's workspace. */
  readonly workspace: string;
  /** To be kept in the session's origin under `experiment`. */
  readonly stamp: TrialStamp;
  readonly signal: AbortSignal;
}

/** Runs a trial. What it throws ends the experiment, because nothing was begun; every end of a run is returned. */
export type Execute = (request: RunRequest) => Promise<RunResult>;

export interface Progress {
  readonly done: number;
  readonly trials: number;
  /** Those of `done` that this call did. */
  readonly here: number;
  readonly elapsedMs: number;
  /** What is left at the pace so far; null before the first trial of this call has ended. */
  readonly leftMs: number | null;
}

export interface ExperimentRun {
  readonly journal: Journal;
  readonly store: Store;
  readonly items: readonly Item[];
  readonly grader: Grader;
  readonly build: Build;
  /** The agent folders of the arms, which are looked at before each trial. */
  readonly agentFolders: Readonly<Record<Side, string>>;
  readonly execute: Execute;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly canaries: readonly Canary[];
  readonly limits?: { readonly concurrency?: number; readonly startsPerMinute?: number };
  readonly onProgress?: (progress: Progress) => void;
}

export interface RunSummary {
  readonly trials: number;
  /** Trials with an outcome, before this call included. */
  readonly done: number;
  /** Trials that this call ran. */
  readonly here: number;
  readonly complete: boolean;
}
