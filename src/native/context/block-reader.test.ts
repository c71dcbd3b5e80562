/** What operations on a text say of the bytes that they have read, held against what the source was really asked for. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import type { Json } from '../../protocol/json.ts';
import { memoryBytes } from './bytes.ts';
import { openPace } from './limits.ts';
import type { ContextBody, Found, Work } from './operations.ts';
import { openTextBody } from './text-body.ts';

const line = (i: number) => `line ${i} of a text with ${'ü'.repeat(i % 120)} and a needle in it\n`;
const whole = Buffer.from(Array.from({ length: 850 }, (_, i) => line(i)).join(''));
const small = whole.subarray(0, 63 * 1024);
const limits = { resultsMax: 100_000, bytesMax: 4_000_000, timeMs: 60_000 };

let asked = 0;
const bodies: ContextBody[] = [];
const open = async (bytes: Buffer) => {
  const source = memoryBytes(bytes);
  const counted = {
    ...source,
    read(start: number, end: number) {
      asked += end - start;
      return source.read(start, end);
    },
  };
  const body = await openTextBody(counted, openPace(systemClock, []));
  bodies.push(body);
  return body;
};

let ofWhole: ContextBody;
let ofSmall: ContextBody;
beforeAll(async () => {
  ofWhole = await open(whole);
  ofSmall = await open(small.subarray(0, small.lastIndexOf('\n') + 1));
});
afterAll(() => Promise.all(bodies.map((body) => body.close())));

const operations: readonly [string, (body: ContextBody, work: Work) => Promise<Found<Json>>][] = [
  ['lines one by one', (body, work) => body.partition(work, { type: 'lines', size: 1 })],
  ['parts of 7 lines', (body, work) => body.partition(work, { type: 'lines', size: 7 })],
  ['parts of 50 characters', (body, work) => body.partition(work, { type: 'fixed', size: 50 })],
  ['lengths of lines', (body, work) => body.map(work, 'length')],
  ['lines in capitals', (body, work) => body.map(work, 'uppercase')],
  ['a text that stands in each line', (body, work) => body.search(work, { pattern: 'needle' })],
  ['an expression', (body, work) => body.search(work, { pattern: 'need(le)+', regex: true })],
];

test.each(operations)('no byte is read twice, and each read one is counted: %s', async (_, operation) => {
  for (const body of [ofSmall, ofWhole]) {
    let inspected = 0;
    asked = 0;
    const pace = openPace(systemClock, [], limits.timeMs);
    const found = await operation(body, { limits, pace, inspect: (bytes) => (inspected += bytes) });
    expect(found.truncated).toBe(false);
    expect(inspected).toBe(asked);
    expect(asked).toBe(body.metadata.bytes);
  }
});

test('a look at the beginning or the end reads no more than it can show', async () => {
  const pace = openPace(systemClock, []);
  asked = 0;
  let inspected = 0;
  const work = { limits, pace, inspect: (bytes: number) => (inspected += bytes) };
  await ofWhole.peek(work, { type: 'head', count: 5 });
  await ofWhole.peek(work, { type: 'tail', count: 5 });
  expect({ inspected, asked }).toEqual({ inspected: 40, asked: 40 });
});
