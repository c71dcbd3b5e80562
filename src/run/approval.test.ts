import { expect, test } from 'vitest';
import type { Ticket } from '../protocol/ticket.ts';
import { type Ask, inTurn } from './approval.ts';

const ticket = (id: string): Ticket => ({
  id,
  turn: 1,
  position: 1,
  tool: 'send',
  capability: 'mail',
  fingerprint: 'f',
  arguments: '{}',
  digest: 'd',
});
const never = new AbortController().signal;

test('a person is asked one question at a time, and none that is no longer wanted', async () => {
  const asked: string[] = [];
  const answer: (() => void)[] = [];
  const ask: Ask = ({ id }) => {
    asked.push(id);
    return new Promise((resolve) =>
      answer.push(() => resolve({ decision: 'approved', by: 'ada', reason: id })),
    );
  };
  const turns = inTurn(ask);
  const stop = new AbortController();
  const all = [turns(ticket('a'), never), turns(ticket('b'), stop.signal), turns(ticket('c'), never)];
  await new Promise(setImmediate);
  expect(asked).toEqual(['a']);
  stop.abort();
  answer[0]?.();
  await new Promise(setImmediate);
  expect(asked).toEqual(['a', 'c']);
  answer[1]?.();
  expect((await Promise.all(all)).map((one) => one?.reason)).toEqual(['a', undefined, 'c']);
});

test('a way of asking that failed does not stop the next question', async () => {
  let first = true;
  const turns = inTurn(async () => {
    if (first) {
      first = false;
      throw new Error('the terminal is gone');
    }
    return undefined;
  });
  await expect(turns(ticket('a'), never)).rejects.toThrow('gone');
  expect(await turns(ticket('b'), never)).toBeUndefined();
});
