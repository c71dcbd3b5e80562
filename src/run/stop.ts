/** Everything that can stop a run from outside the harness, behind one signal that remembers the first reason. */

export type StopReason =
  | { readonly kind: 'cancelled'; readonly reason: string }
  | { readonly kind: 'wall-time' }
  | { readonly kind: 'record-broken'; readonly cause: unknown };

export interface Stop {
  readonly signal: AbortSignal;
  why(): StopReason | undefined;
  now(reason: StopReason): void;
  /** Cuts the links to the caller's signal and the timer. */
  close(): void;
}

/** Timers of Node hold at most 2^31 - 1 ms; a longer limit is waited for in parts. */
const timerMsMax = 2_147_483_647;

/** Opens the stop of a run. `wallTimeMs` is what is left of the limit; null for none. */
export function openStop(options: {
  readonly signal: AbortSignal | undefined;
  readonly wallTimeMs: number | null;
}): Stop {
  const controller = new AbortController();
  let first: StopReason | undefined;
  let timer: NodeJS.Timeout | undefined;
  const now = (reason: StopReason) => {
    if (first !== undefined) return;
    first = reason;
    controller.abort(new Error(reason.kind));
  };
  const wait = (leftMs: number) => {
    const part = Math.min(leftMs, timerMsMax);
    timer = setTimeout(() => (leftMs > part ? wait(leftMs - part) : now({ kind: 'wall-time' })), part);
    timer.unref();
  };
  const onAbort = () => now({ kind: 'cancelled', reason: reasonOf(options.signal) });
  if (options.signal?.aborted) onAbort();
  else options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.wallTimeMs !== null) wait(options.wallTimeMs);
  return {
    signal: controller.signal,
    why: () => first,
    now,
    close() {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    },
  };
}

function reasonOf(signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason;
  if (typeof reason === 'string') return reason;
  // The default reason of an AbortController says nothing that a reader does not know.
  return reason instanceof Error && reason.name !== 'AbortError' ? reason.message : 'by the caller';
}
