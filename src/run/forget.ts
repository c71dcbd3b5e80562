/** Forgetting a session: only once all that it did outside is known, and so that nothing can be written to it afterwards. */
import { effectsOf, openEffects } from '../effects/effects.ts';
import { EffectsError } from '../effects/errors.ts';
import type { Lease, Store } from '../ledger/store.ts';
import type { RunEvent } from '../protocol/events.ts';
import { childrenOf } from './child-record.ts';
import { RunError } from './errors.ts';
import { effectName } from './unsettled.ts';

/**
 * Removes a session with all its runs and the sessions of their children. Throws `run.effects-open` while the outcome of an effect is unknown, and
 * `ledger.lease-held` while a process is at work on one of its runs. Does nothing where there is no such session.
 */
export async function forgetSession(store: Store, holder: string, session: string): Promise<void> {
  const leases: Lease[] = [];
  try {
    // Taken first: whoever held a run before is fenced from here on, and nobody resumes one between the look and the end.
    const sessions = await withChildren(store, session);
    for (const one of sessions)
      for (const { id } of await store.runs({ session: one }))
        leases.push(await store.acquire(id, holder, 30_000));
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
    // The deepest first: as long as anything is left, it can be found from the session that was named.
    for (const one of sessions.reverse()) await store.forget(one, leases);
  } finally {
    for (const lease of leases) await store.release(lease).catch(() => {});
  }
}

/** The session and those of all children below it, each before its own children. */
async function withChildren(store: Store, session: string): Promise<string[]> {
  const found = [session];
  for (const { id } of await store.runs({ session }))
    for (const { start } of childrenOf(await store.events(id)))
      found.push(...(await withChildren(store, start.session)));
  return found;
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
