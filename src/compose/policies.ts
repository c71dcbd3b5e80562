/** The policies that an agent may name: what may speak to its model, or stop its run, beside its instructions. */

/** `armed` speaks and stops; `annotate` only records what it would have said or stopped. */
export type BreakerMode = 'armed' | 'annotate';

/** A policy that is not named does nothing; `{}` takes its usual values. */
export interface Policies {
  readonly completion?: { readonly token?: string; readonly challenges?: number };
  readonly starvation?: { readonly mode?: BreakerMode; readonly turns?: number };
  readonly repetition?: {
    readonly mode?: BreakerMode;
    readonly nudge?: number;
    readonly check?: number;
    readonly stop?: number;
    readonly polling?: readonly string[];
  };
  readonly 'budget-reminder'?: { readonly left?: number };
  readonly 're-read'?: { readonly generated?: readonly string[] };
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

/**
 * Those that hold where a person is in the conversation: who answers for the end there needs no token and no note, and the
 * breakers leave it to them what to say.
 */
export function policiesFor(policies: Policies, interactive: boolean): Policies {
  if (!interactive) return policies;
  const { completion: _completion, 'idle-done': _idle, 're-read': _reread, ...others } = policies;
  const { starvation, repetition } = others;
  return {
    ...others,
    ...(starvation === undefined ? {} : { starvation: { ...starvation, mode: 'annotate' } }),
    ...(repetition === undefined ? {} : { repetition: { ...repetition, mode: 'annotate' } }),
  };
}
