/** Plans through real HTTP: decided by a model, called as a tool, given as a task; their model steps, budgets and ends. */
import { afterEach, describe, expect, test } from 'vitest';
import { type NativeOptions, native } from '../src/native/native.ts';
import { planTool } from '../src/native/plan/plan-tool.ts';
import { planTask } from '../src/native/plan/session-plans.ts';
import { defineTool, failed } from '../src/native/tool/define-tool.ts';
import { contextPeek, contextSearch } from '../src/native/tool/context-tools.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';

export const forms = ['plan', 'context', 'plan.model', 'plan.recurse', 'plan.parallel', 'plan.retry', 'plan.checkpoint'];
const none = { type: 'object', properties: {}, additionalProperties: false } as const;
let rig: Rig;
afterEach(async () => rig?.close());

const ref = (name: string) => ({ ref: 'var', name });
const field = (name: string, key: string | number) => ({ ref: 'field', value: ref(name), key });
const planOf = (...steps: unknown[]) => JSON.stringify({ steps });
const final = (value: unknown) => ({ op: 'final', value });

function counting(name = 'look', access: 'read' | 'write' = 'read') {
  const acted: unknown[] = [];
  const tool = defineTool({
    name,
    description: 'Acts.',
    parameters: { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false },
    capability: 'parts',
    ...(access === 'read' ? { access } : { access, repeat: 'once' as const }),
    execute: (args) => {
      acted.push(args);
      return { seen: acted.length };
    },
  });
  return { tool, acted };
}

async function open(root: NonNullable<NativeOptions['root']>, options: Omit<RigOptions, 'root'>) {
  rig = await openRig({ ...options, root });
  return rig;
}

describe('the root decision', () => {
  test('a direct answer is one request, without a plan', async () => {
    await open('decide', { script: [{ text: '{"mode":"direct","answer":"  Four.  "}' }] });
    const result = await rig.run('What is 2 + 2?', { capabilities: forms });
    expect(result).toMatchObject({ status: 'completed', answer: '  Four.  ', turns: 1, toolCalls: 0 });
    expect(rig.events.some(({ type }) => type === 'plan-accept')).toBe(false);
    const [system, question] = rig.provider.requests[0]?.json.messages;
    expect(system).toEqual({ role: 'system', content: 'You answer tests.' });
    const text: string = question.content;
    expect(text.startsWith('THE TASK\nWhat is 2 + 2?')).toBe(true);
    expect(text.indexOf('"mode":"direct"')).toBeLessThan(text.indexOf('PLANS'));
    expect(text).toContain('agent "tester"');
    expect(rig.provider.requests[0]?.json.tools).toBeUndefined();
  });
});

describe('a plan that is the task', () => {
  test('tools, branches, model steps and values', async () => {
    const { tool, acted } = counting();
    await open('plan', { script: [{ text: 'Both are there.' }], tools: [tool] });
    const branch = (n: number) => ({ steps: [{ op: 'tool', name: 'look', args: { n }, bind: 'seen' }, final(field('seen', 'status'))] });
    const plan = planOf(
      { op: 'parallel', plans: [branch(1), branch(2)], bind: 'both' },
      { op: 'checkpoint', label: 'looked' },
      { op: 'model', prompt: ref('both'), bind: 'said' },
      final({ said: field('said', 'text'), first: field('both', 0), given: { ref: 'input', name: 'who' } }),
    );
    const result = await rig.run(planTask(plan, { who: 'me' }), { capabilities: [...forms, 'parts'] });
    expect(result.error).toBeNull();
    expect(JSON.parse(result.answer ?? '')).toEqual({ said: 'Both are there.', first: 'ok', given: 'me' });
    expect(acted).toEqual([{ n: 1 }, { n: 2 }]);
    expect(result).toMatchObject({ toolCalls: 2, turns: 1, usage: { totalTokens: 15 } });
    expect(rig.provider.requests[0]?.json.messages.map((m: { content: string }) => m.content)).toEqual([
      expect.stringContaining('one step of a larger plan'),
      '["ok","ok"]',
    ]);
  });
});
