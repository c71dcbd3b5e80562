/** What a design can find: the power of the question that is asked, and nothing where too little is assumed. */
import { appendFile, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Assume, type Designed, designOf, powerText } from './design.ts';
import type { MetricRecord } from './metric.ts';
import { experimentFolder, openFolder } from './trials.cases.ts';

const score: MetricRecord = {
  metric: 'score',
  per: null,
  values: 'binary',
  estimand: { kind: 'micro' },
  better: 'higher',
  margin: null,
  question: 'difference',
};
const time: MetricRecord = { ...score, metric: 'timeMs', values: 'quantity', better: 'lower' };

function of(primary: MetricRecord | null, assume: Assume | null, more: Partial<Designed> = {}) {
  const items = Array.from({ length: 40 }, (_, at) => ({ groups: { size: at < 36 ? 'large' : 'small' } }));
  const designed = { items, repeats: 5, seed: 7, alpha: 0.05, resamples: 20_000, primary, assume, ...more };
  return designOf(designed).power;
}
const share = (...given: Parameters<typeof of>) => {
  const power = of(...given);
  return power.known ? power.power : Number.NaN;
};

describe('power', () => {
  test.each<[string, MetricRecord | null, Assume | null, RegExp]>([
    ['no primary metric', null, null, /no metric was named/],
    ['a quantity of which nothing is assumed', time, null, /timeMs .* no effect, no deviation, no noise$/],
    ['a quantity without the noise of its trials', time, { effect: 9, deviation: 3 }, /has no noise$/],
    [
      'a margin of a quantity',
      { ...time, margin: 9, question: 'equivalence' },
      { noise: 3 },
      /no deviation$/,
    ],
    ['a ratio', { ...time, per: 'score', values: 'ratio' }, null, /of a ratio/],
  ])('is unknown for %s, and no number', (_what, primary, assume, reason) => {
    const power = of(primary, assume);
    expect(power).toEqual({ known: false, reason: expect.stringMatching(reason) });
    expect(powerText(power, null)).toMatch(/^unknown: /);
  });

  test('of a quantity is in its own unit', () => {
    const outcomes = { effect: -2000, deviation: 3000, noise: 4000 };
    expect(of(time, outcomes)).toMatchObject({
      known: true,
      question: { kind: 'difference' },
      assumed: { kind: 'quantity', ...outcomes, given: true },
    });
    // An item differs by N(-2000, 3000² + 2 · 4000² / 5), as the paired t test of 40 items has it: 0.86.
    expect(share(time, outcomes)).toBeGreaterThan(0.8);
    expect(share(time, outcomes)).toBeLessThan(0.92);
  });

  test('of a margin is that of staying within it, and by default no difference is assumed', () => {
    const question = { margin: 0.1, question: 'non-inferiority' } as const;
    const spread = { rate: 0.7, deviation: 0.15 };
    expect(of({ ...score, ...question }, spread)).toMatchObject({
      question: { kind: 'non-inferiority', margin: 0.1, better: 'higher' },
      assumed: { kind: 'binary', ...spread, effect: 0, given: true },
    });
    const none = share({ ...score, ...question }, spread);
    // The test of a difference would find 0.1 as rarely as this; of no difference it finds 5 %.
    expect(none).toBeGreaterThan(0.6);
    expect(share({ ...score, ...question }, { ...spread, effect: 0.1 })).toBeGreaterThan(0.98);
    expect(share({ ...score, ...question }, { ...spread, effect: -0.1 })).toBeLessThan(0.1);
    expect(share({ ...score, ...question, better: 'lower' }, { ...spread, effect: -0.1 })).toBeGreaterThan(
      0.98,
    );
    const equal = share({ ...score, margin: 0.1, question: 'equivalence' }, spread);
    expect(equal).toBeLessThan(none);
    expect(equal).toBeGreaterThan(0.2);
  });

  test('of passes of which nothing is said is for the rates that spread most, and says so', () => {
    const power = of(score, null);
    expect(power).toMatchObject({
      assumed: { kind: 'binary', rate: 0.45, deviation: 0, effect: 0.1, given: false },
    });
    expect(powerText(power, null)).toMatch(
      /^\d+ % to show a difference, if rate 0\.45 \(a guess\), deviation 0 \(a guess\), effect 0\.1 \(a guess\); assume in the file/,
    );
    for (const spread of [
      { rate: 0.2, deviation: 0 },
      { rate: 0.5, deviation: 0.3 },
    ])
      expect(share(score, { ...spread, effect: 0.1 })).toBeGreaterThan(share(score, null));
  });

  test('weighs the groups of a macro estimand as the analysis does', () => {
    const assume = { rate: 0.5, deviation: 0.1, effect: 0.2 };
    const byGroup = share({ ...score, estimand: { kind: 'macro', by: 'size' } }, assume);
    expect(byGroup).toBeLessThan(share({ ...score, estimand: { kind: 'macro', by: 'item' } }, assume) - 0.2);
  });
});

describe('an experiment.yaml', () => {
  let folder = '';
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test.each([
    [
      'primary: { metric: timeMs }',
      '{ rate: 0.5, effect: 1 }',
      /no rate can be assumed of the quantity timeMs/,
    ],
    ['primary: { metric: score }', '{ noise: 1 }', /no noise can be assumed of the binary score/],
    [
      'primary: { metric: costUsd, per: score }',
      '{ effect: 1 }',
      /no effect .* of the ratio costUsd per score/,
    ],
  ])('with %s and %s is refused at that place', async (primary, assume, message) => {
    folder = await experimentFolder(`${primary}\nassume: ${assume}`);
    await expect(openFolder(folder)).rejects.toMatchObject({
      code: 'compose.wrong-value',
      message: expect.stringMatching(message),
    });
  });

  test('takes the shorter of two time limits as the horizon of both arms', async () => {
    folder = await experimentFolder();
    const file = join(folder, 'agent/agent.yaml');
    await cp(join(folder, 'agent'), join(folder, 'quick'), { recursive: true });
    const quick = (await readFile(file, 'utf8')).replace('wallTimeMs: 1000', 'wallTimeMs: 400');
    await writeFile(join(folder, 'quick/agent.yaml'), quick);
    const yaml = join(folder, 'experiment.yaml');
    const text = await readFile(yaml, 'utf8');
    await writeFile(yaml, text.replace('treatment: { agent: agent }', 'treatment: { agent: quick }'));
    expect((await openFolder(folder)).registration.horizonMs).toBe(400);
    await writeFile(yaml, `${text}\nbudget: { wallTimeMs: 700 }\n`);
    expect((await openFolder(folder)).registration.horizonMs).toBe(700);
  });

  test('registers what it assumes, and which values its metrics have', async () => {
    folder = await experimentFolder('secondary: [{ metric: costUsd }, { metric: costUsd, per: score }]');
    await appendFile(join(folder, 'experiment.yaml'), '\nassume: { rate: 0.6 }\n');
    const { primary, secondary, assume } = (await openFolder(folder)).registration;
    expect(assume).toEqual({ rate: 0.6 });
    expect([primary, ...secondary].map((one) => one?.values)).toEqual(['binary', 'quantity', 'ratio']);
  });
});
