/** The sentences a model gets about its arguments, from JSON Schema and from Zod. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ExactJson } from '../../protocol/json.ts';
import { jsonSchemaCheck, standardCheck } from './argument-check.ts';
import { isPlainSchema } from './plain-schema.ts';

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 5, pattern: '^[a-z]*$' },
    limit: { type: 'integer', minimum: 1, maximum: 10 },
    unit: { enum: ['metre', 'second'] },
    tags: { type: 'array', maxItems: 1, items: { type: 'string' } },
    exact: { type: 'boolean' },
    at: { type: 'string', format: 'date' },
    odd: { type: 'number', exclusiveMinimum: 0, multipleOf: 0.5 },
    deep: { type: 'object', properties: { width: { type: 'number' } }, additionalProperties: false },
  },
  required: ['path'],
  additionalProperties: false,
};

describe('a JSON Schema', () => {
  const { check, parameters } = jsonSchemaCheck('t', schema, false);

  test('is shown without $schema and passes what fits, unaltered', () => {
    expect(parameters).not.toHaveProperty('$schema');
    const args = { path: 'abc', limit: 10, unit: 'metre', tags: ['x'], odd: 0.5, at: '2026-02-01' };
    expect(check(args)).toEqual({ ok: true, value: args });
  });

  test.each<[ExactJson, string]>([
    [{}, '/path: expected text, found nothing. Add it.'],
    [{ path: 5 }, '/path: expected text, found 5. Put it in quotes: "5".'],
    [{ path: '' }, '/path: expected text of at least 1 characters, found 0.'],
    [{ path: 'abcdef' }, '/path: expected text of at most 5 characters, found 6.'],
    [{ path: 'A' }, '/path: expected text that matches "^[a-z]*$", found "A".'],
    [{ path: 'a', limit: '7' }, '/limit: expected a whole number, found "7". Leave the quotes out: 7.'],
    [{ path: 'a', limit: 1.5 }, '/limit: expected a whole number, found 1.5.'],
    [{ path: 'a', limit: 0 }, '/limit: expected a number >= 1, found 0. The nearest is 1.'],
    [{ path: 'a', limit: 11 }, '/limit: expected a number <= 10, found 11. The nearest is 10.'],
    [{ path: 'a', odd: 0 }, '/odd: expected a number > 0, found 0.'],
    [{ path: 'a', odd: 0.7 }, '/odd: must be multiple of 0.5, found 0.7.'],
    [
      { path: 'a', unit: 'meter' },
      '/unit: expected one of "metre", "second", found "meter". Did you mean "metre"?',
    ],
    [{ path: 'a', unit: 'kg' }, '/unit: expected one of "metre", "second", found "kg".'],
    [
      { path: 'a', tags: '["x"]' },
      '/tags: expected a list, found "[\\"x\\"]". Send the value itself, not its JSON as text.',
    ],
    [{ path: 'a', tags: ['x', 'y'] }, '/tags: expected at most 1 items, found 2.'],
    [
      { path: 'a', exact: 'true' },
      '/exact: expected true or false, found "true". Leave the quotes out: true.',
    ],
    [{ path: 'a', at: 'today' }, '/at: expected text in the format "date", found "today".'],
    [
      { path: 'a', Limits: 3 },
      "/Limits: expected only path, limit, unit, tags, exact, at, odd, deep, found an unknown field. Did you mean 'limit'?",
    ],
    [
      { path: 'a', zzz: 3 },
      '/zzz: expected only path, limit, unit, tags, exact, at, odd, deep, found an unknown field. Leave it out.',
    ],
    [
      { path: 'a', deep: { widht: 1 } },
      "/deep/widht: expected only width, found an unknown field. Did you mean 'width'?",
    ],
    [[], 'the arguments: expected an object, found a list of 0.'],
  ])('answers %j with the place, the expected, the found and the mend', (args, problem) => {
    expect(check(args)).toMatchObject({ ok: false, problems: [problem] });
  });

  test('names at most eight problems, each of them short', () => {
    const args = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}${'x'.repeat(5000)}`, 1]));
    const checked = check(args);
    expect(checked.ok ? [] : checked.problems).toHaveLength(9);
    expect(checked.ok ? '' : checked.problems.at(-1)).toBe('There are 43 more problems.');
    expect(JSON.stringify(checked).length).toBeLessThan(2000);
  });

  test.each<[string, object]>([
    ['an unknown type', { properties: { a: { type: 'strin' } } }],
    ['a pattern that is none', { properties: { a: { type: 'string', pattern: '(' } } }],
    ['a reference to nothing', { properties: { a: { $ref: '#/$defs/none' } } }],
    ['required that is no list', { required: 'a' }],
    ['a name required twice', { required: ['a', 'a'] }],
    ['an empty choice', { properties: { a: { enum: [] } } }],
    ['a negative length', { properties: { a: { minLength: -1 } } }],
    ['a field that is no schema', { properties: { a: 5 } }],
    ['items that are none', { properties: { a: { type: 'array', items: [5] } } }],
    ['a limit in words', { properties: { a: { minimum: 'one' } } }],
    ['an odd title', { title: 5 }],
    ['a type given twice', { properties: { a: { type: ['string', 'string'] } } }],
  ])('with %s is refused when it is made', (_what, part) => {
    expect(() => jsonSchemaCheck('t', { type: 'object', ...part }, false)).toThrow(
      expect.objectContaining({ code: 'tool.bad-schema' }),
    );
  });

  test('that is sure to compile is left for its first check', () => {
    const plain = {
      type: 'object',
      title: 'Arguments',
      properties: {
        a: { type: ['string', 'null'], description: 'A text.', minLength: 1, enum: ['x', 'y'] },
        b: { type: 'array', maxItems: 2, items: { type: 'integer', minimum: 1 } },
      },
      required: ['a'],
      additionalProperties: false,
    };
    expect(isPlainSchema(plain)).toBe(true);
    expect(jsonSchemaCheck('t', plain, false).check({ a: 'x', b: [1] })).toEqual({
      ok: true,
      value: { a: 'x', b: [1] },
    });
    expect(isPlainSchema(schema)).toBe(false);
  });

  test('may bear the same $id as another', () => {
    const twin = { $id: 'https://example.com/args', type: 'object' };
    expect(jsonSchemaCheck('a', twin, false).check({})).toEqual({ ok: true, value: {} });
    expect(jsonSchemaCheck('b', twin, false).check({})).toEqual({ ok: true, value: {} });
  });
});

describe('a Zod object', () => {
  const zod = z.strictObject({
    path: z.string(),
    limit: z.int().min(1).default(5),
    list: z.array(z.strictObject({ unit: z.enum(['m', 's']) })).optional(),
  });
  const { check, parameters } = standardCheck('t', zod, false);

  test('is shown as the JSON Schema of its input', () => {
    expect(parameters).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string' },
        limit: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 5 },
        list: {
          type: 'array',
          items: {
            type: 'object',
            properties: { unit: { type: 'string', enum: ['m', 's'] } },
            required: ['unit'],
            additionalProperties: false,
          },
        },
      },
      required: ['path'],
      additionalProperties: false,
    });
  });

  test('fills in its defaults', () => {
    expect(check({ path: 'a' })).toEqual({ ok: true, value: { path: 'a', limit: 5 } });
  });

  test('answers in sentences', () => {
    expect(check({ limit: 0, list: [{ unit: 'kg', unti: 1 }], pat: 'x' })).toMatchObject({
      ok: false,
      problems: [
        '/path: expected text, found nothing. Add it.',
        '/limit: expected a number >= 1, found 0. The nearest is 1.',
        '/list/0/unit: expected one of "m", "s", found "kg".',
        "/list/0/unti: expected only unit, found an unknown field. Did you mean 'unit'?",
        "/pat: expected only path, limit, list, found an unknown field. Did you mean 'path'?",
      ],
    });
  });

  test.each<[string, z.ZodType, string | number | boolean, string]>([
    ['a slip of quotes', z.int(), '7', '/a: expected a whole number, found "7". Leave the quotes out: 7.'],
    ['a number for a text', z.string(), 7, '/a: expected text, found 7. Put it in quotes: "7".'],
    [
      'none of several types',
      z.string().nullable(),
      true,
      '/a: expected text or null, found true. Put it in quotes: "true".',
    ],
    [
      'none of several values',
      z.union([z.literal('x'), z.literal('y')]),
      'z',
      '/a: expected one of "x", "y", found "z".',
    ],
    [
      'a sentence of the author',
      z.string().min(3, 'Name the whole part.'),
      'x',
      '/a: Name the whole part (found "x").',
    ],
    ['a refinement', z.string().refine((text) => text === 'x', 'Only x.'), 'y', '/a: Only x (found "y").'],
    [
      'what JSON Schema has no rule for',
      z.string().refine(() => false),
      'y',
      '/a: Invalid input (found "y").',
    ],
  ])('says %s', (_, schema, found, problem) => {
    expect(standardCheck('t', z.object({ a: schema }), false).check({ a: found })).toMatchObject({
      problems: [problem],
    });
  });

  test('whose check throws refuses the call and not the run', () => {
    const strict = z.object({
      a: z.string().refine(() => {
        throw new Error('no database');
      }),
    });
    expect(standardCheck('t', strict, false).check({ a: 'x' })).toMatchObject({
      ok: false,
      problems: [
        'the arguments: expected ones that the tool can check, found that it broke off: "no database".',
      ],
    });
  });

  test('that must wait for its answer is the fault of its author', () => {
    const slow = standardCheck('t', z.object({ a: z.string().refine(async () => false) }), false);
    expect(() => slow.check({ a: 'x' })).toThrow(expect.objectContaining({ code: 'tool.async-check' }));
  });
});

test.each<[string, () => never]>([
  ['throws', () => fail(new Error('broken'))],
  ['throws what cannot be looked at', () => fail(Object.create(null))],
  ['answers with nothing', () => undefined as never],
])('a Standard Schema whose check %s refuses the call', (_what, validate) => {
  const standard = {
    version: 1,
    vendor: 'own',
    validate,
    jsonSchema: { input: () => ({ type: 'object' }) },
  } as const;
  expect(standardCheck('t', { '~standard': standard }, false).check({})).toMatchObject({
    ok: false,
    problems: [expect.stringContaining('broke off')],
  });
});

function fail(thrown: unknown): never {
  throw thrown;
}

describe('an integer beyond ±2^53', () => {
  const big = 2512292042121000001n;
  const integer = { type: 'object', properties: { id: { type: 'integer', minimum: 5 } } };
  const zod = z.strictObject({ id: z.union([z.int(), z.bigint()]) });

  test.each([
    ['JSON Schema', jsonSchemaCheck('t', integer, false)],
    ['Zod', standardCheck('t', z.strictObject({ id: z.number() }), false)],
  ])('is refused under %s with the advice to send text', (_, { check }) => {
    expect(check({ id: big })).toMatchObject({
      ok: false,
      problems: [
        '/id: expected an integer within ±2^53, found 2512292042121000001, which would be rounded. Send it as text if the field takes text: "2512292042121000001".',
      ],
    });
  });

  test.each([
    ['JSON Schema', jsonSchemaCheck('t', integer, true)],
    ['Zod', standardCheck('t', zod, true)],
  ])('is handed on digit for digit under %s to a tool that takes it', (_, { check, parameters }) => {
    expect(check({ id: big })).toEqual({ ok: true, value: { id: big } });
    expect(check({ id: 7 })).toEqual({ ok: true, value: { id: 7 } });
    expect(JSON.stringify(parameters)).toContain('"type":"integer"');
  });

  test('still has its bounds', () => {
    expect(jsonSchemaCheck('t', integer, true).check({ id: -big })).toMatchObject({ ok: false });
  });
});
