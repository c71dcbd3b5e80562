/** The view on a terminal: one block that is redrawn in place, at any width, with and without colour, gone at the end. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import type { EventBody, RunEvent } from '../../protocol/events.ts';
import { noUsage, unknownUsage } from '../../protocol/usage.ts';
import { openContext } from '../context.ts';
import { openProgress } from './progress.ts';

const esc = '\x1b';
const tokens = new RegExp(`${esc}\\[(\\d*)([A-Za-z])|[\\s\\S]`, 'gu');

/** A screen that understands what the view may send, and fails on anything else. */
function screen(columns: number) {
  const lines: string[] = [''];
  let row = 0;
  let raw = '';
  return {
    write(text: string): void {
      raw += text;
      for (const [token, amount, move] of text.matchAll(tokens)) {
        if (move === 'A') row -= Number(amount);
        else if (move === 'J') lines.splice(row, lines.length, '');
        else if (move === 'm' || token === '\r') continue;
        else if (token === '\n') {
          row += 1;
          lines[row] ??= '';
        } else if (token < ' ') throw new Error(`unexpected ${JSON.stringify(token)}`);
        else lines[row] += token;
        if ((lines[row]?.length ?? 0) >= columns) throw new Error(`too wide: ${lines[row]}`);
      }
    },
    lines: () => lines,
    raw: () => raw,
  };
}

function open(
  columns: number,
  env: Record<string, string> = {},
  { isTTY = true, earlier = [] }: { isTTY?: boolean; earlier?: readonly RunEvent[] } = {},
) {
  const shown = screen(columns);
  const stderr = Object.assign(new PassThrough(), { isTTY, columns, rows: 24 });
  stderr.on('data', (chunk: Buffer) => shown.write(chunk.toString()));
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr };
  const context = openContext(env, streams, '/', () => new AbortController().signal);
  return {
    shown,
    stderr,
    progress: openProgress({ ...context, clock: { ...systemClock, monotonicMs: () => 0 } }, false, earlier),
  };
}

let seq = 0;
const event = (body: EventBody): RunEvent => {
  seq += 1;
  return { ...body, run: 'run_1', seq, at: 0, epoch: 1 };
};
const delta = (turn: number, n: number, text: string) => ({ type: 'text-delta' as const, turn, n, text });
const request: EventBody = {
  type: 'model-request',
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
  reserved: {},
};
const response: EventBody = {
  type: 'model-response',
  turn: 1,
  attempt: 1,
  httpStatus: 200,
  response: '',
  finish: 'tool-calls',
  modelSeen: null,
  requestId: null,
  usage: { ...noUsage, modelCalls: 1, totalTokens: 1234, costUsd: 0.0012, costSource: 'reported' },
  firstByteMs: 1,
  elapsedMs: 1,
};
const call: EventBody = {
  type: 'tool-call',
  turn: 1,
  position: 1,
  callId: 'c',
  tool: 'sql_query',
  arguments: `{"query":"SELECT ${'long '.repeat(40)}"}`,
};
const result: EventBody = {
  type: 'tool-result',
  turn: 1,
  position: 1,
  callId: 'c',
  tool: 'sql_query',
  status: 'ok',
  code: null,
  message: '',
  bytes: 1204,
  truncated: false,
  elapsedMs: 35,
};
const said: EventBody = { type: 'message-finish', turn: 1, message: '', text: '', textBytes: 1, calls: 1 };

const start: EventBody = {
  type: 'run-start',
  session: 's',
  agent: 'a',
  harness: 'native',
  model: 'm',
  prompt: 'f'.repeat(64),
  task: '',
  taskBytes: 1,
  capabilities: [],
  budget: { turns: 12, modelCalls: 16, costUsd: 0.25, wallTimeMs: 90_000 },
  approve: 'ask',
  origin: {},
};

test.each([80, 60])('at %i columns every line fits and the block is redrawn in its place', (columns) => {
  const { shown, progress } = open(columns, { NO_COLOR: '1' });
  progress.onEvents([event({ type: 'turn-start', turn: 1 }), event(request)]);
  expect(shown.lines()).toEqual(['turn 1', 'turn 1 · waiting for the model', '  0 tokens · $0 · 0 ms', '']);
  progress.onLive(delta(1, 1, `First \x1b[31mline\n${'word '.repeat(60)}`));
  progress.onEvents([event(response), event(said), event(call)]);
  const lines = shown.lines();
  expect(lines[1]).toBe('  | First \\x1b[31mline');
  expect(lines.at(-4)).toMatch(/^ {2}1 sql_query \{"query":"SELECT long .+…$/);
  expect(lines.at(-3)).toMatch(/^turn 1 · sql_query \{"query":"SELECT .+…$/);
  expect(lines.at(-2)).toBe('  1,234 tokens · $0.0012 · 0 ms');
  progress.onEvents([event(result)]);
  progress.close();
  expect(shown.lines().slice(-2)).toEqual(['  1 sql_query ok · 1,204 bytes · 35 ms', '']);
  expect(shown.raw()).not.toContain('\x1b[31m');
});

test('the text that arrives is shown below, its last lines only, broken between words', async () => {
  const { shown, progress } = open(30, { NO_COLOR: '1' });
  progress.onEvents([event(request)]);
  progress.onLive(delta(1, 1, 'one\ntwo\nthree\nfour and some words more\nfive \x07'));
  await expect
    .poll(() => shown.lines())
    .toEqual(
      [
        'turn 0 · writing',
        '  0 tokens · $0 · 0 ms',
        '  | three',
        '  | four and some words more',
        '  | five \\x07',
        '',
      ].toSpliced(2, 0, '  | two'),
    );
  progress.close();
  expect(shown.lines()).toEqual(['']);
});

test('what is left of the budget counts what a resumed run used before, and not what is only set aside', () => {
  const earlier = [event(start), event({ type: 'turn-start', turn: 1 }), event(request), event(response)];
  const { shown, progress } = open(80, { NO_COLOR: '1' }, { earlier });
  progress.onEvents([
    event({ type: 'turn-start', turn: 2 }),
    event({ ...request, turn: 2, reserved: { modelCalls: 1, costUsd: 0.2 } }),
  ]);
  expect(shown.lines().slice(1, -1)).toEqual([
    'turn 2 · waiting for the model',
    '  1,234 tokens · $0.0012 · 0 ms',
    '  left: 10 turns · 15 model calls · $0.249 · 1 min 30 s',
  ]);
  progress.close();
});

test('a sum with an unknown part says what it is at least, and why a request is tried again is told in full', () => {
  const { shown, progress } = open(60, { NO_COLOR: '1' });
  const message = `The server failed: ${'it is too busy, '.repeat(5)}boom.`;
  const fault: EventBody = {
    type: 'model-fault',
    turn: 1,
    attempt: 2,
    error: { code: 'model.server-error', kind: 'failed', message },
    httpStatus: 503,
    response: null,
    dispatched: 'yes',
    usage: unknownUsage,
    retryInMs: 463,
  };
  progress.onEvents([event(request), event(response), event(request), event(fault)]);
  expect(shown.lines()).toEqual([
    '  trying again in 463 ms: The server failed: it is too',
    '  busy, it is too busy, it is too busy, it is too busy, it',
    '  is too busy, boom.',
    'turn 0 · waiting to try again',
    '  at least 1,234 tokens · at least $0.0012 · 0 ms',
    '',
  ]);
  progress.close();
});

test('runs below are seen while they work: what each does now, and its end with what it used', () => {
  const { shown, progress } = open(60, { NO_COLOR: '1' });
  const of = (run: string, body: EventBody): RunEvent => ({ ...event(body), run });
  const ended: EventBody = {
    ...{ type: 'run-finish', status: 'completed', answer: null, error: null },
    ...{ usage: noUsage, budget: {}, elapsedMs: 1 },
  };
  progress.onEvents([event({ type: 'turn-start', turn: 1 })]);
  progress.onChildEvents([
    of('run_2', start),
    of('run_2', { type: 'turn-start', turn: 1 }),
    of('run_2', request),
  ]);
  progress.onChildEvents([
    of('run_3', start),
    of('run_3', { type: 'turn-start', turn: 1 }),
    of('run_3', call),
  ]);
  expect(shown.lines()).toEqual([
    'turn 1',
    '  child 1 · run_2 begins',
    '  child 1 | turn 1',
    '  child 2 · run_3 begins',
    '  child 2 | turn 1',
    expect.stringMatching(/^ {2}child 2 \| {3}1 sql_query /),
    'turn 1 · starting',
    '  child 1 · turn 1 · waiting for the model',
    expect.stringMatching(/^ {2}child 2 · turn 1 · sql_query /),
    '  0 tokens · $0 · 0 ms',
    '',
  ]);
  progress.onChildEvents([of('run_2', response), of('run_2', ended)]);
  expect(shown.lines().slice(6)).toEqual([
    '  child 1 · completed · 1,234 tokens · $0.0012',
    'turn 1 · starting',
    expect.stringMatching(/^ {2}child 2 · turn 1 · sql_query /),
    '  0 tokens · $0 · 0 ms',
    '',
  ]);
  const many = Array.from({ length: 9 }, (_, i) => of(`run_${10 + i}`, { type: 'turn-start', turn: 2 }));
  progress.onChildEvents(many);
  expect(shown.lines().slice(-4)).toEqual([
    '  child 6 · turn 2 · starting',
    '  and 5 more',
    '  0 tokens · $0 · 0 ms',
    '',
  ]);
  progress.close();
});

test('a plan shows its steps, who allowed a call of it, and what was decided', () => {
  const { shown, progress } = open(70, { NO_COLOR: '1' });
  const step = {
    type: 'plan-step',
    lane: 'plan',
    path: '0/b1/0',
    operation: 'tool',
    turn: 3,
    value: null,
  } as const;
  const ticket = {
    id: 't1',
    turn: 3,
    position: 1,
    tool: 'book',
    capability: 'c',
    arguments: '{"n":1}',
    digest: 'd',
    fingerprint: 'f',
  };
  const place = { turn: 3, position: 1, tool: 'book' };
  progress.onEvents([
    event({ type: 'plan-accept', turn: 0, plan: 'abcdef0123456789', lane: 'plan' }),
    event({ ...step, status: 'begun', error: null, bytes: 0 }),
    event({ type: 'approval-request', ticket }),
    event({
      type: 'approval-answer',
      ticket: 't1',
      decision: 'approved',
      by: 'ada',
      reason: '',
      digest: 'd',
    }),
    event({ type: 'effect-unknown', ...place, attempt: 1, reason: 'It did not answer.' }),
    event({ type: 'effect-resolve', ...place, decision: 'retry-authorized', by: 'ada', reason: 'seen' }),
  ]);
  expect(shown.lines()).toEqual([
    expect.stringMatching(/^plan plan · abcdef/),
    '  an approval is needed: book {"n":1}',
    '  approved by ada',
    '  1 the outcome is unknown: It did not answer.',
    '  1 decided by ada: it may be sent again (seen)',
    'turn 0 · 0/b1/0 tool',
    '  0 tokens · $0 · 0 ms',
    '',
  ]);
  const error = { code: 'plan.tool-failed', kind: 'failed', message: 'm' } as const;
  progress.onEvents([event({ ...step, status: 'failed', error, bytes: 0 })]);
  expect(shown.lines().slice(5, 7)).toEqual([
    '  0/b1/0 tool: failed (plan.tool-failed)',
    'turn 0 · starting',
  ]);
  progress.close();
});

test('while a question is open nothing is drawn over it, and what happened meanwhile follows', async () => {
  const { shown, progress } = open(80, { NO_COLOR: '1' });
  progress.onEvents([event({ type: 'turn-start', turn: 1 })]);
  const goOn = progress.hold();
  shown.write('Allow it? ');
  progress.onEvents([event(result)]);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(shown.lines()).toEqual(['turn 1', 'Allow it? ']);
  shown.write('y\n');
  goOn();
  expect(shown.lines().slice(1, 4)).toEqual([
    'Allow it? y',
    '  1 sql_query ok · 1,204 bytes · 35 ms',
    'turn 1 · starting',
  ]);
  progress.close();
});

test('a terminal that became narrower has more rows to clear; a low one gets no text', () => {
  const { shown, stderr, progress } = open(100, { NO_COLOR: '1' });
  progress.onEvents([event(start)]);
  const wide = shown.lines().find((line) => line.includes('left: ')) ?? '';
  expect(wide.length).toBeGreaterThan(50);
  stderr.columns = 40;
  stderr.rows = 4;
  progress.onLive(delta(1, 1, 'text'));
  const before = shown.raw().length;
  progress.close();
  // Head, figures, and the budget's line that now takes two rows.
  expect(shown.raw().slice(before)).toBe('\x1b[4A\r\x1b[0J');
});

test.each([
  ['a terminal', {}, true, true],
  ['NO_COLOR', { NO_COLOR: '1' }, true, false],
  ['a terminal without a cursor', { TERM: 'dumb' }, true, false],
  ['a pipe', {}, false, false],
])('colour on %s', (_where, env, isTTY, colored) => {
  const { shown, progress } = open(80, env, { isTTY });
  progress.onEvents([event({ type: 'turn-start', turn: 1 })]);
  progress.close();
  expect(shown.raw().includes(`${esc}[`) && /\[\d+m/.test(shown.raw())).toBe(colored);
});
