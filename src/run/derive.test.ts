import { expect, test } from 'vitest';
import type { EventBody, RunEvent } from '../protocol/events.ts';
import { noUsage } from '../protocol/usage.ts';
import { openTicketOf, stateOf, usageOf } from './derive.ts';

const eventsOf = (bodies: readonly EventBody[]): RunEvent[] =>
  bodies.map((body, i) => ({ ...body, run: 'r', seq: i + 1, at: i, epoch: 1 }));

const ticket = {
  id: 't1',
  turn: 1,
  position: 1,
  tool: 'book',
  capability: 'c',
  arguments: '{}',
  digest: 'd',
};
const turn: EventBody = { type: 'turn-start', turn: 1 };
const asked: EventBody = { type: 'approval-request', ticket };
const paused: EventBody = { type: 'run-pause', ticket: 't1' };
const answered: EventBody = {
  type: 'approval-answer',
  ticket: 't1',
  digest: 'd',
  decision: 'approved',
  by: 'ana',
  reason: '',
};
const resumed: EventBody = { type: 'run-resume', by: 'x', promptNow: null, changed: false };
const finished: EventBody = {
  type: 'run-finish',
  status: 'failed',
  answer: null,
  error: null,
  usage: noUsage,
  budget: {},
  elapsedMs: 1,
};

test.each([
  ['at work', [turn], true, 'running'],
  ['left by its process', [turn], false, 'interrupted'],
  ['without any event', [], false, 'interrupted'],
  ['waiting for a person', [turn, asked, paused], false, 'paused'],
  ['answered and not resumed yet', [turn, asked, paused, answered], false, 'interrupted'],
  ['resumed after an answer', [turn, asked, paused, answered, resumed], true, 'running'],
  [
    'left by its process after a resume',
    [turn, asked, paused, answered, resumed, turn],
    false,
    'interrupted',
  ],
  ['ended', [turn, finished], false, 'failed'],
  ['ended while a lease is still there', [turn, finished], true, 'failed'],
] as const)('a run %s', (_, bodies, held, state) => {
  expect(stateOf(eventsOf(bodies), held)).toBe(state);
});

test('a ticket is open from its question to its answer or to the end of the run', () => {
  expect(openTicketOf(eventsOf([turn, asked]))).toEqual(ticket);
  expect(openTicketOf(eventsOf([turn, asked, answered]))).toBeUndefined();
  expect(openTicketOf(eventsOf([turn, asked, finished]))).toBeUndefined();
});

test('a request whose end was never recorded makes the sum unknown, and is still counted', () => {
  const request = { type: 'model-request', turn: 1, attempt: 1 } as unknown as EventBody;
  const response = {
    type: 'model-response',
    turn: 1,
    attempt: 1,
    usage: { ...noUsage, modelCalls: 1, totalTokens: 9 },
  } as unknown as EventBody;
  expect(usageOf(eventsOf([request, response]))).toMatchObject({ modelCalls: 1, totalTokens: 9 });
  expect(usageOf(eventsOf([request, request, response]))).toMatchObject({ modelCalls: 2, totalTokens: null });
  expect(usageOf(eventsOf([request, response, request]))).toMatchObject({ modelCalls: 2, totalTokens: null });
});
