/** The page: everything escaped, nothing loaded or run, every picture with its text and its numbers. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planTrials } from '../plan.ts';
import { plain, type Registration } from '../registration.ts';
import { derivedOf, type Report } from '../report.ts';
import type { TrialRow } from '../trial.ts';
import { experimentFolder, openFolder, rowOf } from '../trials.cases.ts';
import { html } from './html.ts';
import { reportPage } from './page.ts';
import { scale, ticks } from './plot.ts';

let folder: string;
let base: Registration;
beforeAll(async () => {
  folder = await experimentFolder('secondary: [{ metric: costUsd }]');
  base = (await openFolder(folder)).registration;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const hostile = `</title><script>alert(1)</script>"'&<img src=x onerror=alert(1)>\u202e\u0000`;

function pageOf(
  change: (one: Registration) => Registration = (one) => one,
  score = 1,
  more: Partial<TrialRow> = {},
): string {
  const registration = change(base);
  const trials = planTrials(registration).map((trial) =>
    rowOf(registration, trial, {
      groups: registration.items[0]?.groups ?? {},
      score: trial.side === 'control' ? 0.5 : score,
      calls: { [hostile]: 1 },
      timeMs: 50 + trial.position,
      ...more,
    }),
  );
  const report = {
    format: 'writ-experiment-report/1',
    madeAt: 1,
    registeredAt: 1,
    registration,
    registrationDigest: 'r',
    journal: 'j',
    deviations: [{ kind: 'edited', at: 1, trials: 1, paths: ['x'], reason: hostile }],
    trials,
    tableDigest: 't',
    ...derivedOf(registration, trials, []),
    drift: { known: true, paths: [] },
    digest: 'd',
  } satisfies Report;
  return reportPage(plain(report));
}

test('no text becomes markup, wherever it stands', () => {
  const page = pageOf((one) => ({
    ...one,
    question: hostile,
    scope: [hostile],
    notVerified: [hostile],
    seed: hostile,
    items: one.items.map((item, at) => ({ ...item, id: `${hostile}${at}`, groups: { [hostile]: hostile } })),
    arms: { ...one.arms, control: { ...one.arms.control, label: hostile } },
  }));
  for (const one of ['<script', '<img', '\u202e', '\u0000']) expect(page).not.toContain(one);
  const tags = new Set([...page.matchAll(/<([a-zA-Z0-9]+)/g)].map(([, name]) => name));
  const known =
    'b body circle code desc details div figcaption figure h1 h2 h3 head html li line main meta p path rect style summary svg table tbody td text th thead title tr ul';
  expect([...tags].filter((name) => !known.split(' ').includes(name ?? ''))).toEqual([]);
});

test('is one file: no script, no address, and a policy that allows none', () => {
  const page = pageOf();
  expect(page).toContain(
    `content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"`,
  );
  expect(page.match(/https?:|url\(|@import|<[^>]*\s(on[a-z]+|src|href)=/)).toBeNull();
});

test('says under which names and in which states of its service the model answered', () => {
  const told = pageOf((one) => one, 1, { fingerprintsSeen: ['fp-2', 'fp-1'] });
  expect(told).toContain(
    '<li>answered by scripted-1, the state of its service (system_fingerprint) fp-1, fp-2</li>',
  );
  expect(pageOf()).toContain('<li>answered by scripted-1</li>');
  expect(pageOf((one) => one, 1, { modelsSeen: [null] })).toContain('answered by a model that gave no name');
});

test('each picture has a title, a text in its place, and its numbers', () => {
  const page = pageOf((one) => ({
    ...one,
    items: one.items.map((item, at) => ({ ...item, groups: { kind: `k${at % 2}` } })),
  }));
  const pictures = [...page.matchAll(/<svg role="img" aria-labelledby="(\S+) (\S+)"/g)];
  expect(pictures.map(([, title]) => title)).toEqual(
    ['items', 'forest-0', 'permutation', 'survival', 'cost'].map((id) => `${id}-title`),
  );
  for (const [, title, text] of pictures) {
    expect(page).toMatch(new RegExp(`<title id="${title}">\\S`));
    expect(page).toMatch(new RegExp(`<desc id="${text}">\\S`));
  }
  expect(page.match(/<details><summary>The numbers/g)).toHaveLength(pictures.length);
  expect(page).toContain('<th scope="row">i1</th>');
});

test('says what each interval and each p is, and the power that was registered', () => {
  const page = pageOf();
  expect(page).toContain('percentile interval of 95 % by the cluster bootstrap');
  expect(page).toContain("after Holm's correction over all of them");
  expect(page).toMatch(/<h3>Differences of items<\/h3>.*the t interval of 95 %/s);
  expect(page).toMatch(/power at registration: \d+ % to show a difference/);
});

test('the arms differ in form and line, not in colour alone', () => {
  const page = pageOf();
  expect(page).toContain('<circle class="control"');
  expect(page).toContain('<rect class="treatment"');
  expect(page).toContain('.curve.treatment{stroke-dasharray');
  expect(page).toContain('--control:#0072b2;--treatment:#d55e00');
});

test('a table without differences has its pictures all the same, and no number that is none', () => {
  expect(pageOf(undefined, 0.5)).not.toMatch(/NaN|Infinity|undefined/);
});

describe('scales and templates', () => {
  test('one value, none and extremes', () => {
    for (const values of [[], [3], [-1e9, 1e9], [0, 1e-9]]) {
      const one = scale(values, 0, 100);
      const at = ticks(one);
      expect(at.length).toBeGreaterThan(1);
      expect(at.length).toBeLessThan(13);
      expect(at.every((tick) => Number.isFinite(one.at(tick)))).toBe(true);
    }
  });

  test('values are escaped, markup is not', () => {
    expect(html`<p title="${'"'}">${'<b>'}${html`<i>${1}</i>`}${['&', html`<u></u>`]}</p>`.markup).toBe(
      '<p title="&quot;">&lt;b&gt;<i>1</i>&amp;<u></u></p>',
    );
  });
});

test('where both arms are equal each mark is seen, at the same value', () => {
  const plot = pageOf(undefined, 0.5).split('<figure>')[1] ?? '';
  const circles = [...plot.matchAll(/<circle class="control" cx="([\d.]+)" cy="([\d.]+)"/g)].slice(1);
  const squares = [...plot.matchAll(/<rect class="treatment" x="([\d.]+)" y="([\d.]+)"/g)].slice(1);
  expect(circles).toHaveLength(base.items.length);
  for (const [at, [, cx, cy]] of circles.entries()) {
    const [, x, y] = squares[at] ?? [];
    expect(Number(cx)).toBeCloseTo(Number(x) + 4.5);
    expect(Number(y) + 4.5 - Number(cy)).toBeGreaterThanOrEqual(5);
  }
});
