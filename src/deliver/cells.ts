/** The measurements that a plan rests on: reading them, and choosing the one that fits an installed harness. */
import { z } from 'zod';
import { authModes, type Cell, textTraits } from '../protocol/delivery.ts';
import { fidelities, intents } from '../protocol/intent.ts';
import { DeliverError } from './errors.ts';

const cell = z.strictObject({
  harness: z.string().min(1),
  version: z.string().min(1),
  modelFamily: z.string().min(1),
  authMode: z.enum(authModes),
  intent: z.enum(intents),
  fidelity: z.enum(fidelities),
  control: z.string().min(1),
  delivered: z.boolean(),
  position: z
    .strictObject({ field: z.string(), role: z.string(), index: z.number().int().nonnegative().nullable() })
    .nullable(),
  residue: z.strictObject({ bytes: z.number().int().nonnegative(), firstWords: z.string() }),
  builtInBytes: z.number().int().nonnegative().nullable(),
  byteEquality: z.boolean(),
  altered: z.array(z.enum(textTraits)),
  date: z.iso.date(),
});

/** Reads a list of cells. Throws `deliver.bad-cells` that names `source` and the first fault. */
export function readCells(value: unknown, source: string): readonly Cell[] {
  const read = z.array(cell).safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new DeliverError(
    'deliver.bad-cells',
    `${source} expected a list of measurements, found at ${issue?.path.join('.') || 'its top'}: ${issue?.message}.`,
    { next: 'Measure again with: writ harness verify', details: { source } },
  );
}

/** What a cell has to be about. A version of null means that nobody looked which one is installed. */
export type CellQuery = Pick<
  Cell,
  'harness' | 'modelFamily' | 'authMode' | 'intent' | 'fidelity' | 'control'
> & {
  readonly version: string | null;
};

/**
 * The cell that fits. The user's own measurements win over those that ship; within each the newest counts.
 */
export function chooseCell(
  query: CellQuery,
  measured: readonly Cell[],
  shipped: readonly Cell[],
): Cell | undefined {
  for (const cells of [measured, shipped]) {
    const fitting = cells
      .filter((cell) => fits(cell, query))
      .sort((a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : 0));
    if (fitting[0] !== undefined) return fitting[0];
  }
  return undefined;
}

function fits(cell: Cell, query: CellQuery): boolean {
  return (
    cell.harness === query.harness &&
    cell.modelFamily === query.modelFamily &&
    cell.authMode === query.authMode &&
    cell.intent === query.intent &&
    cell.fidelity === query.fidelity &&
    cell.control === query.control &&
    (query.version === null || cell.version === query.version)
  );
}
