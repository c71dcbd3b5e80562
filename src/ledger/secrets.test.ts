import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactor, secretLengthMin } from './secrets.ts';

const value = 'sk-Ä"q\\x/9+z\n&= €😀';
const { text, bytes, json } = redactor([{ name: 'KEY', value }]);
const ascii = (found: string) =>
  found.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const written: readonly [form: string, found: string][] = [
  ['as it is', value],
  ['as JSON', JSON.stringify(value).slice(1, -1)],
  ['as JSON in JSON', JSON.stringify(JSON.stringify(value)).slice(3, -3)],
  ['as JSON in JSON in JSON', JSON.stringify(JSON.stringify(JSON.stringify(value))).slice(7, -7)],
  ['as JSON in ASCII', ascii(JSON.stringify(value).slice(1, -1))],
  ['as JSON with escaped slashes', JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/')],
  ['percent-encoded', encodeURIComponent(value)],
  ['percent-encoded in small letters', encodeURIComponent(value).replace(/%../g, (hex) => hex.toLowerCase())],
  ['as a form', new URLSearchParams({ v: value }).toString().slice(2)],
];

describe('a secret', () => {
  test.each(written)('is found in text and bytes %s', (_form, found) => {
    expect(text(`<${found}>`)).toBe('<[secret KEY]>');
    expect(Buffer.from(bytes(Buffer.from(`<${found}>`))).toString()).toBe('<[secret KEY]>');
  });

  test.each(['base64', 'base64url'] as const)('is found in %s at every offset', (encoding) => {
    for (const before of ['', 'u', 'u:', 'u:v']) {
      const found = Buffer.from(`${before}${value}:tail`).toString(encoding);
      expect(text(found)).toContain('[secret KEY]');
      expect(Buffer.from(bytes(Buffer.from(found))).toString()).toBe(text(found));
    }
  });

  test('is found in member names and deep inside, and the rest is the same object', () => {
    const kept = { a: [1, null, { b: 'plain' }] };
    const found = json({ kept, [`x${value}`]: [{ deep: `y${value}` }], n: 1 });
    expect(found).toEqual({ kept, 'x[secret KEY]': [{ deep: 'y[secret KEY]' }], n: 1 });
    expect(found.kept).toBe(kept);
    expect(json(kept)).toBe(kept);
  });

  test('is found between bytes that are no text, and those stay', () => {
    const around = Buffer.from([0, 0xff, 0xfe, 0x80, 0xc3]);
    const cleaned = bytes(Buffer.concat([around, Buffer.from(value), around]));
    expect(cleaned).toEqual(Buffer.concat([around, Buffer.from('[secret KEY]'), around]));
    expect(bytes(around)).toBe(around);
  });

  test('counts without the white space around it', () => {
    expect(redactor([{ name: 'KEY', value: '  secret-value\n' }]).text('(secret-value)')).toBe(
      '([secret KEY])',
    );
  });

  test('that is too short is left alone', () => {
    const short = 'x'.repeat(secretLengthMin - 1);
    expect(redactor([{ name: 'KEY', value: short }]).text(short)).toBe(short);
  });

  test('the longest wins where several fit', () => {
    const two = redactor([
      { name: 'SHORT', value: 'abcdef' },
      { name: 'LONG', value: 'abcdefghi' },
    ]);
    expect(two.text('abcdefghi abcdef')).toBe('[secret LONG] [secret SHORT]');
  });

  test('many backslashes take no long time', () => {
    const slow = redactor([{ name: 'KEY', value: 'a\\\\\\\\\\\\\\\\b\\\\\\\\c' }]);
    const started = performance.now();
    slow.text(`a${'\\'.repeat(100_000)}`);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

test('law: no secret survives in text, JSON or bytes, whatever stands around it', () => {
  const secret = fc.string({ unit: 'binary', minLength: secretLengthMin, maxLength: 40 }).filter((s) => {
    const kept = s.trim();
    // A lone surrogate has no bytes of its own, and a value inside the label that replaces it would be found there.
    return (
      kept.length >= secretLengthMin &&
      Buffer.from(kept).toString() === kept &&
      !'[secret KEY]'.includes(kept)
    );
  });
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (found, before, after) => {
      const own = redactor([{ name: 'KEY', value: found }]);
      const kept = found.trim();
      // What is left and right may complete another copy of a value that overlaps itself with the label.
      fc.pre(!`${before}[secret KEY]${after}`.includes(kept));
      const whole = before + kept + after;
      expect(own.text(whole)).not.toContain(kept);
      expect(JSON.stringify(own.json({ whole: [whole] }))).not.toContain(JSON.stringify(kept).slice(1, -1));
      expect(Buffer.from(own.bytes(Buffer.from(whole))).includes(Buffer.from(kept))).toBe(false);
    }),
  );
});
