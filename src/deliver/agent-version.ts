/** By what an agent's measurements are found again, where the harness is a protocol and the request names the command. */
import { basename } from 'node:path';
import type { Cell } from '../protocol/delivery.ts';
import type { Adapter } from './adapter.ts';

/**
 * The version that a cell bears. Agents of one protocol have nothing else in common, so with each goes its command: the
 * program's name and its words.
 */
export function cellVersion(
  { program }: Pick<Adapter, 'program'>,
  agent: readonly string[] | undefined,
  version: string | null,
): string | null {
  if (program !== null || agent === undefined) return version;
  return `${commandOf(agent)} ${version ?? 'of an unknown version'}`;
}

/** The cells that can speak of an agent whose version nobody looked at yet. */
export function cellsOfAgent(
  { name, program }: Pick<Adapter, 'name' | 'program'>,
  agent: readonly string[] | undefined,
  cells: readonly Cell[],
): readonly Cell[] {
  if (program !== null || agent === undefined) return cells;
  return cells.filter((cell) => cell.harness !== name || cell.version.startsWith(`${commandOf(agent)} `));
}

function commandOf([path = '', ...words]: readonly string[]): string {
  return [basename(path), ...words].join(' ');
}
