/** Attempts at a trial of which it is proven that nothing was sent to a model: they have no result that could be repeated. */
import type { RunEvent } from '../protocol/events.ts';
import { keyOf, type TrialKey, type UnsentAttempt } from './trial.ts';

/** What a run of which nothing was sent may hold beside its requests. Anything else may have come of an answer. */
const harmless: ReadonlySet<RunEvent['type']> = new Set([
  ...(['run-start', 'run-resume', 'run-finish', 'turn-start', 'turn-finish', 'notice'] as const),
  ...(['context-register', 'spec-freeze', 'policy-note', 'policy-speak'] as const),
]);

/**
 * Whether the record proves that no request of a run was sent: of each, the network says that there was no connection. An
 * agent program's record proves no such thing.
 */
export function isNothingSent(events: readonly RunEvent[]): boolean {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'model-request') open.add(`${event.turn} ${event.attempt}`);
    else if (event.type === 'model-fault' && event.dispatched === 'no')
      open.delete(`${event.turn} ${event.attempt}`);
    else if (!harmless.has(event.type)) return false;
  }
  return open.size === 0;
}

/** Those of one trial. */
export function unsentOf(
  attempts: readonly (TrialKey & UnsentAttempt)[],
  trial: TrialKey,
): readonly UnsentAttempt[] {
  return attempts
    .filter((attempt) => keyOf(attempt) === keyOf(trial))
    .map(({ run, reason }) => ({ run, reason }));
}
