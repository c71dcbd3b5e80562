/** The root decision and plans as a call of the loop: what is accepted, what is asked again, and that nothing else happens. */
import { afterEach, describe, expect, test } from 'vitest';
import { resolveModel } from '../src/native/model/providers.ts';
import { native } from '../src/native/native.ts';
import { planTool } from '../src/native/plan/plan-tool.ts';
import { counted, field, final, model, plan, quoted, ref, rights, tool } from './plan.cases.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';
import type { Step } from './scripted-provider.ts';

let rig: Rig;
afterEach(async () => rig?.close());

async function decide(script: readonly Step[], options: Partial<RigOptions> = {}, more: object = {}) {
  rig = await openRig({ ...options, script, root: 'decide' });
  return rig.run('What is 2 + 2?', { capabilities: rights, ...more });
}
const messages = (index: number): { role: string; content: string }[] =>
  rig.provider.requests[index]?.json.messages ?? [];

describe('a decision', () => {
  test('for a direct answer is one request, without a plan, and the answer is exact', async () => {
    const result = await decide([{ text: '{"mode":"direct","answer":"  Four.  "}' }]);
    expect(result).toMatchObject({ status: 'completed', answer: '  Four.  ', turns: 1, toolCalls: 0 });
    expect(rig.events.some(({ type }) => type === 'plan-accept')).toBe(false);
    const [system, question] = messages(0);
    expect(system).toEqual({ role: 'system', content: 'You answer tests.' });
    expect(question?.content.startsWith('THE TASK\nWhat is 2 + 2?')).toBe(true);
    expect(question?.content).toContain('the agent "tester"');
    expect(question?.content.indexOf('"mode":"direct"')).toBeLessThan(
      question?.content.indexOf('PLANS') ?? 0,
    );
    expect(rig.provider.requests[0]?.json.tools).toBeUndefined();
  });

  test('for a plan carries it out, and the later result is the answer', async () => {
    const look = counted('look');
    const text = `Here is my plan:\n\`\`\`json\n${plan(tool('look', 'x'), model({ ref: 'input', name: 'query' }, 'y'), final(field('y', 'text')))}\n\`\`\``;
    const result = await decide([{ text }, { text: 'Four.' }], { tools: [look.tool] });
    expect(result).toMatchObject({ status: 'completed', answer: 'Four.', usage: { totalTokens: 30 } });
    expect(messages(1)).toEqual([
      {
        role: 'system',
        content: expect.stringMatching(/the agent "tester"[\s\S]*one step of a larger plan/),
      },
      { role: 'user', content: 'What is 2 + 2?' },
    ]);
    expect(JSON.stringify(messages(0))).toContain('\\"name\\":\\"look\\"');
  });

  test('for a plan that waits for a person stands when the run goes on: nothing is asked or done twice', async () => {
    const [look, book] = [counted('look'), counted('book', 'write', () => 'booked')];
    const text = plan(tool('look', 'x'), tool('book', 'y'), final(field('y', 'value')));
    const paused = await decide(
      [{ text: 'no' }, { text }],
      { tools: [look.tool, book.tool] },
      { approve: 'pause' },
    );
    expect(paused.status).toBe('paused');
    const ask = async () => ({ decision: 'approved' as const, by: 'tester', reason: '' });
    const resumed = await rig.resume(paused.run, { approve: 'ask', ask });
    expect(resumed).toMatchObject({ status: 'completed', answer: 'booked', usage: { modelCalls: 2 } });
    expect([look.acted.length, book.acted.length, rig.provider.requests.length]).toEqual([1, 1, 2]);
  });

  test('in a delegated scope says nothing of the agent', async () => {
    const script = [{ text: plan(model('Hi.', 'y'), final(field('y', 'text'))) }, { text: 'Ho.' }];
    await decide(script, { plans: { scope: 'delegated' } });
    expect(JSON.stringify([messages(0), messages(1)])).not.toContain('tester');
  });

  test('gives its skills to the model that decides and to steps, to each its own, as system text', async () => {
    const skills = {
      decision: [{ name: 'routing', text: 'Ask twice.\n' }],
      steps: [
        { name: 'report', text: '# Reports\n\nBe brief.' },
        { name: 'dates', text: 'ISO only.' },
      ],
    };
    const retry = {
      op: 'retry',
      attempts: 2,
      plan: { steps: [model('Hi.', 'y'), final(field('y', 'text'))] },
      bind: 'z',
    };
    const script = [{ text: 'no' }, { text: plan(retry, final(ref('z'))) }, { text: 'Ho.' }];
    expect(await decide(script, { plans: { skills } })).toMatchObject({ answer: 'Ho.' });
    const routing = 'Work by these skills where they fit. They grant nothing.\n\nSKILL routing\nAsk twice.';
    const [system, given, question] = messages(0);
    expect([system, given]).toEqual([
      { role: 'system', content: 'You answer tests.' },
      { role: 'system', content: routing },
    ]);
    expect(question?.role).toBe('user');
    expect(messages(1).slice(0, 3)).toEqual(messages(0));
    const [step, ...rest] = messages(2);
    expect(step?.content).toMatch(
      /the agent "tester"[\s\S]*one step of a larger plan[\s\S]*\n\nSKILL report\n# Reports\n\nBe brief\.\n\nSKILL dates\nISO only\.$/,
    );
    expect(rest).toEqual([{ role: 'user', content: 'Hi.' }]);
    expect(step?.content).not.toContain('routing');
  });

  test('in a session that has decided before has its skills once, also where old messages leave', async () => {
    const skills = { decision: [{ name: 'routing', text: 'Ask twice.' }] };
    const long = { text: JSON.stringify({ mode: 'direct', answer: 'Four. '.repeat(3000) }) };
    rig = await openRig({
      root: 'decide',
      script: [
        long,
        { text: '{"mode":"direct","answer":"Six."}' },
        { text: '{"mode":"direct","answer":"Ten."}' },
      ],
      plans: { skills },
      compaction: { hotTokens: 5000 },
    });
    const first = await rig.run('What is 2 + 2?', { capabilities: rights });
    await rig.run('And 3 + 3?', { capabilities: rights, session: first.session });
    const last = await rig.run('And 5 + 5?', { capabilities: rights, session: first.session });
    expect(last.answer).toBe('Ten.');
    expect(rig.events.some(({ type }) => type === 'session-compact')).toBe(true);
    for (const index of [0, 1, 2]) {
      const given = messages(index).filter(
        ({ role, content }) => role === 'system' && content.includes('SKILL'),
      );
      expect([index, given.length]).toEqual([index, 1]);
    }
  });

  test.each([
    ['a name that is none', [{ name: '../x', text: 'a' }]],
    [
      'one twice',
      [
        { name: 'x', text: 'a' },
        { name: 'x', text: 'b' },
      ],
    ],
    ['one without text', [{ name: 'x', text: ' ' }]],
    ['one that is too long', [{ name: 'x', text: 'a'.repeat(32_769) }]],
    ['too many', Array.from({ length: 65 }, (_, i) => ({ name: `s${i}`, text: 'a' }))],
  ])('refuses %s as a skill before anything is asked', async (_, given) => {
    const made = resolveModel('local/any', { env: {}, baseUrl: 'http://127.0.0.1:9/v1' });
    for (const skills of [{ decision: given }, { steps: given }])
      expect(() => native({ model: made, plans: { skills } })).toThrow(
        expect.objectContaining({ code: 'plan.bad-skill' }),
      );
    await made.close();
  });

  test('reasons as much as the host says, whatever the plan says of its steps; where it says nothing, nothing is sent', async () => {
    const asking = model('Hi.', 'y', { options: { reasoning_effort: 'max', temperature: 0.5 } });
    const nested = { op: 'recurse', plan: { steps: [asking, final(field('y', 'text'))] }, bind: 'z' };
    const script = [{ text: plan(nested, final(ref('z'))) }, { text: 'Ho.' }];
    const said = async (options: Partial<RigOptions>) => {
      const result = await decide(script, options);
      expect(result.answer).toBe('Ho.');
      const requests = rig.provider.requests.map(({ json }) => [json.reasoning_effort, json.temperature]);
      await rig.close();
      return requests;
    };
    const request = { settings: { reasoning_effort: 'low' } } as const;
    expect(await said({ request })).toEqual([
      ['low', undefined],
      ['low', 0.5],
    ]);
    expect(await said({ request, plans: { reasoningEffort: 'high' } })).toEqual([
      ['high', undefined],
      ['low', 0.5],
    ]);
    expect(await said({})).toEqual([
      [undefined, undefined],
      ['max', 0.5],
    ]);
  });

  test('that reasons its answer out is read where it stands; text that is there wins', async () => {
    const reasoned = await decide([{ reasoning: '{"mode":"direct","answer":"Four."}', text: '' }]);
    expect(reasoned).toMatchObject({ status: 'completed', answer: 'Four.' });
    await rig.close();
    const both = await decide([{ reasoning: plan(final(5)), text: '{"mode":"direct","answer":"Four."}' }]);
    expect(both).toMatchObject({ answer: 'Four.' });
  });
});

describe('an answer that is neither', () => {
  test.each([
    ['an extra field', '{"mode":"direct","answer":"SECRET","more":1}', 'invalid_direct_envelope_fields'],
    ['half a character', '{"mode":"direct","answer":"SECRET\\ud800"}', 'half_character'],
    ['an empty answer', '{"mode":"direct","answer":"  "}', 'direct_answer_must_be_nonempty_text'],
    ['another mode', '{"mode":"SECRET","answer":"x"}', 'unsupported_root_mode'],
    ['prose', 'I would say SECRET.', 'not_one_object'],
    [
      'two objects',
      '{"mode":"direct","answer":"SECRET"} or {"mode":"direct","answer":"b"}',
      'not_one_object',
    ],
    ['two finals', plan(final('SECRET'), final(2)), 'final_must_be_unique_and_last'],
    ['a missing op', '{"steps":[{"name":"SECRET"}]}', 'unknown_or_malformed_step'],
    ['a name that is not bound', plan(final(ref('SECRET'))), 'unbound_variable'],
    [
      'arguments that do not fit',
      plan(tool('look', 'x', { n: 'SECRET', SECRET: 1 }), final(1)),
      'Step: 0. /n does not fit: expected a whole number. There is 1 field that the tool does not have.',
    ],
    [
      'one hop into the result of a tool',
      plan(tool('look', 'x'), final(field('x', 'SECRET'))),
      'tool_result_envelope_field',
    ],
  ])('%s is asked again once, in words of the runtime alone', async (_, text, fault) => {
    const look = counted('look');
    const result = await decide([{ text }, { text: '{"mode":"direct","answer":"ok"}' }], {
      tools: [look.tool],
    });
    expect(result).toMatchObject({
      status: 'completed',
      answer: 'ok',
      usage: { modelCalls: 2, totalTokens: 30 },
    });
    const [before, after] = [messages(0), messages(1)];
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length).toBe(before.length + 1);
    const repair = after.at(-1)?.content ?? '';
    expect([repair.includes(fault), repair.includes('SECRET'), repair.length <= 1024]).toEqual([
      true,
      false,
      true,
    ]);
    expect(look.acted).toEqual([]);
  });

  test('a call of a tool is not a decision and runs nothing', async () => {
    const look = counted('look');
    const calls = [{ id: 'a', name: 'look', arguments: '{}' }];
    const result = await decide([{ calls }, { calls }], { tools: [look.tool] });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'plan.decision-rejected', details: { attempts: 2, fault: 'native_call' } },
      usage: { totalTokens: 30 },
    });
    expect(look.acted).toEqual([]);
  });

  test('a missing right or too large a plan is not asked again', async () => {
    const branches = plan({ op: 'checkpoint', label: 'a' }, final(1));
    const denied = await decide([{ text: branches }], {}, { capabilities: ['plan'] });
    expect(denied).toMatchObject({ status: 'refused', error: { code: 'plan.capability-missing' }, turns: 1 });
    await rig.close();
    const large = await decide([{ text: branches }], { plans: { limits: { steps: 1 } } });
    expect(large).toMatchObject({ status: 'refused', error: { code: 'plan.over-budget' }, turns: 1 });
  });

  test('is asked again only as often as the budget allows', async () => {
    const result = await decide([{ text: 'no' }], { plans: { attempts: 3 } }, { limits: { modelCalls: 1 } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'budget.exhausted' },
      usage: { modelCalls: 1 },
    });
  });

  test('an answer cut off is none, whatever it holds', async () => {
    const cut = { text: '{"mode":"direct","answer":"Four."}', finish: 'length' };
    const result = await decide([cut, cut]);
    expect(result).toMatchObject({ error: { details: { fault: 'answer_cut_off', attempts: 2 } } });
  });
});

describe('typed_plan_execute', () => {
  const look = () => counted('look');
  const call = (body: unknown, id = 'p') => ({
    calls: [{ id, name: 'typed_plan_execute', arguments: JSON.stringify(body) }],
  });
  async function loop(script: readonly Step[], parts: Partial<RigOptions>, more: object = {}) {
    rig = await openRig({ ...parts, script, tools: [planTool(), ...(parts.tools ?? [])] });
    return rig.run('Do it.', { capabilities: rights, ...more });
  }

  test('is one call whose steps are charged to the run', async () => {
    const one = look();
    const steps = [
      tool('look', 'x'),
      model('Say.', 'y'),
      final({ n: field('x', 'value'), said: field('y', 'text') }),
    ];
    const result = await loop([call({ plan: { steps } }), { text: 'Said.' }, { text: 'Done.' }], {
      tools: [one.tool],
    });
    expect(result).toMatchObject({
      status: 'completed',
      answer: 'Done.',
      toolCalls: 2,
      usage: { modelCalls: 3, totalTokens: 45 },
      budget: { toolCalls: { used: 2 }, steps: { used: 3 }, modelCalls: { used: 3 } },
    });
    expect(messages(2).at(-1)?.content).toMatch(
      quoted('typed_plan_execute', '\\{"n":\\{"times":1\\},"said":"Said."\\}'),
    );
    const shown = rig.provider.requests[1]?.json.tools.map(
      (one: { function: { name: string } }) => one.function.name,
    );
    expect(shown).toEqual(['look']);
  });

  test('an invalid plan is told in words of the runtime, and nothing of it is run', async () => {
    const one = look();
    const script = [
      call({ plan: { steps: [tool('look', 'SECRET'), final(ref('HIDDEN'))] } }),
      { text: 'Sorry.' },
    ];
    await loop(script, { tools: [one.tool] });
    const told = messages(1).at(-1)?.content ?? '';
    expect(told).toMatch(/^failed\(plan\.invalid\): .*unbound_variable/);
    expect([told.includes('HIDDEN'), told.includes('SECRET'), one.acted]).toEqual([false, false, []]);
  });

  test('gets what is left of the run, and no plan within a plan', async () => {
    const one = look();
    const plans = [
      [tool('look', 'x'), tool('look', 'y'), tool('look', 'z'), final(1)],
      [tool('typed_plan_execute', 'x', { plan: {} }), final(1)],
    ];
    const script = [...plans.map((steps, i) => call({ plan: { steps } }, `p${i}`)), { text: 'Sorry.' }];
    await loop(script, { tools: [one.tool] }, { limits: { toolCalls: 3 } });
    expect(messages(1).at(-1)?.content).toMatch(/plan\.over-budget/);
    expect(messages(2).at(-1)?.content).toMatch(/unknown_tool/);
    expect(one.acted).toEqual([]);
  });

  test('whose step waits for a person has the run wait, and goes on behind what was done', async () => {
    const [one, book] = [look(), counted('book', 'write', () => 'booked')];
    const steps = [tool('look', 'x'), tool('book', 'y'), final(field('y', 'value'))];
    const script = [call({ plan: { steps } }), { text: 'Done.' }];
    const paused = await loop(script, { tools: [one.tool, book.tool] }, { approve: 'pause' });
    expect(paused).toMatchObject({ status: 'paused', ticket: { tool: 'book' } });
    const ask = async () => ({ decision: 'approved' as const, by: 'tester', reason: '' });
    expect(await rig.resume(paused.run, { approve: 'ask', ask })).toMatchObject({
      status: 'completed',
      answer: 'Done.',
    });
    expect([one.acted.length, book.acted.length]).toEqual([1, 1]);
    expect(messages(1).at(-1)?.content).toMatch(quoted('typed_plan_execute', 'booked'));
  });
});
