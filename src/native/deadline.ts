/** The time that one look at the outside has: its end is a signal for what is at work, and a promise for who waits. */

export interface Deadline {
  readonly signal: AbortSignal;
  /** Resolves with what stopped it; never, where nothing does. */
  readonly passed: Promise<'timeout' | 'cancelled'>;
  /** Stops the timer and cuts the link to the signal above. */
  close(): void;
}

// AbortSignal.any keeps its sources alive as long as the run's signal lives, so the links are made and cut by hand.
/** Aborts after so many milliseconds, or with the signal above. Whoever opens it closes it. */
export function openDeadline(signal: AbortSignal, timeoutMs: number): Deadline {
  const controller = new AbortController();
  let settle: (end: 'timeout' | 'cancelled') => void = () => {};
  const passed = new Promise<'timeout' | 'cancelled'>((resolve) => {
    settle = resolve;
  });
  const stop = (how: 'timeout' | 'cancelled') => {
    controller.abort(new Error(how));
    settle(how);
  };
  const onCancel = () => stop('cancelled');
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  if (signal.aborted) onCancel();
  else signal.addEventListener('abort', onCancel, { once: true });
  return {
    signal: controller.signal,
    passed,
    close() {
      clearTimeout(timer);
      signal.removeEventListener('abort', onCancel);
    },
  };
}
