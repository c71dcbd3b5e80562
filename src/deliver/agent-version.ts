/** By what an agent's measurements are found again, where the harness is a protocol and the request names the command. */
import { basename } from 'node:path';
import type { Cell } from '../protocol/delivery.ts';
import type { Adapter } from './adapter.ts';

const unknownVersion = 'of an unknown version';

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
  return `${commandOf(agent)} ${version ?? unknownVersion}`;
}

/** The cells that can speak of an agent, whether or not somebody looked at its version. Without a command none can. */
export function cellsOfAgent(
  { name, program }: Pick<Adapter, 'name' | 'program'>,
  agent: readonly string[] | undefined,
  cells: readonly Cell[],
): readonly Cell[] {
  if (program !== null) return cells;
  return cells.filter((cell) => cell.harness !== name || (agent !== undefined && isOf(cell, agent)));
}

// What stands behind the command is one word, so that a longer command is another agent.
function isOf({ version }: Cell, agent: readonly string[]): boolean {
  const command = `${commandOf(agent)} `;
  if (!version.startsWith(command)) return false;
  const rest = version.slice(command.length);
  return rest === unknownVersion || !rest.includes(' ');
}

function commandOf([path = '', ...words]: readonly string[]): string {
  return [basename(path), ...words].join(' ');
}
