import { expect, test } from 'vitest';
import type { EventBody, RunEvent } from '../protocol/events.ts';
import { noUsage } from '../protocol/usage.ts';
import { laneEvents, transcriptOf } from './transcript.ts';

function eventsOf(run: string, bodies: readonly EventBody[]): RunEvent[] {
  return bodies.map((body, i) => ({ ...body, run, seq: i + 1, at: i, epoch: 1 }));
}

const request = (turn: number, attempt: number, keep: number, add: string[]): EventBody => ({
  type: 'model-request',
  turn,
  attempt,
  keep,
  add,
  model: 'm',
  wire: 'w',
  url: 'u',
  tools: null,
  parameters: {},
  body: '',
  bodyBytes: 0,
  reserved: {},
});
const finish = (turn: number, message: string, calls: number, text: string | null = null): EventBody => ({
  type: 'message-finish',
  turn,
  message,
  text,
  textBytes: 0,
  calls,
});
const toolCall = (turn: number, position: number, callId: string): EventBody => ({
  type: 'tool-call',
  turn,
  position,
  callId,
  tool: 'look',
  arguments: '{}',
});
const result = (turn: number, position: number, message: string): EventBody => ({
  type: 'tool-result',
  turn,
  position,
  callId: `c${position}`,
  tool: 'look',
  status: 'ok',
  code: null,
  message,
  bytes: 1,
  truncated: false,
  elapsedMs: 0,
});
const fault: EventBody = {
  type: 'model-fault',
  turn: 1,
  attempt: 1,
  error: { code: 'x', kind: 'failed', message: 'x' },
  httpStatus: 503,
  response: null,
  dispatched: 'yes',
  usage: noUsage,
  retryInMs: 10,
};
const started: EventBody[] = [{ type: 'turn-start', turn: 1 }, request(1, 1, 0, ['system', 'task'])];
const batch = [...started, finish(1, 'assistant', 2), toolCall(1, 1, 'c1'), toolCall(1, 2, 'c2')];

test('nothing recorded is an empty conversation whose task is still to be sent', () => {
  expect(transcriptOf([], 'r1')).toEqual({
    messages: [],
    requested: 0,
    turn: 0,
    openAttempts: 0,
    batch: undefined,
    callIds: new Set(),
    answered: undefined,
    taskSent: false,
  });
});

test('a request without an answer is open, and its attempts are counted', () => {
  const events = eventsOf('r1', [...started, fault, request(1, 2, 2, [])]);
  expect(transcriptOf(events, 'r1')).toMatchObject({
    messages: ['system', 'task'],
    openAttempts: 2,
    turn: 1,
    taskSent: true,
  });
});

test('results that came out of order stand in the order of their calls', () => {
  const events = eventsOf('r1', [...batch, result(1, 2, 'second'), result(1, 1, 'first')]);
  expect(transcriptOf(events, 'r1')).toMatchObject({
    messages: ['system', 'task', 'assistant', 'first', 'second'],
    requested: 2,
    batch: undefined,
    callIds: new Set(['c1', 'c2']),
  });
});

test('a batch with an open call is kept with the results it has', () => {
  const call = (id: string) => ({ id, name: 'look', arguments: '{}' });
  const { batch: open, messages } = transcriptOf(eventsOf('r1', [...batch, result(1, 2, 'second')]), 'r1');
  expect(messages).toEqual(['system', 'task', 'assistant']);
  expect({ calls: open?.calls, results: [open?.results[0], open?.results[1]] }).toEqual({
    calls: [call('c1'), call('c2')],
    results: [undefined, 'second'],
  });
});

test('a turn that ended in text is answered', () => {
  const events = eventsOf('r1', [...started, finish(1, 'assistant', 0, 'text-digest')]);
  expect(transcriptOf(events, 'r1')).toMatchObject({ answered: 'text-digest', openAttempts: 0 });
});

test('the next run of a session begins at turn 0; a call of the earlier one that was never settled is named as lost', () => {
  const earlier = eventsOf('r1', [...batch, result(1, 1, 'first')]);
  expect(
    transcriptOf([...earlier, ...eventsOf('r2', [{ type: 'turn-start', turn: 1 }])], 'r2'),
  ).toMatchObject({
    messages: ['system', 'task', 'assistant', 'first', { lost: { id: 'c2', name: 'look', arguments: '{}' } }],
    turn: 1,
    taskSent: false,
    batch: undefined,
  });
});

test('a lane has its own turns and compactions, and none of the session or of another lane', () => {
  const compacted = (summary: string, lane?: string): EventBody => ({
    type: 'session-compact',
    keep: 1,
    dropped: 1,
    summary,
    tokensBefore: 2,
    tokensAfter: 1,
    context: null,
    ...(lane === undefined ? {} : { lane }),
  });
  const events = eventsOf('r1', [
    { type: 'turn-start', turn: 1 },
    compacted('own'),
    { type: 'turn-start', turn: 2, lane: 'plan#0' },
    compacted('of 0', 'plan#0'),
    { type: 'turn-start', turn: 3, lane: 'plan#1' },
    compacted('of 1', 'plan#1'),
  ]);
  const of = (lane?: string) =>
    laneEvents(events, 'r1', lane).map((event) =>
      event.type === 'session-compact' ? event.summary : event.type === 'turn-start' ? event.turn : '',
    );
  expect([of(), of('plan#0'), of('plan#1')]).toEqual([
    [1, 'own'],
    [2, 'of 0'],
    [3, 'of 1'],
  ]);
});
