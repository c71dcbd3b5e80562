/** What a measurement is of, and a cell that takes a control at its word until there is a measurement. */
import type { AuthMode, Cell } from '../../protocol/delivery.ts';
import type { Fidelity, Intent } from '../../protocol/intent.ts';
import type { Adapter } from '../adapter.ts';
import { isControl } from '../permit.ts';

/** What a measurement is of. */
export interface State {
  readonly adapter: Adapter;
  readonly version: string | null;
  /** Null for the harness's own choice. */
  readonly model: string | null;
  readonly authMode: AuthMode;
}

/** What is known before the first turn: everything of a cell that is no observation. */
export type CellHead = Pick<Cell, 'harness' | 'version' | 'modelFamily' | 'authMode' | 'control' | 'date'>;

/** Of the control of an intent, as a cell of that date has it. */
export function headOf({ adapter, version, model, authMode }: State, intent: Intent, date: string): CellHead {
  const row = adapter.controls[intent];
  return {
    harness: adapter.name,
    version: version ?? 'unknown',
    modelFamily: adapter.family(model),
    authMode,
    control: isControl(row) ? row.control : '',
    date,
  };
}

/**
 * What is to be measured may not be held against itself: for its own measurement, and until there is one, a control is
 * taken at its word.
 */
export function claimedCell(state: State, intent: Intent, fidelity: Fidelity): Cell {
  return {
    ...headOf(state, intent, '9999-12-31'),
    intent,
    fidelity,
    delivered: true,
    position: null,
    residue: { bytes: 0, firstWords: '' },
    builtInBytes: null,
    byteEquality: true,
    altered: [],
  };
}
