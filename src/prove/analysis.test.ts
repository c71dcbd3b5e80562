/** From a table of trials to numbers and claims: the pains of others, every kind of claim, and what verification finds. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonDigest } from '../digest.ts';
import { analyse } from './analysis.ts';
import { amount, type Claim, claimsOf, claimText } from './claims.ts';
import type { MetricRecord } from './metric.ts';
import { planTrials } from './plan.ts';
import type { Registration } from './registration.ts';
import { derivedOf, type Report } from './report.ts';
import type { TrialRow } from './trial.ts';
import { experimentFolder, openFolder, rowOf } from './trials.cases.ts';
import { readReport, verifyReport } from './verify.ts';

let folder: string;
let base: Registration;
beforeAll(async () => {
  folder = await experimentFolder('', { items: 40 });
  base = (await openFolder(folder)).registration;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Make = (row: { item: number; side: 'control' | 'treatment'; repeat: number }) => Partial<TrialRow>;

function rows(registration: Registration, make: Make): TrialRow[] {
  return planTrials(registration).map((trial) =>
    rowOf(
      registration,
      trial,
      make({ item: Number(trial.item.slice(1)), side: trial.side, repeat: trial.repeat }),
    ),
  );
}

const metric = (name: string, more: Partial<MetricRecord> = {}): MetricRecord => ({
  metric: name,
  per: null,
  values: name === 'score' ? 'binary' : 'quantity',
  estimand: { kind: 'micro' },
  better: name === 'score' ? 'higher' : 'lower',
  margin: null,
  question: 'difference',
  ...more,
});

const claimed = (registration: Registration, table: readonly TrialRow[], exploratory = false) =>
  claimsOf(registration, analyse(registration, table), exploratory);

// 20 pass in both arms, 8 more in the treatment arm alone.
const eightMore: Make = ({ item, side }) => ({
  score: item <= 20 || (item <= 28 && side === 'treatment') ? 1 : 0,
});

test('paired outcomes have the exact paired test, whatever the order of the rows', () => {
  const table = rows(base, eightMore);
  const analysis = analyse(base, table);
  expect(analysis.metrics[0]).toMatchObject({
    mcNemar: { treatmentOnly: 8, controlOnly: 0, bothPass: 20, neitherPass: 12, p: 2 / 2 ** 8 },
    signFlip: { method: 'exact', p: 2 / 2 ** 8 },
    signTest: { better: 8, worse: 0, ties: 32 },
  });
  expect(jsonDigest(analyse(base, [...table].reverse()))).toBe(jsonDigest(analysis));
  expect(claimed(base, table)[0]).toMatchObject({ kind: 'better', control: 0.5, treatment: 0.7 });
});

test('of twelve metrics and none that was named, one lucky one is no claim', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'lucky'];
  const registration = { ...base, primary: null, secondary: names.map((name) => metric(`calls.${name}`)) };
  // Six items of six in one direction: p = 2 / 2^6 = 0.03.
  const table = rows(registration, ({ item, side }) => ({
    calls: {
      lucky: item <= 6 && side === 'control' ? 2 : 1,
      ...Object.fromEntries(
        names
          .slice(0, 11)
          .map((name, at) => [name, (item + at) % 2 === (side === 'control' ? 0 : 1) ? 1 : 2]),
      ),
    },
  }));
  const lucky = analyse(registration, table).metrics.at(-1);
  expect(lucky).toMatchObject({ signFlip: { p: 2 / 2 ** 6 }, adjustedP: (12 * 2) / 2 ** 6 });
  expect(new Set(claimed(registration, table).map(({ kind }) => kind))).toEqual(
    new Set(['no-effect-detected']),
  );
  const named = {
    ...registration,
    primary: metric('calls.lucky'),
    secondary: registration.secondary.slice(0, 11),
  };
  expect(claimed(named, table)[0]).toMatchObject({ kind: 'better', standing: 'confirmatory' });
});

describe('claims', () => {
  const same: Make = () => ({});

  test.each<[string, Partial<Registration>, Make, Partial<Claim>]>([
    ['nothing that differs', {}, same, { kind: 'no-effect-detected', difference: 0 }],
    ['a loss', {}, ({ side }) => ({ score: side === 'control' ? 1 : 0 }), { kind: 'worse' }],
    [
      'a table without a value',
      { primary: metric('costUsd') },
      () => ({ usage: { ...rowUsage, costUsd: null } }),
      { kind: 'unknown' },
    ],
  ])('%s', (_what, more, make, wanted) => {
    const registration = { ...base, ...more };
    expect(claimed(registration, rows(registration, make))[0]).toMatchObject(wanted);
  });

  test('an interval over zero is never an improvement, though both means rose', () => {
    const table = rows(base, ({ item, side }) => ({
      score: (item + (side === 'treatment' ? 1 : 0)) % 9 < 5 ? 1 : 0,
    }));
    expect(claimed(base, table).map(({ kind }) => kind)).toEqual(['no-effect-detected']);
  });

  test('margins are judged by the registered margin alone', () => {
    const of = (question: MetricRecord['question'], margin: number) => {
      const registration = { ...base, primary: metric('score', { question, margin }) };
      const make: Make = ({ item, side }) => ({ score: item === 1 && side === 'treatment' ? 0 : 1 });
      return claimed(registration, rows(registration, make)).map(({ kind }) => kind);
    };
    expect(of('non-inferiority', 0.2)).toEqual(['not-worse', 'no-effect-detected']);
    expect(of('equivalence', 0.2)).toEqual(['equivalent', 'no-effect-detected']);
    expect(of('equivalence', 0.02)).toEqual(['margin-not-shown', 'no-effect-detected']);
    expect(of('difference', 0.2)).toEqual(['no-effect-detected', 'not-worse']);
  });

  test('a treatment that did not act, or leaked, has no verdict, however large the difference', () => {
    const registration: Registration = {
      ...base,
      manipulation: { calls: 'ritual', zeroIn: 'treatment', shareLeast: 0.9 },
    };
    const of = (make: Make) =>
      claimed(
        registration,
        rows(registration, (row) => ({ ...eightMore(row), ...make(row) })),
      );
    expect(of(() => ({}))).toMatchObject([{ kind: 'void', reason: 'did-not-act' }]);
    expect(of(({ item }) => ({ calls: item === 3 ? { ritual: 1 } : {} }))).toMatchObject([
      { kind: 'void', reason: 'leaked' },
    ]);
    expect(of(({ side }) => ({ calls: side === 'control' ? { ritual: 2 } : {} }))).toMatchObject([
      { kind: 'better' },
      { kind: 'exactly-zero', other: 80, trials: 40 },
    ]);
  });

  test('times that ran out count as the horizon', () => {
    const registration = { ...base, primary: metric('timeMs'), horizonMs: 1000 };
    const table = rows(registration, ({ side, item }) => ({
      timeMs: side === 'control' ? 5000 : 400 + item,
      finished: side === 'treatment',
    }));
    const [claim] = claimed(registration, table);
    expect(claim).toMatchObject({ kind: 'better', difference: -579.5 });
    expect(claim === undefined ? '' : claimText(claim)).toMatch(
      /^timeMs: the treatment is faster by 579\.5 ms/,
    );
  });

  test('a time that ran out is the horizon to every number: test, interval, arms and differences of items', () => {
    const registration = { ...base, primary: metric('timeMs'), horizonMs: 1000 };
    // Cut off a little late, and a little early.
    const table = rows(registration, ({ item, side }) =>
      side === 'control' ? { timeMs: 990 + item, finished: item <= 4 } : { timeMs: 400 + item },
    );
    const [found] = analyse(registration, table).metrics;
    if (found === undefined || 'reason' in found) throw new Error('all of it is known');
    const differences = Array.from({ length: 40 }, (_, at) => 401 + at - (at < 4 ? 991 + at : 1000));
    const mean = differences.reduce((total, one) => total + one, 0) / 40;
    expect(found.bootstrap.estimate).toBeCloseTo(mean, 9);
    expect(found.estimate.difference).toBeCloseTo(mean, 9);
    expect(found.signFlip.difference).toBeCloseTo(mean, 9);
    expect(found.paired).toMatchObject({ test: 'paired-t', items: 40, mean: expect.closeTo(mean, 9) });
  });

  test('differences of items stand beside every metric but ratios and weighed groups', () => {
    const kinds: [Partial<MetricRecord>, boolean][] = [
      [{}, true],
      [{ estimand: { kind: 'macro', by: 'item' } }, true],
      [{ estimand: { kind: 'macro', by: 'size' } }, false],
      [{ per: 'tokens', values: 'ratio' }, false],
    ];
    const groups = (item: number) => ({ size: item % 2 === 0 ? 'even' : 'odd' });
    for (const [more, has] of kinds) {
      const registration = { ...base, primary: metric('costUsd', more) };
      const table = rows(registration, (row) => ({ ...eightMore(row), groups: groups(row.item) }));
      const [found] = analyse(registration, table).metrics;
      expect(found !== undefined && 'paired' in found && found.paired !== null).toBe(has);
    }
  });

  test('a margin needs the t interval inside it too, which is wider where items are few', () => {
    const registration = {
      ...base,
      items: base.items.slice(0, 6),
      primary: metric('costUsd', { question: 'equivalence', margin: 0.1 }),
    };
    // Two of six items cost more: their percentile interval ends below the margin, their t interval beyond it.
    const table = rows(registration, ({ item, side }) => ({
      usage: { ...rowUsage, costUsd: side === 'treatment' && (item === 1 || item === 10) ? 1.14 : 1 },
    }));
    const [found] = analyse(registration, table).metrics;
    if (found === undefined || 'reason' in found) throw new Error('all of it is known');
    const [drawn, own] = [found.bootstrap.intervals[1], found.paired?.intervals[1]];
    expect([drawn?.level, own?.level]).toEqual([0.9, 0.9]);
    expect(drawn?.high).toBeLessThan(0.1);
    expect(own?.high).toBeGreaterThan(0.1);
    expect(found.margin).toMatchObject({
      verdict: 'not-shown',
      interval: { low: own?.low, high: own?.high },
    });
    expect(claimed(registration, table)[0]).toMatchObject({ kind: 'margin-not-shown' });
  });

  test('what is not asked for by the text alone is not called its own', () => {
    const manipulation = { calls: 'ritual', zeroIn: 'treatment', shareLeast: 0.9 } as const;
    const of = (treatment: Partial<Registration['arms']['treatment']>) => {
      const arms = { ...base.arms, treatment: { ...base.arms.treatment, ...treatment } };
      const registration: Registration = { ...base, arms, manipulation };
      const table = rows(registration, ({ side }) => ({ calls: side === 'control' ? { ritual: 1 } : {} }));
      const claim = claimed(registration, table).find(({ kind }) => kind === 'exactly-zero');
      return claim === undefined ? '' : claimText(claim);
    };
    expect(of({})).toMatch(/one alone is the text's own\.$/);
    expect(of({ model: 'local/other', folderDigest: 'x' })).toMatch(
      /differ in more than their text \(model, folderDigest\), so that it need not be the text's own\.$/,
    );
  });

  test('every kind has words, and after a deviation each says that it is exploratory', () => {
    const [claim] = claimed(base, rows(base, eightMore), true);
    expect(claim).toMatchObject({ standing: 'exploratory' });
    expect(claim === undefined ? '' : claimText(claim)).toMatch(
      /^Exploratory\. score: the treatment is better by 0\.2 .*40 %.*p = 0\.007813\)\.$/,
    );
  });

  test('a table that is not whole says nothing', () => {
    expect(claimed(base, rows(base, eightMore).slice(1))).toMatchObject([
      { kind: 'inconclusive', reason: 'incomplete' },
    ]);
  });

  test('one is counted in the singular', () => {
    const shown = [
      amount(1, 'calls'),
      amount(1, 'US dollars'),
      amount(1, 'ms'),
      amount(0, 'calls'),
      amount(1.5, 'points'),
    ];
    expect(shown).toEqual(['1 call', '1 US dollar', '1 ms', '0 calls', '1.5 points']);
  });

  test('grades of two graders are not compared', () => {
    const table = rows(base, ({ item }) => (item === 1 ? { grader: 'another' } : {}));
    expect(() => analyse(base, table)).toThrow(expect.objectContaining({ code: 'prove.mixed-graders' }));
  });
});

const rowUsage = { ...rowOfUsage() };
function rowOfUsage(): TrialRow['usage'] {
  return {
    modelCalls: 1,
    promptTokens: null,
    cachedTokens: null,
    cacheWriteTokens: null,
    completionTokens: null,
    reasoningTokens: null,
    totalTokens: null,
    costUsd: 0,
    costSource: 'unknown',
  };
}

test('fragments that differ at once are listed, for nobody measured what each does', () => {
  const several = (fragments: Registration['arms']['treatment']['fragments']) => {
    const registration = {
      ...base,
      arms: { ...base.arms, treatment: { ...base.arms.treatment, fragments } },
    };
    return derivedOf(registration, rows(registration, eightMore), []).notVerified.join('\n');
  };
  const { fragments } = base.arms.treatment;
  expect(several(fragments)).not.toContain('differ at once');
  expect(several({ ...fragments, base: 'another', third: 'new' })).toContain('3 fragments differ at once');
});

describe('verification', () => {
  const sealed = (change: (report: Report) => Report = (one) => one): Report => {
    const trials = rows(base, eightMore);
    const head = {
      format: 'writ-experiment-report/1' as const,
      madeAt: 1,
      registeredAt: 1,
      registration: base,
      registrationDigest: jsonDigest(base),
      journal: 'j',
      deviations: [],
      trials,
      tableDigest: jsonDigest(trials),
      ...derivedOf(base, trials, []),
      drift: { known: true, paths: [] },
    };
    const changed = change(JSON.parse(JSON.stringify({ ...head, digest: '' })) as Report);
    const { digest: _digest, ...rest } = changed;
    return { ...changed, digest: jsonDigest(rest) };
  };
  const failing = (report: Report) =>
    verifyReport(report)
      .checks.filter(({ ok }) => !ok)
      .map(({ what }) => what);
  const ofDesign = 'what the design can find follows from the registration';
  const design = ['registration', 'design'];
  const effect = ['power', 'assumed', 'effect'];
  // Whoever writes a registration anew writes its digest too.
  const resealed = (one: Report) => ({ ...one, registrationDigest: jsonDigest(one.registration) });
  const follows = 'analysis, claims and their words follow from the table';

  test('a report that is right has every number computed again', () => {
    expect(verifyReport(readReport(JSON.stringify(sealed()), 'r.json'))).toMatchObject({ ok: true });
    expect(verifyReport(sealed()).numbers).toBeGreaterThan(200);
  });

  test.each<[string, (report: Report) => Report, string[]]>([
    ['a p', (one) => edit(one, ['analysis', 'metrics', 0, 'signFlip', 'p'], 0.001), [follows]],
    ['the words of a claim', (one) => edit(one, ['claims', 0, 'text'], 'Much better.'), [follows]],
    ['a claim too many', (one) => ({ ...one, claims: [...one.claims, ...one.claims] }), [follows]],
    ['what was not verified', (one) => ({ ...one, notVerified: [] }), [follows]],
    ['a score', (one) => edit(one, ['trials', 3, 'score'], 0.5), ['the table has its digest', follows]],
    [
      'a prompt',
      (one) => edit(one, ['trials', 3, 'prompt'], 'x'),
      [
        'the table has its digest',
        'each trial is judged by the registered rules',
        'each result has the text of its arm',
      ],
    ],
    [
      'an arm',
      (one) => edit(one, ['registration', 'alpha'], 0.2),
      ['the registration has its digest', ofDesign, follows],
    ],
    ['the power', (one) => resealed(edit(one, [...design, 'power', 'power'], 0.99)), [ofDesign]],
    ['the smallest p', (one) => resealed(edit(one, [...design, 'smallestP'], 1e-9)), [ofDesign]],
    ['what is assumed', (one) => resealed(edit(one, [...design, ...effect], 0.4)), [ofDesign]],
    [
      'a trial that stands twice',
      (one) => edit(one, ['trials', 3], one.trials[2]),
      [
        'the table has its digest',
        'each trial is one of the plan, once',
        'each trial is judged by the registered rules',
        follows,
      ],
    ],
    ['the standing', (one) => ({ ...one, exploratory: true }), [follows]],
  ])('finds that %s was changed', (_what, change, wanted) => {
    expect(failing(sealed(change))).toEqual(wanted);
  });

  test('a file that is no report', () => {
    for (const text of ['', '{}', '[]', '{"format": "writ-experiment-report/1"}'])
      expect(() => readReport(text, 'r.json')).toThrow(
        expect.objectContaining({ code: 'prove.not-a-report' }),
      );
    const hollow = { ...sealed(), analysis: null, tableDigest: 3 } as unknown as Report;
    expect(verifyReport(hollow).ok).toBe(false);
  });
});

function edit(report: Report, path: readonly (string | number)[], value: unknown): Report {
  const copy = structuredClone(report);
  let at: unknown = copy;
  for (const step of path.slice(0, -1)) at = (at as Record<string | number, unknown>)[step];
  (at as Record<string | number, unknown>)[path.at(-1) ?? ''] = value;
  return copy;
}
