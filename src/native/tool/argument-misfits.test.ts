/** What is said of arguments that do not fit where nothing of them may be repeated. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseExactJson } from '../../protocol/json.ts';
import { jsonSchemaCheck, standardCheck } from './argument-check.ts';
import type { Misfit } from './tool.ts';

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string', maxLength: 8, pattern: '^[a-z]+$' },
    limit: { type: 'integer', minimum: 1 },
    how: { enum: ['fast', 'whole'] },
    rows: { type: 'array', items: { $ref: '#/$defs/row' } },
    env: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['path'],
  additionalProperties: false,
  $defs: {
    row: {
      type: 'object',
      properties: { id: { type: 'integer' } },
      required: ['id'],
      additionalProperties: false,
    },
  },
};

function misfits(args: unknown, given: object = schema): readonly Misfit[] | undefined {
  const checked = jsonSchemaCheck('t', given, false).check(parseExactJson(JSON.stringify(args)));
  return checked.ok ? undefined : checked.misfits;
}

describe('by a JSON Schema', () => {
  test.each<[string, unknown, readonly Misfit[]]>([
    ['what is missing', {}, [{ kind: 'missing', place: '/path', expected: 'text' }]],
    ['a wrong type', { path: 7 }, [{ kind: 'wrong', place: '/path', expected: 'text' }]],
    [
      'rules that are broken',
      { path: 'SECRET-TOO-LONG', limit: 0 },
      [
        { kind: 'wrong', place: '/path', expected: 'text of at most 8 characters' },
        { kind: 'wrong', place: '/path', expected: 'text that matches "^[a-z]+$"' },
        { kind: 'wrong', place: '/limit', expected: 'a number >= 1' },
      ],
    ],
    [
      'none of the values that there are',
      { path: 'a', how: 'SECRET' },
      [{ kind: 'wrong', place: '/how', expected: 'one of "fast", "whole"' }],
    ],
    [
      'unknown fields, counted by their object',
      { path: 'a', SECRET: 1, SECRET2: 2, rows: [{ id: 1, SECRET: 1 }] },
      [
        { kind: 'unexpected', place: '', count: 2 },
        { kind: 'unexpected', place: '/rows/0', count: 1 },
      ],
    ],
    [
      'a place inside, through a reference',
      { path: 'a', rows: [{ id: 1 }, { id: 'SECRET' }, {}] },
      [
        { kind: 'wrong', place: '/rows/1/id', expected: 'a whole number' },
        { kind: 'missing', place: '/rows/2/id', expected: 'a whole number' },
      ],
    ],
    [
      'a name that only the arguments have',
      { path: 'a', env: { SECRET: 1 } },
      [{ kind: 'wrong', place: '/env/*', expected: 'a value' }],
    ],
    ['what is no object at all', ['SECRET'], [{ kind: 'wrong', place: '', expected: 'an object' }]],
  ])('%s', (_, args, expected) => {
    expect(misfits(args)).toEqual(expected);
  });

  test('an integer that would be rounded', () => {
    const checked = jsonSchemaCheck('t', schema, false).check({ path: 'a', limit: 2n ** 60n });
    expect(checked).toMatchObject({
      misfits: [{ kind: 'wrong', place: '/limit', expected: 'an integer within ±2^53' }],
    });
  });

  test('a schema whose references go round comes to an end', () => {
    const again = { $ref: '#/$defs/node' };
    const node = { type: 'object', properties: { a: { anyOf: Array(30).fill(again) } }, required: ['a'] };
    const round = { ...node, $defs: { node: { ...node, anyOf: [{ required: ['a'] }] } } };
    expect(misfits({ a: 7 }, round)).toContainEqual({ kind: 'wrong', place: '/a', expected: 'an object' });
  });
});

test('by a Standard Schema', () => {
  const row = z.strictObject({ id: z.number() });
  const form = z.strictObject({
    path: z.string(),
    limit: z.number().min(1).optional(),
    rows: z.array(row).optional(),
  });
  const checked = standardCheck('t', form, false).check({ limit: 0, SECRET: 1, rows: [{ id: 'SECRET' }] });
  expect(checked.ok || checked.misfits).toEqual([
    { kind: 'missing', place: '/path', expected: 'text' },
    { kind: 'wrong', place: '/limit', expected: 'a number' },
    { kind: 'wrong', place: '/rows/0/id', expected: 'a number' },
    { kind: 'unexpected', place: '', count: 1 },
  ]);
});

test('nothing that was given is ever repeated', () => {
  const mark = fc.constantFrom('SECRET', 'SECRET/x', 'SECRET~0');
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 4 }, mark, fc.integer(), fc.array(tie('any')), tie('object')),
    object: fc.dictionary(fc.oneof(mark, fc.constantFrom('path', 'rows', 'env', 'id', 'how')), tie('any')),
  }));
  fc.assert(
    fc.property(value.object, (args) => {
      expect(JSON.stringify(misfits(args) ?? [])).not.toContain('SECRET');
    }),
  );
});
