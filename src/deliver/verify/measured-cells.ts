/** The user's own measurements on disk: one file in the state folder, which wins over what ships. */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { stateFolder } from '../../ledger/locate.ts';
import type { Cell } from '../../protocol/delivery.ts';
import { readCells } from '../cells.ts';
import { DeliverError } from '../errors.ts';
import { writeWhole } from '../whole-file.ts';

/** Where the file is, whether or not there is one. */
export function measuredCellsPath(env: Readonly<Record<string, string | undefined>>): string {
  return join(stateFolder(env), 'writ', 'cells.json');
}

/** What was measured on this machine so far. Throws `deliver.bad-cells` for a file that holds something else. */
export async function readMeasuredCells(path: string): Promise<readonly Cell[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DeliverError('deliver.bad-cells', `${path} expected a list of measurements, found no JSON.`, {
      next: 'Remove the file and measure again with: writ harness verify',
      details: { source: path },
      cause,
    });
  }
  return readCells(value, path);
}

/** Adds cells; one takes the place of an earlier one about the same. The file is whole at every moment. */
export async function keepMeasuredCells(path: string, cells: readonly Cell[]): Promise<void> {
  const about = ({ harness, version, modelFamily, authMode, intent, fidelity, control }: Cell) =>
    JSON.stringify([harness, version, modelFamily, authMode, intent, fidelity, control]);
  const all = new Map((await readMeasuredCells(path)).map((cell) => [about(cell), cell]));
  for (const cell of cells) all.set(about(cell), cell);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeWhole(path, `${JSON.stringify([...all.values()], null, 2)}\n`);
}
