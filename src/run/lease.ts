/** The lease of a run while it is at work: how long it counts, how it is kept, and what a lost one says of the time spent. */
import { WritError } from '../errors.ts';
import type { Lease, Store, TakenLease } from '../ledger/store.ts';
import type { RunEvent } from '../protocol/events.ts';

/** How long a lease counts without a sign of life. */
export const leaseMs = 15_000;
const renewMs = 5_000;

/** Renews the lease until the returned function is called; `onLost` is called if another process took the run over. */
export function keepLease(store: Store, lease: Lease, onLost: (cause: unknown) => void): () => void {
  const timer = setInterval(() => {
    store.renew(lease, leaseMs).catch((cause: unknown) => {
      // Any other failure may pass; the lease then runs out by itself, and the next write tells.
      if (cause instanceof WritError && cause.code === 'ledger.fenced') onLost(cause);
    });
  }, renewMs);
  timer.unref();
  return () => clearInterval(timer);
}

const decisionMs = 5_000;

/** Holds the lease of a run that nobody is at work on, for as long as a person's decision takes to be read and written. */
export async function underLease<Result>(
  store: Store,
  run: string,
  holder: string,
  decide: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  const lease = await store.acquire(run, holder, decisionMs);
  try {
    return await decide(lease);
  } finally {
    await store.release(lease).catch(() => {});
  }
}

/**
 * Milliseconds that the holder before this lease was at work after its last event: up to its last sign of life, so at
 * most one renewal is missing. Zero where it gave the run back itself.
 */
export function lostWorkMs(lease: TakenLease, events: readonly RunEvent[]): number {
  const last = events.at(-1);
  if (last === undefined || lease.heldUntil === 0) return 0;
  return Math.max(0, lease.heldUntil - leaseMs - last.at);
}
