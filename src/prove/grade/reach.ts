/** Keeps a grader out of reach of the agents that it grades. */
import { realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import type { Arm } from '../arm.ts';
import { ProveError } from '../errors.ts';
import type { Item } from '../experiment.ts';
import type { Grader } from './grader.ts';

/**
 * Refuses a grader of which a file lies, links resolved, in the workspace of an item, where each trial gets a copy to read,
 * or in the folder of an agent that can write there. Throws `prove.grader-in-reach`.
 */
export async function mustBeOutOfReach(
  { files }: Grader,
  items: readonly Pick<Item, 'id' | 'workspace'>[],
  arms: Readonly<Record<'control' | 'treatment', Arm>>,
): Promise<void> {
  const reached = [
    ...items.flatMap(({ id, workspace }) =>
      workspace === null ? [] : [{ whose: `the workspace of the item '${id}'`, folder: workspace }],
    ),
    ...[arms.control, arms.treatment]
      .filter(writesAnywhere)
      .map(({ side, agent }) => ({ whose: `the agent folder of the arm '${side}'`, folder: agent.folder })),
  ];
  const real = new Map<string, string>();
  for (const folder of new Set(reached.map((one) => one.folder))) real.set(folder, await realpath(folder));
  for (const file of files) {
    const path = await realpath(file);
    const inside = reached.find(({ folder }) => isInside(path, real.get(folder) ?? folder));
    if (inside !== undefined) throw inReach(path, inside.whose, real.get(inside.folder) ?? inside.folder);
  }
}

// Our own file tools keep to the workspace, and a tool of the agent's folder does what its author wrote. An agent program,
// a command and a server of somebody else's run with all rights of the user.
function writesAnywhere({ harness, agent }: Arm): boolean {
  return harness !== undefined || agent.capabilities.includes('commands') || agent.mcp.size > 0;
}

function isInside(path: string, folder: string): boolean {
  const below = relative(folder, path);
  return below !== '..' && !below.startsWith(`..${sep}`);
}

function inReach(path: string, whose: string, folder: string): ProveError {
  return new ProveError(
    'prove.grader-in-reach',
    `The grader's file ${path} should lie outside the agent's reach; it lies in ${whose}, ${folder}.`,
    { next: 'Move it out of that folder, and name it anew under grader.', details: { file: path, folder } },
  );
}
