/** A report as a person reads it on a terminal. */
import { amount, figure } from '../../prove/claims.ts';
import { nameOf } from '../../prove/metric.ts';
import type { Report } from '../../prove/report.ts';
import { shortDigest } from '../view/figures.ts';

/** The summary; `paths` say where the whole of it is. */
export function reportText(report: Report, paths: { readonly json: string; readonly html: string }): string {
  const { registration, analysis, claims, scope, notVerified, deviations, drift } = report;
  const { lost } = analysis;
  const lines = [
    registration.question,
    ...(report.exploratory ? ['', 'EXPLORATORY: the experiment was not run as it was registered.'] : []),
    '',
    'CLAIMS',
    ...claims.map(({ text }) => `  ${text}`),
    '',
    'NUMBERS                     control    treatment   difference',
    ...analysis.metrics.map((one) =>
      'reason' in one
        ? `  ${one.metric}: ${one.reason}`
        : `  ${nameOf(one).padEnd(24)}${cell(one.estimate.control)} ${cell(one.estimate.treatment)} ${cell(one.bootstrap.estimate)}`,
    ),
    '',
    'CALLS',
    ...(Object.keys(analysis.calls).length === 0 ? ['  none'] : []),
    ...Object.entries(analysis.calls).map(
      ([tool, { control, treatment }]) =>
        `  ${tool.padEnd(24)}${cell(control.total)} ${cell(treatment.total)}`,
    ),
    '',
    'TRIALS',
    ...(['control', 'treatment'] as const).flatMap((side) => {
      const { outcomes, planned, reasons, callCodes, interrupted, timeouts, unsent } = analysis.arms[side];
      const parts = Object.entries(outcomes).filter(([, many]) => many > 0);
      const more = [
        ...(timeouts > 0 ? [`${timeouts} timed out`] : []),
        ...(interrupted > 0 ? [`${interrupted} begun anew`] : []),
        ...(unsent > 0 ? [`${amount(unsent, 'attempts')} of which nothing was sent`] : []),
      ];
      return [
        `  ${side.padEnd(10)} ${planned}: ${[...parts.map(([name, many]) => `${many} ${name}`), ...more].join(', ')}`,
        ...reasons.map(({ outcome, reason, trials }) => `    ${trials} ${outcome}: ${reason}`),
        ...Object.entries(callCodes).map(
          ([code, trials]) => `    in ${amount(trials, 'trials')} a call failed: ${code}`,
        ),
      ];
    }),
    `  lost pairs ${lost.pairs} of ${lost.of}`,
    '',
    'MEASURED CELL',
    ...scope.map((one) => `  ${one}`),
    ...section('NOT VERIFIED', notVerified),
    ...section(
      'DEVIATIONS',
      deviations.map(
        ({ kind, trials, reason, paths: changed }) =>
          `${kind} after ${amount(trials, 'trials')}: ${reason}${changed.length === 0 ? '' : ` (${changed.join(', ')})`}`,
      ),
    ),
    ...section('CHANGED SINCE', driftLines(drift)),
    '',
    `registration ${shortDigest(report.registrationDigest)}, report ${shortDigest(report.digest)}`,
    paths.json,
    paths.html,
  ];
  return `${lines.join('\n')}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

/** How what is there now differs from what was measured; nothing where it is known not to. */
export function driftLines({ known, paths }: Report['drift']): string[] {
  const differing =
    paths.length === 0 ? [] : [`What is there now differs from what was measured in ${paths.join(', ')}.`];
  return known
    ? differing
    : [
        'The experiment is not there or cannot be resolved: nothing but the program was compared.',
        ...differing,
      ];
}

function cell(value: number | null): string {
  return (value === null ? 'unknown' : figure(value)).padStart(11);
}
