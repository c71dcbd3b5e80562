/** Which trials are none of their experiment: what differs from the registration, or from the first trial, and why. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { trialJudge } from './outcome.ts';
import type { Registration } from './registration.ts';
import type { TrialRow } from './trial.ts';
import { experimentFolder, openFolder, rowOf } from './trials.cases.ts';

let folder: string;
let native: Registration;
let outside: Registration;
beforeAll(async () => {
  folder = await experimentFolder();
  await writeFile(join(folder, 'agent/instructions/more.md'), 'More.\n');
  native = (await openFolder(folder)).registration;
  const pi = { name: 'pi', intent: 'append', fidelity: 'base', model: 'scripted' } as const;
  const { control, treatment } = native.arms;
  outside = {
    ...native,
    arms: { control: { ...control, harness: pi }, treatment: { ...treatment, harness: pi } },
  };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the judge says of two trials: of the same item and arm, unless the second says otherwise. */
function verdicts(
  registration: Registration,
  first: Partial<TrialRow>,
  second: Partial<TrialRow>,
): readonly (string | null)[] {
  const judge = trialJudge(registration);
  return [first, second].map((more, at) => {
    const { item = 'i1', side = 'control' } = more;
    const { outcome, reason } = judge.take(
      rowOf(registration, { item, side, repeat: at + 1, position: at + 1 }, more),
    );
    return outcome === 'answered' ? null : `${outcome}: ${reason}`;
  });
}

const ofPi = { harness: 'pi', harnessVersion: '0.73.1', modelsAsked: ['scripted'], modelsSeen: ['s-1'] };

test.each<[string, Partial<TrialRow>, string]>([
  ['its harness', { harness: 'pi' }, 'its harness is pi, registered was native'],
  ['no model name', { modelsSeen: ['s-1', null] }, 'an answer does not name its model'],
  [
    'a request that is not on record',
    { unread: 2 },
    '2 texts of its requests are not on record, so that no canary can be looked for',
  ],
])('of our own harness, against what was registered: %s', (_what, more, reason) => {
  expect(verdicts(native, {}, more)).toEqual([null, `invalid: ${reason}`]);
});

test.each<[keyof TrialRow['surroundings'], string, string]>([
  ['writ', '0.0.1', 'the version of Writ is 0.0.1, registered was 0.0.0'],
  ['node', '21.0.0', 'the version of Node is 21.0.0, registered was 20.0.0'],
  ['platform', 'other', 'the platform is other, registered was test'],
  ['harness', 'mine', 'the own harness is mine, registered was native'],
  ['agent', 'other', 'the agent folder is other, registered was '],
  ['workspace', 'other', 'the workspace is other, registered was '],
])('its surroundings against what was registered: %s', (part, value, reason) => {
  const { surroundings } = rowOf(native, { item: 'i1', side: 'control', repeat: 1, position: 1 });
  const [first, second] = verdicts(native, {}, { surroundings: { ...surroundings, [part]: value } });
  expect([first, second?.startsWith(`invalid: ${reason}`)]).toEqual([null, true]);
});

test('a registered model name: each answer has to bear it, and one without a name is another', () => {
  const named: Registration = { ...native, modelSeen: 's-1' };
  expect(verdicts(named, { modelsSeen: ['s-1'] }, { modelsSeen: [null] })).toEqual([
    null,
    'invalid: a model without a name answered, registered was s-1',
  ]);
});

test('a registered fingerprint: each answer has to tell it; without one, no trial is held to the first', () => {
  const named: Registration = { ...native, fingerprintSeen: 'fp-1' };
  const first = { fingerprintsSeen: ['fp-1'] };
  const [several, untold] = [{ fingerprintsSeen: ['fp-1', 'fp-2'] }, { fingerprintsSeen: [null] }];
  const wrong = (found: string) => [
    null,
    `invalid: the fingerprint of an answer is ${found}, registered was fp-1`,
  ];
  expect(verdicts(named, first, several)).toEqual(wrong('fp-2'));
  expect(verdicts(named, first, untold)).toEqual(wrong('unknown'));
  expect(verdicts(native, first, several)).toEqual([null, null]);
});

test.each<[string, Partial<TrialRow>, Partial<TrialRow>, string | null]>([
  [
    'another version of the model',
    { modelsSeen: ['s-1'] },
    { modelsSeen: ['s-2'] },
    'the model that answered is s-2, in the first trial it was s-1',
  ],
  ['the same in the other arm', { modelsSeen: ['s-1'] }, { side: 'treatment', modelsSeen: ['s-1'] }, null],
  [
    'another version in the other arm, which has the same model',
    { modelsSeen: ['s-1'] },
    { side: 'treatment', modelsSeen: ['s-2'] },
    'the model that answered is s-2, in the first trial it was s-1',
  ],
  ['one of several', { modelsSeen: ['s-1', 's-2'] }, { modelsSeen: ['s-2'] }, null],
  [
    'other tools for the same item',
    {},
    { projection: 'q' },
    'the set of tools is q, in the first trial it was p',
  ],
  ['other tools for another item', {}, { item: 'i2', projection: 'q' }, null],
])('of our own harness, against the first trial: %s', (_what, first, second, reason) => {
  expect(verdicts(native, first, second)).toEqual([null, reason === null ? null : `invalid: ${reason}`]);
});

test.each<[string, Partial<TrialRow>, Partial<TrialRow>, string | null]>([
  [
    'another version of the program',
    {},
    { harnessVersion: '0.74.0' },
    'the version of pi is 0.74.0, in the first trial it was 0.73.1',
  ],
  [
    'a version that is not told any more',
    {},
    { harnessVersion: null },
    'the version of pi is unknown, in the first trial it was 0.73.1',
  ],
  [
    'a version that is told at last',
    { harnessVersion: null },
    {},
    'the version of pi is 0.73.1, in the first trial it was unknown',
  ],
  ['a version that nobody ever tells', { harnessVersion: null }, { harnessVersion: null }, null],
  [
    'a model name that is not told any more',
    {},
    { modelsSeen: [null] },
    'the model that answered is unknown, in the first trial it was s-1',
  ],
  ['a model name that nobody ever tells', { modelsSeen: [null] }, { modelsSeen: [null] }, null],
  ['a saved model setting', {}, { modelsAsked: ['cheap'] }, 'it asked cheap, registered was scripted'],
  ['no answer at all', { modelsSeen: [] }, { modelsSeen: ['s-1'] }, null],
])('of an agent program: %s', (_what, first, second, reason) => {
  const found = verdicts(
    outside,
    { ...ofPi, model: 'scripted', ...first },
    { ...ofPi, model: 'scripted', ...second },
  );
  expect(found).toEqual([null, reason === null ? null : `invalid: ${reason}`]);
});

test("a program's own choice of a model is held to the first trial", () => {
  const { control, treatment } = outside.arms;
  const own = (arm: typeof control) => ({
    ...arm,
    harness: { ...arm.harness, name: 'pi', intent: 'append', fidelity: 'base', model: null } as const,
  });
  const free: Registration = { ...outside, arms: { control: own(control), treatment: own(treatment) } };
  const row = { ...ofPi, model: null };
  expect(verdicts(free, row, { ...row, modelsAsked: ['cheap'] })).toEqual([
    null,
    'invalid: the model that was asked is cheap, in the first trial it was scripted',
  ]);
});

test('a trial that is not valid itself is no example for others', () => {
  const first = { modelsSeen: ['s-9'], prompt: 'other' };
  expect(verdicts(native, first, { modelsSeen: ['s-1'] })).toEqual([
    'invalid: its text is not the one of its arm',
    null,
  ]);
});

test('an answer of an invalid trial that comes again is out of a cache all the same', () => {
  const responses = ['r'];
  expect(verdicts(native, { responses, prompt: 'other' }, { responses })[1]).toMatch(/out of a cache/);
});

test('a look changes nothing', () => {
  const judge = trialJudge(native);
  const row = rowOf(native, { item: 'i1', side: 'control', repeat: 1, position: 1 });
  expect([judge.look(row).outcome, judge.take(row).outcome, judge.look(row).outcome]).toEqual([
    'answered',
    'answered',
    'invalid',
  ]);
});
