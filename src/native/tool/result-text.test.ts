/** What a model reads of a result: exact, bounded, and never half a character. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failureText, resultText } from './result-text.ts';

describe('a result that fits', () => {
  test.each([
    ['plain text', 'plain text'],
    [{ a: 1n, b: 9223372036854775807n, c: [null, 'é'] }, '{"a":1,"b":9223372036854775807,"c":[null,"é"]}'],
    [null, 'null'],
    ['', ''],
  ])('is the text itself (%#)', (value, text) => {
    expect(resultText(value, 1000)).toEqual({ text, bytes: Buffer.byteLength(text), truncated: false });
  });

  test('of exactly the limit is not cut', () => {
    expect(resultText('x'.repeat(512), 512)).toEqual({ text: 'x'.repeat(512), bytes: 512, truncated: false });
  });

  test('has its half surrogate pairs replaced', () => {
    expect(resultText('a\ud83db\udc00', 100)).toEqual({ text: 'a\uFFFDb\uFFFD', bytes: 8, truncated: false });
  });
});

describe('a result that does not fit', () => {
  test('says how much was shown and what to do', () => {
    expect(resultText('x'.repeat(1000), 600)).toEqual({
      text: `${'x'.repeat(510)}\n[cut: 510 of 1000 bytes shown. Ask for less: narrow the query, or read a smaller range.]`,
      bytes: 1000,
      truncated: true,
    });
  });

  test('is cut before an emoji that stands on the limit', () => {
    for (const before of [507, 508, 509, 510]) {
      const { text } = resultText(`${'x'.repeat(before)}${'😀'.repeat(200)}`, 600);
      expect(text).toMatch(/^x+(😀)?\n\[cut/u);
    }
  });

  test('never exceeds the limit, is valid Unicode, and begins as the whole does', () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom('😀', 'é', '漢', 'a', '\ud800', '\n')),
      maxLength: 2000,
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 512, max: 3000 }), (value, bytesMax) => {
        const result = resultText(value, bytesMax);
        const whole = value.replace(/\p{Surrogate}/gu, '\uFFFD');
        expect(Buffer.from(result.text).toString()).toBe(result.text);
        expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(bytesMax);
        expect(result.bytes).toBe(Buffer.byteLength(whole));
        expect(result.truncated).toBe(result.bytes > bytesMax);
        if (!result.truncated) {
          expect(result.text).toBe(whole);
          return;
        }
        const shown = result.text.slice(0, result.text.lastIndexOf('\n[cut: '));
        expect(whole.startsWith(shown)).toBe(true);
        expect(result.text).toContain(`[cut: ${Buffer.byteLength(shown)} of ${result.bytes} bytes shown.`);
        // Nothing that would have fitted is withheld: at most one character and the width of one number.
        expect(Buffer.byteLength(result.text)).toBeGreaterThan(bytesMax - 12);
      }),
    );
  });

  test('under any limit stays within it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 300 }),
        fc.integer({ min: 0, max: 250 }),
        (value, bytesMax) => {
          expect(Buffer.byteLength(resultText(value, bytesMax).text)).toBeLessThanOrEqual(bytesMax);
        },
      ),
    );
  });
});

test('a failure names its code', () => {
  expect(failureText('tool.not-found', 'There is no a.', 1000).text).toBe(
    'failed(tool.not-found): There is no a.',
  );
  expect(failureText('x', 'y'.repeat(2000), 600)).toMatchObject({ bytes: 2011, truncated: true });
});
