/** Contexts as a program uses them: bounded operations, honest flags, faults as answers, and payloads that never leak. */
import { appendFile, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../clock.ts';
import { spillBytes } from './bytes.ts';
import { type ContextSource, type Contexts, openContexts } from './contexts.ts';
import { refusedReader } from './reader.ts';

let contexts: Contexts;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'writ-contexts-'));
  contexts = openContexts();
});
afterEach(async () => {
  await contexts.close();
  await rm(folder, { recursive: true, force: true });
});

const text = (value: string): ContextSource => ({ kind: 'text', text: value });
const found = async (answer: Promise<unknown>) => {
  const { value, truncated, ok } = (await answer) as { value: unknown; truncated: boolean; ok: boolean };
  return ok ? { value, truncated } : answer;
};

describe('a text', () => {
  test('registers without showing anything of itself, and is searched within its limits', async () => {
    const lines = Array.from({ length: 2500 }, (_, i) => (i % 500 === 7 ? `needle ${i}` : `hay ${i}`));
    const handle = await contexts.register('input', text(lines.join('\n')));
    expect(JSON.stringify(handle)).not.toMatch(/hay|needle/);
    expect(handle).toEqual({
      id: expect.stringMatching(/^context_\w{26}$/),
      alias: 'input',
      metadata: { kind: 'text', bytes: 21404, characters: 21404, items: 2500 },
    });
    const limits = { resultsMax: 3 };
    expect(await contexts.search(handle.id, { pattern: 'needle' }, { limits })).toMatchObject({
      ok: true,
      value: {
        hits: [
          { index: 7, value: 'needle 7' },
          { index: 507, value: 'needle 507' },
          { index: 1007, value: 'needle 1007' },
        ],
        next: 1507,
        skipped: 0,
      },
      truncated: true,
    });
    expect(
      await found(contexts.search('input', { pattern: 'needle', from: 1507 }, { limits })),
    ).toMatchObject({
      value: { hits: [{ index: 1507 }, { index: 2007 }], next: null },
      truncated: false,
    });
  });

  test('is searched letter for letter, with its case; an expression is one only if that is said', async () => {
    await contexts.register('input', text('a.c\nabc\nABC\r\nend'));
    const hits = async (pattern: string, regex = false) => {
      const answer = await contexts.search('input', { pattern, regex });
      return answer.ok ? answer.value.hits.map((hit) => [hit.index, hit.at, hit.value]) : answer.code;
    };
    expect(await hits('a.c')).toEqual([[0, 0, 'a.c']]);
    expect(await hits('a.c', true)).toEqual([
      [0, 0, 'a.c'],
      [1, 4, 'abc'],
    ]);
    expect(await hits('(?i)bc$', true)).toEqual([
      [1, 5, 'abc'],
      [2, 9, 'ABC'],
    ]);
    expect(await hits('nothing')).toEqual([]);
  });

  test('a long line shows the part around the match, says so, and gives its place', async () => {
    await contexts.register('input', text(`${'ü'.repeat(5000)}needle${'é'.repeat(5000)}`));
    const answer = await contexts.search('input', { pattern: 'needle' });
    if (!answer.ok) throw new Error(answer.message);
    const [hit] = answer.value.hits;
    expect(answer.truncated).toBe(true);
    expect(hit).toMatchObject({ index: 0, at: 5000 });
    expect(hit?.value).toMatch(/^ü+needleé+$/);
    expect(Buffer.byteLength(hit?.value ?? '')).toBeLessThanOrEqual(1024);
    expect(await found(contexts.slice('input', { start: 5000, length: 6 }))).toEqual({
      value: { start: 5000, value: 'needle', next: 5006 },
      truncated: false,
    });
  });

  test('an expression is not tried on a line above 1 MiB, and that is said; a plain text is found there', async () => {
    await contexts.register('input', text(`short needle\n${'x'.repeat(2 ** 21)}needle\nlast needle\n`));
    const limits = { timeMs: 200 };
    expect(
      await found(contexts.search('input', { pattern: 'ne+dle', regex: true }, { limits })),
    ).toMatchObject({
      value: { hits: [{ index: 0 }, { index: 2 }], next: null, skipped: 1 },
      truncated: true,
    });
    const plain = await contexts.search('input', { pattern: 'needle' }, { limits });
    expect(plain.ok && plain.value.hits.map((hit) => hit.index)).toEqual([0, 1, 2]);
  });

  test('a hit that does not fit alone is shown in part, and the search goes on behind it', async () => {
    await contexts.register('input', text(`${'needle '.repeat(40)}\nneedle`));
    const answer = await contexts.search('input', { pattern: 'needle' }, { limits: { bytesMax: 160 } });
    if (!answer.ok) throw new Error(answer.message);
    expect(answer).toMatchObject({ truncated: true, value: { next: 1, hits: [{ index: 0 }] } });
    expect(answer.bytesReturned).toBeLessThanOrEqual(160);
    expect(answer.value.hits[0]?.value).toMatch(/^needle /);
  });

  test.each([
    ['head', 100, 'naïve 😀', false],
    ['head', 7, 'naïve 😀', false],
    ['head', 6, 'naïve ', true],
    ['tail', 100, 'naïve 😀', false],
    ['tail', 1, '😀', true],
    ['tail', 0, '', true],
  ] as const)('%s %i', async (type, count, value, truncated) => {
    await contexts.register('input', text('naïve 😀'));
    expect(await found(contexts.peek('input', { type, count }))).toEqual({ value, truncated });
  });

  test('an empty one has nothing and withholds nothing', async () => {
    await contexts.register('input', text(''));
    expect(await found(contexts.metadata('input'))).toEqual({
      value: { kind: 'text', bytes: 0, characters: 0, items: 0 },
      truncated: false,
    });
    for (const answer of [
      contexts.peek('input', { type: 'head', count: 5 }),
      contexts.peek('input', { type: 'tail', count: 5 }),
    ])
      expect(await found(answer)).toEqual({ value: '', truncated: false });
    expect(await found(contexts.search('input', { pattern: 'x' }))).toEqual({
      value: { hits: [], next: null, skipped: 0 },
      truncated: false,
    });
    expect(await found(contexts.map('input', 'length'))).toEqual({ value: [], truncated: false });
  });

  test('parts, mappings and sums', async () => {
    await contexts.register('input', text('Äb\nc\n\nd'));
    expect(await found(contexts.partition('input', { type: 'fixed', size: 4 }))).toEqual({
      value: [
        { index: 0, start: 0, length: 4, value: 'Äb\nc' },
        { index: 1, start: 4, length: 3, value: '\n\nd' },
      ],
      truncated: false,
    });
    expect(await found(contexts.partition('input', { type: 'lines', size: 3 }))).toEqual({
      value: [
        { index: 0, start: 0, length: 6, value: 'Äb\nc\n\n' },
        { index: 1, start: 6, length: 1, value: 'd' },
      ],
      truncated: false,
    });
    expect(await found(contexts.map('input', 'identity'))).toEqual({
      value: ['Äb', 'c', '', 'd'],
      truncated: false,
    });
    expect(await found(contexts.map('input', 'lowercase'))).toMatchObject({ value: ['äb', 'c', '', 'd'] });
    expect(await found(contexts.map('input', 'length'))).toMatchObject({ value: [2, 1, 0, 1] });
    expect(await found(contexts.reduce('input', 'count'))).toMatchObject({ value: 4 });
    expect(await found(contexts.reduce('input', 'byte_count'))).toMatchObject({ value: 8 });
  });

  test('the bytes of an answer are counted over all of it', async () => {
    await contexts.register('input', text('0123456789'.repeat(20)));
    const limits = { bytesMax: 160, resultsMax: 2 };
    const answer = await contexts.partition('input', { type: 'fixed', size: 20 }, { limits });
    expect(answer).toMatchObject({ ok: true, truncated: true });
    expect(answer.ok && answer.value).toHaveLength(2);
    expect(answer.ok && answer.bytesReturned).toBeLessThanOrEqual(160);
    const tight = await contexts.partition(
      'input',
      { type: 'fixed', size: 20 },
      { limits: { bytesMax: 60 } },
    );
    expect(tight.ok && [tight.value.length, tight.value[0]?.value]).toEqual([
      1,
      expect.stringMatching(/^0123\d*$/),
    ]);
    expect(tight.ok && tight.bytesReturned).toBeLessThanOrEqual(60);
    const mapped = await contexts.map('input', 'uppercase', { limits: { bytesMax: 12 } });
    expect(mapped.ok && mapped.value).toEqual(['01234567']);
  });
});

describe('a list', () => {
  beforeEach(async () => {
    await contexts.register('list', { kind: 'terms', items: ['One', { a: 2 }, [3, 4], null] });
  });

  test('is addressed by item', async () => {
    expect(await found(contexts.metadata('list'))).toMatchObject({
      value: { kind: 'terms', bytes: 21, characters: null, items: 4 },
    });
    expect(await found(contexts.peek('list', { type: 'item', index: 1 }))).toEqual({
      value: { a: 2 },
      truncated: false,
    });
    expect(await found(contexts.peek('list', { type: 'head', count: 2 }))).toEqual({
      value: ['One', { a: 2 }],
      truncated: true,
    });
    expect(await found(contexts.peek('list', { type: 'tail', count: 9 }))).toEqual({
      value: ['One', { a: 2 }, [3, 4], null],
      truncated: false,
    });
    expect(await found(contexts.slice('list', { start: 2, length: 5 }))).toEqual({
      value: { start: 2, value: [[3, 4], null], next: null },
      truncated: false,
    });
    expect(await found(contexts.map('list', 'uppercase'))).toMatchObject({
      value: ['ONE', '{"A":2}', '[3,4]', 'NULL'],
    });
    expect(await found(contexts.reduce('list', 'count'))).toMatchObject({ value: 4 });
    expect(await found(contexts.search('list', { pattern: '"a":2' }))).toMatchObject({
      value: { hits: [{ index: 1, at: null, value: '{"a":2}' }], next: null },
    });
    expect(await found(contexts.partition('list', { type: 'fixed', size: 3 }))).toMatchObject({
      value: [
        { index: 0, start: 0, length: 3 },
        { index: 1, start: 3, length: 1, value: [null] },
      ],
      truncated: false,
    });
  });

  test('drops whole items where they do not fit, and shows one that never fits in part', async () => {
    expect(
      await found(contexts.slice('list', { start: 0, length: 4 }, { limits: { resultsMax: 1 } })),
    ).toEqual({
      value: { start: 0, value: ['One'], next: 1 },
      truncated: true,
    });
    await contexts.register('big', { kind: 'terms', items: ['x'.repeat(500)] });
    const limits = { bytesMax: 40 };
    expect(await found(contexts.peek('big', { type: 'item', index: 0 }, { limits }))).toEqual({
      value: 'x'.repeat(38),
      truncated: true,
    });
    const hit = await contexts.search('big', { pattern: 'xx' }, { limits: { bytesMax: 120 } });
    expect(hit).toMatchObject({ ok: true, truncated: true, value: { next: null, hits: [{ index: 0 }] } });
  });

  test('cannot be changed later', async () => {
    const items = [{ a: 1 }];
    await contexts.register('mine', { kind: 'terms', items });
    items[0] = { a: 2 };
    expect(await found(contexts.peek('mine', { type: 'item', index: 0 }))).toMatchObject({ value: { a: 1 } });
  });
});

describe('a file', () => {
  const file = (path: string): ContextSource => ({ kind: 'file', root: folder, path });

  test('is read where it lies; what leads out, is no file, or is no text is refused', async () => {
    await writeFile(join(folder, 'a.txt'), 'one\ntwo\n');
    await contexts.register('input', file('a.txt'));
    expect(await found(contexts.search('input', { pattern: 'two' }))).toMatchObject({
      value: { hits: [{ index: 1, at: 4, value: 'two' }] },
    });
    await symlink('/etc/hostname', join(folder, 'out'));
    await writeFile(join(folder, 'raw'), Buffer.from([0x61, 0xc3]));
    for (const [path, code] of [
      ['../a.txt', 'context.file-refused'],
      ['/etc/hostname', 'context.file-refused'],
      ['out', 'context.file-refused'],
      ['.', 'context.file-refused'],
      ['none', 'context.file-refused'],
      ['raw', 'context.not-text'],
    ] as const)
      await expect(contexts.register('other', file(path))).rejects.toMatchObject({ code });
  });

  test('that grows keeps its positions; one that is cut short or rewritten is said to be', async () => {
    await writeFile(join(folder, 'a.txt'), 'one\ntwo\n');
    await contexts.register('input', file('a.txt'));
    await appendFile(join(folder, 'a.txt'), 'two more\n');
    expect(await found(contexts.search('input', { pattern: 'two' }))).toMatchObject({
      value: { hits: [{ index: 1 }] },
      truncated: false,
    });
    await writeFile(join(folder, 'a.txt'), 'ONE\nTWO\nthree\n');
    expect(await contexts.search('input', { pattern: 'TWO' })).toMatchObject({
      ok: false,
      code: 'context.changed',
    });
    await writeFile(join(folder, 'a.txt'), '');
    expect(await contexts.peek('input', { type: 'tail', count: 3 })).toMatchObject({
      code: 'context.changed',
    });
  });

  test('a private file leaves no name behind', async () => {
    vi.stubEnv('TMPDIR', folder);
    const spilled = await spillBytes(Buffer.from('secret'));
    vi.unstubAllEnvs();
    expect(await readdir(folder)).toEqual([]);
    expect((await spilled.read(2, 6)).toString()).toBe('cret');
    await spilled.close();
    await spilled.close();
  });
});

describe('what is wrong', () => {
  beforeEach(async () => {
    await contexts.register('input', text('some text'));
  });

  test('in an operation is its answer, with a code', async () => {
    const bad = async (answer: Promise<{ ok: boolean; code?: string }>) => (await answer).code;
    expect(await bad(contexts.peek('input', { type: 'item', index: 0 }))).toBe(
      'context.unsupported-operation',
    );
    expect(await bad(contexts.slice('input', { start: 10, length: 1 }))).toBe('context.out-of-range');
    expect(await found(contexts.slice('input', { start: 9, length: 1 }))).toMatchObject({
      value: { value: '' },
    });
    expect(await bad(contexts.slice('input', { start: -1, length: 1 }))).toBe('context.invalid-argument');
    expect(await bad(contexts.search('input', { pattern: 'x', from: 2 }))).toBe('context.out-of-range');
    for (const pattern of ['', 'a\nb', 'x'.repeat(1025), '\ud800'])
      expect(await bad(contexts.search('input', { pattern }))).toBe('context.invalid-pattern');
    for (const pattern of ['(', '(?<=a)b', 'a\\1', '(a{1000}){1000}'])
      expect(await bad(contexts.search('input', { pattern, regex: true }))).toBe('context.invalid-pattern');
    expect(await bad(contexts.search('nothing', { pattern: 'x' }))).toBe('context.unknown');
    expect(await bad(refusedReader().metadata())).toBe('context.capability-missing');
    await expect(refusedReader().texts()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'context.capability-missing',
    });
  });

  test('a function is never run as a mapping or a reduction', async () => {
    const run = vi.fn();
    // biome-ignore lint/suspicious/noExplicitAny: what a program without types can pass.
    const callable = run as any;
    expect(await contexts.map('input', callable)).toMatchObject({ code: 'context.unsupported-operation' });
    expect(await contexts.reduce('input', callable)).toMatchObject({ code: 'context.unsupported-operation' });
    expect(run).not.toHaveBeenCalled();
  });

  test('a limit that is none stops before anything else', async () => {
    for (const limits of [{ bytesMax: 0 }, { resultsMax: -1 }, { timeMs: 0.5 }])
      expect(await contexts.search('nothing', { pattern: '' }, { limits })).toMatchObject({
        ok: false,
        code: 'context.invalid-limit',
      });
    expect(() => openContexts({ limits: { bytesMax: 0 } })).toThrow(
      /bytesMax: expected a whole number above 0/,
    );
    expect(contexts.trace()).toEqual([]);
  });

  test('a call cannot loosen what the session allows', async () => {
    const tight = openContexts({ limits: { bytesMax: 6 } });
    await tight.register('input', text('abcdefgh'));
    const answer = tight.peek('input', { type: 'head', count: 8 }, { limits: { bytesMax: 1000 } });
    expect(await found(answer)).toEqual({ value: 'abcd', truncated: true });
    await tight.close();
  });

  test('in a registration is thrown', async () => {
    const wrong: readonly unknown[] = [
      undefined,
      () => 'x',
      { kind: 'url', url: 'http://x' },
      { kind: 'terms', items: [() => 1] },
    ];
    for (const source of wrong)
      await expect(contexts.register('other', source as ContextSource)).rejects.toMatchObject({
        code: 'context.bad-source',
      });
    for (const alias of ['', '9', 'a b', 'x'.repeat(65), 'input'])
      await expect(contexts.register(alias, text('x'))).rejects.toMatchObject({ code: 'context.bad-alias' });
  });
});

describe('lives', () => {
  test('a deleted one is stale, not unknown, and its alias can be given again; so many are remembered', async () => {
    const { id } = await contexts.register('input', text('old'));
    await contexts.delete('input');
    expect(await contexts.metadata('input')).toMatchObject({ code: 'context.stale' });
    expect(await contexts.metadata(id)).toMatchObject({ code: 'context.stale' });
    await contexts.register('input', text('new'));
    expect(await found(contexts.peek('input', { type: 'head', count: 9 }))).toMatchObject({ value: 'new' });
    for (let i = 0; i < 300; i += 1) {
      await contexts.register(`c${i}`, text(''));
      await contexts.delete(`c${i}`);
    }
    expect(await contexts.metadata(id)).toMatchObject({ code: 'context.unknown' });
    expect(await contexts.metadata('c299')).toMatchObject({ code: 'context.stale' });
    await contexts.close();
    await contexts.close();
    expect(await contexts.metadata('input')).toMatchObject({ code: 'context.stale' });
  });

  test('successful operations are traced, numbered per context; faults are not; old ones are let go', async () => {
    await contexts.register('input', text('one\ntwo'));
    await contexts.peek('input', { type: 'head', count: 2 });
    await contexts.search('input', { pattern: '' });
    await contexts.search('input', { pattern: 'two' });
    expect(contexts.trace()).toMatchObject([
      {
        alias: 'input',
        operation: 'peek',
        sequence: 1,
        bytesInspected: 7,
        bytesReturned: 4,
        truncated: true,
      },
      { alias: 'input', operation: 'search', sequence: 2, truncated: false },
    ]);
    for (let i = 0; i < 400; i += 1) await contexts.metadata('input');
    expect(contexts.trace()).toHaveLength(256);
    expect(contexts.trace(2).map((trace) => trace.sequence)).toEqual([401, 402]);
  });

  test('a search stops where its time ends, says where to go on, and gets to the end in steps', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i} of a text that is searched in steps`);
    const slow = { ...systemClock, monotonicMs: ticking() };
    const stepping = openContexts({ clock: slow, limits: { timeMs: 1 } });
    await stepping.register('input', text(lines.join('\n')));
    const seen: number[] = [];
    let from: number | null = 0;
    let steps = 0;
    while (from !== null) {
      const answer = await stepping.search('input', { pattern: 'e 5\\d{4} ', regex: true, from });
      if (!answer.ok) throw new Error(answer.message);
      expect(answer.truncated).toBe(answer.value.next !== null);
      seen.push(...answer.value.hits.map((hit) => hit.index));
      from = answer.value.next;
      steps += 1;
    }
    expect(steps).toBeGreaterThan(5);
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, i) => 50_000 + i));
    await stepping.close();
  });

  test('a search that comes to nothing within its time says so', async () => {
    const one = openContexts({ clock: { ...systemClock, monotonicMs: ticking() }, limits: { timeMs: 1 } });
    await one.register('input', text('x'.repeat(2 ** 20)));
    expect(await one.search('input', { pattern: 'y' })).toMatchObject({
      ok: false,
      code: 'context.time-limit',
    });
    await one.close();
  });

  test('a signal ends an operation, and the event loop turns while one works', async () => {
    const stop = new AbortController();
    const limits = { timeMs: 60_000 };
    const searching = openContexts({ limits });
    await searching.register('input', text('x\n'.repeat(2 ** 21)));
    setTimeout(() => stop.abort(new Error('enough')), 5);
    const request = { pattern: '[ay]|z', regex: true };
    await expect(searching.search('input', request, { signal: stop.signal })).rejects.toThrow('enough');
    await expect(searching.search('input', request, { signal: stop.signal })).rejects.toThrow('enough');
    await searching.close();
  });

  test('a program reads all of it in pieces of whole characters', async () => {
    const whole = 'aü😀'.repeat(30_000);
    await contexts.register('input', text(whole));
    const pieces: string[] = [];
    for await (const piece of contexts.texts('input')) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join('')).toBe(whole);
    expect(contexts.trace(1)).toMatchObject([
      { operation: 'texts', truncated: false, bytesReturned: 210_000 },
    ]);
    for await (const _ of contexts.texts('input')) break;
    expect(contexts.trace(1)).toMatchObject([{ operation: 'texts', truncated: true }]);
    await expect(contexts.texts('none')[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'context.unknown',
    });
  });
});

/** A clock on which each look takes a millisecond. */
function ticking(): () => number {
  let now = 0;
  return () => {
    now += 1;
    return now;
  };
}
