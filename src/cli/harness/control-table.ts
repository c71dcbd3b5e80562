/** The control table: for each harness and intent the control, and the newest measurement of it. */
import type { Adapter } from '../../deliver/adapter.ts';
import { isControl } from '../../deliver/permit.ts';
import type { Cell, Transport } from '../../protocol/delivery.ts';
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
  if (!isControl(row)) return { intent, control: null, none: row.none, cells: [] };
  const { control, transport, lands } = row;
  const cells = [...measured, ...adapter.cells].filter(
    (cell) => cell.harness === adapter.name && cell.intent === intent && cell.control === control,
  );
  return { intent, control, transport, lands, cells };
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

function controlText({ control, none, lands, cells }: ControlRow): string {
  if (control === null) return `refused: ${none}`;
  return `${control}: ${lands}${measuredText(cells)}`;
}

/** In which states it was measured: any other one was not. */
function measuredText(cells: readonly Cell[]): string {
  const states = new Map<string, Set<string>>();
  for (const { version, authMode, modelFamily } of cells) {
    const state = `${visibleLine(version, 40)} with ${authMode === 'api-key' ? 'an API key' : 'a login'}`;
    states.set(state, (states.get(state) ?? new Set()).add(visibleLine(modelFamily, 40)));
  }
  const texts = [...states].map(
    ([state, families]) => `${state}, model families ${[...families].join(', ')}`,
  );
  return texts.length === 0 ? '' : `; measured on ${texts.join('; ')}`;
}
