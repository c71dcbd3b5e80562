/** The record of a run as one line: events go in order, and once a part could not be written nothing more is accepted. */
import type { Lease, Store } from '../ledger/store.ts';
import type { EventBody, RunEvent } from '../protocol/events.ts';
import type { Blob } from '../protocol/record.ts';

export interface Line {
  /** Every stored event of the run so far, those before a resume included. */
  readonly events: readonly RunEvent[];
  /** All that was put or noted so far, stored or on its way, after what stood there before a resume. */
  readonly told: readonly EventBody[];
  /** Resolves when these and all earlier events are durable; rejects with the first failure of the line. */
  put(
    events: readonly EventBody[],
    options?: { readonly blobs?: readonly Blob[]; readonly power?: boolean },
  ): Promise<void>;
  /** Takes its place in the line at once; is written with the next `put`, or when the event loop turns. */
  note(events: readonly EventBody[], blobs?: readonly Blob[]): void;
  /** The first failure; undefined while the line is whole. */
  broken(): unknown;
}

export interface LineOptions {
  readonly earlier: readonly RunEvent[];
  /** Called with what was stored, in order. Whatever it throws does not concern the run. */
  readonly onEvents?: ((events: readonly RunEvent[]) => void) | undefined;
  /** Called once, when the line breaks: the run must stop, for it could not prove what it did. */
  readonly onBroken: (cause: unknown) => void;
}

/** Opens the line of a run whose lease is held. */
export function openLine(store: Store, lease: Lease, { earlier, onEvents, onBroken }: LineOptions): Line {
  const events = [...earlier];
  const told: EventBody[] = [...earlier];
  let line: Promise<void> = Promise.resolve();
  let failure: { readonly cause: unknown } | undefined;
  let noted: { readonly events: EventBody[]; readonly blobs: Blob[] } | undefined;

  const fail = (cause: unknown): never => {
    if (failure === undefined) {
      failure = { cause };
      onBroken(cause);
    }
    throw failure.cause;
  };
  const accept = (written: readonly RunEvent[]): void => {
    for (const event of written) events.push(event);
    try {
      onEvents?.(written);
    } catch {
      // A watcher's fault must not end the run that it watches.
    }
  };
  const write = (bodies: readonly EventBody[], blobs: readonly Blob[], power: boolean): Promise<void> => {
    if (failure !== undefined) return Promise.reject(failure.cause);
    const first = noted;
    noted = undefined;
    const all = first === undefined ? bodies : [...first.events, ...bodies];
    const allBlobs = first === undefined ? blobs : [...first.blobs, ...blobs];
    const stored = store.append(lease, all, { blobs: allBlobs, power }).then(accept, fail);
    // The line tells of a failure in its turn, which may come after the failure itself.
    stored.catch(() => {});
    line = line.then(() => stored);
    return line;
  };
  // Nobody waits for what was only noted: the line remembers the failure and tells it to the next who does.
  const flush = (): void => {
    if (noted !== undefined) write([], [], false).catch(() => {});
  };

  return {
    events,
    told,
    broken: () => failure?.cause,
    put(bodies, { blobs = [], power = false } = {}) {
      for (const body of bodies) told.push(body);
      return write(bodies, blobs, power);
    },
    note(bodies, blobs = []) {
      if (noted === undefined) {
        noted = { events: [], blobs: [] };
        setImmediate(flush);
      }
      for (const body of bodies) {
        told.push(body);
        noted.events.push(body);
      }
      for (const blob of blobs) noted.blobs.push(blob);
    },
  };
}
