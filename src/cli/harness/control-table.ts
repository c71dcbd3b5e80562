/** The control table: for each harness and intent the control, and the newest measurement of it. */
import type { Adapter } from '../../deliver/adapter.ts';
import { isControl } from '../../deliver/permit.ts';
import { type AuthMode, authModes, type Cell, type Transport } from '../../protocol/delivery.ts';
import { type Intent, intents } from '../../protocol/intent.ts';
import { visibleLine } from '../view/visible.ts';

interface ControlRow {
  readonly intent: Intent;
  /** Null where there is no control; `none` then says why. */
  readonly control: string | null;
  readonly none?: string;
  readonly transport?: Transport;
  readonly lands?: string;
  /** Every measurement of the control, those of the user first. */
  readonly cells: readonly Cell[];
  /** Ways of logging in with which nobody measured it. */
  readonly unmeasured: readonly AuthMode[];
}

/** One harness of the table. */
export interface HarnessRow {
  readonly harness: string;
  readonly summary: string;
  readonly program: string | null;
  readonly declares: Adapter['declares'];
  readonly resume: Adapter['resume'];
  readonly controls: readonly ControlRow[];
  readonly dimensions: Adapter['dimensions'];
}

/** The rows of all harnesses, in their order. */
export function controlTable(adapters: readonly Adapter[], measured: readonly Cell[]): readonly HarnessRow[] {
  return adapters.map((adapter) => ({
    harness: adapter.name,
    summary: adapter.summary,
    program: adapter.program,
    declares: adapter.declares,
    resume: adapter.resume,
    controls: intents.map((intent) => controlRow(adapter, intent, measured)),
    dimensions: adapter.dimensions,
  }));
}

function controlRow(adapter: Adapter, intent: Intent, measured: readonly Cell[]): ControlRow {
  const row = adapter.controls[intent];
  if (!isControl(row)) return { intent, control: null, none: row.none, cells: [], unmeasured: [] };
  const { control, transport, lands } = row;
  const cells = [...measured, ...adapter.cells].filter(
    (cell) => cell.harness === adapter.name && cell.intent === intent && cell.control === control,
  );
  const unmeasured = modesOf(adapter).filter((mode) => !cells.some(({ authMode }) => authMode === mode));
  return { intent, control, transport, lands, cells, unmeasured };
}

/** The ways in which it logs in, as far as a measurement depends on them. */
function modesOf({ needsCell, keyVariables }: Adapter): readonly AuthMode[] {
  if (needsCell === false) return [];
  return keyVariables.length === 0 ? ['api-key'] : authModes;
}

/** The table for a person. Ends with a line feed. */
export function controlTableText(rows: readonly HarnessRow[]): string {
  return rows
    .map(({ harness, summary, controls, dimensions }) => {
      const lines = controls.map((row) => `  ${row.intent.padEnd(9)}  ${controlText(row)}\n`);
      const beside = Object.keys(dimensions).join(', ');
      return `${harness}: ${summary}\n${lines.join('')}  beside     ${beside === '' ? 'nothing' : beside}\n`;
    })
    .join('\n');
}

function controlText({ control, none, lands, cells, unmeasured }: ControlRow): string {
  if (control === null) return `refused: ${none}`;
  const open =
    cells.length === 0 ? ['; not measured'] : unmeasured.map((mode) => `; not measured ${modeText[mode]}`);
  return `${control}: ${lands}${measuredText(cells)}${unmeasured.length === 0 ? '' : open.join('')}`;
}

const modeText = { 'api-key': 'with an API key', login: 'with a login' } as const;

/** In which states it was measured, and in which it was seen to fail: any other one was not measured. */
function measuredText(cells: readonly Cell[]): string {
  const failed = cells.filter(({ delivered }) => !delivered);
  const worked = cells.filter(({ delivered }) => delivered);
  return statesText('measured on', worked) + statesText('seen not to deliver on', failed);
}

function statesText(verb: string, cells: readonly Cell[]): string {
  const states = new Map<string, Set<string>>();
  for (const { version, authMode, modelFamily } of cells) {
    const state = `${visibleLine(version, 40)} ${modeText[authMode]}`;
    states.set(state, (states.get(state) ?? new Set()).add(visibleLine(modelFamily, 40)));
  }
  const texts = [...states].map(
    ([state, families]) => `${state}, model families ${[...families].join(', ')}`,
  );
  return texts.length === 0 ? '' : `; ${verb} ${texts.join('; ')}`;
}
