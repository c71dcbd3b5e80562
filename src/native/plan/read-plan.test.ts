/** The form of plans: what is read, exactly, and that reader and published schema say the same of every text. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { final, model, parallel, ref, tool } from '../../../test/plan.cases.ts';
import { faultText, planFaults } from './fault.ts';
import { parsePlan } from './read-plan.ts';
import { planJsonSchema } from './schema.ts';
import { planTask } from './session-plans.ts';

const faultOf = (given: string) => {
  const parsed = parsePlan(given);
  return parsed.ok ? 'ok' : parsed.fault.fault;
};
const steps = (...all: unknown[]) => JSON.stringify({ steps: all });

describe('a text', () => {
  test('is read whole, in a fence, or between sentences; its strings stay as they are', () => {
    const text = steps(final('a  }"{ \n b'));
    const plan = {
      ok: true,
      plan: { steps: [{ op: 'final', value: { kind: 'literal', value: 'a  }"{ \n b' } }] },
    };
    for (const given of [
      text,
      `\`\`\`json\n${text}\n\`\`\``,
      `I plan: ${text} and that is "it".`,
      `${text} }`,
    ])
      expect(parsePlan(given)).toEqual(plan);
  });

  test.each([
    ['', 'not_one_object'],
    ['no plan', 'not_one_object'],
    ['[]', 'not_one_object'],
    ['{"steps":', 'invalid_json_text'],
    [`${steps(final(1))} or ${steps(final(2))}`, 'not_one_object'],
    ['{"steps":[],"steps":[]}', 'duplicate_key'],
    ['{"__proto__":{}}', 'duplicate_key'],
    [`{"steps":${'['.repeat(70)}${']'.repeat(70)}}`, 'nested_too_deep'],
    [`{"steps":[{"op":"final","value":1e999}]}`, 'invalid_json_text'],
    [steps(final({ deep: ['a\uD800'] })), 'half_character'],
    [steps(final({ '\uDC00': 1 })), 'half_character'],
    [steps(final({ ref: 'literal', value: { ref: '\uD800' } })), 'half_character'],
    [steps(final({ ref: 'field', value: ref('x'), key: '\uD800' })), 'half_character'],
    [steps(tool('\uD800', 'x')), 'half_character'],
    [steps(model('a', 'x', { options: { stop: ['\uD800'] } })), 'half_character'],
    [' '.repeat(1_000_001), 'text_too_long'],
    ['{"steps":[]}', 'empty_plan'],
    ['{"steps":[],"more":1}', 'unexpected_field'],
    ['{}', 'missing_field'],
    [steps({ op: 'eval', code: 'x' }), 'unknown_or_malformed_step'],
    [steps({ op: 'toString' }), 'unknown_or_malformed_step'],
    [steps(final({ ref: 'var' })), 'invalid_reference'],
    [steps(final({ ref: 'code', name: 'x' })), 'invalid_reference'],
    [steps(tool('look', '1x')), 'invalid_field'],
    [steps({ ...tool('look', 'x'), args: [1] }), 'invalid_field'],
    [steps(model('', 'x')), 'invalid_field'],
    [steps(model('a', 'x', { options: { stream: false } })), 'reserved_request_option'],
    [steps(model('a', 'x', { options: { top_k: 1 } })), 'unknown_request_option'],
    [steps(model('a', 'x', { options: { temperature: 3 } })), 'invalid_field'],
    [steps({ op: 'retry', attempts: 17, plan: { steps: [final(1)] }, bind: 'x' }), 'invalid_field'],
    [steps({ op: 'context', action: { type: 'map', how: 'eval' }, bind: 'x' }), 'invalid_field'],
    [steps({ op: 'context', action: { type: 'search', pattern: '' }, bind: 'x' }), 'invalid_field'],
    [steps({ op: 'context', action: { type: 'slice', start: -1, length: 1 }, bind: 'x' }), 'invalid_field'],
  ])('%j: %s', (given, fault) => {
    expect(faultOf(given)).toBe(fault);
  });

  test('is never repeated in a fault, which has at most 1,024 characters', () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ minLength: 12 }), (json, secret) => {
        const parsed = parsePlan(`{"steps":[{"op":"${secret.replaceAll(/["\\]/g, '')}","x":${json}}]}`);
        if (parsed.ok) return;
        const told = faultText(parsed.fault);
        expect(told.length).toBeLessThanOrEqual(1024);
        expect(Object.keys(planFaults).some((fault) => told.startsWith(fault))).toBe(true);
        expect(told).not.toContain(secret);
      }),
    );
  });

  test('with half a character says in which step, however deep', () => {
    const broken = { op: 'recurse', plan: { steps: [final('a\uD83Db')] }, bind: 'a' };
    expect(parsePlan(steps(tool('look', 'x'), parallel('p', [final(1)], [broken, final(1)])))).toEqual({
      ok: false,
      fault: { fault: 'half_character', path: '1/b1/0/r/0' },
    });
  });

  test('of a thousand opened braces is read in time', () => {
    const started = performance.now();
    faultOf('{'.repeat(900_000));
    faultOf('{"a":'.repeat(180_000));
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

test('a value that a program gives is closed like a text', () => {
  const cycle: { steps: unknown[] } = { steps: [] };
  cycle.steps.push(cycle);
  expect(parsePlan(cycle as never)).toMatchObject({ ok: false, fault: { fault: 'invalid_json_text' } });
  expect(parsePlan({ steps: [{ op: 'final', value: 1n }] } as never)).toMatchObject({ ok: true });
  expect(JSON.parse(planTask('{}', { a: 'b' }))).toEqual({ plan: '{}', inputs: { a: 'b' } });
});

describe('the schema', () => {
  const validate = new Ajv2020({ strict: false }).compile(planJsonSchema());
  const names = fc.constantFrom('a', 'b1', 'c_d', '', '1x', 'x'.repeat(65));
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.record({ ref: fc.constantFrom('input', 'var'), name: names }),
      fc.record({
        ref: fc.constant('field'),
        value: tie('value'),
        key: fc.oneof(names, fc.integer({ min: -1, max: 3 })),
      }),
      fc.record({ ref: fc.constant('literal'), value: fc.jsonValue({ maxDepth: 2 }) }),
      fc.array(tie('value'), { maxLength: 2 }),
    ),
  })).value;
  const action = fc.oneof(
    fc.record(
      { type: fc.constant('search'), pattern: value, regex: fc.boolean() },
      { requiredKeys: ['type'] },
    ),
    fc.record({
      type: fc.constant('slice'),
      start: fc.integer({ min: -1, max: 2 }),
      length: fc.integer({ min: 0, max: 2 }),
    }),
    fc.record({
      type: fc.constant('peek'),
      selector: fc.record(
        { type: fc.constantFrom('metadata', 'head', 'item'), count: fc.nat(2), index: fc.nat(2) },
        { requiredKeys: ['type'] },
      ),
    }),
    fc.record({
      type: fc.constant('partition'),
      how: fc.record({ type: fc.constantFrom('fixed', 'lines', 'words'), size: fc.nat(2) }),
    }),
    fc.record({ type: fc.constantFrom('map', 'reduce'), how: fc.constantFrom('count', 'lowercase', 'eval') }),
  );
  const step = fc.letrec((tie) => ({
    step: fc.oneof(
      { maxDepth: 3 },
      fc.record({ op: fc.constant('final'), value }, { requiredKeys: ['op'] }),
      fc.record(
        { op: fc.constant('tool'), name: names, args: value, bind: names },
        { requiredKeys: ['op', 'bind'] },
      ),
      fc.record(
        {
          op: fc.constant('model'),
          provider: names,
          prompt: value,
          options: fc.record(
            {
              temperature: fc.integer({ min: -1, max: 3 }),
              seed: fc.nat(),
              stop: fc.array(fc.constantFrom('', 'x'), { maxLength: 5 }),
              model: fc.constant('x'),
            },
            { requiredKeys: [] },
          ),
          bind: names,
        },
        { requiredKeys: ['op', 'prompt', 'bind'] },
      ),
      fc.record(
        { op: fc.constant('context'), handle: value, action, bind: names },
        { requiredKeys: ['op', 'action', 'bind'] },
      ),
      fc.record({ op: fc.constant('recurse'), plan: tie('plan'), bind: names }),
      fc.record({ op: fc.constant('parallel'), plans: fc.array(tie('plan'), { maxLength: 2 }), bind: names }),
      fc.record({ op: fc.constant('retry'), attempts: fc.nat(17), plan: tie('plan'), bind: names }),
      fc.record(
        { op: fc.constant('checkpoint'), label: names, more: fc.constant(1) },
        { requiredKeys: ['op', 'label'] },
      ),
    ),
    plan: fc.record({ steps: fc.array(tie('step'), { maxLength: 2 }) }),
  })).step;

  test('says of a plan what the reader says', () => {
    let valid = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 3 }), (all) => {
        const text = JSON.stringify({ steps: all });
        const parsed = parsePlan(text);
        // Depth and keys are for the reader alone: a schema has no words for them.
        if (!parsed.ok && ['nested_too_deep', 'duplicate_key'].includes(parsed.fault.fault)) return;
        if (parsed.ok) valid += 1;
        expect([text, validate(JSON.parse(text))]).toEqual([text, parsed.ok]);
      }),
      { numRuns: 1500 },
    );
    expect(valid).toBeGreaterThan(30);
  });

  test.each([
    [{ op: 'tool', name: 'a', args: { ref: 'literal', value: [] }, bind: 'b' }, false],
    [{ op: 'tool', name: 'a', args: [ref('x')], bind: 'b' }, false],
    [{ op: 'tool', name: 'a', args: { ref: 'literal', value: {} }, bind: 'b' }, true],
    [model({ ref: 'literal', value: ' ' }, 'b'), false],
    [{ op: 'context', action: { type: 'search', pattern: { a: 1 } }, bind: 'b' }, false],
    [{ op: 'context', action: { type: 'search', pattern: { ref: 'literal', value: 1 } }, bind: 'b' }, false],
    [{ op: 'context', action: { type: 'search', pattern: ref('x') }, bind: 'b' }, true],
  ])('and reader: %j is %s', (one, ok) => {
    expect([validate({ steps: [one] }), parsePlan(steps(one)).ok]).toEqual([ok, ok]);
  });

  test('that is published is this one', () => {
    expect(JSON.parse(readFileSync('schema/plan.schema.json', 'utf8'))).toEqual(planJsonSchema());
  });

  test('takes the forms that are in the pages', () => {
    const all = steps(parallel('x', [tool('look', 'y'), final(ref('y'))]), final(ref('x')));
    expect(validate(JSON.parse(all))).toBe(true);
  });
});
