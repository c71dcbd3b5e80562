/** Events come out the same however their bytes are cut. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WireError } from './errors.ts';
import { type SseEvent, sseReader } from './sse.ts';

function read(chunks: readonly Uint8Array[], eventCharsMax?: number): SseEvent[] {
  const events: SseEvent[] = [];
  const reader = sseReader(eventCharsMax === undefined ? {} : { eventCharsMax });
  for (const chunk of chunks) reader.push(chunk, (event) => events.push(event));
  reader.end((event) => events.push(event));
  return events;
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [...new Set(at.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length));
}

const data = (text: string): SseEvent => ({ event: '', data: text });

describe('what the lines mean', () => {
  test.each([
    ['line feeds', 'data: a\n\ndata: b\n\n', [data('a'), data('b')]],
    ['CR and LF', 'data: a\r\n\r\ndata: b\r\n\r\n', [data('a'), data('b')]],
    ['CR alone', 'data: a\r\rdata: b\r\r', [data('a'), data('b')]],
    ['all mixed', 'data: a\r\n\ndata: b\r\r\ndata: c\n\r', [data('a'), data('b'), data('c')]],
    ['no blank after the colon', 'data:a\n\ndata:  b\n\n', [data('a'), data(' b')]],
    ['several data lines', 'data: a\ndata\ndata: b\n\n', [data('a\n\nb')]],
    ['comments', ': wait\n\n:x\ndata: a\n: y\n\n', [data('a')]],
    ['a name', 'event: error\ndata: a\n\ndata: b\n\n', [{ event: 'error', data: 'a' }, data('b')]],
    ['ids, retries and unknown fields', 'id: 1\nretry: 5\nfoo: x\ndata: a\n\n', [data('a')]],
    ['a name without data', 'event: ping\n\ndata: a\n\n', [data('a')]],
    ['a byte order mark', '\ufeffdata: a\n\n', [data('a')]],
    ['a last event without its blank line', 'data: a\n\ndata: b', [data('a'), data('b')]],
    ['an empty data line', 'data:\n\n', [data('')]],
    ['nothing', '', []],
  ])('%s', (_name, text, events) => {
    expect(read([Buffer.from(text)])).toEqual(events);
    expect(read([...Buffer.from(text)].map((byte) => Uint8Array.of(byte)))).toEqual(events);
  });
});

describe('any cut', () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }).map((text) => `data: ${text}`),
    fc.constantFrom('', '', 'data:x', ':c', 'event: e', 'data: 😀é漢', 'data'),
  );
  const streams = fc
    .array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')))
    .map((lines) => Buffer.from(lines.flat().join('')));
  // Bytes that are no UTF-8 at all, and bytes that nearly are.
  const noise = fc
    .array(fc.constantFrom(0x0a, 0x0d, 0x41, 0x80, 0x82, 0xac, 0xc3, 0xe2, 0xed, 0xa0, 0xf0, 0x9f, 0xff))
    .map((bytes) => Buffer.concat([Buffer.from('data: '), Uint8Array.from(bytes)]));

  test('gives the same events', () => {
    fc.assert(
      fc.property(fc.oneof(streams, noise), fc.array(fc.nat(), { maxLength: 30 }), (bytes, at) => {
        expect(read(cut(bytes, at))).toEqual(read([bytes]));
      }),
      { numRuns: 2_000 },
    );
  });

  test('decodes as the whole would', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat()), (bytes, at) => {
        const text = Buffer.from(bytes.map((byte) => (byte === 10 || byte === 13 ? 0xe2 : byte)));
        const whole = Buffer.concat([Buffer.from('data:x'), text]);
        expect(read(cut(whole, at))).toEqual([data(whole.toString('utf8').slice(5))]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the limit of one event', () => {
  test.each([
    ['in one line', `data: ${'x'.repeat(100)}`],
    ['over several lines', 'data: xxxxxxxxxxxx\n'.repeat(10)],
    ['in a comment', `:${'x'.repeat(100)}`],
  ])('is kept %s, after the events before it', (_name, text) => {
    const bytes = Buffer.from(`data: a\n\n${text}\n\n`);
    for (const chunks of [[bytes], [...bytes].map((byte) => Uint8Array.of(byte))]) {
      const events: SseEvent[] = [];
      const reader = sseReader({ eventCharsMax: 60 });
      const readAll = () => {
        for (const chunk of chunks) reader.push(chunk, (event) => events.push(event));
      };
      expect(readAll).toThrow(WireError);
      expect(readAll).toThrow(expect.objectContaining({ code: 'wire.event-too-large', kind: 'failed' }));
      expect(events).toContainEqual(data('a'));
    }
  });

  test('is kept for a line that never ends', () => {
    const reader = sseReader({ eventCharsMax: 60 });
    const push = () => reader.push(Buffer.from('x'.repeat(40)), () => {});
    push();
    expect(push).toThrow(WireError);
  });

  test('lets an event of exactly that size through', () => {
    expect(read([Buffer.from(`data:${'x'.repeat(55)}\n\n`)], 60)).toEqual([data('x'.repeat(55))]);
  });
});

test('the time grows with the bytes, not with bytes times events or chunks', () => {
  const events = 40_000;
  const bytes = Buffer.from('data: {"choices":[{"delta":{"content":"token"}}]}\n\n'.repeat(events));
  const began = performance.now();
  expect(read([bytes])).toHaveLength(events);
  // One long line in small pieces.
  const long = [Buffer.from('data: '), ...Array.from({ length: 200_000 }, () => Buffer.from('0123456789'))];
  expect(read(long)[0]?.data).toHaveLength(2_000_000);
  // Copying the rest for each event, or searching the line again for each piece, takes minutes.
  expect(performance.now() - began).toBeLessThan(5_000);
});
