import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ExactJson, exactJsonText, holdsBigint, parseExactJson } from './json.ts';

test.each([
  ['2512292042121000001', 2512292042121000001n],
  ['-9007199254740993', -9007199254740993n],
  ['2512292042121000001.0', 2512292042121000001n],
  ['9007199254740991', 9007199254740991],
  ['0.1234567890123456', 0.1234567890123456],
  ['1e21', 1e21],
  ['6.022e23', 6.022e23],
  ['25122920421210000.01e2', 2512292042121000001n],
  ['2.512292042121000001E+18', 2512292042121000001n],
  ['-25122920421210000010e-1', -2512292042121000001n],
  ['2512292042121000001.5', 2512292042121000000],
  ['1.5e3', 1500],
  ['1e-400', 0],
  ['0e999999999', 0],
  ['1.7976931348623157e308', Number.MAX_VALUE],
  ['{"a":"1e400"}', { a: '1e400' }],
  ['{"a":{"b":[12345678901234567890]}}', { a: { b: [12345678901234567890n] } }],
  ['{"a":1,"a":2}', { a: 2 }],
  ['{"a":1,"a":12345678901234567890}', { a: 12345678901234567890n }],
])('%s', (text, value) => {
  expect(parseExactJson(text)).toEqual(value);
});

test.each(['', '{"a":', '[1,]', '01', "{'a':1}", '{"a":12345678901234567890', 'NaN'])(
  'refuses %j',
  (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  },
);

test.each(['1e400', '-1E999', '{"id":[1e400]}', '9'.repeat(400), '1e999999999'])(
  'refuses %s, which would be infinite',
  (text) => {
    expect(() => parseExactJson(text)).toThrow(/^the number .* beyond all that can be kept$/);
  },
);

test('an integer is exact or refused, with and without a point and an exponent', () => {
  fc.assert(
    fc.property(fc.bigInt(2n ** 53n, 10n ** 40n), fc.nat(30), fc.nat(5), (integer, places, zeros) => {
      const digits = `${integer}`;
      const at = Math.max(1, digits.length - places);
      const written = `${digits.slice(0, at)}.${digits.slice(at)}${'0'.repeat(zeros)}0e${digits.length - at}`;
      const read = parseExactJson(written);
      // A number is kept as one only where it reads back as the same decimal.
      const decimal = (text: string) => text.replace(/e.*/, '').replace(/\D/g, '').replace(/0+$/, '');
      if (typeof read === 'number') expect(decimal(String(read))).toBe(decimal(digits));
      else expect(read).toBe(integer);
      expect(parseExactJson(digits)).toBe(integer);
    }),
  );
});

test('whatever is written reads back the same, integers of any size included', () => {
  const { value } = fc.letrec<{ value: ExactJson }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, false),
      fc.string(),
      fc.integer(),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 90n }),
      fc.array(tie('value')),
      fc.dictionary(fc.string(), tie('value')),
    ),
  }));
  fc.assert(
    fc.property(value, (given) => {
      const text = exactJsonText(given);
      expect(exactJsonText(parseExactJson(text))).toBe(text);
      expect(holdsBigint(parseExactJson(text))).toBe(holdsBigint(given));
    }),
  );
});
