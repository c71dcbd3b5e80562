/** Cases of decisions and plans that no other test shows by itself. */
import { afterEach, describe, expect, test } from 'vitest';
import { planTask } from '../src/native/plan/session-plans.ts';
import { contextSearch } from '../src/native/tool/context-tools.ts';
import { counted, field, final, parallel, plan, ref, rights, tool } from './plan.cases.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';

let rig: Rig;
afterEach(async () => rig?.close());

const contexts = [{ alias: 'input', source: { kind: 'text', text: 'one\nhit a\nhit b\n' } }] as const;
const within = (name: string, key: string) => ({ ref: 'field', value: field(name, 'value'), key });
const steps = () =>
  rig.events.flatMap((event) =>
    event.type === 'plan-step' && event.status !== 'begun' ? [`${event.operation} ${event.status}`] : [],
  );

async function decide(script: RigOptions['script'], options: Partial<RigOptions> = {}, more: object = {}) {
  rig = await openRig({ ...options, script, root: 'decide' });
  return rig.run('What is in it?', { capabilities: rights, ...more });
}

describe('a decision', () => {
  test('that asks for a part of a context has that step executed', async () => {
    const slice = { op: 'context', action: { type: 'slice', start: 4, length: 5 }, bind: 'x' };
    const result = await decide([{ text: plan(slice, final(within('x', 'value'))) }], {
      contexts,
      tools: [contextSearch()],
    });
    expect(result).toMatchObject({ answer: 'hit a', usage: { modelCalls: 1 } });
    expect(steps()).toEqual(['context ok', 'final ok']);
    expect(JSON.stringify(rig.provider.requests[0]?.json)).not.toContain('hit a');
  });

  test('that is twice no plan ends the run, and both answers are counted', async () => {
    const twice = { text: plan(final(1), final(2)) };
    expect(await decide([twice, twice])).toMatchObject({
      status: 'failed',
      error: {
        code: 'plan.decision-rejected',
        details: { attempts: 2, fault: 'final_must_be_unique_and_last' },
      },
      usage: { modelCalls: 2, totalTokens: 30 },
    });
  });

  test('for which there is no room is not asked for', async () => {
    const result = await decide([], {}, { limits: { tokens: 1 } });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'budget.exhausted' } });
    expect(rig.provider.requests).toEqual([]);
  });

  test('is offered the tools that it may use and no others', async () => {
    const [here, there] = [counted('look_here'), counted('look_there')];
    const tools = [here.tool, { ...there.tool, capability: 'elsewhere' }];
    await decide([{ text: '{"mode":"direct","answer":"a"}' }], { tools });
    const asked = JSON.stringify(rig.provider.requests[0]?.json);
    expect([asked.includes('look_here'), asked.includes('look_there')]).toEqual([true, false]);
  });
});

describe('a plan', () => {
  const run = async (text: string, options: Partial<RigOptions>) => {
    rig = await openRig({ script: [], ...options, root: 'plan' });
    return rig.run(planTask(text), { capabilities: rights });
  };

  test('of a search, a count and a final finds both hits in three steps', async () => {
    const text = plan(
      { op: 'context', action: { type: 'search', pattern: 'hit' }, bind: 'found' },
      { op: 'context', action: { type: 'reduce', how: 'count' }, bind: 'lines' },
      final([within('found', 'hits'), field('lines', 'value')]),
    );
    const result = await run(text, { contexts, tools: [contextSearch()] });
    const [hits, lines] = JSON.parse(result.answer ?? '');
    expect([hits.length, lines, steps()]).toEqual([2, 3, ['context ok', 'context ok', 'final ok']]);
  });

  test('counts the bytes of a value inside once, and those around it by themselves', async () => {
    const look = counted('look', 'read', () => 'x');
    const text = plan(parallel('p', [tool('look', 'a'), final('1234567890')]), final(ref('p')));
    const limits = async (outputBytes: number) => {
      const { status } = await run(text, { tools: [look.tool], plans: { limits: { outputBytes } } });
      await rig.close();
      return status;
    };
    const { budget } = await run(text, { tools: [look.tool] });
    const used = budget.outputBytes?.used ?? 0;
    // The envelope of the tool, "1234567890" as the value of the branch, as the list of it, and as the final.
    expect(used).toBeGreaterThan(12 + 14 + 14);
    await rig.close();
    expect([await limits(used), await limits(used - 1)]).toEqual(['completed', 'failed']);
  });
});
