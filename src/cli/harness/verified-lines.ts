/** A measured harness as lines for a person: a table of its intents, then what is out of the ordinary. */
import type { IntentReport } from '../../deliver/verify/measure-intent.ts';
import type { ResumeReport } from '../../deliver/verify/measure-session.ts';
import type { HarnessReport } from '../../deliver/verify/verify.ts';
import type { Cell, Position } from '../../protocol/delivery.ts';
import { visibleLine } from '../view/visible.ts';

export type Verified =
  | { readonly status: 'measured'; readonly harness: string; readonly report: HarnessReport }
  | { readonly status: 'not-found'; readonly harness: string; readonly program: string }
  | { readonly status: 'not-measurable'; readonly harness: string; readonly reason: string };

const lineCells = 200;

/** Ends with a line feed; empty for a harness that nobody named and that is not there. */
export function verifiedLines(one: Verified, named: boolean): string {
  if (one.status === 'measured') return `\n${reportLines(one.report).join('\n')}\n`;
  if (!named) return '';
  const why = one.status === 'not-found' ? `the program ${one.program} was not found on PATH` : one.reason;
  return `\n${one.harness}: ${why}\n`;
}

function reportLines(report: HarnessReport): readonly string[] {
  const { harness, version, modelFamily, authMode, intents, resume, twice, intrusion, side, drift, faults } =
    report;
  const cells = intents.flatMap((one) => one.cells);
  const builtIn = cells.find(({ builtInBytes }) => builtInBytes !== null)?.builtInBytes;
  return [
    `${harness} ${visibleLine(version ?? '(version not known)', 60)}, model family ${modelFamily}${authMode === 'login' ? ', logged in' : ''}, ${builtIn ?? 'unknown'} bytes of its own without us`,
    ...table(cells),
    ...intents.flatMap(refusedLines),
    ...resume.filter(({ fault }) => fault === null).map(resumeLine),
    ...twice.map(
      ({ intent, control, counts }) =>
        `  ${intent}: ${control} given twice, ours last: ${counts === null ? 'it ends without a request' : countsText[counts]}`,
    ),
    ...intrusion
      .filter(({ fault }) => fault === null)
      .flatMap(({ intent, planted, reached, ours }) => [
        `  ${intent}: of ${planted} files that others could have left, ${reached.length} reached the model; our text: ${ours ?? 'unknown'}`,
        ...reached.map(
          ({ where, path, position, effect }) =>
            `    ${path} of the ${where} ${effect === 'speaks' ? 'speaks' : 'stands beside'} at ${placeText(position)}`,
        ),
      ]),
    side.length === 0
      ? '  no requests beside the task'
      : `  ${side.length} requests beside the task: ${side.map((one) => `${one.bytes} B "${visibleLine(one.firstWords, 40)}"`).join(', ')}`,
    ...drift.map(
      ({ intent, fidelity, field, was, is, against }) =>
        `  drift since ${against.version} of ${against.date}: ${intent} ${fidelity}, ${field} was ${shown(was)}, is ${shown(is)}`,
    ),
    ...faults.map((fault) => `  ! ${visibleLine(fault, lineCells)}`),
  ];
}

function table(cells: readonly Cell[]): readonly string[] {
  const rows = cells.map((cell) => [
    `${cell.intent} ${cell.fidelity}`,
    cell.delivered ? 'delivered' : 'NOT DELIVERED',
    cell.position === null ? 'nowhere' : `${placeText(cell.position)} (${cell.position.role})`,
    cell.residue.bytes === 0 ? 'nothing beside' : `${cell.residue.bytes} B beside`,
    cell.altered.length === 0 ? 'byte for byte' : `alters: ${cell.altered.join(', ')}`,
    cell.residue.bytes === 0 ? '' : `"${visibleLine(cell.residue.firstWords, 40)}"`,
  ]);
  const widths = [0, 1, 2, 3, 4].map((i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) => `  ${row.map((text, i) => text.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd());
}

function refusedLines({ intent, traps }: IntentReport): readonly string[] {
  const refused = traps.filter(({ outcome }) => outcome === 'refused').map(({ trait }) => trait);
  return refused.length === 0
    ? []
    : [`  ${intent}: refused before anything is started: ${refused.join(', ')}`];
}

function resumeLine({ intent, sameText, otherText }: ResumeReport): string {
  const copies = sameText === null ? 'unknown' : sameText.join(' and ');
  return `  ${intent}, resumed once and twice: the text stands ${copies} times; resumed with another text: ${otherText ?? 'unknown'}`;
}

const countsText = {
  last: 'ours counts',
  first: 'the other counts',
  both: 'both stand there',
  neither: 'neither is there',
} as const;

const placeText = ({ field, index }: Position) => (index === null ? field : `${field}[${index}]`);

const shown = (value: unknown) => visibleLine(JSON.stringify(value) ?? 'nothing', 80);
