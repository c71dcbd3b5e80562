/** The view on a terminal: one block that is redrawn in place, at any width, with and without colour, gone at the end. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import type { EventBody, RunEvent } from '../../protocol/events.ts';
import { noUsage } from '../../protocol/usage.ts';
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

function open(columns: number, env: Record<string, string> = {}, isTTY = true) {
  const shown = screen(columns);
  const stderr = Object.assign(new PassThrough(), { isTTY, columns });
  stderr.on('data', (chunk: Buffer) => shown.write(chunk.toString()));
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr };
  const context = openContext(env, streams, '/', () => new AbortController().signal);
  return {
    shown,
    progress: openProgress({ ...context, clock: { ...systemClock, monotonicMs: () => 0 } }, false),
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

test.each([80, 60])('at %i columns every line fits and the block is redrawn in its place', (columns) => {
  const { shown, progress } = open(columns, { NO_COLOR: '1' });
  progress.onEvents([event({ type: 'turn-start', turn: 1 }), event(request)]);
  expect(shown.lines()).toEqual(['turn 1', 'turn 1 · 0 tokens · $0 · 0 ms · waiting for the model']);
  progress.onLive(delta(1, 1, `First \x1b[31mline\n${'word '.repeat(60)}`));
  progress.onEvents([event(response), event(said), event(call)]);
  const lines = shown.lines();
  expect(lines[1]).toBe('  | First \\x1b[31mline');
  expect(lines.at(-2)).toMatch(/^ {2}1 sql_query \{"query":"SELECT long .+…$/);
  expect(lines.at(-1)).toMatch(/^turn 1 · 1,234 tokens · \$0\.0012 · 0 ms · ./);
  progress.onEvents([event(result)]);
  progress.close();
  expect(shown.lines().slice(-2)).toEqual(['  1 sql_query ok · 1,204 bytes · 35 ms', '']);
  expect(shown.raw()).not.toContain('\x1b[31m');
});

test('the text that arrives is shown below, its last lines only', async () => {
  const { shown, progress } = open(80, { NO_COLOR: '1' });
  progress.onEvents([event(request)]);
  progress.onLive(delta(1, 1, 'one\ntwo\nthree\nfour\nfive \x07'));
  await expect
    .poll(() => shown.lines())
    .toEqual(['turn 0 · 0 tokens · $0 · 0 ms · writing', '  two', '  three', '  four', '  five \\x07']);
  const goOn = progress.hold();
  expect(shown.lines()).toEqual(['']);
  goOn();
  expect(shown.lines()).toHaveLength(5);
  progress.close();
  expect(shown.lines()).toEqual(['']);
});

test.each([
  ['a terminal', {}, true, true],
  ['NO_COLOR', { NO_COLOR: '1' }, true, false],
  ['a terminal without a cursor', { TERM: 'dumb' }, true, false],
  ['a pipe', {}, false, false],
])('colour on %s', (_where, env, isTTY, colored) => {
  const { shown, progress } = open(80, env, isTTY);
  progress.onEvents([event({ type: 'turn-start', turn: 1 })]);
  progress.close();
  expect(shown.raw().includes(`${esc}[`) && /\[\d+m/.test(shown.raw())).toBe(colored);
});
