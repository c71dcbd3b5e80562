import { expect, test } from 'vitest';
import type { EventBody, RunEvent } from '../protocol/events.ts';
import { noUsage } from '../protocol/usage.ts';
import { runSpans, traceLines, traceSchema } from './trace.ts';

const at = (bodies: readonly EventBody[]): RunEvent[] =>
  bodies.map((body, i) => ({ ...body, run: 'run_1', seq: i + 1, at: 1000 + i * 10, epoch: 1 }));
const place = { turn: 1, position: 1 };
const usage = { ...noUsage, modelCalls: 1, totalTokens: 15 };
const request = {
  type: 'model-request',
  turn: 1,
  model: 'local/m',
  wire: 'openai-chat',
  url: 'http://x/v1',
  keep: 0,
  add: [],
  tools: null,
  parameters: {},
  body: 'b',
  bodyBytes: 7,
  reserved: {},
} as const;
const start: EventBody = {
  type: 'run-start',
  session: 's',
  agent: 'tester',
  harness: 'native',
  model: 'local/m',
  prompt: 'p',
  task: 't',
  taskBytes: 1,
  capabilities: ['look'],
  budget: { turns: 3 },
  approve: 'deny',
  origin: {},
};
const whole = at([
  start,
  { type: 'turn-start', turn: 1 },
  { ...request, attempt: 1 },
  {
    type: 'model-fault',
    turn: 1,
    attempt: 1,
    error: { code: 'model.server-error', kind: 'failed', message: 'busy' },
    httpStatus: 500,
    response: null,
    dispatched: 'yes',
    usage: noUsage,
    retryInMs: 5,
  },
  { ...request, attempt: 2 },
  {
    type: 'model-response',
    turn: 1,
    attempt: 2,
    httpStatus: 200,
    response: 'r',
    finish: 'tool-calls',
    modelSeen: 'm',
    requestId: null,
    usage,
    firstByteMs: 3,
    elapsedMs: 9,
  },
  { type: 'tool-call', ...place, callId: 'c', tool: 'look', arguments: '{}' },
  {
    type: 'tool-result',
    ...place,
    callId: 'c',
    tool: 'look',
    status: 'ok',
    code: null,
    message: 'd',
    bytes: 4,
    truncated: false,
    elapsedMs: 1,
  },
  { type: 'turn-finish', turn: 1, calls: 1, elapsedMs: 9 },
  {
    type: 'run-finish',
    status: 'completed',
    answer: 'a',
    error: null,
    usage,
    budget: {},
    elapsedMs: 90,
  },
]);

test('each span has its parent, its times, its end and what the record says of it', () => {
  const spans = runSpans('run_1', null, whole);
  expect(
    spans.map(({ id, parent, kind, name, startAt, endAt, status }) => [
      id,
      parent,
      kind,
      name,
      startAt,
      endAt,
      status,
    ]),
  ).toEqual([
    ['run_1', null, 'run', 'tester', 1000, 1090, 'completed'],
    ['run_1/t1', 'run_1', 'turn', 'turn 1', 1010, 1080, 'ok'],
    ['run_1/t1/a1', 'run_1/t1', 'request', 'local/m', 1020, 1030, 'failed'],
    ['run_1/t1/a2', 'run_1/t1', 'request', 'local/m', 1040, 1050, 'ok'],
    ['run_1/t1/c1', 'run_1/t1', 'call', 'look', 1060, 1070, 'ok'],
  ]);
  expect(spans[2]?.attributes).toMatchObject({ code: 'model.server-error', httpStatus: 500 });
  expect(spans[3]?.attributes).toMatchObject({
    finish: 'tool-calls',
    usage: { totalTokens: 15 },
    bodyBytes: 7,
  });
  expect(spans[4]?.attributes).toEqual({
    arguments: '{}',
    code: null,
    bytes: 4,
    truncated: false,
    message: 'd',
  });
});

test('what has no end in the record is open, wherever it was cut', () => {
  for (let length = 1; length < whole.length; length += 1) {
    const spans = runSpans('run_1', null, whole.slice(0, length));
    expect(spans[0]).toMatchObject({ status: 'open', endAt: null });
    for (const { status, endAt } of spans) expect(status === 'open').toBe(endAt === null);
  }
});

test('as lines: the head, then one numbered line a span', () => {
  const head = {
    schema: traceSchema,
    run: 'run_1',
    session: 's',
    agent: 'a',
    harness: 'native',
    model: null,
    prompt: 'p',
  } as const;
  const spans = runSpans('run_1', null, whole);
  const lines = traceLines({ ...head, spans }).map((line) => JSON.parse(line));
  expect(lines[0]).toEqual({ seq: 0, ...head });
  expect(lines.slice(1)).toEqual(spans.map((span, i) => ({ seq: i + 1, ...span })));
});
