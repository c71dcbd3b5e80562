/** The record of a run as one line: events go in order, and once a part could not be written nothing more is accepted. */
import type { Lease, Store } from '../ledger/store.ts';
import type { EventBody, RunEvent } from '../protocol/events.ts';
import type { Blob } from '../protocol/record.ts';

export interface Line {
  /** Every stored event of the run so far, those before a resume included. */
  readonly events: readonly RunEvent[];
  /** Resolves when these and all earlier events are durable; rejects with the first failure of the line. */
  put(
    events: readonly EventBody[],
    options?: { readonly blobs?: readonly Blob[]; readonly power?: boolean },
  ): Promise<void>;
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
  let line: Promise<void> = Promise.resolve();
  let failure: { readonly cause: unknown } | undefined;
  const fail = (cause: unknown): never => {
    if (failure === undefined) {
      failure = { cause };
      onBroken(cause);
    }
    throw failure.cause;
  };
  return {
    events,
    broken: () => failure?.cause,
    put(bodies, options) {
      if (failure !== undefined) return Promise.reject(failure.cause);
      const stored = store.append(lease, bodies, options).then((written) => {
        events.push(...written);
        try {
          onEvents?.(written);
        } catch {
          // A watcher's fault must not end the run that it watches.
        }
      }, fail);
      line = line.then(() => stored);
      return line;
    },
  };
}
