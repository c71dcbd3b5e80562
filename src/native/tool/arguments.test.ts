/** From a model's text to arguments: what passes, and what is answered to everything else. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exactJsonText } from '../../protocol/json.ts';
import { readArguments } from './arguments.ts';
import { defineTool } from './define-tool.ts';

const shared = { description: 'x', capability: 'x', access: 'read', execute: () => null } as const;
const none = defineTool({
  ...shared,
  name: 'now',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
});
const optional = defineTool({
  ...shared,
  name: 'list',
  parameters: { type: 'object', properties: { limit: { type: 'integer' } } },
});
const some = defineTool({
  ...shared,
  name: 'find',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string' }, id: { type: 'integer' } },
    required: ['query'],
    additionalProperties: false,
  },
});
const anything = defineTool({ ...shared, name: 'any', exactIntegers: true, parameters: { type: 'object' } });

describe('no text', () => {
  test.each(['', '  \n', undefined, '{}'])('%j is fine for a tool without parameters', (text) => {
    expect(readArguments(text, none)).toEqual({ ok: true, value: {} });
  });

  test.each([some, optional])('is not fine for a tool with parameters', (tool) => {
    expect(readArguments('', tool)).toEqual({
      ok: false,
      code: 'tool.arguments-unreadable',
      message: expect.stringContaining(
        `The arguments of ${tool.schema.name} cannot be read: expected one JSON object, found nothing.`,
      ),
    });
  });
});

describe('a text that is not one object', () => {
  test.each([
    ['null', 'found null'],
    ['[{"query":"x"}]', 'found a list of 1'],
    ['5', 'found 5'],
    ['"x"', 'found "x"'],
    ['"{\\"query\\":\\"x\\"}"', 'found one written as text; send it unquoted'],
    ['{"query":"x"', 'found text that is no JSON at character 12, near ""'],
    ['{"query":"x', 'found text that ends too early, after "{\\"query\\":\\"x"; it may have been cut off'],
    ['{"query":', 'found text that ends too early, after "{\\"query\\":"; it may have been cut off'],
    [
      '{"query":"x"} {"query":"y"}',
      'found text that is no JSON at character 14, near "{\\"query\\":\\"y\\"}"',
    ],
    ['{query:"x"}', 'found text that is no JSON at character 1, near "query:\\"x\\"}"'],
    ['<x>', 'found text that is no JSON because of the character "<"'],
    ['{"query":"x","query":"y"}', 'found the key "query" twice in one object'],
    ['{"query":"x","qu\\u0065ry":"x"}', 'found the key "query" twice in one object'],
    ['{"id":2512292042121000001,"id":1,"query":"x"}', 'found the key "id" twice in one object'],
    ['{"__proto__":{"query":"x"}}', 'found the key "__proto__", which no tool takes'],
    ['{"query":{"__proto__" : 12345678901234567890}}', 'found the key "__proto__", which no tool takes'],
    [`{"query":${'['.repeat(600)}${']'.repeat(600)}}`, 'found values nested deeper than 500 levels'],
    ['{"query":"a\\ud83db"}', 'found half of one (a \\u escape of D800 to DFFF alone) in "/query"'],
    ['{"query":["x",{"y":"\\uDC00"}],"id":12345678901234567890}', 'alone) in "/query/1/y"'],
    ['{"query":"\uD83D"}', 'alone) in "/query"'],
    ['{"\\uD83D":1}', 'alone) in a name of a field; write the character itself'],
    ['{"query":1e400}', 'found the number 1e400, which is beyond all that can be kept; send it as text'],
    ['{"query":"x","id":[-1E999]}', 'found the number -1E999, which is beyond all that can be kept'],
    [`{"query":"${'x'.repeat(4_000_000)}"}`, 'expected at most 4000000 characters, found 4000012'],
  ])('%.40s is answered with what is wrong', (text, problem) => {
    for (const tool of [some, none]) {
      const read = readArguments(text, tool);
      expect(read).toMatchObject({ ok: false, code: 'tool.arguments-unreadable' });
      expect(read.ok ? '' : read.message).toContain(problem);
    }
  });

  test('an integer that a double would change is sent back, however it is written', () => {
    for (const id of ['2512292042121000001', '25122920421210000.01e2', '2.512292042121000001E18']) {
      const read = readArguments(`{"query":"x","id":${id}}`, some);
      expect(read).toMatchObject({ ok: false, code: 'tool.arguments-invalid' });
      expect(read.ok ? '' : read.message).toContain(
        'Send it as text if the field takes text: "2512292042121000001".',
      );
      expect(readArguments(`{"id":${id}}`, anything)).toEqual({
        ok: true,
        value: { id: 2512292042121000001n },
      });
    }
  });

  test('is never quoted at length', () => {
    for (const text of [
      `"${'secret'.repeat(999)}"`,
      `{"query":"x" ${'secret'.repeat(999)}`,
      `{"${'k'.repeat(9999)}":1}`,
    ]) {
      const read = readArguments(text, some);
      expect(read.ok ? '' : read.message).toMatch(/^.{20,400}$/);
    }
  });
});

describe('an object', () => {
  test('is checked', () => {
    expect(readArguments('{"query":"x"}', some)).toEqual({ ok: true, value: { query: 'x' } });
    expect(readArguments('{"qury":"x"}', some)).toEqual({
      ok: false,
      code: 'tool.arguments-invalid',
      message:
        "The arguments of find do not fit. /query: expected text, found nothing. Add it. /qury: expected only query, id, found an unknown field. Did you mean 'query'?",
    });
  });

  test('may hold equal keys in different objects, and braces in strings', () => {
    const text = '{"a":{"k":1},"b":[{"k":"}{\\" \\\\"},{"k":"k"}]}';
    expect(readArguments(text, anything)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  test('may hold a string of megabytes', () => {
    expect(readArguments(`{"query":"${'\\"x'.repeat(1_200_000)}"}`, some)).toMatchObject({ ok: true });
  });

  test('with half a surrogate pair is answered with valid Unicode', () => {
    const read = readArguments('{"\\ud83d":1}', some);
    expect(read.ok ? '\ud83d' : read.message).not.toMatch(/\p{Surrogate}/u);
  });

  test('keeps a long integer or sends it back', () => {
    expect(readArguments('{"id":2512292042121000001}', anything)).toEqual({
      ok: true,
      value: { id: 2512292042121000001n },
    });
    expect(readArguments('{"query":"x","id":2512292042121000001}', some)).toMatchObject({
      ok: false,
      code: 'tool.arguments-invalid',
      message: expect.stringContaining('Send it as text'),
    });
  });

  test('of any JSON is read as it was written', () => {
    const key = fc.string().filter((text) => text !== '__proto__');
    const number = fc.oneof(
      fc.integer(),
      fc.bigInt().filter((n) => n > 2n ** 53n || n < -(2n ** 53n)),
    );
    const json = fc.dictionary(
      key,
      fc.oneof(number, fc.string(), fc.array(number), fc.dictionary(key, number)),
    );
    fc.assert(
      fc.property(json, (value) => {
        expect(readArguments(exactJsonText(value), anything)).toEqual({ ok: true, value: { ...value } });
      }),
    );
  });

  test('or any other text never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.json().map((text) => text.slice(0, -1)),
        ),
        (text) => {
          expect(readArguments(text, some)).toHaveProperty('ok');
        },
      ),
    );
  });
});
