/** Verifies a report: every number is computed again from its own table, registration, seeds and hashes. */
import { z } from 'zod';
import { jsonDigest } from '../digest.ts';
import { WritError } from '../errors.ts';
import { designOf } from './design.ts';
import { ProveError } from './errors.ts';
import type { JournalAt } from './journal.ts';
import { trialJudge } from './outcome.ts';
import { planTrials } from './plan.ts';
import { differences, plain, registrationDigest } from './registration.ts';
import { type Drift, driftOf, type Present, type Report, reportRows, sealed } from './report.ts';
import { environmentOf } from './surroundings.ts';
import { keyOf, type TrialRow } from './trial.ts';

export interface Check {
  readonly what: string;
  readonly ok: boolean;
  /** What was found where it is not; else empty. */
  readonly found: string;
}

export interface Verification {
  /** Whether all checks that could be made hold. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** What could not be looked at, and why. */
  readonly notChecked: readonly { readonly what: string; readonly why: string }[];
  /** Numbers of the analysis and the claims that were computed again. */
  readonly numbers: number;
  /** How what was measured differs from what is there now: no fault of the report, which was made before. */
  readonly drift: Drift;
}

/** What a report is held against beside itself. What is left out is not checked, and the verification says so. */
export interface Beside {
  /** The text that the report was read from. */
  readonly text?: string;
  /** The journal that it was made of, or why it cannot be read. */
  readonly record?: JournalAt | { readonly fault: string };
  /** What is there now. */
  readonly present?: Present;
}

// What is looked into before anything is computed; a report that lies deeper is found by its digests and numbers.
const headSchema = z.looseObject({
  format: z.literal('writ-experiment-report/1'),
  registration: z.looseObject({
    arms: z.looseObject({ control: z.looseObject({}), treatment: z.looseObject({}) }),
    items: z.array(z.looseObject({ id: z.string() })),
    repeats: z.int().min(1).max(1000),
    seed: z.union([z.number(), z.string()]),
  }),
  trials: z.array(
    z.looseObject({ item: z.string(), side: z.enum(['control', 'treatment']), repeat: z.number() }),
  ),
  deviations: z.array(z.looseObject({})),
  claims: z.array(z.looseObject({ kind: z.string(), text: z.string() })),
  digest: z.string(),
});

/** Reads a report from JSON text. Throws `prove.not-a-report`. */
export function readReport(text: string, file: string): Report {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw notAReport(file, 'text that is no JSON', cause);
  }
  const head = headSchema.safeParse(value);
  if (!head.success) throw notAReport(file, missingText(head.error.issues[0]?.path ?? []));
  return value as Report;
}

/** What a value that is no report lacks first. */
function missingText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'JSON that is no map';
  if (path[0] === 'format') return 'JSON without the format writ-experiment-report/1';
  return `JSON in which '${path.map(String).join('.')}' is missing or of another form`;
}

function notAReport(file: string, found: string, cause?: unknown): ProveError {
  return new ProveError(
    'prove.not-a-report',
    `Expected the report of an experiment in ${file}, found ${found}.`,
    {
      next: 'Name the report.json that writ experiment report wrote.',
      details: { file },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

/**
 * Computes everything again from the report's own table, registration, seeds and hashes, and holds it against what is
 * given beside. Never throws for a report that is wrong: what does not hold is a check that failed.
 */
export function verifyReport(report: Report, { text, record, present }: Beside = {}): Verification {
  const { digest, ...rest } = report;
  const anew = madeAnew(report);
  const checks = [
    ...(text === undefined ? [] : [check(asWritten, () => textFault(anew(), text))]),
    check('the report is whole', () => same(jsonDigest(rest), digest)),
    check('the registration has its digest', () =>
      same(registrationDigest(report.registration), report.registrationDigest),
    ),
    check('what the design can find follows from the registration', () => designFault(report)),
    check('the table has its digest', () => same(jsonDigest(report.trials), report.tableDigest)),
    check('each trial is one of the plan, once', () => planFault(report)),
    check('each trial is judged by the registered rules', () => outcomeFault(report)),
    check('each result has the text of its arm', () => promptFault(report)),
    check('all grades are of the registered grader', () => graderFault(report)),
    check('analysis, claims and their words follow from the table', () => derivedFault(report, anew())),
    ...(record === undefined ? [] : [check(ofJournal, () => journalFault(report, record))]),
  ];
  return {
    ok: checks.every(({ ok }) => ok),
    checks,
    notChecked: [
      ...(text === undefined ? [{ what: asWritten, why: 'its text was not given' }] : []),
      ...(record === undefined ? [{ what: ofJournal, why: 'there is no journal beside it' }] : []),
    ],
    numbers: numbersIn(report.analysis) + numbersIn(report.claims),
    drift: driftOf(report.registration, present ?? null),
  };
}

const asWritten =
  'the file says each thing once, byte for byte what is written of its table, registration and seeds';
const ofJournal = 'registration, deviations, trials and the report itself stand in the journal';

/** The report that follows from what is given in one, computed once: two checks hold against it. */
function madeAnew(report: Report): () => Report {
  let made: Report | undefined;
  return () => {
    made ??= sealed(report);
    return made;
  };
}

// Another order or a name that stands twice shows a person another report than the one that is read.
function textFault(anew: Report, text: string): string {
  const written = [1, 2, 0].map((indent) => JSON.stringify(anew, null, indent));
  return written.some((one) => text === one || text === `${one}\n`) ? '' : 'it was changed or written anew';
}

function journalFault(report: Report, record: NonNullable<Beside['record']>): string {
  if ('fault' in record) return record.fault;
  const { now, at } = record;
  if (at === undefined || at.head !== report.journal)
    return `no line of it has the hash ${report.journal.slice(0, 12)}`;
  const { registration, registeredAt, deviations } = at;
  const recorded = plain({ registration, registeredAt, deviations, trials: reportRows(at) });
  const said = Object.fromEntries(Object.keys(recorded).map((key) => [key, report[key as keyof Report]]));
  const paths = differences(said, recorded);
  if (paths.length > 0) return differsIn(paths);
  // By what it holds, and not by what it says: a digest that was left as it was is that of another report.
  const { digest: _said, ...rest } = report;
  return now.reports.includes(jsonDigest(rest)) ? '' : 'no report with its digest was made of it';
}

function check(what: string, fault: () => string): Check {
  try {
    const found = fault();
    return { what, ok: found === '', found };
  } catch (thrown) {
    const said = thrown instanceof WritError ? thrown.message : 'it has another form than a report';
    return { what, ok: false, found: said };
  }
}

function same(now: string, said: string): string {
  return now === said ? '' : `computed ${now.slice(0, 12)}, it says ${String(said).slice(0, 12)}`;
}

function named({ side, item, repeat }: TrialRow): string {
  return `${side}, item '${item}', repeat ${repeat}`;
}

function designFault({ registration }: Report): string {
  return differsIn(differences(registration.design, plain(designOf(registration))));
}

function planFault({ registration, trials }: Report): string {
  const plan = new Map(planTrials(registration).map((trial) => [keyOf(trial), trial.position]));
  const seen = new Set<string>();
  for (const row of trials) {
    const key = keyOf(row);
    if (plan.get(key) !== row.position) return `${named(row)} is not in the plan at ${row.position}`;
    if (seen.has(key)) return `${named(row)} stands twice`;
    seen.add(key);
  }
  const runs = new Set(trials.map((row) => row.run));
  return runs.size === trials.length ? '' : 'one run stands for several trials';
}

function outcomeFault({ registration, trials }: Report): string {
  const judge = trialJudge(registration);
  for (const row of trials) {
    if (row.environment !== environmentOf(row)) return `${named(row)} has another environment than it says`;
    const { outcome, reason } = judge.take(row);
    if (outcome !== row.outcome || reason !== row.reason)
      return `${named(row)} is ${outcome}, it says ${row.outcome}`;
  }
  return '';
}

function promptFault({ registration, trials }: Report): string {
  const wrong = trials.find(
    (row) => row.outcome !== 'invalid' && row.prompt !== registration.arms[row.side].prompt,
  );
  return wrong === undefined ? '' : named(wrong);
}

function graderFault({ registration, trials }: Report): string {
  const wrong = trials.find((row) => row.grader !== null && row.grader !== registration.grader.digest);
  return wrong === undefined ? '' : `${named(wrong)} was graded by another`;
}

// All of it is made anew, so that nothing can stand in a report that does not follow. Digests have checks of their own.
function derivedFault(report: Report, anew: Report): string {
  const follows = ({ registrationDigest: _1, tableDigest: _2, digest: _3, ...rest }: Report) => rest;
  return differsIn(differences(follows(report), follows(anew)));
}

function differsIn(paths: readonly string[]): string {
  return paths.length === 0
    ? ''
    : `differs in ${paths.slice(0, 4).join(', ')}${paths.length > 4 ? ', …' : ''}`;
}

function numbersIn(value: unknown): number {
  if (typeof value === 'number') return 1;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((total, one) => total + numbersIn(one), 0);
}
