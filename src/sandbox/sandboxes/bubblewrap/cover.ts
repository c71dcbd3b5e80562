/** The name `.writ` in a workspace, kept from commands: what they put there would speak to later runs. */
import { lstatSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { anyMayRun } from '../../supervisor/observe.ts';
import type { Confinement } from './bubblewrap-argv.ts';

const name = '.writ';
/** In the folder of the commands: the empty file at that name is of our making. */
const noteFile = '.cover';

/**
 * How the name is kept from the next command. One that is there is shown empty. One that is free would be for the taking, so
 * it is covered by a mount, for which bwrap makes an empty file: no other program takes that for a record or a configuration.
 */
export function coverOf(workspace: string, folder: string): Pick<Confinement, 'hidden' | 'covered'> {
  const at = join(workspace, name);
  if (statSync(at, { throwIfNoEntry: false })?.isDirectory() === true) return { hidden: [name], covered: [] };
  if (lstatSync(at, { throwIfNoEntry: false }) === undefined)
    writeFileSync(join(folder, noteFile), '', { mode: 0o600 });
  return { hidden: [], covered: [name] };
}

/** Takes the file away again, if it is ours and no command can be behind it: with it the mount of a running one would go. */
export function uncover(workspace: string, folder: string): void {
  const note = join(folder, noteFile);
  if (statSync(note, { throwIfNoEntry: false }) === undefined || anyMayRun(folder)) return;
  const there = lstatSync(join(workspace, name), { throwIfNoEntry: false });
  if (there?.isFile() === true && there.size === 0) rmSync(join(workspace, name), { force: true });
  rmSync(note, { force: true });
}
