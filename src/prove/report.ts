/** The report: one JSON value with everything that its numbers come from, so that anybody can compute them again. */
import type { Clock } from '../clock.ts';
import { type Digest, jsonDigest } from '../digest.ts';
import { type Analysis, analyse } from './analysis.ts';
import type { ArmHarness } from './arm.ts';
import { amount, type Claim, claimsOf, claimText } from './claims.ts';
import { ProveError } from './errors.ts';
import { type Deviation, type ExperimentState, gradedRows, type Journal } from './journal.ts';
import { trialJudge } from './outcome.ts';
import { planTrials } from './plan.ts';
import { notRegistered } from './register.ts';
import { differences, plain, type Registration, registrationDigest } from './registration.ts';
import type { Build } from './surroundings.ts';
import type { TrialRow } from './trial.ts';

export interface Report {
  readonly format: 'writ-experiment-report/1';
  readonly madeAt: number;
  readonly registeredAt: number;
  readonly registration: Registration;
  readonly registrationDigest: Digest;
  /** The hash of the journal's newest line: the journal that this report was made from. */
  readonly journal: Digest;
  readonly deviations: readonly Deviation[];
  readonly exploratory: boolean;
  readonly trials: readonly TrialRow[];
  readonly tableDigest: Digest;
  readonly analysis: Analysis;
  readonly claims: readonly (Claim & { readonly text: string })[];
  readonly scope: readonly string[];
  readonly notVerified: readonly string[];
  /** How what was measured differs from what is there when the report is made. */
  readonly drift: Drift;
  /** Over all the rest. */
  readonly digest: Digest;
}

export interface Drift {
  /** False where the present folder could not be resolved any more: then the paths are those of the build at most. */
  readonly known: boolean;
  readonly paths: readonly string[];
}

/** What is there now: what the experiment would register, or where it cannot be resolved any more the program alone. */
export type Present = Registration | Pick<Registration, 'build'>;

export interface ReportOptions {
  readonly clock: Clock;
  /** Null where nothing is known of it. */
  readonly present: Present | null;
  /** Why a report is made before the end; without it that is refused. */
  readonly look?: string | undefined;
}

/**
 * Makes the report of a journal, and writes into it which one was made. Before all trials are done and graded it is a look at
 * the results: that needs a reason, and is recorded as a deviation. Throws `prove.no-trials`, `prove.not-registered`,
 * `prove.mixed-graders`, `prove.not-ended`.
 */
export async function makeReport(journal: Journal, { clock, present, look }: ReportOptions): Promise<Report> {
  const state = journal.state();
  if (state === undefined) throw notRegistered();
  if (state.rows.length === 0) {
    throw new ProveError('prove.no-trials', 'Expected trials to report, found none.', {
      next: 'Run the experiment first: writ experiment run FILE.',
    });
  }
  const rows = reportRows(state);
  mustBeGradedAlike(state, rows);
  const early = earlyLook(state, rows);
  const looked = state.deviations.some(
    ({ kind, trials: at }) => kind === 'looked-early' && at === rows.length,
  );
  // What has been looked at shows nothing new when it is looked at again.
  if (early !== undefined && !looked) {
    if (look === undefined || look.trim() === '') throw notEnded(early);
    await journal.append({
      type: 'deviated',
      registration: null,
      deviation: {
        kind: 'looked-early',
        at: clock.now(),
        trials: rows.length,
        paths: [],
        reason: `a report was made ${early}: ${look.trim()}`,
      },
    });
  }
  const now = journal.state() ?? state;
  const { registration, registeredAt, deviations, head } = now;
  const report = sealed({
    madeAt: clock.now(),
    registeredAt,
    registration,
    journal: head,
    deviations,
    trials: rows,
    drift: driftOf(registration, present),
  });
  await journal.append({ type: 'reported', at: report.madeAt, digest: report.digest });
  return report;
}

/** The rows as they are published: with the registered grader's grades, and judged by the registered rules in their order. */
export function reportRows(state: ExperimentState): readonly TrialRow[] {
  const { registration } = state;
  const judge = trialJudge(registration);
  return gradedRows(state, registration.grader.digest).map((row) => ({ ...row, ...judge.take(row) }));
}

/** How far it is, where a report by now is a look before the end; undefined at the end. */
function earlyLook({ registration }: ExperimentState, rows: readonly TrialRow[]): string | undefined {
  const trials = planTrials(registration).length;
  if (rows.length < trials) return `after ${rows.length} of ${amount(trials, 'trials')}`;
  const open = ungraded(rows);
  return open === 0 ? undefined : `with ${open} of ${amount(trials, 'trials')} still to be graded`;
}

function notEnded(early: string): ProveError {
  return new ProveError(
    'prove.not-ended',
    `A report should be made when all trials are done and graded; it would be made ${early}, and whoever sees it can no longer confirm anything.`,
    {
      next: 'Go on with writ experiment run FILE, and see how far it is with writ experiment status FILE; or make the result exploratory for good with writ experiment report FILE --look REASON.',
    },
  );
}

function ungraded(rows: readonly TrialRow[]): number {
  return rows.filter(({ outcome, grader }) => outcome === 'answered' && grader === null).length;
}

function mustBeGradedAlike(state: ExperimentState, rows: readonly TrialRow[]): void {
  const other = state.grades.some(({ grader }) => grader !== state.registration.grader.digest);
  const open = ungraded(rows);
  if (!other || open === 0) return;
  throw new ProveError(
    'prove.mixed-graders',
    `All trials should be graded by the registered grader; ${open} have a grade of an earlier one alone.`,
    { next: 'Have them graded: writ experiment run FILE.' },
  );
}

/** What a report is made of. */
export type Reported = Pick<
  Report,
  'madeAt' | 'registeredAt' | 'registration' | 'journal' | 'deviations' | 'trials' | 'drift'
>;

/** The report of what is given: equal inputs give an equal report, with equal digests. */
export function sealed(reported: Reported): Report {
  const { madeAt, registeredAt, registration, journal, deviations, trials, drift } = reported;
  const report = plain({
    format: 'writ-experiment-report/1' as const,
    madeAt,
    registeredAt,
    registration,
    registrationDigest: registrationDigest(registration),
    journal,
    deviations,
    trials,
    tableDigest: jsonDigest(plain(trials)),
    ...derivedOf(registration, trials, deviations),
    drift,
  });
  return { ...report, digest: jsonDigest(report) };
}

export type Derived = Pick<Report, 'exploratory' | 'analysis' | 'claims' | 'scope' | 'notVerified'>;

/** All of a report that follows from registration, rows and deviations. */
export function derivedOf(
  registration: Registration,
  rows: readonly TrialRow[],
  deviations: readonly Deviation[],
): Derived {
  const analysis = analyse(registration, rows);
  const changed = isChanged(rows);
  const exploratory = deviations.length > 0 || changed;
  return plain({
    exploratory,
    analysis,
    claims: claimsOf(registration, analysis, exploratory).map((claim) => ({
      ...claim,
      text: claimText(claim),
    })),
    scope: scopeOf(registration),
    notVerified: notVerifiedOf(registration, analysis, rows, changed),
  });
}

/** Whether the trials of an item in an arm had several environments: what differs is invalid, and leaves the others fewer. */
function isChanged(rows: readonly TrialRow[]): boolean {
  const places = rows.map(({ side, item }) => `${side} ${item}`);
  const environments = rows.map(({ environment }, at) => `${places[at]} ${environment}`);
  return new Set(environments).size > new Set(places).size;
}

function scopeOf({ cell, scope, arms, build, items }: Registration): readonly string[] {
  const models = [...new Set([arms.control.model, arms.treatment.model])].join(' and ');
  const harnesses = [arms.control, arms.treatment].map(({ harness }) => harnessText(harness, build));
  return [
    `Situations in which ${cell}.`,
    `The agent ${arms.treatment.agent} on ${[...new Set(harnesses)].join(' and ')} with ${models}, and ${items.length === 1 ? 'this item' : `these ${items.length} items`}.`,
    ...scope,
    'Elsewhere nothing was measured, and nothing is said.',
  ];
}

function harnessText(harness: ArmHarness | undefined, build: Build): string {
  if (harness === undefined) return build.harness;
  return `${harness.name} (${harness.intent}, ${harness.fidelity})`;
}

function notVerifiedOf(
  registration: Registration,
  { arms, asymmetry }: Analysis,
  rows: readonly TrialRow[],
  changed: boolean,
): readonly string[] {
  const unseen = rows.filter(({ modelsSeen }) => modelsSeen.length === 0 || modelsSeen.includes(null)).length;
  const versionless = rows.filter(({ harnessVersion }) => harnessVersion === null).length;
  const unsent = rows.filter((row) => row.promptSent === null).length;
  const models = new Set([...arms.control.modelsSeen, ...arms.treatment.modelsSeen]);
  const states = [...new Set([...arms.control.fingerprintsSeen, ...arms.treatment.fingerprintsSeen])].sort();
  const local = rows.every((row) => row.servers.every((server) => server === 'this machine'));
  const unpriced = rows.filter((row) => row.usage.costUsd === null).length;
  const refused = rows.filter(({ code, callCodes }) => [code, ...callCodes].some(isNotAllowed)).length;
  const said = (when: boolean, text: string) => (when ? [text] : []);
  return [
    ...registration.notVerified,
    ...said(local, 'All answers came from a server on this machine: no model of a provider took part.'),
    ...said(registration.primary === null, 'No metric was named as the one that decides.'),
    ...said(
      changedFragments(registration) > 1,
      `${changedFragments(registration)} fragments differ at once: what each does alone was not measured.`,
    ),
    ...said(registration.manipulation === null, 'No check was registered that the treated text acts.'),
    ...said(
      registration.modelSeen === null,
      'The name under which the model must answer was not registered.',
    ),
    ...said(models.size > 1, `Several models answered: ${[...models].join(', ')}.`),
    ...said(
      states.length > 1,
      `The provider's service answered in several states (system_fingerprint): ${states.join(', ')}.`,
    ),
    ...said(unseen > 0, `In ${amount(unseen, 'trials')} the provider did not say which model answered.`),
    ...said(
      versionless > 0,
      `In ${amount(versionless, 'trials')} the agent program did not say its version.`,
    ),
    ...said(unsent > 0, `In ${amount(unsent, 'trials')} the record does not show the text that was sent.`),
    ...said(unpriced > 0, `The cost of ${amount(unpriced, 'trials')} is not known.`),
    ...said(
      refused > 0,
      `In ${amount(refused, 'trials')} a call that needs a person was refused (approvals: deny): what the agent does when it is allowed was not measured.`,
    ),
    ...said(registration.canaries.length === 0, 'No canary of the experiment was looked for.'),
    ...said(registration.horizonMs === null, 'No time limit was set, so no trial could time out.'),
    ...said(changed, 'The program, the machine or a tool changed while the experiment ran.'),
    ...said(
      asymmetry.better + asymmetry.worse > 0 && asymmetry.p <= 0.05,
      'One arm lost more trials than the other.',
    ),
    ...said(registration.grader.kind === 'judge', 'That the judge grades as people would was not measured.'),
  ];
}

/** Codes of calls, of the loop and of a plan's step, that nobody was there to allow. */
function isNotAllowed(code: string | null): boolean {
  return code === 'native.approval-missing' || code === 'plan.approval-missing';
}

function changedFragments({ arms }: Registration): number {
  return differences(arms.control.fragments, arms.treatment.fragments).length;
}

/** In what the measured and the present differ; what follows from the rest is left out. */
export function driftOf(registration: Registration, present: Present | null): Drift {
  if (present === null) return { known: false, paths: [] };
  if (!('arms' in present))
    return { known: false, paths: differences({ build: registration.build }, { build: present.build }) };
  const { design: _now, ...now } = present;
  const { design: _then, ...then } = registration;
  return { known: true, paths: differences(then, now) };
}

/** What a build says of itself, as one line. */
export function buildText({ writ, node, platform, harness }: Build): string {
  return `Writ ${writ}, Node ${node}, ${platform}, harness ${harness}`;
}
