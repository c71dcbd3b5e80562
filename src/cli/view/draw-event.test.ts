/** A stored event for a program, whole and on one line; for a person, broken at the width with digests that can be looked up. */
import { expect, test } from 'vitest';
import type { RunEvent } from '../../protocol/events.ts';
import { noUsage } from '../../protocol/usage.ts';
import { eventBlock, eventJson, eventLine } from './draw-event.ts';
import { widthOf } from './wrap.ts';

const digest = 'a1'.repeat(32);
const event: RunEvent = {
  type: 'model-response',
  turn: 2,
  attempt: 1,
  httpStatus: 200,
  response: digest,
  finish: 'stop\x1b[2J',
  modelSeen: null,
  requestId: null,
  usage: noUsage,
  firstByteMs: 1,
  elapsedMs: 2,
  run: 'run_1',
  seq: 7,
  at: 0,
  epoch: 1,
};

test('one whole line', () => {
  const line = eventLine(event);
  expect(line).toMatch(/^ {3}7 {2}1970-01-01 00:00:00Z {2}model-response {4}\{"turn":2,/);
  expect(line).toContain(`"response":"${digest}"`);
});

test.each([60, 80])('lines of at most %i columns', (cells) => {
  const lines = eventBlock(event, cells);
  expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(cells);
  expect(lines[0]).toBe('   7  1970-01-01 00:00:00Z  model-response');
  const text = lines
    .slice(1)
    .map((line) => line.trim())
    .join(' · ');
  expect(text).toContain('turn 2 · attempt 1 · httpStatus 200');
  expect(text).toContain('response a1a1a1a1a1a1');
  expect(text).not.toContain(digest);
  expect(text).toContain('usage.totalTokens 0');
  expect(text).toContain('finish stop\\x1b[2J');
});

test('a cost that nobody told is null in the end of a run, for people and for programs', () => {
  const line = { limit: null, used: 0, reserved: 0, left: null, overrun: 0 };
  const finish: RunEvent = {
    ...{ run: 'run_1', seq: 9, at: 0, epoch: 1, type: 'run-finish', status: 'completed', answer: null },
    ...{ error: null, usage: { ...noUsage, costUsd: null }, budget: { costUsd: line }, elapsedMs: 1 },
  };
  const shown = { ...finish, budget: { costUsd: { ...line, used: null } } };
  expect(JSON.parse(eventJson(finish))).toEqual(shown);
  expect(eventLine(finish)).toContain('"costUsd":{"limit":null,"used":null,');
});
