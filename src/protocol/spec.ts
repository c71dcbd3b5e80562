/** What became of a specification: for each of its requirements, whether it was seen to be met. */

/** `passed` and `failed` were seen; any other says why nothing can be said. */
export type EvidenceStatus =
  | 'passed'
  | 'failed'
  | 'missing'
  | 'pending'
  | 'skipped'
  | 'cancelled'
  | 'error'
  | 'timeout'
  | 'indeterminate'
  | 'stale';

export interface RequirementResult {
  readonly id: string;
  readonly severity: 'required' | 'optional';
  readonly status: EvidenceStatus;
  /** One sentence. */
  readonly reason: string;
}

/** The newest verdict of a run. */
export interface SpecReport {
  /** Fingerprint of the frozen specification. */
  readonly spec: string;
  /** How often it was judged. */
  readonly attempts: number;
  /** True if every required one passed. */
  readonly accepted: boolean;
  readonly results: readonly RequirementResult[];
}
