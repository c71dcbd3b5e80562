/** The one place that reads time, ids and randomness, so that everything else can be replayed and tested. */
import { randomFillSync } from 'node:crypto';

export interface Clock {
  /** Milliseconds since the Unix epoch: for records that people read. */
  now(): number;
  /** Milliseconds that never run backwards: for durations and deadlines. */
  monotonicMs(): number;
  /** A new identifier, `prefix_` and 26 characters that sort by creation time. */
  id(prefix: string): string;
  /** A number in [0, 1), for jitter only. */
  random(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** 48 bits of milliseconds and 80 random bits in Crockford's base 32, the layout of a ULID. */
export function timeSortedId(prefix: string, now: number, random: Uint8Array): string {
  let time = '';
  for (let rest = now, i = 0; i < 10; i += 1, rest = Math.floor(rest / 32)) time = alphabet[rest % 32] + time;
  let tail = '';
  let bits = 0;
  let held = 0;
  for (const byte of random.subarray(0, 10)) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) tail += alphabet[(held >>> (bits - 5)) & 31];
  }
  return `${prefix}_${time}${tail}`;
}

// Asking the system for ten bytes costs as much as asking for four thousand.
const pool = new Uint8Array(4096);
let taken = pool.length;

function randomTen(): Uint8Array {
  if (taken + 10 > pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  taken += 10;
  return pool.subarray(taken - 10, taken);
}

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  id: (prefix) => timeSortedId(prefix, Date.now(), randomTen()),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const finish = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, ms);
      signal?.addEventListener('abort', finish, { once: true });
    }),
};
