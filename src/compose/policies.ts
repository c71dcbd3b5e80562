/** The policies that an agent may name: what may speak to its model, or stop its run, beside its instructions. */

/** A policy that is not named does nothing; `{}` takes its usual values. */
export interface Policies {
  readonly completion?: { readonly token?: string; readonly challenges?: number };
  readonly starvation?: { readonly turns?: number };
  readonly repetition?: {
    readonly nudge?: number;
    readonly check?: number;
    readonly stop?: number;
    readonly polling?: readonly string[];
  };
  readonly 'result-cap'?: {
    readonly bytes?: number;
    readonly contextTokens?: number;
    readonly fraction?: number;
  };
  readonly 'stall-recovery'?: {
    readonly retries?: number;
    readonly firstByteMs?: number;
    readonly idleMs?: number;
  };
  readonly 'idle-done'?: { readonly verify?: string; readonly compactions?: number; readonly turns?: number };
}

/** Those that hold where a person is in the conversation: who answers for the end there needs no token. */
export function policiesFor(policies: Policies, interactive: boolean): Policies {
  if (!interactive) return policies;
  const { completion: _completion, starvation: _starvation, 'idle-done': _idle, ...others } = policies;
  return others;
}
