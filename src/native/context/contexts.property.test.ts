/** Rules that hold for every text: the same answers as a naive reading of the whole, valid characters, kept limits. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { type ByteSource, memoryBytes } from './bytes.ts';
import { openContexts } from './contexts.ts';
import { fitText, jsonBytes } from './fit.ts';
import { openPace } from './limits.ts';
import { requiredLiteral } from './pattern.ts';
import { openTextBody } from './text-body.ts';
import { indexText } from './text-index.ts';

// Few letters of every length in bytes, line ends and escapes, so that matches, cuts and edges are frequent.
const texts = fc
  .array(fc.constantFrom('a', 'b', 'ab', '\n', '\r\n', 'ü', '漢', '😀', '"', '\\', '\u0001', ' '), {
    maxLength: 400,
  })
  .map((parts) => parts.join(''));
const patterns = fc.array(fc.constantFrom('a', 'b', 'ü', '😀', '"'), { minLength: 1, maxLength: 3 });

const linesOf = (text: string) => {
  const lines = text.split('\n').map((line, i, all) => (i < all.length - 1 ? line.replace(/\r$/, '') : line));
  if (lines.at(-1) === '') lines.pop();
  return lines;
};
const wide = { resultsMax: 10_000, bytesMax: 1_000_000, timeMs: 60_000 };

const isValid = (text: string) => !/\p{Surrogate}/u.test(text);

async function withText<T>(text: string, look: (contexts: ReturnType<typeof openContexts>) => Promise<T>) {
  const contexts = openContexts({ limits: wide });
  await contexts.register('input', { kind: 'text', text });
  try {
    return await look(contexts);
  } finally {
    await contexts.close();
  }
}

test('a search finds what a naive scan finds, whatever the way', async () => {
  const check = async (text: string, parts: string[], regex: boolean, flags: string) => {
    const pattern = regex ? parts.join('[^c]?') + flags : parts.join('');
    const naive = regex ? new RegExp(pattern, 'u') : undefined;
    const wanted = linesOf(text).flatMap((value, index) => {
      const at = naive === undefined ? value.indexOf(pattern) : (naive.exec(value)?.index ?? -1);
      return at < 0 ? [] : [{ index, at, value }];
    });
    const answer = await withText(text, (contexts) => contexts.search('input', { pattern, regex }));
    if (!answer.ok) throw new Error(answer.message);
    expect(answer.value.hits.map(({ index, value }) => ({ index, value }))).toEqual(
      wanted.map(({ index, value }) => ({ index, value })),
    );
    for (const [i, hit] of answer.value.hits.entries()) {
      const { index, at, value } = wanted[i] ?? { index: 0, at: 0, value: '' };
      const lineStart = text.split('\n').slice(0, index).join('\n').length + (index > 0 ? 1 : 0);
      expect(hit.at).toBe([...text.slice(0, lineStart), ...value.slice(0, at)].length);
    }
    expect(answer.truncated).toBe(false);
  };
  await fc.assert(fc.asyncProperty(texts, patterns, fc.boolean(), fc.constantFrom('', '$', '+'), check), {
    numRuns: 300,
  });
});

test('a slice is the same characters as of the whole text', async () => {
  await fc.assert(
    fc.asyncProperty(texts, fc.nat(450), fc.nat(450), async (text, start, length) => {
      const characters = [...text];
      const answer = await withText(text, (contexts) => contexts.slice('input', { start, length }));
      if (start > characters.length) {
        expect(answer).toMatchObject({ code: 'context.out-of-range' });
        return;
      }
      const value = characters.slice(start, start + length).join('');
      const end = start + [...value].length;
      expect(answer).toMatchObject({
        value: { start, value, next: end < characters.length ? end : null },
        truncated: false,
      });
    }),
    { numRuns: 300 },
  );
});

test('every answer keeps its bytes, is valid text, and says whether anything is missing', async () => {
  await fc.assert(
    fc.asyncProperty(texts, fc.nat(300), fc.integer({ min: 2, max: 200 }), async (text, count, bytesMax) => {
      await withText(text, async (contexts) => {
        const limits = { bytesMax };
        for (const type of ['head', 'tail'] as const) {
          const answer = await contexts.peek('input', { type, count }, { limits });
          if (!answer.ok || typeof answer.value !== 'string') throw new Error('A text was expected.');
          const { value } = answer;
          expect(answer.bytesReturned).toBeLessThanOrEqual(bytesMax);
          expect(isValid(value)).toBe(true);
          expect(type === 'head' ? text.startsWith(value) : text.endsWith(value)).toBe(true);
          expect(answer.truncated).toBe(value !== text);
        }
        for (const how of ['identity', 'length'] as const) {
          const answer = await contexts.map('input', how, { limits });
          if (!answer.ok) throw new Error(answer.message);
          expect(answer.bytesReturned).toBeLessThanOrEqual(bytesMax);
          if (!answer.truncated) {
            const lines = linesOf(text);
            expect(answer.value).toEqual(how === 'identity' ? lines : lines.map((line) => [...line].length));
          }
        }
        const parts = await contexts.partition('input', { type: 'lines', size: 2 }, { limits });
        if (!parts.ok) throw new Error(parts.message);
        expect(parts.bytesReturned).toBeLessThanOrEqual(bytesMax);
        const joined = parts.value.map((part) => part.value).join('');
        expect(text.startsWith(joined)).toBe(true);
        expect(parts.truncated).toBe(joined !== text || (text !== '' && parts.value.length === 0));
      });
    }),
    { numRuns: 200 },
  );
});

test('a cut text fits, loses no half character, and cannot be longer', () => {
  fc.assert(
    fc.property(
      texts,
      fc.integer({ min: 0, max: 300 }),
      fc.constantFrom('beginning', 'end'),
      (text, bytesMax, side) => {
        const cut = fitText(text, bytesMax, side as 'beginning' | 'end');
        expect(isValid(cut)).toBe(true);
        expect(side === 'end' ? text.endsWith(cut) : text.startsWith(cut)).toBe(true);
        if (cut !== '') expect(jsonBytes(cut)).toBeLessThanOrEqual(bytesMax);
        const all = [...text];
        const size = [...cut].length;
        const longer = side === 'end' ? all.slice(all.length - size - 1) : all.slice(0, size + 1);
        if (cut !== text) expect(jsonBytes(longer.join(''))).toBeGreaterThan(bytesMax);
      },
    ),
  );
});

test('over the edges of pieces, places and matches are those of the whole', async () => {
  // Lines of odd lengths with characters of several bytes, so that they fall on every side of every edge.
  const lines = Array.from(
    { length: 9000 },
    (_, i) => `${'é漢😀'.repeat(i % 23)}${i % 1000 === 999 ? 'needle' : 'x'}${i}`,
  );
  const text = lines.join('\n');
  const bytes = Buffer.from(text);
  expect(bytes.length).toBeGreaterThan(700_000);
  const pace = openPace(systemClock, []);
  const index = await indexText(memoryBytes(bytes), pace);
  const read: ByteSource['read'] = async (start, end) => bytes.subarray(start, end);
  expect([index.characters, index.lines]).toEqual([[...text].length, 9000]);
  for (const line of [0, 1, 999, 4500, 8999, 9000]) {
    const byte =
      line === 9000 ? bytes.length : Buffer.byteLength(lines.slice(0, line).join('\n')) + (line > 0 ? 1 : 0);
    expect(await index.byteOfLine(line, read)).toBe(byte);
    const character = [...bytes.subarray(0, byte).toString()].length;
    if (line < 9000) expect(await index.placeOf(byte, read)).toEqual({ line, character });
    expect(await index.byteOfCharacter(character, read)).toBe(byte);
  }
  const body = await openTextBody(memoryBytes(bytes), pace);
  const work = { limits: wide, pace, inspect: () => {} };
  for (const request of [
    { pattern: 'needle' },
    { pattern: 'needl.', regex: true },
    { pattern: '[n]eedle', regex: true },
  ]) {
    const { value, truncated } = await body.search(work, request);
    expect(value.hits.map((hit) => hit.value)).toEqual(lines.filter((line) => line.includes('needle')));
    expect(truncated).toBe(false);
  }
});

test.each([
  ['needle', 'needle'],
  ['^ERROR .*node \\d+$', 'ERROR '],
  ['a|needle', ''],
  ['(a|b)needle?', 'needl'],
  ['x{2,3}yes', 'yes'],
  ['(?i)needle', ''],
  ['\\p{Greek}ab\\pLcd\\x41e\\123f', 'ab'],
  ['[[:alpha:]|x]abc*', 'ab'],
  ['a\\.b\\(c', 'a.b(c'],
  ['(?P<name>inner)x+y', 'x'],
  ['\\Qa.b\\E', ''],
])('every match of %s holds "%s"', (expression, literal) => {
  expect(requiredLiteral(expression)).toBe(literal);
});
