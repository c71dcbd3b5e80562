import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactor, secretLengthMin, tooShort } from './secrets.ts';

const value = 'sk-Ä"q\\x/9+z\n&= €😀';
const { text, message, bytes, json, stream } = redactor([{ name: 'KEY', value }]);
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

  test('that is a plain word is no member name', () => {
    const word = redactor([{ name: 'KEY', value: 'finish' }]);
    expect(word.json({ finish: 'finish', 'finish-1': 1 })).toEqual({
      finish: '[secret KEY]',
      '[secret KEY]-1': 1,
    });
  });

  test('that is cut in a message is found before the ellipsis, in each form', () => {
    for (const [, found] of written) {
      const cut = found.slice(0, Math.floor(found.length * 0.8));
      expect(message(`key ${cut}…`)).toBe(`key [secret KEY]…`);
    }
    const cut64 = Buffer.from(value).toString('base64').slice(0, 12);
    expect(message(`key ${cut64}…`)).toBe('key [secret KEY]…');
    expect(message(`${value} sk-…`)).toBe('[secret KEY] sk-…');
  });

  test('that is too short is left alone, and told', () => {
    const short = 'x'.repeat(secretLengthMin - 1);
    const keys = [
      { name: 'KEY', value: ` ${short} ` },
      { name: 'OTHER', value: `${short}x` },
    ];
    expect(tooShort(keys)).toEqual([keys[0]]);
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

describe('a stream', () => {
  test.each(written)('holds back what may be a secret %s, and nothing else', (_form, found) => {
    const { push, end } = stream();
    const shown = `No: ${found}! s`.split('').map(push);
    expect(shown.slice(0, 4).join('')).toBe('No: ');
    expect(shown.slice(4, -3).join('')).toBe('');
    expect(shown.join('') + end()).toBe('No: [secret KEY]! s');
  });

  test('is at the end what the whole text is, wherever it was cut', () => {
    const own = redactor([
      { name: 'SHORT', value: 'abcdef' },
      { name: 'LONG', value: 'abcdef\\\\gh/i😀' },
      { name: 'OTHER', value: 'fghij"k' },
      { name: 'VERY', value: 'ab'.repeat(200) },
    ]);
    const piece = fc.constantFrom(
      'abc',
      'def',
      'abcdef',
      '\\',
      '\\\\',
      'gh/i',
      '\ud83d',
      '\ude00',
      'ghij',
      '\\"k',
      'x',
      'ab'.repeat(40),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const { push, end } = own.stream();
        expect(pieces.map(push).join('') + end()).toBe(own.text(pieces.join('')));
      }),
    );
  });

  test('begins anew after its end', () => {
    const { push, end } = stream();
    push(value.slice(0, 5));
    expect(end()).toBe(value.slice(0, 5));
    expect(push(value.slice(5)) + end()).toBe(value.slice(5));
  });

  test('of a model that writes all at once takes no long time', () => {
    const long = redactor([{ name: 'KEY', value: 'sk-'.repeat(300) }]);
    const started = performance.now();
    const { push, end } = long.stream();
    for (let i = 0; i < 200; i += 1) push('sk-sk-sk-s '.repeat(1000));
    end();
    expect(performance.now() - started).toBeLessThan(3000);
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
