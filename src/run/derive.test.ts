import { expect, test } from 'vitest';
import type { EventBody, RunEvent } from '../protocol/events.ts';
import { noUsage, unknownUsage } from '../protocol/usage.ts';
import { knownUsageOf, limitsOf, openTicketOf, spentBy, stateOf, usageOf } from './derive.ts';

const eventsOf = (bodies: readonly EventBody[]): RunEvent[] =>
  bodies.map((body, i) => ({ ...body, run: 'r', seq: i + 1, at: i, epoch: 1 }));

const ticket = {
  id: 't1',
  turn: 1,
  position: 1,
  tool: 'book',
  capability: 'c',
  arguments: '{}',
  fingerprint: 'f',
  digest: 'd',
};
const turn: EventBody = { type: 'turn-start', turn: 1 };
const asked: EventBody = { type: 'approval-request', ticket };
const paused: EventBody = { type: 'run-pause', ticket: 't1', error: null };
const answered: EventBody = {
  type: 'approval-answer',
  ticket: 't1',
  digest: 'd',
  decision: 'approved',
  by: 'ana',
  reason: '',
};
const resumed: EventBody = {
  type: 'run-resume',
  by: 'x',
  promptNow: null,
  changed: false,
  budget: { turns: 9 },
  lostMs: 0,
};
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
  const silent = { type: 'model-fault', turn: 1, attempt: 1, usage: unknownUsage } as unknown as EventBody;
  expect(knownUsageOf(eventsOf([request, response, request, silent, request, response]))).toEqual({
    totalTokens: 18,
    costUsd: 0,
  });
});

test('the limits are those of the newest resume, else of the start', () => {
  expect(limitsOf(eventsOf([turn]))).toBeUndefined();
  expect(limitsOf(eventsOf([turn, resumed, turn]))).toEqual({ turns: 9 });
});

const stamp = (seq: number, at = seq, epoch = 1) => ({ run: 'run_1', seq, at, epoch });

test('what a run has spent: unknown usage and a request without an end count as reserved, pauses do not count as time', () => {
  const request = {
    type: 'model-request' as const,
    turn: 1,
    attempt: 1,
    model: 'm',
    wire: 'w',
    url: 'u',
    keep: 0,
    add: [],
    tools: null,
    parameters: {},
    body: '',
    bodyBytes: 0,
    reserved: { modelCalls: 1, tokens: 100, costUsd: 0.2 },
  };
  const response = {
    type: 'model-response' as const,
    turn: 1,
    attempt: 1,
    httpStatus: 200,
    response: '',
    finish: 'stop',
    modelSeen: null,
    requestId: null,
    firstByteMs: 0,
    elapsedMs: 0,
  };
  const result = {
    type: 'tool-result' as const,
    turn: 1,
    callId: 'c',
    tool: 't',
    code: null,
    message: '',
    truncated: false,
    elapsedMs: 0,
  };
  const events: RunEvent[] = [
    { ...stamp(1, 1000), type: 'turn-start', turn: 1 },
    { ...stamp(2, 1000), ...request },
    { ...stamp(3, 1400), ...response, usage: { ...noUsage, modelCalls: 1, totalTokens: 30, costUsd: 0.01 } },
    { ...stamp(4, 1400), ...result, position: 1, status: 'ok', bytes: 7 },
    { ...stamp(5, 1500), ...result, position: 2, status: 'rejected', bytes: 99 },
    { ...stamp(6, 1500), ...request },
    { ...stamp(7, 1500), ...response, usage: unknownUsage },
    { ...stamp(8, 9000, 2), ...request },
    { ...stamp(9, 9100, 2), ...request },
  ];
  const { costUsd, ...spent } = spentBy(events);
  expect(spent).toEqual({
    turns: 1,
    modelCalls: 4,
    toolCalls: 1,
    tokens: 330,
    outputBytes: 7,
    wallTimeMs: 600,
  });
  expect(costUsd).toBeCloseTo(0.61, 10);
});

test('of a metered program what was measured counts, and what it says of itself does not', () => {
  const usage = { ...noUsage, modelCalls: 1, totalTokens: 10, costUsd: 0.5, costSource: 'priced' as const };
  const admit = (number: number): EventBody => ({
    type: 'meter-admit',
    number,
    lane: 'main',
    protocol: 'openai-chat',
    model: 'm1',
    body: 'd',
    bodyBytes: 1,
    tools: 1,
    text: null,
    reserved: { turns: 1, modelCalls: 1, tokens: 70, costUsd: 2 },
  });
  const answer = (number: number): EventBody => ({
    type: 'meter-answer',
    number,
    httpStatus: 200,
    modelSeen: 'm',
    usage,
    response: 'r',
    fault: null,
    elapsedMs: 1,
  });
  const said = (turn: number): EventBody => ({
    type: 'usage-report',
    turn,
    modelSeen: null,
    usage: { ...noUsage, modelCalls: 9, totalTokens: 999, estimatedUsd: 7 },
  });
  const whole = eventsOf([
    { type: 'meter-open', upstream: 'http://x' },
    ...[admit(1), admit(2), answer(2), answer(1), said(1), said(0)],
  ]);
  expect(usageOf(whole)).toMatchObject({ modelCalls: 2, totalTokens: 20, costUsd: 1, estimatedUsd: 7 });
  expect(knownUsageOf(whole)).toEqual({ totalTokens: 20, costUsd: 1 });
  expect(spentBy(whole)).toMatchObject({ modelCalls: 2, tokens: 20, costUsd: 1 });
  // One that nobody saw the end of is charged whole.
  const open = eventsOf([{ type: 'meter-open', upstream: 'http://x' }, admit(1), answer(1), admit(2)]);
  expect(usageOf(open)).toMatchObject({ modelCalls: 2, totalTokens: null });
  expect(spentBy(open)).toMatchObject({ modelCalls: 2, tokens: 80, costUsd: 2.5 });
});
