/** Forgetting a session: only once all that it did outside is known, and so that nothing can be written to it afterwards. */
import { effectsOf, openEffects } from '../effects/effects.ts';
import { EffectsError } from '../effects/errors.ts';
import type { Lease, Store } from '../ledger/store.ts';
import type { RunEvent } from '../protocol/events.ts';
import { RunError } from './errors.ts';
import { effectName } from './unsettled.ts';

/**
 * Removes a session with all its runs. Throws `run.effects-open` while the outcome of an effect is unknown, and
 * `ledger.lease-held` while a process is at work on one of its runs. Does nothing where there is no such session.
 */
export async function forgetSession(store: Store, holder: string, session: string): Promise<void> {
  const leases: Lease[] = [];
  try {
    // Taken first: whoever held a run before is fenced from here on, and nobody resumes one between the look and the end.
    for (const { id } of await store.runs({ session })) leases.push(await store.acquire(id, holder, 30_000));
    const open: string[] = [];
    for (const { run } of leases)
      open.push(...openIn(await store.events(run)).map((name) => `${run} ${name}`));
    const [first] = open;
    if (first !== undefined) {
      throw new RunError(
        'run.effects-open',
        `Session ${session} has effects whose outcome is unknown: ${open.join(', ')}.`,
        {
          next: `Decide about each first: writ runs reconcile ${first.split(' ')[0]}`,
          details: { session, effects: open },
        },
      );
    }
    await store.forget(session, leases);
  } finally {
    for (const lease of leases) await store.release(lease).catch(() => {});
  }
}

// A record that no run can have written tells nothing that would have to be settled.
function openIn(events: readonly RunEvent[]): readonly string[] {
  try {
    return openEffects(effectsOf(events)).map(effectName);
  } catch (error) {
    if (error instanceof EffectsError) return [];
    throw error;
  }
}
