/** The files of a workspace, and of the machine, that a harness reads on its own: looked for before a run, and refused or named. */
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AmbientFile, DeliveryPlan } from '../protocol/delivery.ts';
import { refusal } from './permit.ts';

/**
 * Looks for the files that the plan could not keep out. Throws `deliver.workspace-speaks` for one that could change what
 * stands in the place of our text; returns the paths of the others, which are residue. Only looks, and follows no link.
 */
export async function lookAround(plan: DeliveryPlan): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { path, where, touches } of plan.ambient) {
    for (const file of placesOf(path, where, plan.workspace)) {
      if (!(await exists(file))) continue;
      if (touches === 'system') throw speaks(plan.harness, file, where === 'machine' ? where : 'workspace');
      found.push(file);
    }
  }
  return found;
}

function placesOf(path: string, where: AmbientFile['where'], workspace: string): readonly string[] {
  if (where === 'machine') return [path];
  const folders = where === 'workspace' ? [workspace] : upward(workspace);
  return folders.map((folder) => join(folder, path));
}

function upward(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upward(above)];
}

// What cannot be looked at counts as there: it may be read by a harness that can.
async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (fault: NodeJS.ErrnoException) => fault.code !== 'ENOENT' && fault.code !== 'ENOTDIR',
  );
}

function speaks(harness: string, file: string, whose: 'machine' | 'workspace') {
  return refusal('deliver.workspace-speaks', `${file} changes the system prompt of ${harness}.`, {
    harness,
    field: 'intent',
    requirement: `that no file of the ${whose} speaks in our place`,
    alternative:
      whose === 'machine' ? 'another harness' : 'the replace intent, or a workspace without that file',
    able: [],
  });
}
