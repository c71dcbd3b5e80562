/** The generator gives the published numbers, streams of their own, and no draw more often than another. */
import { describe, expect, test } from 'vitest';
import { stream, xoshiro } from './generator.ts';

describe('xoshiro128**', () => {
  // The first ten words from the state 1, 2, 3, 4, as the authors' program gives them.
  const published = [
    11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
  ];

  test('one by one', () => {
    const generator = xoshiro([1, 2, 3, 4]);
    expect(published.map(() => generator.bits() >>> 0)).toEqual(published);
  });

  test('as an array, and on from there', () => {
    const generator = xoshiro([1, 2, 3, 4]);
    const words = new Int32Array(7);
    generator.fill(words);
    const rest = [7, 8, 9].map(() => generator.bits());
    expect([...words, ...rest].map((word) => word >>> 0)).toEqual(published);
  });
});

describe('streams', () => {
  const first = (generator = stream('seed', 'use')) => Array.from({ length: 4 }, () => generator.bits());

  test('a seed and a use give the same numbers every time', () => {
    // From the first 16 bytes of SHA-256 of the two lines, computed by another program.
    expect(first(stream('seed', 'use'))).toEqual([-74469821, 1827553159, 615923173, 1508778751]);
    expect(first(stream(7, 'use'))).toEqual(first(stream('7', 'use')));
  });

  test('another seed or use gives others', () => {
    const all = [stream('seed', 'use'), stream('seed', 'other'), stream('seed2', 'use'), stream(0, 'use')];
    expect(new Set(all.map((one) => first(one).join())).size).toBe(4);
  });

  test.each([0.5, Number.NaN, 2 ** 53])('a seed of %s is refused', (seed) => {
    expect(() => stream(seed, 'use')).toThrow(expect.objectContaining({ code: 'statistics.bad-option' }));
  });
});

describe('distributions', () => {
  /** Pearson's statistic less its degrees, in standard deviations. */
  function excess(counts: ArrayLike<number>, draws: number): number {
    const expected = draws / counts.length;
    let squares = 0;
    for (let at = 0; at < counts.length; at += 1) squares += ((counts[at] ?? 0) - expected) ** 2 / expected;
    return (squares - (counts.length - 1)) / Math.sqrt(2 * (counts.length - 1));
  }

  // 49,152 is three quarters of 2^16: without rejection a third of the numbers would come twice as often.
  test.each([1, 2, 54, 2916, 49_152, 65_536])('draws below %s are all equally likely', (bound) => {
    const draws = new Uint32Array(bound * 40);
    stream('draws', String(bound)).draw(draws, bound);
    const counts = new Uint32Array(bound);
    for (const at of draws) counts[at] = (counts[at] ?? 0) + 1;
    expect(counts.reduce((total, one) => total + one, 0)).toBe(draws.length);
    if (bound > 1) expect(Math.abs(excess(counts, draws.length))).toBeLessThan(5);
  });

  test.each([1, 2, 54, 2916, 49_152, 65_536, 70_000])(
    'what is added of %s values is equally likely each',
    (size) => {
      const table = Float64Array.from({ length: size }, (_, at) => at);
      const into = new Float64Array(size * 40);
      stream('added', String(size)).addDrawn(into, table, 1);
      const counts = new Uint32Array(size);
      for (const at of into) counts[at] = (counts[at] ?? 0) + 1;
      if (size > 1) expect(Math.abs(excess(counts, into.length))).toBeLessThan(5);
      // As many as are asked for, the ones that draw would give, on top of what is there.
      for (const times of [0, 1, 27, 500]) {
        const draws = new Uint32Array(times);
        stream(times, 'added').draw(draws, size);
        const one = Float64Array.of(0.5);
        stream(times, 'added').addDrawn(one, table, times);
        expect(one[0]).toBe(0.5 + draws.reduce((total, at) => total + at, 0));
      }
    },
  );

  test('below takes the whole range, and rejects what would come too often', () => {
    const generator = stream('below', 'wide');
    const bound = 3 * 2 ** 30;
    const quarters = [0, 0, 0];
    for (let at = 0; at < 30_000; at += 1) {
      const third = Math.floor(generator.below(bound) / 2 ** 30);
      quarters[third] = (quarters[third] ?? 0) + 1;
    }
    expect(Math.abs(excess(quarters, 30_000))).toBeLessThan(5);
    const wide = new Uint32Array(1000);
    generator.draw(wide, 1_000_000);
    expect(Math.max(...wide)).toBeGreaterThan(900_000);
    expect(Math.max(...wide)).toBeLessThan(1_000_000);
  });

  test('unit lies between 0 and 1, normal has mean 0 and variance 1', () => {
    const generator = stream('moments', 'normal');
    const units = Array.from({ length: 20_000 }, () => generator.unit());
    const normals = Array.from({ length: 20_000 }, () => generator.normal());
    const mean = (list: number[]) => list.reduce((total, one) => total + one, 0) / list.length;
    expect(units.every((one) => one > 0 && one < 1)).toBe(true);
    expect(Math.abs(mean(units) - 0.5)).toBeLessThan(0.01);
    expect(Math.abs(mean(normals))).toBeLessThan(0.03);
    expect(Math.abs(mean(normals.map((one) => one ** 2)) - 1)).toBeLessThan(0.05);
    expect(normals.filter((one) => Math.abs(one) > 1.959964).length / 20_000).toBeCloseTo(0.05, 2);
  });
});
