/** The seeded generator of all resampling: xoshiro128** 1.1, one stream for each use, the same numbers on every machine. */
import { sha256 } from '../../digest.ts';
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
  /** Fills `into` with random bits: what `bits` would give one by one, in a third of the time. */
  fill(into: Int32Array): void;
  /** Fills `into` with whole numbers in [0, bound), each equally likely; two for one word where `bound` is at most 2^16. */
  draw(into: Uint32Array, bound: number): void;
  /**
   * Adds to each number of `into` the sum of `times` values of the table, each drawn with replacement and equally likely. One
   * word draws twice where the table has at most 2^16 values.
   */
  addDrawn(into: Float64Array, table: Float64Array, times: number): void;
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
  const bytes = Buffer.from(sha256(`${seed}\n${use}`), 'hex');
  return xoshiro([0, 4, 8, 12].map((at) => bytes.readInt32LE(at)));
}

/** The generator from four words of state, of which one must not be 0. */
export function xoshiro(state: readonly number[]): Generator {
  return new Xoshiro(state);
}

// A class and no closures: a machine compiles its methods once for all streams, and each analysis opens one of its own.
class Xoshiro implements Generator {
  readonly #state = new Int32Array(4);
  readonly #words = new Int32Array(512);
  #spare: number | undefined;

  constructor(state: readonly number[]) {
    this.#state.set(state);
  }

  bits(): number {
    const state = this.#state;
    const b = state[1] as number;
    const times5 = Math.imul(b, 5);
    const c = (state[2] as number) ^ (state[0] as number);
    const d = (state[3] as number) ^ b;
    state[0] = (state[0] as number) ^ d;
    state[1] = b ^ c;
    state[2] = c ^ (b << 9);
    state[3] = (d << 11) | (d >>> 21);
    return Math.imul((times5 << 7) | (times5 >>> 25), 9);
  }

  fill(into: Int32Array): void {
    const state = this.#state;
    let a = state[0] as number;
    let b = state[1] as number;
    let c = state[2] as number;
    let d = state[3] as number;
    for (let at = 0; at < into.length; at += 1) {
      const times5 = Math.imul(b, 5);
      into[at] = Math.imul((times5 << 7) | (times5 >>> 25), 9);
      const shifted = b << 9;
      c ^= a;
      d ^= b;
      b ^= c;
      a ^= d;
      c ^= shifted;
      d = (d << 11) | (d >>> 21);
    }
    state[0] = a;
    state[1] = b;
    state[2] = c;
    state[3] = d;
  }

  // Lemire, Fast random integer generation in an interval, ACM TOMACS 29, 2019.
  draw(into: Uint32Array, bound: number): void {
    if (bound > 0x10000) {
      for (let at = 0; at < into.length; at += 1) into[at] = this.below(bound);
      return;
    }
    const words = this.#words;
    const threshold = 0x10000 % bound;
    let at = 0;
    while (at < into.length) {
      this.fill(words);
      // Two draws of each word; what the last words have left over is thrown away.
      for (let word = 0; word < words.length && at < into.length; word += 1) {
        const bits = words[word] as number;
        const low = Math.imul(bits & 0xffff, bound);
        if ((low & 0xffff) >= threshold) into[at++] = low >>> 16;
        const high = Math.imul(bits >>> 16, bound);
        if ((high & 0xffff) >= threshold && at < into.length) into[at++] = high >>> 16;
      }
    }
  }

  // Steps and draws in one loop, for draws that go through memory take twice as long.
  addDrawn(into: Float64Array, table: Float64Array, times: number): void {
    const bound = table.length;
    if (bound > 0x10000) {
      for (let at = 0; at < into.length; at += 1) {
        let total = into[at] as number;
        for (let left = times; left > 0; left -= 1) total += table[this.below(bound)] as number;
        into[at] = total;
      }
      return;
    }
    const threshold = 0x10000 % bound;
    const state = this.#state;
    let a = state[0] as number;
    let b = state[1] as number;
    let c = state[2] as number;
    let d = state[3] as number;
    for (let at = 0; at < into.length; at += 1) {
      let total = into[at] as number;
      let left = times;
      while (left > 0) {
        const times5 = Math.imul(b, 5);
        const word = Math.imul((times5 << 7) | (times5 >>> 25), 9);
        const shifted = b << 9;
        c ^= a;
        d ^= b;
        b ^= c;
        a ^= d;
        c ^= shifted;
        d = (d << 11) | (d >>> 21);
        const low = Math.imul(word & 0xffff, bound);
        if ((low & 0xffff) >= threshold) {
          total += table[low >>> 16] as number;
          left -= 1;
        }
        const high = Math.imul(word >>> 16, bound);
        if (left > 0 && (high & 0xffff) >= threshold) {
          total += table[high >>> 16] as number;
          left -= 1;
        }
      }
      into[at] = total;
    }
    state[0] = a;
    state[1] = b;
    state[2] = c;
    state[3] = d;
  }

  below(bound: number): number {
    const end = 0x100000000 - (0x100000000 % bound);
    for (;;) {
      const word = this.bits() >>> 0;
      if (word < end) return word % bound;
    }
  }

  unit(): number {
    const high = this.bits() >>> 5;
    return (high * 0x4000000 + (this.bits() >>> 6) + 0.5) / 0x20000000000000;
  }

  normal(): number {
    if (this.#spare !== undefined) {
      const value = this.#spare;
      this.#spare = undefined;
      return value;
    }
    for (;;) {
      const x = 2 * this.unit() - 1;
      const y = 2 * this.unit() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      this.#spare = y * scale;
      return x * scale;
    }
  }
}
