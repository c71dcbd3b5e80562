/** What `defineTool` accepts, refuses, tells the model, and makes of what an author returns. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../clock.ts';
import { refusedReader } from '../context/reader.ts';
import { defineTool, failed, notDispatched } from './define-tool.ts';
import { ToolError } from './errors.ts';
import type { Tool, ToolContext } from './tool.ts';

const context: ToolContext = {
  signal: new AbortController().signal,
  clock: systemClock,
  idempotencyKey: 'k',
  context: refusedReader,
};

const base = {
  name: 'send_mail',
  description: 'Sends one mail.',
  parameters: { type: 'object', properties: {} },
  capability: 'mail',
  access: 'write',
  repeat: 'once',
  execute: () => null,
} as const;

function fail(): never {
  throw new Error('not now');
}

function guarded(): object {
  return new Proxy({}, { has: fail, getPrototypeOf: fail });
}

const circle: Record<string, unknown> = { type: 'object' };
circle.properties = { self: circle };

const misspelt = { type: 'object', properties: { to: { type: 'strnig' } } };

/** What a `tools/*.mjs` file could write, past the compiler. */
function defineLoosely(over: object): unknown {
  return defineTool({ ...base, ...over });
}

describe('a definition', () => {
  test('becomes a tool with the defaults filled in', async () => {
    const tool = defineTool(base);
    const { check: _, effectKey: __, execute: ___, close: ____, ...rest } = tool;
    expect(rest).toEqual({
      schema: {
        name: 'send_mail',
        description: 'Sends one mail.',
        parameters: { type: 'object', properties: {} },
      },
      capability: 'mail',
      access: 'write',
      repeat: 'once',
      repeatable: false,
      limits: { timeoutMs: 10_000, outputBytesMax: 65_536 },
    });
    expect(tool.effectKey({})).toBe('send_mail');
    await tool.close();
  });

  test('of a read is safe to repeat without saying so', () => {
    const tool = defineTool({ ...base, access: 'read', repeat: undefined as never });
    expect(tool.repeat).toBe('safe');
  });

  test('keeps its limits, look, key and close', async () => {
    let closed = 0;
    const tool = defineTool({
      ...base,
      parameters: z.strictObject({ to: z.string() }),
      repeatable: true,
      limits: { timeoutMs: 500 },
      look: 'List the sent mails.',
      effectKey: ({ to }) => `mail ${to}`,
      execute: ({ to }) => to,
      close: () => {
        closed += 1;
      },
    });
    expect([tool.repeatable, tool.limits, tool.look, tool.effectKey({ to: 'a' })]).toEqual([
      true,
      { timeoutMs: 500, outputBytesMax: 65_536 },
      'List the sent mails.',
      'mail a',
    ]);
    await Promise.all([tool.close(), tool.close()]);
    expect(closed).toBe(1);
  });

  test.each<[unknown, string]>([
    ['mail 42', 'mail 42'],
    [undefined, 'send_mail'],
    ['', ''],
  ])('whose effectKey gives %s holds by %j', (key, text) => {
    const tool = defineLoosely({ effectKey: () => key }) as Tool;
    expect(tool.effectKey({})).toBe(text);
  });

  test.each<[string, () => unknown, string]>([
    ['gives an object', () => ({ id: 1 }), 'found an object with id'],
    ['gives a promise', async () => 'x', 'found an object with no fields'],
    ['gives a number', () => 42, 'found 42'],
    ['gives a bigint', () => 42n, 'found 42'],
    [
      'throws what cannot be looked at',
      () => {
        throw Object.create(null);
      },
      'found that it threw',
    ],
  ])('whose effectKey %s is refused before anything is sent', (_what, effectKey, found) => {
    const tool = defineLoosely({ effectKey }) as Tool;
    expect(() => tool.effectKey({})).toThrow(
      expect.objectContaining({ code: 'tool.bad-definition', message: expect.stringContaining(found) }),
    );
  });

  test('infers the type of the arguments from the Zod schema', () => {
    defineTool({
      ...base,
      parameters: z.strictObject({ to: z.string(), copies: z.int().default(1) }),
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ to: string; copies: number }>();
        return null;
      },
    });
  });

  test('cannot be changed afterwards through the schema it was given', () => {
    const parameters = { type: 'object', properties: { a: { type: 'string' } } };
    const tool = defineTool({ ...base, parameters });
    parameters.type = 'string';
    expect(tool.schema.parameters.type).toBe('object');
  });

  test.each([
    ['an empty name', { name: '' }, 'tool.bad-name'],
    ['a name with a dot', { name: 'mail.send' }, 'tool.bad-name'],
    ['a name of 65 characters', { name: 'a'.repeat(65) }, 'tool.bad-name'],
    ['a name with a line end', { name: 'mail\n' }, 'tool.bad-name'],
    ['an empty description', { description: '  ' }, 'tool.bad-description'],
    ['no capability', { capability: '' }, 'tool.bad-definition'],
    ['no parameters', { parameters: undefined }, 'tool.bad-schema'],
    ['a schema of a list', { parameters: { type: 'array' } }, 'tool.bad-schema'],
    ['a schema that cannot be compiled', { parameters: misspelt }, 'tool.bad-schema'],
    ['a schema without a type', { parameters: {} }, 'tool.bad-schema'],
    ['properties that are a list', { parameters: { type: 'object', properties: [] } }, 'tool.bad-schema'],
    ['a Zod union', { parameters: z.union([z.object({}), z.object({ a: z.string() })]) }, 'tool.bad-schema'],
    ['a schema in circles', { parameters: circle }, 'tool.bad-schema'],
    ['a Zod date', { parameters: z.object({ at: z.date() }) }, 'tool.bad-schema'],
    ['an unknown access', { access: 'both' }, 'tool.bad-access'],
    ['a write without repeat', { repeat: undefined }, 'tool.bad-access'],
    ['a read that acts again', { access: 'read', repeat: 'once' }, 'tool.bad-access'],
    ['no execute', { execute: undefined }, 'tool.bad-definition'],
    ['an effectKey that is text', { effectKey: 'mail' }, 'tool.bad-definition'],
    ['a limit that is no number', { limits: { timeoutMs: '5s' } }, 'tool.bad-definition'],
    ['a limit of zero', { limits: { timeoutMs: 0 } }, 'tool.bad-definition'],
    ['an endless limit', { limits: { timeoutMs: Number.POSITIVE_INFINITY } }, 'tool.bad-definition'],
    ['an output limit without room', { limits: { outputBytesMax: 100 } }, 'tool.bad-definition'],
    ['an unknown limit', { limits: { timeout: 5 } }, 'tool.bad-definition'],
    ['limits that are a list', { limits: [] }, 'tool.bad-definition'],
    ['an unknown field', { timeoutMs: 5 }, 'tool.bad-definition'],
  ])('with %s is refused', (_, over, code) => {
    let thrown: unknown;
    try {
      defineLoosely(over);
    } catch (caught) {
      thrown = caught;
    }
    expect(thrown).toBeInstanceOf(ToolError);
    expect(thrown).toMatchObject({ code, kind: 'input', next: expect.stringMatching(/\.$/) });
  });
});

describe('what execute returns', () => {
  const run = (execute: () => unknown, access: 'read' | 'write' = 'read') =>
    defineTool(
      access === 'read'
        ? { ...base, access, repeat: 'safe', execute }
        : { ...base, access, repeat: 'once', execute },
    ).execute({}, context);

  test.each([
    ['a value', () => ({ a: [1, 2n, 'x', null] }), { a: [1, 2n, 'x', null] }],
    ['a promise', async () => 'later', 'later'],
    ['nothing', () => undefined, null],
    ['a field left out', () => ({ a: undefined, b: [undefined] }), { b: [null] }],
    ['a date', () => ({ at: new Date(0) }), { at: '1970-01-01T00:00:00.000Z' }],
    ['what looks like an ending', () => ({ status: 'failed', code: 'x' }), { status: 'failed', code: 'x' }],
  ])('%s succeeds', async (_, execute, value) => {
    expect(await run(execute)).toEqual({ status: 'succeeded', value });
  });

  test('failed and notDispatched are endings', async () => {
    expect(await run(() => failed('no-such-city', 'There is no Atlantis.'))).toEqual({
      status: 'failed',
      code: 'no-such-city',
      message: 'There is no Atlantis.',
    });
    expect(await run(() => notDispatched('unavailable', 'No connection yet.'), 'write')).toEqual({
      status: 'not-dispatched',
      nonDispatch: { proof: 'not-dispatched', reason: 'unavailable', message: 'No connection yet.' },
    });
  });

  test('an ending holds text, whatever it was given', async () => {
    const loose = (value: unknown) => value as never;
    expect(await run(() => failed(loose(1n), loose(new Error('no paper'))))).toEqual({
      status: 'failed',
      code: '1',
      message: 'no paper',
    });
    expect(await run(() => notDispatched('unavailable', loose(Object.create(null))), 'write')).toEqual({
      status: 'not-dispatched',
      nonDispatch: {
        proof: 'not-dispatched',
        reason: 'unavailable',
        message: 'A value without a text was thrown.',
      },
    });
  });

  test('a thrown error is left to the runtime, which knows what it means', async () => {
    await expect(
      run(() => {
        throw new Error('down');
      }),
    ).rejects.toThrow('down');
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  test.each([
    ['a function', { f: () => 1 }, '/f is a function'],
    ['NaN', { x: [Number.NaN] }, '/x/0 is NaN'],
    ['a Map', new Map(), 'the value is a Map'],
    ['bytes', { b: Buffer.from('x').subarray(0).buffer }, '/b is a ArrayBuffer'],
    [
      'a getter that throws',
      {
        get x() {
          return fail();
        },
      },
      'reading it threw: not now',
    ],
    ['what cannot be looked at', guarded(), 'reading it threw'],
    ['a cycle', cycle, 'nested deeper than 200 levels'],
  ])('%s fails a read', async (_, value, problem) => {
    expect(await run(() => value)).toEqual({
      status: 'failed',
      code: 'tool.result-not-json',
      message: expect.stringContaining(problem),
    });
  });

  test('what has no JSON form does not make a write look as if it had not acted', async () => {
    expect(await run(() => () => 1, 'write')).toEqual({
      status: 'succeeded',
      value:
        'The call was carried out, but send_mail returned a result that has no JSON form: the value is a function. Do not repeat it.',
    });
  });
});
