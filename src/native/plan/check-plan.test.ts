/** What must hold of a whole plan: names, rights, the worst case, and what is really here. */
import { describe, expect, test } from 'vitest';
import { field, final, model, parallel, plan, ref, rights, tool } from '../../../test/plan.cases.ts';
import { checkPlan, type PlanCheck, planFingerprint } from './check-plan.ts';
import { estimatePlan } from './estimate-plan.ts';
import { defaultPlanLimits, planLimits } from './limits.ts';
import { parsePlan } from './read-plan.ts';

function read(text: string) {
  const parsed = parsePlan(text);
  if (!parsed.ok) throw new Error(parsed.fault.fault);
  return parsed.plan;
}
const usual: PlanCheck = { capabilities: rights, limits: defaultPlanLimits, inputs: ['query'] };
function check(text: string, more: Partial<PlanCheck> = {}) {
  const checked = checkPlan(read(text), { ...usual, ...more });
  return checked.ok ? 'ok' : (checked.fault?.fault ?? checked.error.code);
}
const retry = (attempts: number, ...steps: unknown[]) => ({
  op: 'retry',
  attempts,
  plan: { steps },
  bind: 'r',
});
const recurse = (bind: string, ...steps: unknown[]) => ({ op: 'recurse', plan: { steps }, bind });

describe('names', () => {
  test.each([
    ['a final that is not last', plan(final(1), final(2)), 'final_must_be_unique_and_last'],
    ['no final', plan(tool('look', 'x')), 'final_must_be_unique_and_last'],
    [
      'no final in a branch',
      plan(parallel('p', [tool('look', 'x')]), final(1)),
      'final_must_be_unique_and_last',
    ],
    ['a name bound twice', plan(tool('look', 'x'), tool('look', 'x'), final(1)), 'duplicate_binding'],
    [
      'a name bound again inside',
      plan(tool('look', 'x'), recurse('y', tool('look', 'x'), final(1)), final(1)),
      'duplicate_binding',
    ],
    [
      'a name before it is bound',
      plan(tool('look', 'x', { n: ref('y') }), tool('look', 'y'), final(1)),
      'unbound_variable',
    ],
    [
      'a name that stays in its branch',
      plan(parallel('p', [tool('look', 'x'), final(1)]), final(ref('x'))),
      'unbound_variable',
    ],
    [
      'the same name in two branches',
      plan(parallel('p', [tool('look', 'x'), final(1)], [tool('look', 'x'), final(2)]), final(1)),
      'ok',
    ],
    ['a name from around', plan(tool('look', 'x'), recurse('y', final(ref('x'))), final(ref('y'))), 'ok'],
    ['an input that is not given', plan(final({ ref: 'input', name: 'other' })), 'unknown_input'],
    ['an input that is', plan(final([{ ref: 'input', name: 'query' }])), 'ok'],
    ['one hop into a tool', plan(tool('look', 'x'), final(field('x', 'rows'))), 'tool_result_envelope_field'],
    [
      'one hop into a tool, within a recursion',
      plan(tool('look', 'x'), recurse('y', final(field('x', 'rows'))), final(1)),
      'tool_result_envelope_field',
    ],
    [
      'one hop into a model',
      plan(model('Hi.', 'x'), final(field('x', 'content'))),
      'tool_result_envelope_field',
    ],
    [
      'two hops into a tool',
      plan(tool('look', 'x'), final({ ref: 'field', value: field('x', 'value'), key: 'rows' })),
      'ok',
    ],
    ['a field of a recursion', plan(recurse('x', final({ rows: 1 })), final(field('x', 'rows'))), 'ok'],
    [
      'the same recursion twice',
      plan(recurse('x', final(1)), recurse('y', final(1)), final(1)),
      'duplicate_recursive_call',
    ],
    [
      'a recursion in a retry',
      plan(retry(2, recurse('x', final(1)), final(1)), final(1)),
      'repeated_recursive_retry',
    ],
    ['a recursion in one try', plan(retry(1, recurse('x', final(1)), final(1)), final(1)), 'ok'],
  ])('%s: %3$s', (_, text, found) => {
    expect(check(text)).toBe(found);
  });
});

describe('rights', () => {
  const forms = plan(
    { op: 'context', action: { type: 'reduce', how: 'count' }, bind: 'a' },
    model('Hi.', 'b'),
    recurse('c', final(1)),
    parallel('d', [final(1)]),
    retry(1, final(1)),
    { op: 'checkpoint', label: 'e' },
    final(1),
  );
  test.each([
    'plan',
    'context',
    'plan.model',
    'plan.recurse',
    'plan.parallel',
    'plan.retry',
    'plan.checkpoint',
  ])('without %s the plan is refused', (name) => {
    expect(check(forms)).toBe('ok');
    expect(check(forms, { capabilities: rights.filter((held) => held !== name) })).toBe(
      'plan.capability-missing',
    );
  });

  test('that are missing are named all at once, each with the first step that needs it', () => {
    const deep = plan(parallel('p', [model('Hi.', 'x'), final(1)], [model('Ho.', 'y'), final(1)]), final(1));
    expect(checkPlan(read(deep), { ...usual, capabilities: ['plan'] })).toMatchObject({
      error: {
        code: 'plan.capability-missing',
        message:
          "The plan needs the capabilities 'plan.parallel' (step 0), 'plan.model' (step 0/b0/0), which are not held.",
        next: 'Add to those under capabilities in agent.yaml: plan.parallel: true, plan.model: true; or plan without them.',
        details: {
          missing: [
            { name: 'plan.parallel', path: '0' },
            { name: 'plan.model', path: '0/b0/0' },
          ],
        },
      },
    });
    expect(checkPlan(read(plan(final(1))), { ...usual, capabilities: [] })).toMatchObject({
      error: { message: "The plan needs the capability 'plan', which is not held." },
    });
  });

  test('of children are never more than the own', () => {
    const text = plan(recurse('x', model('Hi.', 'y'), final(1)), final(1));
    expect(check(text, { childCapabilities: ['plan.model'] })).toBe('ok');
    expect(check(text, { childCapabilities: [] })).toBe('plan.capability-missing');
    const without = rights.filter((name) => name !== 'plan.model');
    expect(check(text, { capabilities: without, childCapabilities: ['plan.model'] })).toBe(
      'plan.capability-missing',
    );
  });
});

describe('the worst case', () => {
  test('multiplies tries, adds branches, and takes the deepest', () => {
    const text = plan(
      retry(
        3,
        tool('look', 'x'),
        parallel('p', [model('a', 'm'), final(1)], [tool('peek', 't'), final(1)]),
        final(1),
      ),
      final(1),
    );
    const estimate = { steps: 23, depth: 3, concurrency: 2, modelCalls: 3, toolCalls: 3, contextOps: 3 };
    expect(estimatePlan(read(text), (name) => name === 'peek')).toEqual(estimate);
  });

  test.each([
    ['steps', { steps: 7 }, plan(retry(3, final(1)), final(1)).replace('"attempts":3', '"attempts":7')],
    ['depth', { depth: 2 }, plan(recurse('x', recurse('y', final(1)), final(1)), final(1))],
    ['concurrency', { concurrency: 1 }, plan(parallel('x', [final(1)], [final(1)]), final(1))],
    ['modelCalls', { modelCalls: 0 }, plan(model('Hi.', 'x'), final(1))],
    ['toolCalls', { toolCalls: 1 }, plan(tool('look', 'x'), tool('look', 'y'), final(1))],
  ] as const)('beyond the limit of %s is refused', (budget, limits, text) => {
    expect(check(text)).toBe('ok');
    const checked = checkPlan(read(text), { ...usual, limits: planLimits(limits) });
    expect(checked).toMatchObject({
      ok: false,
      fault: null,
      error: { code: 'plan.over-budget', details: { budget } },
    });
  });

  test('beyond what the run has left is refused', () => {
    const text = plan(tool('look', 'x'), final(1));
    expect(check(text, { left: () => 2 })).toBe('ok');
    expect(check(text, { left: (counter) => (counter === 'toolCalls' ? 0 : null) })).toBe('plan.over-budget');
  });

  test('a limit that is none is refused by name', () => {
    expect(() => planLimits({ step: 1 } as object)).toThrow("'step' is no limit of plans.");
    expect(() => planLimits({ steps: 0 })).toThrow(
      'The limit steps expected a whole number of at least 1, found 0.',
    );
    expect(planLimits({ modelCalls: 0 }).modelCalls).toBe(0);
  });
});

test('a fingerprint is the same whatever the order of keys, and another for another plan', () => {
  const [one, two, other] = [
    '{"a":1,"b":9007199254740993}',
    '{"b":9007199254740993,"a":1}',
    '{"b":9007199254740992,"a":1}',
  ].map((value) => planFingerprint(read(`{"steps":[{"op":"final","value":${value}}]}`)));
  expect(one).toBe(two);
  expect(one).not.toBe(other);
});
