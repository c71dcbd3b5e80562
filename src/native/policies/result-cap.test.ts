import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capResult, resultCapBytes } from './result-cap.ts';

describe('the cap', () => {
  test.each([
    [{}, 6_389 * 3],
    [{ contextTokens: 1_000_000 }, 17_067 * 3],
    [{ contextTokens: 100_000, fraction: 0.5 }, 7_500 * 3],
    [{ contextTokens: 100_000, fraction: 7 }, 15_000 * 3],
    [{ contextTokens: 100_000, fraction: 0 }, 1_500 * 3],
    [{ contextTokens: 100_000, fraction: Number.NaN }, 9_750 * 3],
    [{ bytes: 700, contextTokens: 1 }, 700],
    [{ bytes: 0 }, 0],
  ])('of %j', (options, bytes) => expect(resultCapBytes(options)).toBe(bytes));

  test('leaves alone what fits, and everything where there is none', () => {
    expect(capResult('abc', true, 3)).toEqual({ text: 'abc', cut: false });
    expect(capResult('x'.repeat(9_999), true, 0).cut).toBe(false);
  });

  test('keeps head and tail, and says how the call ended', () => {
    const { text } = capResult(`start ${'x'.repeat(5_000)} end`, false, 400);
    expect(text).toMatch(/^start x+\n\[The call FAILED\. \d+ of 5010 bytes are shown: .*\]\nx+ end$/);
    expect(capResult('x'.repeat(5_000), true, 400).text).toContain('[The call succeeded. ');
  });

  test('breaks long lines between characters', () => {
    const { text } = capResult('😀'.repeat(20_000), true, 30_000);
    expect(Math.max(...text.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(2_000);
  });

  test('never goes beyond it and never cuts a character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 900 }),
        fc.integer({ min: 1, max: 1_200 }),
        (raw, cap) => {
          const { text, cut } = capResult(raw, true, cap);
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(cap);
          expect(text).not.toContain('\ufffd');
          expect(cut).toBe(Buffer.byteLength(raw) > cap);
        },
      ),
    );
  });
});
