/** The cache forecast: the first byte that differs, who owns it, and what published rules let a provider reuse. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compose } from '../compose.ts';
import { loadAgent } from '../load/agent.ts';
import { plainComposition } from '../plain.ts';
import { settle } from '../settle.ts';
import type { SessionTexts } from '../situation.ts';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { forecast, forecastLines, volatileFacts } from './forecast.ts';
import { spansOf } from './spans.ts';

const folder = (join: string, more: Readonly<Record<string, string>> = {}, extra: readonly string[] = []) =>
  folderWith({
    'agent.yaml': `join: ${join}\n${agentYaml(['who', 'base', 'empty', ...extra], 'facts: { day: { type: string, volatile: true, default: monday } }\n')}`,
    'instructions/who.md': '---\nlayer: identity\n---\nYou are Ünit.\n',
    'instructions/base.md': 'Base text.\nMore.\n',
    'instructions/empty.md': ' \n',
    'instructions/today.md': '---\ntemplate: true\n---\nIt is {{ day }}.\n',
    'instructions/tail.md': 'Tail.\n',
    ...more,
  });

async function composed(path: string, facts: Record<string, string> = {}, texts: SessionTexts = {}) {
  const agent = await loadAgent(path, vocabulary);
  const situation = await settle(agent, { facts, texts }, []);
  const composition = compose(agent, situation);
  return { agent, composition, spans: spansOf(agent, situation, composition) };
}

describe('spans', () => {
  test.each(['blocks', 'bare', 'verbatim'])(
    '%s: together they are the text, and each holds its fragment',
    async (join) => {
      const { composition, spans } = await composed(
        folder(join, {}, ['today', 'tail']),
        {},
        { session: 'Now.' },
      );
      const bytes = Buffer.from(composition.text);
      expect(spans.map((span) => bytes.toString('utf8', span.start, span.end)).join('')).toBe(
        composition.text,
      );
      for (const { start, end, text } of spans) expect(bytes.toString('utf8', start, end)).toContain(text);
      expect(spans.map(({ fragment }) => fragment)).toEqual(['who', 'base', 'empty', 'today', 'tail', null]);
    },
  );
});

test('the first difference is a byte, with its owner on both sides', async () => {
  const path = folder('blocks', {}, ['today', 'tail']);
  const [a, b] = [await composed(path), await composed(path, { day: 'sunday' })];
  const found = forecast(a.composition, b.composition, {
    spansBefore: a.spans,
    spansAfter: b.spans,
    volatile: volatileFacts(a.agent, 'default'),
  });
  const byte = Buffer.from(a.composition.text).indexOf('monday');
  const prefix = Buffer.from(a.composition.text).indexOf('\n\nIt is');
  expect(found.firstDifference).toEqual({
    byte,
    before: { layer: 'contract', fragment: 'today' },
    after: { layer: 'contract', fragment: 'today' },
  });
  expect(found.stablePrefix).toMatchObject({
    same: true,
    before: { bytes: prefix },
    after: { bytes: prefix },
  });
  expect(found.volatile).toEqual(['day']);
  expect(forecastLines(found).slice(0, 3)).toEqual([
    `cache: first difference at byte ${byte}: today before, today now`,
    expect.stringMatching(/^ {2}stable prefix: the same \d+ bytes, sha256 [0-9a-f]{12}$/),
    '  volatile facts: day',
  ]);
});

test('a text that goes on where the other ends; and the same bytes', () => {
  const [short, long] = [plainComposition('a', 'One.'), plainComposition('a', 'One. Two.')];
  expect(forecast(short, long).firstDifference).toEqual({
    byte: 4,
    before: null,
    after: { layer: 'contract', fragment: null },
  });
  expect(forecast(short, short)).toMatchObject({
    firstDifference: null,
    stablePrefix: { same: true },
    volatile: [],
  });
  expect(forecastLines(forecast(short, long))[0]).toBe(
    'cache: first difference at byte 4: the end before, the layer contract now',
  );
});

describe('what is reused', () => {
  const reuse = (shared: number, total: number) => {
    const [a, b] = ['a', 'b'].map((end) =>
      plainComposition('x', 'x'.repeat(shared * 4) + end.repeat((total - shared) * 4)),
    );
    if (a === undefined || b === undefined) throw new Error('two texts were made');
    return forecast(a, b).reuse.map(({ tokens }) => tokens);
  };
  test.each([
    [1_023, 2_000, [0, 0, 0]],
    [1_024, 2_000, [1_024, 0, 0]],
    [1_151, 2_000, [1_024, 0, 0]],
    [1_152, 2_000, [1_152, 0, 0]],
    [2_000, 2_000, [1_920, 2_000, 0]],
    [5_000, 5_000, [4_992, 5_000, 5_000]],
  ])('%d shared tokens of %d', (shared, total, tokens) => expect(reuse(shared, total)).toEqual(tokens));

  test('a breakpoint at the end of the stable prefix is read where the rest differs', async () => {
    const path = folder('verbatim', { 'instructions/base.md': `${'word '.repeat(2_000)}\n` }, ['today']);
    const [a, b] = [await composed(path), await composed(path, { day: 'sunday' })];
    const [blocks, breakpoints] = forecast(a.composition, b.composition).reuse;
    expect(blocks?.tokens).toBe(1_024 + Math.floor((2_504 - 1_024) / 128) * 128);
    expect(breakpoints?.tokens).toBe(
      Math.floor(
        [...Buffer.from(a.composition.text).subarray(0, a.composition.stablePrefixBytes).toString()].length /
          4,
      ),
    );
  });
});

test('one volatile fact more, or a text for the session, moves nothing before it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('blocks', 'bare', 'verbatim'),
      fc.array(
        fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('---')),
        { maxLength: 3 },
      ),
      fc.constantFrom('governance', 'memory', 'session'),
      async (join, bodies, layer) => {
        const more = Object.fromEntries(bodies.map((text, i) => [`instructions/x${i}.md`, text]));
        const ids = bodies.map((_, i) => `x${i}`);
        const plain = await composed(folder(join, more, ids));
        const dated = await composed(folder(join, more, [...ids, 'today']));
        const text = await composed(folder(join, more, ids), {}, { [layer]: 'Word.' });
        for (const { composition } of [dated, text]) {
          const { firstDifference, stablePrefix } = forecast(plain.composition, composition);
          // In blocks the last newline of a layer becomes the first of the blank line.
          expect(firstDifference?.byte ?? plain.composition.bytes).toBeGreaterThanOrEqual(
            stablePrefix.before.bytes - 1,
          );
        }
        expect(forecast(plain.composition, text.composition).firstDifference?.byte).toBe(
          plain.composition.bytes,
        );
        expect(forecast(plain.composition, text.composition).stablePrefix.same).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
}, 60_000);
