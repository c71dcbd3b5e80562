/** What starting and resuming a run share: harness, ledger, who holds the run, how people are asked and shown. */
import type { Clock } from '../clock.ts';
import type { Harness } from '../harness.ts';
import type { Store } from '../ledger/store.ts';
import type { LiveDelta, RunEvent } from '../protocol/events.ts';
import type { ApproveMode } from '../protocol/ticket.ts';
import type { Ask } from './approval.ts';
import type { Lowered } from './guarantees.ts';

export interface RunSeat {
  readonly harness: Harness;
  readonly store: Store;
  readonly clock: Clock;
  /** Who holds the lease: `thisHolder()` of the ledger. */
  readonly holder: string;
  readonly approve: ApproveMode;
  readonly ask?: Ask;
  /** Aborting it cancels the run cleanly; the run still resolves. */
  readonly signal?: AbortSignal;
  /** Stored events, in order. */
  readonly onEvents?: (events: readonly RunEvent[]) => void;
  /** Stored events of the runs below, at any depth; those of one run in order. */
  readonly onChildEvents?: (events: readonly RunEvent[]) => void;
  readonly onLive?: (delta: LiveDelta) => void;
  readonly lowered?: Lowered;
}
