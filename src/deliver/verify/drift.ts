/** Where a new measurement differs from what was known: of the same version, or else of the newest other one. */
import type { Cell } from '../../protocol/delivery.ts';

export interface Drift {
  readonly intent: Cell['intent'];
  readonly fidelity: Cell['fidelity'];
  /** The version and the date of what was known. */
  readonly against: { readonly version: string; readonly date: string };
  readonly field: string;
  readonly was: unknown;
  readonly is: unknown;
}

// Paths and dates stand in many prompts, so sizes differ a little from machine to machine.
const bytesApart = 128;

/** One entry for each field that differs; none where nothing was known. */
export function driftOf(cell: Cell, known: readonly Cell[]): readonly Drift[] {
  const same = known.filter(
    (one) =>
      one.harness === cell.harness &&
      one.modelFamily === cell.modelFamily &&
      one.authMode === cell.authMode &&
      one.intent === cell.intent &&
      one.fidelity === cell.fidelity,
  );
  const before = same.find(({ version }) => version === cell.version) ?? newest(same);
  if (before === undefined) return [];
  const { intent, fidelity } = cell;
  const against = { version: before.version, date: before.date };
  const entry = (field: string, was: unknown, is: unknown) => ({ intent, fidelity, against, field, was, is });
  const plain = (['control', 'delivered', 'position', 'byteEquality', 'altered'] as const)
    .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(cell[field]))
    .map((field) => entry(field, before[field], cell[field]));
  const sizes = (
    [
      ['residue.bytes', before.residue.bytes, cell.residue.bytes],
      ['builtInBytes', before.builtInBytes, cell.builtInBytes],
    ] as const
  )
    .filter(
      ([, was, is]) => (was === null) !== (is === null) || Math.abs((was ?? 0) - (is ?? 0)) > bytesApart,
    )
    .map(([field, was, is]) => entry(field, was, is));
  return [...plain, ...sizes];
}

function newest(cells: readonly Cell[]): Cell | undefined {
  return [...cells].sort((a, b) => (a.date < b.date ? 1 : -1))[0];
}
