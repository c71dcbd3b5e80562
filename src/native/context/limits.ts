/** What one operation on a context may return and take, and the pace at which it works: it yields, stops, and ends in time. */
import type { Clock } from '../../clock.ts';
import { ContextError } from './errors.ts';

export interface ContextLimits {
  /** Hits, parts or items of one answer. */
  readonly resultsMax: number;
  /** UTF-8 bytes of one answer's value, written as JSON. */
  readonly bytesMax: number;
  readonly timeMs: number;
}

export const defaultContextLimits: ContextLimits = { resultsMax: 32, bytesMax: 16_384, timeMs: 250 };

/** The limits of one call: those of the session, or tighter. Throws `context.invalid-limit`. */
export function tighten(limits: ContextLimits, asked: Partial<ContextLimits> = {}): ContextLimits {
  return {
    resultsMax: tighter('resultsMax', limits.resultsMax, asked.resultsMax),
    bytesMax: tighter('bytesMax', limits.bytesMax, asked.bytesMax),
    timeMs: tighter('timeMs', limits.timeMs, asked.timeMs),
  };
}

function tighter(name: keyof ContextLimits, limit: number, asked: number | undefined): number {
  if (asked === undefined) return limit;
  if (!Number.isSafeInteger(asked) || asked < 1) {
    throw new ContextError(
      'context.invalid-limit',
      `${name}: expected a whole number above 0, found ${asked}.`,
      {
        next: `Give ${name} as 1 to ${limit}, or leave it out.`,
      },
    );
  }
  return Math.min(limit, asked);
}

export interface Pace {
  /**
   * To be awaited after each piece of work. Lets the event loop turn when it has been held for some milliseconds, and
   * rejects with the reason of a signal that has aborted.
   */
  step(): Promise<void>;
  /** True once the time is spent. */
  spent(): boolean;
}

/** Longer than this no other work of the process has to wait. */
const holdMs = 8;

/** Opens the pace of one operation; without `timeMs` only a signal ends it. */
export function openPace(
  clock: Clock,
  signals: readonly (AbortSignal | undefined)[],
  timeMs = Number.POSITIVE_INFINITY,
): Pace {
  // Asked, not listened to: a listener would have to be taken off again on every way out.
  const stopIfAborted = () => {
    for (const signal of signals) signal?.throwIfAborted();
  };
  const endMs = clock.monotonicMs() + timeMs;
  let heldSince = clock.monotonicMs();
  return {
    async step() {
      stopIfAborted();
      if (clock.monotonicMs() - heldSince < holdMs) return;
      await new Promise((resolve) => setImmediate(resolve));
      heldSince = clock.monotonicMs();
      stopIfAborted();
    },
    spent: () => clock.monotonicMs() >= endMs,
  };
}
