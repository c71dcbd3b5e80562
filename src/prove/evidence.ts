/** Evidence coverage: whether every situation in which a pack is left out lies inside the cell that its report measured. */
import { type Agent, type Fragment, factTypesOf } from '../compose/agent.ts';
import { type Condition, conditionCompiler } from '../compose/conditions.ts';
import { TextFault } from '../compose/errors.ts';
import { cutNotes, cutsOf, type Possible, possibleValues } from '../compose/proof/fact-values.ts';
import { type Finding, finding } from '../compose/proof/finding.ts';
import { conditionDecider, fragmentDecider } from '../compose/proof/fragment-decider.ts';
import { reach } from '../compose/proof/reach.ts';
import { sha256 } from '../digest.ts';
import { nameOf } from './metric.ts';
import { type ArmRecord, armsDifferIn } from './registration.ts';
import type { Report } from './report.ts';
import type { Side } from './statistics/trials.ts';
import { type Beside, verifyReport } from './verify.ts';

/** How a header cites a report: `evidence: report:experiments/protocol.record/report.json`, from the agent folder. */
const reportPrefix = 'report:';

/** The reports that a fragment cites. */
export function citedReports({ evidence }: Fragment): readonly string[] {
  return evidence
    .filter((one) => one.startsWith(reportPrefix))
    .map((one) => one.slice(reportPrefix.length).trim());
}

export interface CitedReport {
  readonly fragment: Fragment;
  /** As it is cited. */
  readonly path: string;
  readonly report: Report;
  /** The line of the fragment's header, from 1. */
  readonly line: number;
  /** What it is held against beside itself: its text, and the journal that it was made of. */
  readonly beside?: Beside;
}

/** What is wrong with one report as evidence for leaving the fragment out; nothing if it covers it. */
export function evidenceFindings(agent: Agent, cited: CitedReport): Finding[] {
  const { report, fragment, path, beside = {} } = cited;
  const at = { file: fragment.file, line: cited.line };
  const about = `the report ${path} of '${fragment.id}'`;
  const { checks, ok } = verifyReport(report, beside);
  if (!ok) {
    const wrong = checks.find((check) => !check.ok);
    return [
      finding('evidence-not-verified', `${about} does not verify: ${wrong?.what}: ${wrong?.found}`, at),
    ];
  }
  const out = sideWithout(report, fragment.id);
  if (out === undefined) {
    return [
      finding(
        'evidence-other-pack',
        `${about} should compare the agent '${agent.key}' with and without this fragment alone, and does not`,
        { ...at, more: besides(report) },
      ),
    ];
  }
  return [
    ...recordFindings(cited, about),
    ...verdictFindings(cited, out, about),
    ...driftFindings(cited, out, about),
    ...coverageFindings(agent, cited, about),
  ];
}

// Of an agent folder the digest alone is on record: of two folders nobody can say that they agree in all but the fragment.
const alike = ['agent', 'profile', 'model', 'harness', 'capabilities', 'folderDigest'] as const;

/** In what the arms differ, whatever their fragments are. */
function besides({ registration: { arms } }: Report): string[] {
  return armsDifferIn(arms, alike).map((part) => `the arms differ in ${part}`);
}

/** The arm that is without the fragment, where the arms differ in it and in nothing else. */
function sideWithout(report: Report, id: string): Side | undefined {
  const { arms } = report.registration;
  const ids = new Set([...Object.keys(arms.control.fragments), ...Object.keys(arms.treatment.fragments)]);
  const digest = (arm: ArmRecord, one: string) => arm.fragments[one] ?? null;
  const differing = [...ids].filter((one) => digest(arms.control, one) !== digest(arms.treatment, one));
  if (besides(report).length > 0 || differing.length !== 1 || differing[0] !== id) return undefined;
  if (digest(arms.treatment, id) === null) return 'treatment';
  return digest(arms.control, id) === null ? 'control' : undefined;
}

// By itself a report shows that it is of one piece; only its journal shows that its trials were run.
function recordFindings({ beside, fragment, line }: CitedReport, about: string): Finding[] {
  if (beside?.record !== undefined) return [];
  const message = `${about} has no journal beside it, so that nothing shows that its trials were run`;
  return [finding('evidence-without-journal', message, { file: fragment.file, line })];
}

// What the report says of leaving out: a loss, or nothing at all, is no evidence for it.
function verdictFindings({ report, fragment, line }: CitedReport, out: Side, about: string): Finding[] {
  const at = { file: fragment.file, line };
  const none = report.claims.find(({ kind }) => kind === 'void' || kind === 'inconclusive');
  if (none !== undefined)
    return [finding('evidence-no-verdict', `${about} has no verdict: ${none.text}`, at)];
  const { primary } = report.registration;
  const loss = out === 'treatment' ? 'worse' : 'better';
  const lost = report.claims.find(
    (claim) => claim.kind === loss && primary !== null && claim.metric === nameOf(primary),
  );
  const found =
    lost === undefined
      ? []
      : [finding('evidence-no-verdict', `${about} speaks for the fragment: ${lost.text}`, at)];
  return report.exploratory
    ? [...found, finding('evidence-exploratory', `${about} is exploratory`, at)]
    : found;
}

function driftFindings({ report, fragment, line }: CitedReport, out: Side, about: string): Finding[] {
  const measured =
    report.registration.arms[out === 'treatment' ? 'control' : 'treatment'].fragments[fragment.id];
  if (measured === sha256(fragment.body)) return [];
  return [
    finding('evidence-stale', `${about} measured another text of this fragment`, {
      file: fragment.file,
      line,
    }),
  ];
}

/** A situation outside the cell in which the fragment is left out, in every profile that has it. */
function coverageFindings(agent: Agent, { report, fragment, line }: CitedReport, about: string): Finding[] {
  const place = { file: fragment.file, line };
  const types = factTypesOf(agent);
  const cell = compiled(agent, report.registration.cell);
  if (cell === undefined) {
    return [
      finding(
        'evidence-uncovered',
        `${about} names a cell that this agent's facts cannot say: ${report.registration.cell}`,
        place,
      ),
    ];
  }
  const pack = fragmentDecider(fragment, types);
  // A fragment without a condition is never left out.
  if (pack === null || fragment.when === null) return [];
  const measured = conditionDecider(cell, types);
  const cuts = cutsOf([fragment.when.source, cell.source]);
  const names = [...new Set([...pack.facts, ...measured.facts])].sort();
  const ranges = names.map((name) => ({ name, values: possibleValues(agent, name, cuts) }));
  const reached = reach([pack, measured], ranges, situationsMax);
  if (reached === null) {
    return [
      finding(
        'evidence-uncovered',
        `${about} cannot be held against the conditions: they make too many situations`,
        place,
      ),
    ];
  }
  // The cell must be known to hold: of a situation that may lie outside nothing was measured.
  const outside = reached.find(({ outcomes: [presence, inside] }) => presence === 'out' && inside !== 'T');
  const notes = cutNotes(agent, names, cuts).map((note) => `not exact: ${note}`);
  const more = [`the measured cell: ${cell.source}`, ...notes];
  if (outside === undefined) return notes.length === 0 ? [] : [perhapsUncovered(about, { ...place, more })];
  return [
    finding(
      'evidence-uncovered',
      `${about} does not cover a situation in which the fragment is left out: ${exampleText(outside.example())}`,
      { ...place, more },
    ),
  ];
}

// Nothing was found, in a search that did not go everywhere: no error, and no proof either.
function perhapsUncovered(about: string, place: Parameters<typeof finding>[2]): Finding {
  const message = `${about} covers each situation that was tried in which the fragment is left out, and not all could be tried`;
  return { ...finding('evidence-uncovered', message, place), level: 'warning' };
}

const situationsMax = 200_000;

function compiled(agent: Agent, source: string): Condition | undefined {
  try {
    return conditionCompiler(factTypesOf(agent))(source);
  } catch (thrown) {
    if (thrown instanceof TextFault) return undefined;
    throw thrown;
  }
}

function exampleText(example: ReadonlyMap<string, Possible>): string {
  return [...example]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value === undefined ? 'unknown' : JSON.stringify(value)}`)
    .join(', ');
}
