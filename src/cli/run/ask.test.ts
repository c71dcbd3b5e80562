/** Approvals at the terminal: one clear answer to one question, and nobody there is no answer. */
import { userInfo } from 'node:os';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Ticket } from '../../protocol/ticket.ts';
import { openContext } from '../context.ts';
import { personName, terminalAsk } from './ask.ts';

const ticket: Ticket = {
  id: 'ticket_1',
  turn: 1,
  position: 1,
  tool: 'send',
  capability: 'mail',
  fingerprint: 'f',
  arguments: '{"to":"\x1b[2Jada"}',
  digest: 'd',
};
const progress = { onEvents() {}, onLive() {}, onChildEvents() {}, hold: () => () => {}, close() {} };

/** Types each line after a question; the input ends when there is none left. */
async function askWith(lines: readonly string[], signal = new AbortController().signal) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const typed = [...lines];
  let shown = '';
  stderr.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    const line = typed.shift();
    if (line === undefined) stdin.end();
    else stdin.write(`${line}\n`);
  });
  const streams = { stdin, stdout: new PassThrough(), stderr };
  const context = openContext({ USER: 'ada' }, streams, '/', () => signal);
  const answer = await terminalAsk(context, progress)?.(ticket, signal);
  return { answer, shown };
}

test.each([
  [['y'], { decision: 'approved', reason: '' }],
  [['YES'], { decision: 'approved', reason: '' }],
  [['maybe', 'y'], { decision: 'approved', reason: '' }],
  [['n'], { decision: 'denied', reason: '' }],
  [[''], { decision: 'denied', reason: '' }],
  [['no, ask Bob first'], { decision: 'denied', reason: 'ask Bob first' }],
  [['yesterday', 'nothing', 'n'], { decision: 'denied', reason: '' }],
])('%j', async (lines, answer) => {
  expect((await askWith(lines)).answer).toEqual({ ...answer, by: 'ada' });
});

test('the question shows the exact arguments, and nothing in them moves the cursor', async () => {
  const { shown } = await askWith(['n']);
  expect(shown).toContain('Arguments: {"to":"\\x1b[2Jada"}\n');
  expect(shown).not.toContain('\x1b');
});

test('the end of input, a cancel before and a cancel while it waits are no answer', async () => {
  expect((await askWith([])).answer).toBeUndefined();
  expect((await askWith(['y'], AbortSignal.abort())).answer).toBeUndefined();
  const stop = new AbortController();
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  stderr.once('data', () => stop.abort());
  const streams = { stdin, stdout: new PassThrough(), stderr };
  const context = openContext({}, streams, '/', () => stop.signal);
  expect(await terminalAsk(context, progress)?.(ticket, stop.signal)).toBeUndefined();
});

test.each([
  [true, false],
  [false, true],
])('without both a keyboard (%s) and a screen (%s) there is nobody to ask', (keyboard, screen) => {
  const stdin = Object.assign(new PassThrough(), { isTTY: keyboard });
  const stderr = Object.assign(new PassThrough(), { isTTY: screen });
  const context = openContext(
    {},
    { stdin, stdout: new PassThrough(), stderr },
    '/',
    () => new AbortController().signal,
  );
  expect(terminalAsk(context, progress)).toBeUndefined();
});

test('a person has a name in the record', () => {
  expect(personName({ USER: '', LOGNAME: 'bob' })).toBe('bob');
  expect(personName({})).toBe(userInfo().username);
});
