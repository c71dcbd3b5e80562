/** Which call stands at a place of a plan, and what a task that is a plan says. */
import { expect, test } from 'vitest';
import { planCallAt, taskText } from './plan-calls.ts';

const tool = (name: string) => ({
  op: 'tool',
  name,
  args: { kind: 'literal', value: { a: name } },
  bind: 'x',
});
const plan = (name: string) => ({ steps: [{ op: 'checkpoint', label: 'here' }, tool(name)] });
const whole = {
  steps: [
    tool('first'),
    { op: 'parallel', plans: [plan('left'), plan('right')], bind: 'p' },
    { op: 'retry', attempts: 3, plan: plan('again'), bind: 'q' },
    { op: 'recurse', plan: plan('inner'), bind: 'r' },
  ],
};

test.each([
  ['0', 'first'],
  ['1/b0/1', 'left'],
  ['1/b1/1', 'right'],
  ['2/t3/1', 'again'],
  ['3/r/1', 'inner'],
])('the call at %s is of %s', (path, name) => {
  expect(planCallAt(whole, path)).toEqual({ tool: name, arguments: `{"a":"${name}"}` });
});

test('arguments stand as the plan writes them', () => {
  const text = { kind: 'field', of: { kind: 'variable', name: 'n' }, key: 'text' };
  const items = [
    { kind: 'input', name: 'ask' },
    { kind: 'literal', value: 1 },
  ];
  const fields = [
    ['text', text],
    ['list', { kind: 'list', items }],
  ];
  const step = { ...tool('t'), args: { kind: 'object', fields } };
  expect(JSON.parse(planCallAt({ steps: [step] }, '0')?.arguments ?? '')).toEqual({
    text: { ref: 'field', value: { ref: 'var', name: 'n' }, key: 'text' },
    list: [{ ref: 'input', name: 'ask' }, 1],
  });
});

test.each(['1', '1/b0/0', '1/b7/1', '9', '__proto__', 'x/y'])('no call stands at %s', (path) => {
  expect(planCallAt(whole, path)).toBeUndefined();
});

test.each([undefined, null, 'text', { steps: 3 }])('none in the plan %j', (damaged) => {
  expect(planCallAt(damaged, '0')).toBeUndefined();
});

test('a task is a plan only where the run began with one', () => {
  const task = JSON.stringify({ plan: '{"steps":[]}\n', inputs: { n: 1 } });
  const began = { lane: 'plan', turn: 0, plan: 'd', steps: [] };
  expect(taskText({ task, plans: [began] })).toBe('{"steps":[]}\ninput n: 1');
  expect(taskText({ task, plans: [{ ...began, turn: 2 }] })).toBe(task);
  expect(taskText({ task: 'no JSON', plans: [began] })).toBe('no JSON');
  expect(taskText({ task: null, plans: [] })).toBe('(its text is not in the ledger)');
});
