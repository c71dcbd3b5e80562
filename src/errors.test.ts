import { describe, expect, test } from 'vitest';
import { messageOf, systemCode, toErrorJson, WritError } from './errors.ts';

const unreadable = 'A value without a text was thrown.';

function withGetter(name: string): Error {
  return Object.defineProperty(new Error('real'), name, {
    get() {
      throw new Error('looked at');
    },
  });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('whatever was thrown has a message', () => {
  test.each<[string, unknown, string]>([
    ['an error', new Error('no such file'), 'no such file'],
    ['a text', 'out of paper', 'out of paper'],
    ['nothing', undefined, 'undefined'],
    ['a symbol', Symbol('stop'), 'Symbol(stop)'],
    ['a bigint', 5n, '5'],
    ['an error whose message is no text', Object.assign(new Error(), { message: 5n }), '5'],
    ['an error whose message is a symbol', Object.assign(new Error(), { message: Symbol('s') }), 'Symbol(s)'],
    ['an object without a prototype', Object.create(null), unreadable],
    ['a message that throws', withGetter('message'), unreadable],
    ['a message without a text', Object.assign(new Error(), { message: Object.create(null) }), unreadable],
    [
      'a toString that throws',
      {
        toString() {
          throw new Error('no');
        },
      },
      unreadable,
    ],
    ['a revoked proxy', revoked(), unreadable],
  ])('%s', (_what, thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
    expect(toErrorJson(thrown)).toEqual({ code: 'fault', kind: 'failed', message });
    expect(systemCode(thrown)).toBeUndefined();
  });
});

test.each<[string, unknown]>([
  ['a code that throws', withGetter('code')],
  ['a code that is no text', Object.assign(new Error(), { code: 5 })],
])('%s is no system code', (_what, thrown) => {
  expect(systemCode(thrown)).toBeUndefined();
});

test('a cause is told down to four messages, each once, and a hostile one ends the chain', () => {
  const table = { 'x.broke': { kind: 'failed', about: 'It broke.' } } as const;
  const json = (cause: unknown) => new WritError(table, 'x.broke', 'It broke.', { cause }).toJSON().cause;
  expect(json(new Error('a', { cause: new Error('b', { cause: revoked() }) }))).toBe(`a ← b ← ${unreadable}`);
  expect(json(withGetter('cause'))).toBe('real');
  const circle = new Error('round');
  circle.cause = circle;
  expect(json(circle)).toBe('round');
  expect(json(new AggregateError([new Error('one'), 'two'], 'all'))).toBe('all ← one ← two');
  expect(json('paper')).toBe('paper');
  const deep = (depth: number): Error => new Error(`${depth}`, depth === 6 ? {} : { cause: deep(depth + 1) });
  expect(json(deep(1))).toBe('1 ← 2 ← 3 ← 4');
});

test('links and codes are own data: no getter is run for them, and no proxy is asked', () => {
  let ran = 0;
  const get = () => {
    ran += 1;
    return 'ENOENT';
  };
  const error = new Error('real');
  for (const name of ['cause', 'errors', 'code']) Object.defineProperty(error, name, { get });
  const table = { 'x.broke': { kind: 'failed', about: 'It broke.' } } as const;
  const { cause } = new WritError(table, 'x.broke', 'It broke.', { cause: error }).toJSON();
  expect([systemCode(error), cause, ran]).toEqual([undefined, 'real', 0]);
});
