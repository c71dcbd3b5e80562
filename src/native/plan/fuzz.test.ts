/** Plans as broken as a model can write them: reading ends in a plan or in a fault of the runtime's own words, and never throws. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { final, model, parallel, ref, tool } from '../../../test/plan.cases.ts';
import { faultText, planFaults } from './fault.ts';
import { parsePlan } from './read-plan.ts';

const runs = { numRuns: Number(process.env.WRIT_FUZZ_RUNS ?? 300) };

const whole = JSON.stringify({
  steps: [
    tool('look', 'x', { n: 1 }),
    parallel(
      'p',
      [model(ref('x'), 'y'), final(1)],
      [{ op: 'checkpoint', label: 'c' }, final('a "b" {c} \\ é')],
    ),
    { op: 'retry', attempts: 2, plan: { steps: [final(ref('x'))] }, bind: 'z' },
    { op: 'context', action: { type: 'search', pattern: 'p', regex: false }, bind: 'w' },
    final(ref('z')),
  ],
});

/** A valid plan with a few of its places cut out, doubled or replaced by what JSON gives a meaning. */
const mangled = fc
  .array(
    fc.record({
      at: fc.nat(whole.length),
      cut: fc.nat(12),
      put: fc.oneof(
        fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '\\u0000', '\\ud800', '1e999', '-', 'null'),
        fc.constantFrom('"__proto__":{"op":"final"},', '"op":"final",', '\u2028', '\uFEFF', '```', '\u0000'),
        fc.string({ unit: 'binary', maxLength: 6 }),
      ),
    }),
    { maxLength: 5 },
  )
  .map((edits) =>
    edits.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), whole),
  );

test('the plan that is mangled is a valid one', () => {
  expect(parsePlan(whole)).toMatchObject({ ok: true });
});

test('a mangled plan, and any text at all, is a plan or a fault', () => {
  fc.assert(
    fc.property(fc.oneof(mangled, fc.json(), fc.string({ unit: 'binary' })), (text) => {
      const parsed = parsePlan(text);
      if (parsed.ok) return;
      const told = faultText(parsed.fault);
      expect(Object.keys(planFaults).some((fault) => told.startsWith(fault))).toBe(true);
      expect(told.length).toBeLessThanOrEqual(1024);
      expect(parsePlan(text)).toEqual(parsed);
    }),
    runs,
  );
});

test('any closed value as a plan is a plan or a fault', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const parsed = parsePlan(JSON.stringify({ steps: [{ op: 'final', value }] }));
      if (parsed.ok) expect(parsed.plan.steps).toHaveLength(1);
      else expect(faultText(parsed.fault).length).toBeLessThanOrEqual(1024);
    }),
    runs,
  );
});
