/** The seeded generator of all resampling: xoshiro128** 1.1, one stream for each use, the same numbers on every machine. */
import { hash } from 'node:crypto';
import { StatisticsError } from './errors.ts';

/** What an experiment registers: a whole number or a text. Equal seeds give equal results, bit for bit. */
export type Seed = number | string;

/**
 * xoshiro128** 1.1 (Blackman and Vigna, Scrambled linear pseudorandom number generators, ACM TOMS 47, 2021): 32-bit
 * words, period 2^128 - 1.
 */
export interface Generator {
  /** The next 32 bits, as a signed integer. */
  bits(): number;
  /** A whole number in [0, bound), each equally likely; `bound` from 1 to 2^32. */
  below(bound: number): number;
  /** A number in (0, 1), in steps of 2^-53; never 0 nor 1. */
  unit(): number;
  /** From the normal distribution with mean 0 and variance 1 (polar method of Marsaglia, 1964). */
  normal(): number;
}

/**
 * The stream of a seed for one use. The state is the first 16 bytes of SHA-256 over `seed`, a line feed and `use`, as
 * four little-endian words, so two uses of one seed share nothing.
 */
export function stream(seed: Seed, use: string): Generator {
  if (typeof seed === 'number' && !Number.isSafeInteger(seed)) {
    throw new StatisticsError(
      'statistics.bad-option',
      `seed: expected a whole number or a text, found ${seed}.`,
    );
  }
  const bytes = hash('sha256', `${seed}\n${use}`, 'buffer');
  return xoshiro([0, 4, 8, 12].map((at) => bytes.readInt32LE(at)));
}

/** The generator from four words of state, of which one must not be 0. */
export function xoshiro(words: readonly number[]): Generator {
  let [a = 0, b = 0, c = 0, d = 0] = words.map((word) => word | 0);
  let spare: number | undefined;

  const bits = (): number => {
    const times5 = Math.imul(b, 5);
    const result = Math.imul((times5 << 7) | (times5 >>> 25), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  // Lemire, Fast random integer generation in an interval, ACM TOMACS 29, 2019. A product stays below 2^53 for bounds
  // below 2^21; above, the low word would be rounded and 2^32 is taken apart by rejection alone.
  const below = (bound: number): number => {
    if (bound >= 0x200000) return belowByRejection(bits, bound);
    let product = (bits() >>> 0) * bound;
    let low = product >>> 0;
    if (low < bound) {
      const threshold = 0x100000000 % bound;
      while (low < threshold) {
        product = (bits() >>> 0) * bound;
        low = product >>> 0;
      }
    }
    return Math.floor(product / 0x100000000);
  };
  const unit = (): number => ((bits() >>> 5) * 0x4000000 + (bits() >>> 6) + 0.5) / 0x20000000000000;
  const normal = (): number => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    for (;;) {
      const x = 2 * unit() - 1;
      const y = 2 * unit() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      spare = y * scale;
      return x * scale;
    }
  };
  return { bits, below, unit, normal };
}

function belowByRejection(bits: () => number, bound: number): number {
  const end = 0x100000000 - (0x100000000 % bound);
  for (;;) {
    const word = bits() >>> 0;
    if (word < end) return word % bound;
  }
}
