/** The verifier against real child processes: an honest program, and one for each way of not doing what was asked. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import type { Cell } from '../../protocol/delivery.ts';
import { fakeHarness, type Habit } from './fake-harness.cases.ts';
import { measureBuiltIn } from './measure-built-in.ts';
import { measureIntent } from './measure-intent.ts';
import { measureIntrusion, measureResume } from './measure-session.ts';
import { placeOf } from './observe.ts';
import { openStage, type Stage } from './stage.ts';
import { plain } from './traps.ts';
import { verifyHarness } from './verify.ts';

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const signal = new AbortController().signal;
const surroundings = { env: process.env, clock: systemClock, signal, model: null };
const withKey = { authMode: 'api-key' } as const;

async function stageFor(habit: Habit, timeoutMs = 20_000): Promise<Stage> {
  const { adapter, program, remove } = await fakeHarness(habit);
  opened.push(remove);
  const stage = await openStage({
    ...surroundings,
    ...withKey,
    adapter,
    adapters: [adapter],
    program,
    version: '3.2.1',
    timeoutMs,
  });
  opened.push(() => stage.close());
  return stage;
}

const head = {
  harness: 'fake',
  version: '3.2.1',
  modelFamily: 'default',
  authMode: 'api-key',
  control: '--replace',
  date: '2026-01-01',
} as const;

async function replaceOf(stage: Stage) {
  return (await measureIntent(stage, 'replace', head, await measureBuiltIn(stage, ['append']))).report;
}

test('an honest program: every cell, every trap, resume, files of others; and nothing is left', async () => {
  const stages = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('writ-verify-'));
  const before = await stages();
  const { adapter, program, remove } = await fakeHarness('honest');
  opened.push(remove);
  const report = await verifyHarness({ ...surroundings, adapter, adapters: [adapter], program, known: [] });
  const cell = (
    intent: Cell['intent'],
    fidelity: Cell['fidelity'],
    index: number,
    bytes: number,
    firstWords: string,
  ) => ({
    ...head,
    control: `--${intent}`,
    date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    intent,
    fidelity,
    delivered: true,
    position: { field: 'system', role: 'system', index },
    residue: { bytes, firstWords: expect.stringContaining(firstWords) },
    builtInBytes: 744,
    byteEquality: true,
    altered: [],
  });
  expect(report.intents.flatMap(({ cells }) => cells)).toEqual([
    cell('replace', 'base', 0, 27, 'The vendor keeps'),
    cell('replace', 'exact', 0, 27, 'The vendor keeps'),
    cell('append', 'base', 1, 744, 'You are Fake'),
  ]);
  expect(report.intents.map(({ traps }) => [...new Set(traps.map(({ outcome }) => outcome))])).toEqual([
    ['equal'],
    ['equal'],
  ]);
  expect(report.intents[0]?.traps.map(({ trait }) => trait).sort()).toEqual([...allTraits].sort());
  expect(report.resume).toEqual(
    ['replace', 'append'].map((intent) => ({ intent, sameText: [1, 1], otherText: 'new', fault: null })),
  );
  expect(report.twice).toEqual(
    ['replace', 'append'].map((intent) => ({ intent, control: `--${intent}`, counts: 'first' })),
  );
  expect(report.intrusion.map(({ reached, ours }) => ({ reached, ours }))).toEqual([
    { reached: [], ours: 'equal' },
    { reached: [], ours: 'equal' },
  ]);
  expect(report).toMatchObject({
    version: '3.2.1',
    side: [{ firstWords: 'Write a title for this.' }],
    drift: [],
    faults: [],
  });
  expect(await stages()).toEqual(before);
  // At the question for its version as well, a program is at home in what goes with the measurement.
  const homes = (await readFile(`${program}.homes`, 'utf8')).trim().split('\n');
  expect(homes.map((home) => existsSync(home))).toEqual(homes.map(() => false));
}, 120_000);

test('a short measurement: one trap of each kind and what is known to suffer, one resume', async () => {
  const { adapter, program, remove } = await fakeHarness('careless');
  opened.push(remove);
  const known: Cell = {
    ...head,
    intent: 'append',
    control: '--append',
    fidelity: 'base',
    delivered: true,
    position: null,
    residue: { bytes: 0, firstWords: '' },
    builtInBytes: null,
    byteEquality: true,
    altered: ['bom'],
  };
  const short = await verifyHarness({
    ...{ ...surroundings, adapter, adapters: [adapter], program, known: [known] },
    depth: 'short',
  });
  expect(short.intents.map(({ cells }) => cells[0]?.altered)).toEqual([['file-name'], ['bom', 'file-name']]);
  expect(short.intents[0]?.traps.map(({ trait }) => trait)).not.toContain('leading-at');
  expect(short).toMatchObject({ resume: [{ intent: 'replace' }], twice: [], faults: [] });
  expect(short.intrusion.map(({ intent }) => intent)).toEqual(['replace', 'append']);
  const cells = await verifyHarness({
    ...{ ...surroundings, adapter, adapters: [adapter], program, known: [known] },
    depth: 'cells',
  });
  expect(cells).toMatchObject({ intents: short.intents, resume: [], intrusion: [] });
}, 120_000);

test('one intent alone, logged in: every text, and no key is given', async () => {
  const { adapter, program, remove } = await fakeHarness('honest');
  opened.push(remove);
  const options = { ...surroundings, adapter, adapters: [adapter], program, known: [] };
  const report = await verifyHarness({ ...options, authMode: 'login', intent: 'append' });
  expect(report).toMatchObject({ authMode: 'login', resume: [], twice: [], intrusion: [], faults: [] });
  const [only, ...others] = report.intents;
  expect(only?.cells).toMatchObject([{ intent: 'append', authMode: 'login', delivered: true, altered: [] }]);
  expect(only?.traps.map(({ trait }) => trait).sort()).toEqual([...allTraits].sort());
  expect(others).toEqual([]);
}, 60_000);

test.each(['model_choice', 'complexity_score'])(
  'who asks for a %s is answered in that form',
  async (asked) => {
    const { argv } = (await stageFor('honest')).plan({ intent: 'replace', text: plain.text });
    const answer = await fetch(`${argv[argv.indexOf('--base') + 1]}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'k' },
      body: JSON.stringify({
        model: 'fake-1',
        max_tokens: 9,
        system: `Answer with "${asked}" alone.`,
        messages: [{ role: 'user', content: 'Hello.' }],
      }),
    });
    const { content } = (await answer.json()) as { content: readonly [{ text: string }] };
    expect(JSON.parse(content[0].text)).toHaveProperty(asked);
  },
);

const allTraits = [
  ...[
    'empty',
    'leading-dash',
    'leading-at',
    'leading-slash',
    'rule-line',
    'quotes',
    'braces',
    'dollar-brace',
  ],
  ...['backtick', 'crlf', 'bom', 'nul', 'blank-lines-around', 'non-ascii', 'large', 'file-name'],
];

describe('a bad habit is seen', () => {
  test('it adds where it should replace', async () => {
    const { cells } = await replaceOf(await stageFor('adds-instead'));
    expect(cells.map(({ delivered, position }) => ({ delivered, index: position?.index }))).toEqual([
      { delivered: false, index: 1 },
      { delivered: false, index: 1 },
    ]);
  });

  test('it trims a text, takes off its byte-order mark, reads the file whose name our text is', async () => {
    const { cells, traps } = await replaceOf(await stageFor('careless'));
    const altered = ['bom', 'blank-lines-around', 'file-name'];
    expect(cells[0]).toMatchObject({ delivered: true, byteEquality: true, altered });
    expect(traps.filter(({ outcome }) => outcome !== 'equal')).toEqual(
      altered.map((trait) => ({
        trait,
        outcome: 'altered',
        detail: trait === 'file-name' ? 'the file that the text names was read' : null,
      })),
    );
  });

  test('a file of the workspace speaks above the conversation', async () => {
    const stage = await stageFor('believes-workspace');
    const [bare] = (await stage.turn({ intent: 'replace', text: plain.text })).main;
    const place = bare === undefined ? undefined : placeOf(bare, plain.text);
    expect(await measureIntrusion(stage, 'replace', place)).toMatchObject({
      reached: [
        {
          where: 'workspace',
          path: 'AGENTS.md',
          effect: 'speaks',
          declared: null,
          position: { field: 'system', index: 2 },
        },
      ],
      ours: 'equal',
    });
    expect(await readdir(stage.workspace)).toEqual(['canary-of-a-file']);
  });

  test('it keeps the text of a session and gets it again', async () => {
    expect(await measureResume(await stageFor('keeps-and-adds'), 'replace')).toEqual({
      intent: 'replace',
      sameText: [2, 3],
      otherText: 'both',
      fault: null,
    });
  });

  test('it ends without a word to a model', async () => {
    const stage = await stageFor('mute');
    expect(await measureBuiltIn(stage, ['append'])).toBe(null);
    expect((await measureIntent(stage, 'replace', head, null)).report).toEqual({
      intent: 'replace',
      cells: [],
      traps: [],
      fault: 'no request to a model was seen: it ended with exit code 7; it said: no model today',
    });
    expect(await measureResume(stage, 'replace')).toMatchObject({
      sameText: null,
      otherText: null,
      fault: expect.any(String),
    });
    expect(await measureIntrusion(stage, 'replace', undefined)).toMatchObject({
      ours: null,
      fault: expect.any(String),
    });
  });

  test('it never ends', async () => {
    const { report } = await measureIntent(await stageFor('hangs', 300), 'replace', head, null);
    expect(report.fault).toBe('no request to a model was seen: it did not end within 0.3 s');
  });
});
