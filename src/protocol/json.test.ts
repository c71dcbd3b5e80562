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
