/** Verification of a real report beside its journal: whatever is changed in it is found, and what cannot be looked at is said. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { jsonDigest } from '../digest.ts';
import { memoryStore } from '../ledger/stores/memory.ts';
import { type JournalAt, openJournal, readJournalAt } from './journal.ts';
import { register } from './register.ts';
import { type Registration, registrationDigest } from './registration.ts';
import { makeReport, type Report, sealed } from './report.ts';
import { runExperiment } from './run-experiment.ts';
import { build, executeBy, experimentFolder, experimentRun, openFolder } from './trials.cases.ts';
import { readReport, verifyReport } from './verify.ts';

let folder: string;
let registration: Registration;
let report: Report;
let record: JournalAt;
let text: string;
beforeAll(async () => {
  folder = await experimentFolder('secondary: [{ metric: tokens }]', { items: 6 });
  const opened = await openFolder(folder);
  registration = opened.registration;
  const journal = await openJournal(join(folder, 'record'), systemClock);
  try {
    await register(journal, registration, { clock: systemClock });
    const store = memoryStore({ clock: systemClock });
    const execute = executeBy(store, opened, ({ side }) => ({ answer: side === 'control' ? 'no' : 'yes' }));
    await runExperiment(experimentRun(opened, { journal, store, execute }));
    report = await makeReport(journal, { clock: systemClock, present: registration });
  } finally {
    await journal.close();
  }
  text = `${JSON.stringify(report, null, 1)}\n`;
  const found = await readJournalAt(join(folder, 'record'), report.journal);
  if (found === undefined) throw new Error('the journal was just written');
  record = found;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Path = readonly string[];

/** Every value of a report that holds no other, and every empty list and object. */
function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const own = Object.entries(value);
  return own.length === 0 ? [path] : own.flatMap(([key, one]) => leaves(one, [...path, key]));
}

function changed(value: unknown): unknown {
  if (typeof value === 'number') return value === 0 ? 1 : -value;
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'boolean') return !value;
  return Array.isArray(value) ? [0] : value === null ? 0 : { x: 0 };
}

/** A copy in which one leaf is another value, or is gone, or has a neighbour. */
function mutated(path: Path, how: 'change' | 'remove' | 'add'): Report {
  const copy = structuredClone(report);
  let at = copy as unknown as Record<string, unknown>;
  for (const step of path.slice(0, -1)) at = at[step] as Record<string, unknown>;
  const last = path.at(-1) ?? '';
  if (how === 'change') at[last] = changed(at[last]);
  else if (how === 'add') at[Array.isArray(at) ? String(at.length) : `${last} too`] = null;
  else if (Array.isArray(at)) at.splice(Number(last), 1);
  else delete at[last];
  return copy;
}

/** As whoever forges a report would leave it: every digest right again. */
function resealed(one: Report): Report {
  const { digest: _digest, ...rest } = {
    ...one,
    registrationDigest: registrationDigest(one.registration),
    tableDigest: jsonDigest(one.trials),
  };
  return { ...rest, digest: jsonDigest(rest) };
}

const mutation = fc.constantFrom('change' as const, 'remove' as const, 'add' as const);
/** Whether it is found; a report that cannot even be read is. */
function isFound(one: Report, beside: Parameters<typeof verifyReport>[1] = {}): boolean {
  try {
    return !verifyReport(readReport(JSON.stringify(one), 'r.json'), beside).ok;
  } catch (thrown) {
    if ((thrown as { code?: string }).code === 'prove.not-a-report') return true;
    throw thrown;
  }
}

test('what was written verifies, with its text, its journal and what is there now', () => {
  const found = verifyReport(readReport(text, 'r.json'), { text, record, present: registration });
  expect(found).toMatchObject({ ok: true, notChecked: [], drift: { known: true, paths: [] } });
  expect(found.checks.filter(({ ok }) => !ok)).toEqual([]);
});

test('a leaf that is changed, gone or new is found by the report alone', () => {
  fc.assert(
    fc.property(fc.constantFrom(...leaves(report)), mutation, (path, how) => {
      expect(isFound(mutated(path, how))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('also with every digest made anew, wherever it follows from the table and the registration', () => {
  const given = ['madeAt', 'registeredAt', 'registration', 'journal', 'deviations', 'trials', 'drift'];
  const derived = leaves(report).filter(
    ([first = '']) => !given.includes(first) && !/[dD]igest$/.test(first),
  );
  expect(derived.length).toBeGreaterThan(200);
  fc.assert(
    fc.property(fc.constantFrom(...derived), mutation, (path, how) => {
      expect(isFound(resealed(mutated(path, how)))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('and beside its journal everything, whatever was made anew to fit', () => {
  for (const path of [
    ['madeAt'],
    ['registeredAt'],
    ['journal'],
    ['drift', 'known'],
    ['trials', '3', 'session'],
  ])
    expect(isFound(resealed(mutated(path, 'change')), { record })).toBe(true);
  // A forger's own experiment from end to end: it follows from its table, and is none that the journal knows.
  const trials = report.trials.map((row) => ({ ...row, score: row.side === 'control' ? 1 : 0 }));
  const forged = sealed({ ...report, trials });
  expect(verifyReport(forged).ok).toBe(true);
  expect(failing(forged)).toEqual([
    expect.stringMatching(/^registration, .* journal: differs in trials\.0\.score/),
  ]);
  const kept = sealed({ ...report, drift: { known: true, paths: ['build.node'] } });
  expect(failing(kept)).toEqual([expect.stringContaining('no report with its digest was made of it')]);
  const moved = sealed({ ...report, journal: jsonDigest('another') });
  expect(failing(moved)).toEqual([expect.stringContaining('no line of it has the hash')]);
});

test('a changed number leaves no check of the whole that says it is as it was', () => {
  const at = leaves(report).findIndex((path) => path.join('.').startsWith('analysis.metrics.0.bootstrap.'));
  const one = mutated(leaves(report)[at] ?? [], 'change');
  const { checks } = verifyReport(one, { text: `${JSON.stringify(one, null, 1)}\n`, record });
  expect(checks.flatMap(({ ok, what }) => (ok ? [] : [what.split(',')[0]]))).toEqual([
    'the file says each thing once',
    'the report is whole',
    'analysis',
    'registration',
  ]);
});

function failing(one: Report): string[] {
  return verifyReport(one, { record }).checks.flatMap(({ ok, what, found }) =>
    ok ? [] : [`${what}: ${found}`],
  );
}

describe('the text of a report', () => {
  test('with any byte of it changed is found', () => {
    const at = fc.integer({ min: 0, max: text.length - 1 });
    fc.assert(
      fc.property(at, fc.constantFrom(' ', '0', '7', 'e', '"', ',', '\n'), (where, character) => {
        fc.pre(text[where] !== character);
        const other = text.slice(0, where) + character + text.slice(where + 1);
        let found = true;
        try {
          found = !verifyReport(readReport(other, 'r.json'), { text: other }).ok;
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'prove.not-a-report' });
        }
        expect(found).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('in which a name stands twice shows one thing and means another', () => {
    const twice = text.replace('"exploratory": false', '"exploratory": true,\n "exploratory": false');
    const value = readReport(twice, 'r.json');
    expect(verifyReport(value).ok).toBe(true);
    expect(verifyReport(value, { text: twice }).checks.find(({ ok }) => !ok)?.what).toMatch(
      /each thing once/,
    );
  });

  test('as any of our commands prints it is right', () => {
    for (const indent of [0, 1, 2]) {
      const one = JSON.stringify(report, null, indent);
      for (const written of [one, `${one}\n`]) expect(verifyReport(report, { text: written }).ok).toBe(true);
    }
  });
});

test('what could not be looked at is said, and what is there now is no fault of the report', () => {
  const alone = verifyReport(report);
  expect([alone.ok, alone.notChecked.map(({ why }) => why), alone.drift]).toEqual([
    true,
    ['its text was not given', 'there is no journal beside it'],
    { known: false, paths: [] },
  ]);
  const present = { ...registration, build: { ...build, node: '22.0.0' }, alpha: 0.01 };
  expect(verifyReport(report, { present })).toMatchObject({
    ok: true,
    drift: { known: true, paths: ['alpha', 'build.node'] },
  });
  const program = { build: { ...build, writ: '9.9.9' } };
  expect(verifyReport(report, { present: program }).drift).toEqual({ known: false, paths: ['build.writ'] });
  expect(verifyReport(report, { record: { fault: 'its end was taken out' } }).ok).toBe(false);
});
