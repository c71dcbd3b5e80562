/** The graph of an error is read within one set of bounds, by own data alone, and every doubt counts against a retry. */
import { expect, test } from 'vitest';
import { errorGraph, graphBounds } from '../error-graph.ts';
import {
  isTransportFault,
  locatorIn,
  mayHoldUnknownStart,
  provenUnavailable,
  soleProof,
} from './error-graph.ts';
import type { Locator } from './locator.ts';
import { startFault } from './start-outcome.ts';

const locator: Locator = { sandbox: 'remote', id: 'c_12345678' };
const down = () => startFault({ kind: 'unavailable' }, 'down');
const lost = () => startFault({ kind: 'unknown', locator }, 'lost');
const wrap = (cause: unknown, times = 1): unknown =>
  times === 0 ? cause : wrap(new Error('wrapped', { cause }), times - 1);
const withGetter = (name: string) => {
  let ran = false;
  const error = Object.defineProperty(down(), name, {
    get: () => {
      ran = true;
      return undefined;
    },
    enumerable: true,
  });
  return { error, ran: () => ran };
};

test.each([
  ['a proof', down(), true],
  ['a proof far down', wrap(down(), graphBounds.depth - 1), true],
  ['a proof beyond the depth', wrap(down(), graphBounds.depth), false],
  ['proofs side by side', new AggregateError([down(), wrap(down())]), true],
  ['a proof beside something plain', new AggregateError([down(), new Error('x')]), false],
  ['a proof beside an unknown start', new AggregateError([down(), lost()]), false],
  ['a proof over an unknown start', startFault({ kind: 'unavailable' }, 'x', lost()), false],
  ['a proof over something plain', startFault({ kind: 'unavailable' }, 'x', new Error('refused')), true],
  ['no parts', new AggregateError([]), false],
  ['too many parts', new AggregateError(Array.from({ length: graphBounds.parts + 1 }, down)), false],
  ['as many parts as may be', new AggregateError(Array.from({ length: graphBounds.parts }, down)), true],
  [
    'too many nodes',
    new AggregateError([1, 2, 3].map(() => new AggregateError(Array.from({ length: 30 }, down)))),
    false,
  ],
  ['a text as cause', new Error('x', { cause: 'down' }), false],
  ['a hole among the parts', Object.assign(new Error('x'), { errors: new Array(1).concat(down()) }), false],
  ['an answer of a server', wrap(Object.assign(down(), { status: 503 })), false],
  ['an answer further in', Object.assign(down(), { response: { statusCode: 400 } }), false],
  ['a number that is no status', Object.assign(down(), { status: 4 }), true],
  ['nothing', undefined, false],
])('proven unavailable: %s', (_what, error, proven) => {
  expect(provenUnavailable(error)).toBe(proven);
});

test('a cycle and an object met twice prove nothing', () => {
  const one = down();
  expect(provenUnavailable(new AggregateError([one, one]))).toBe(false);
  const cycle = new Error('x');
  cycle.cause = new Error('y', { cause: cycle });
  expect(provenUnavailable(cycle)).toBe(false);
  expect(mayHoldUnknownStart(cycle)).toBe(false);
});

test.each(['cause', 'errors', 'status', 'response'])(
  'a getter as %s is not run and proves nothing',
  (name) => {
    const { error, ran } = withGetter(name);
    expect([provenUnavailable(error), ran()]).toEqual([false, false]);
    if (name === 'cause' || name === 'errors') expect(mayHoldUnknownStart(error)).toBe(true);
  },
);

test('a proxy is not asked', () => {
  let asked = false;
  const trap = () => {
    asked = true;
    return undefined;
  };
  const proxy = new Proxy(down(), {
    getOwnPropertyDescriptor: trap,
    get: trap,
    getPrototypeOf: () => trap() ?? null,
  });
  for (const error of [proxy, new Error('x', { cause: proxy }), new AggregateError([proxy])]) {
    expect(provenUnavailable(error)).toBe(false);
    expect(mayHoldUnknownStart(error)).toBe(true);
    expect(locatorIn(error)).toBeNull();
    // Whoever asks for the parts is not handed it, and so cannot run its code.
    const { nodes, leaves } = errorGraph(error);
    expect([...nodes, ...leaves].includes(proxy)).toBe(false);
  }
  expect(asked).toBe(false);
});

test('an unknown start anywhere is found, and what could not be read whole may hold one', () => {
  expect(mayHoldUnknownStart(wrap(lost(), 3))).toBe(true);
  expect(mayHoldUnknownStart(new AggregateError([down(), lost()]))).toBe(true);
  expect(mayHoldUnknownStart(wrap(down(), 3))).toBe(false);
  expect(mayHoldUnknownStart(wrap(new Error('x'), graphBounds.depth + 1))).toBe(true);
});

test('the command that an error is about is told if it is one', () => {
  expect(locatorIn(wrap(lost(), 2))).toEqual(locator);
  expect(locatorIn(new AggregateError([lost(), lost()]))).toBeNull();
  expect(locatorIn(down())).toBeNull();
  expect(locatorIn(wrap(lost(), graphBounds.depth))).toBeNull();
});

test('a proof that stands alone is told; two that differ are none', () => {
  const rejected = () => startFault({ kind: 'rejected', code: 'not-found' }, 'no');
  expect(soleProof(wrap(rejected()))).toEqual({ kind: 'rejected', code: 'not-found' });
  expect(soleProof(new AggregateError([rejected(), down()]))).toBeUndefined();
  expect(soleProof(startFault({ kind: 'rejected', code: 'not-found' }, 'no', lost()))).toBeUndefined();
  expect(soleProof(new AggregateError([down(), down()]))).toEqual({ kind: 'unavailable' });
});

test('a fault of the connection is one in all its parts', () => {
  const fault = (code: string) => Object.assign(new Error('x'), { code });
  expect(isTransportFault(wrap(fault('ECONNREFUSED')))).toBe(true);
  expect(isTransportFault(new AggregateError([fault('ENOTFOUND'), fault('ETIMEDOUT')]))).toBe(true);
  expect(isTransportFault(new AggregateError([fault('ENOTFOUND'), fault('EACCES')]))).toBe(false);
  expect(isTransportFault(new Error('ECONNREFUSED'))).toBe(false);
});
