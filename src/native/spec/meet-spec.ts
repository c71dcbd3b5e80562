/** Working towards a frozen specification: try, observe, verify, and try again with what was missing, a few times and no more. */
import type { Clock } from '../../clock.ts';
import type { RequirementResult } from '../../protocol/spec.ts';
import type { AssertionCatalogue } from './catalogue.ts';
import type { FrozenSpec } from './compile-spec.ts';
import { observeSpec, type StateRef } from './observe-spec.ts';
import { type Verdict, verifySpec } from './verify-spec.ts';

export interface MeetOptions {
  readonly spec: FrozenSpec;
  readonly catalogue: AssertionCatalogue;
  /**
   * Does the work, by a run in the direct loop or by a plan: that is the caller's. Gets what is not met yet, empty at the
   * first time. Whatever it returns is no evidence.
   */
  attempt(missing: readonly RequirementResult[], signal: AbortSignal): Promise<unknown>;
  /** What there is to be looked at after an attempt. */
  state(): Promise<StateRef>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Attempts after the first; 2 unless given. */
  readonly repairs?: number;
}

/** Resolves with the last verdict and the number of attempts. The specification is the same in all of them. */
export async function meetSpec(
  options: MeetOptions,
): Promise<{ readonly verdict: Verdict; readonly attempts: number }> {
  const { spec, catalogue, clock, signal, repairs = 2 } = options;
  let missing: readonly RequirementResult[] = [];
  for (let attempts = 1; ; attempts += 1) {
    await options.attempt(missing, signal);
    const state = await options.state();
    const verdict = verifySpec(
      spec,
      catalogue,
      await observeSpec(spec, catalogue, { state, clock, signal }),
      state,
    );
    if (verdict.accepted || attempts > repairs || signal.aborted) return { verdict, attempts };
    missing = verdict.results.filter(({ status }) => status !== 'passed');
  }
}
