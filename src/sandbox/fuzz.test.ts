/** What comes from outside as text or bytes: frames, banners, locators, pages. A few runs here; `npm run test:fuzz` makes many. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { bannerText, readBanner, type Shown } from './banner.ts';
import { isCommandId, type Locator, locatorText, readLocator } from './locator.ts';
import { readStream, wholeCharacters } from './output-page.ts';
import type { CommandStatus, EndReceipt } from './sandbox.ts';
import { type Frame, frameReader, frameText, readFrame } from './supervisor/frames.ts';

const runs = { numRuns: Number(process.env.WRIT_FUZZ_RUNS ?? 300) };
const folder = mkdtempSync(join(tmpdir(), 'writ-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Text that tries to look like ours. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc
    .array(
      fc.constantFrom(
        '[command c_12345678 ended exit=0]',
        '[command c_12345678 running]',
        '[output 0123456789ab stdout=0-1 stderr=0-1]',
        '[0123456789ab stdout 0-4]',
        '[0123456789ab end]',
        '[note It was cancelled.]',
        '\n',
        '\r\n',
        ']',
        '[',
        '\0',
        'x',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('')),
);
const id = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{7,63}$/);
const status: fc.Arbitrary<CommandStatus> = fc.oneof(
  fc.constant<CommandStatus>({ state: 'running', leader: 1, stdinBytes: 0, startedAtMs: 0 }),
  fc.constant<CommandStatus>({ state: 'lost', leader: 1 }),
  fc
    .oneof(
      fc.record({ code: fc.nat({ max: 255 }), signal: fc.constant(null) }),
      fc.constant({ code: null, signal: 'SIGKILL' }),
      fc.constant({ code: null, signal: null }),
    )
    .map((exit): CommandStatus => ({ state: 'ended', receipt: { exit } as EndReceipt })),
);

test('no output and no note changes what the head of a result says', () => {
  fc.assert(
    fc.property(
      id,
      status,
      hostile,
      hostile,
      fc.array(hostile, { maxLength: 3 }),
      (command, is, out, err, notes) => {
        const page = (text: string) => ({ text, from: 0, next: Buffer.byteLength(text), eof: true });
        const shown: Shown = { status: is, stdout: [page(out), page(err)], stderr: [page(err)] };
        const text = bannerText(command, shown, notes);
        const exit = is.state === 'ended' ? is.receipt.exit : undefined;
        const exitCode = exit?.signal === 'SIGKILL' ? 137 : (exit?.code ?? null);
        expect(readBanner(text)).toEqual(
          is.state === 'ended' ? { state: 'ended', command, exitCode } : { state: is.state, command },
        );
        // The mark stands on no line of the output, and the parts can be told apart by it.
        const mark = /^\[output ([0-9a-f]{12}) /m.exec(text)?.[1] ?? '';
        expect(out.includes(mark) || err.includes(mark)).toBe(false);
        expect(text.split(mark)).toHaveLength(3 + [out, err, err].filter((one) => one !== '').length);
        // A note is one line of the head, whatever stands in it.
        const head = text.split('\n').slice(2, 2 + notes.length);
        for (const line of head) expect(line).toMatch(/^\[note [^\]]*\]$/);
        expect(text.split('\n')[2 + notes.length]?.startsWith(`[${mark} `)).toBe(true);
      },
    ),
    runs,
  );
});

test('what was not written here is no banner', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(['absent', 'invalid', 'running', 'ended', 'lost']).toContain(readBanner(text).state);
    }),
    runs,
  );
  const real = bannerText('c_12345678', { status: { state: 'lost', leader: null }, stdout: [], stderr: [] });
  expect(readBanner(`x${real}`)).toEqual({ state: 'absent' });
  expect(readBanner(`${real}\nmore`)).toEqual({ state: 'invalid' });
  expect(readBanner(real.replace(' lost]', ' ended exit=00]'))).toEqual({ state: 'invalid' });
});

const locator: fc.Arbitrary<Locator> = fc.record(
  {
    sandbox: fc.stringMatching(/^[a-z][a-z0-9-]{0,31}$/),
    id,
    route: fc.record({
      instance: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
      epoch: fc.nat(),
    }),
  },
  { requiredKeys: ['sandbox', 'id'] },
);

test('a locator is read as it was written, and nothing else is one', () => {
  fc.assert(
    fc.property(locator, (one) => {
      expect(readLocator(locatorText(one))).toEqual(one);
    }),
    runs,
  );
  fc.assert(
    fc.property(
      fc.oneof(
        hostile,
        fc.string({ maxLength: 200 }),
        locator.map((one) => `${locatorText(one)}/..`),
      ),
      (text) => {
        let read: Locator;
        try {
          read = readLocator(text);
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'sandbox.bad-locator' });
          return;
        }
        expect(locatorText(read)).toBe(text);
        expect(isCommandId(read.id)).toBe(true);
        expect(join('/root', read.id).startsWith('/root/')).toBe(true);
      },
    ),
    runs,
  );
});

const frame: fc.Arbitrary<Frame> = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<Frame>;
const json = (value: unknown) => JSON.parse(JSON.stringify(value));

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...places].map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [...at, bytes.length].map((end, i) => bytes.subarray(at[i - 1] ?? 0, end));
}

test('frames come out whole and in order, however their bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 5 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      (frames, places) => {
        const taken: unknown[] = [];
        const take = frameReader((one) => taken.push(one));
        for (const chunk of cut(Buffer.from(frames.map(frameText).join('')), places)) take(chunk);
        expect(taken).toEqual(json(frames));
      },
    ),
    runs,
  );
});

test('bytes that are no frames are told as null and never throw; a line beyond the bound ends the conversation', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.uint8Array(),
          hostile.map((text) => Buffer.from(text)),
        ),
        { maxLength: 8 },
      ),
      (chunks) => {
        const taken: (Frame | null)[] = [];
        const take = frameReader((one) => taken.push(one), 64);
        for (const chunk of chunks) take(Buffer.from(chunk));
        for (const one of taken) expect(one === null || typeof one === 'object').toBe(true);
      },
    ),
    runs,
  );
  const taken: (Frame | null)[] = [];
  const take = frameReader((one) => taken.push(one), 8);
  for (const text of ['{"a":1}\n', '123456', '789\n', '{"a":2}\n']) take(Buffer.from(text));
  expect(taken).toEqual([{ a: 1 }, null]);
  for (const text of ['', 'null', '[]', '1', '"x"', '{', 'x']) expect(readFrame(text)).toBeNull();
});

test('pages join to the whole, in whole characters, wherever the writer stopped', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.integer({ min: 64, max: 100 }),
      fc.nat(),
      async (text, bytesMax, stop) => {
        const path = join(folder, 'stream');
        const bytes = Buffer.from(text);
        const written = bytes.subarray(0, stop % (bytes.length + 1));
        let read = '';
        let at = 0;
        for (const [content, ended] of [
          [written, false],
          [bytes, true],
        ] as const) {
          writeFileSync(path, content);
          for (;;) {
            const page = await readStream(path, at, { bytesMax, ended });
            expect(page.from).toBe(at);
            read += page.text;
            at = page.next;
            if (page.eof || page.next === page.from) break;
          }
        }
        expect(read).toBe(bytes.toString('utf8'));
        expect(at).toBe(bytes.length);
      },
    ),
    { numRuns: Math.ceil(runs.numRuns / 3) },
  );
});

test('no bytes, whatever they are, stop a reader from getting on', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 4, maxLength: 64 }), (array) => {
      const bytes = Buffer.from(array);
      const page = wholeCharacters(bytes, false);
      expect(bytes.length - page.length).toBeLessThanOrEqual(3);
      expect(wholeCharacters(bytes, true)).toBe(bytes);
    }),
    runs,
  );
});
