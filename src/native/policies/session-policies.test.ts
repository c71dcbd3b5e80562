import { describe, expect, test } from 'vitest';
import type { EventBody } from '../../protocol/events.ts';
import { openPolicies } from './session-policies.ts';

const seat = { access: () => undefined, watched: false, left: () => null };
const at = { turn: 1, position: 1 };
const asked: EventBody[] = [
  { type: 'turn-start', turn: 1 },
  { type: 'message-finish', turn: 1, message: 'm', text: null, textBytes: 0, calls: 1 },
  { type: 'tool-call', ...at, callId: 'c', tool: 'look', arguments: '{}' },
];
const result: EventBody = {
  type: 'tool-result',
  ...at,
  callId: 'c',
  tool: 'look',
  status: 'ok',
  code: null,
  message: 'd',
  bytes: 1,
  truncated: false,
  elapsedMs: 1,
};

describe('policies after a turn', () => {
  const policies = openPolicies({ starvation: { turns: 1 } }, seat);
  test('say nothing of a turn that has no answer, or a call without a result', () => {
    // An answer and its calls are recorded in one go.
    for (const length of [0, 1, asked.length])
      expect(policies.afterTurn(asked.slice(0, length))).toBeUndefined();
  });

  test('speak once, and say the same again where it did not go out', () => {
    const events = [...asked, result];
    const said = policies.afterTurn(events);
    if (said?.do !== 'speak' || said.event === undefined) throw new Error('nothing was said');
    expect(said.event).toEqual({ type: 'policy-speak', policy: 'starvation', text: said.text });
    expect(policies.afterTurn([...events, said.event])).toEqual({
      do: 'speak',
      text: said.text,
      event: undefined,
    });
  });
});
