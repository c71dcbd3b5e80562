/** Where the ledger of a command is: the place that was given, the workspace's own, or the user's. */
import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { LedgerError } from './errors.ts';

export interface LedgerPlace {
  readonly path: string;
  /** `given` by the caller, the nearest `.writ` of the `workspace`, or the `user`'s state folder. */
  readonly source: 'given' | 'workspace' | 'user';
}

export interface LedgerPathOptions {
  /** A file, or a folder that holds one (it exists, or ends with a separator); relative to the current folder. */
  readonly given?: string | undefined;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const fileName = 'ledger.sqlite';

/**
 * Finds the place; nothing is made there. A `.writ` that is not a folder is passed over. Throws `ledger.not-a-ledger`
 * for an empty `given`, which is most often an unset variable of a script.
 */
export function ledgerPath({ given, workspace, env }: LedgerPathOptions): LedgerPlace {
  if (given === '') {
    throw new LedgerError('ledger.not-a-ledger', 'Expected the path of a ledger, but found an empty text.', {
      next: 'Give --ledger a file or folder, or leave it out.',
    });
  }
  if (given !== undefined) {
    const path = resolve(given);
    const folder = isFolder(path) || given.endsWith('/') || given.endsWith(sep);
    return { path: folder ? join(path, fileName) : path, source: 'given' };
  }
  for (let at = realFolder(workspace); ; at = dirname(at)) {
    if (isFolder(join(at, '.writ'))) return { path: join(at, '.writ', fileName), source: 'workspace' };
    if (at === dirname(at)) break;
  }
  return { path: join(stateFolder(env), 'writ', fileName), source: 'user' };
}

/** The user's state folder by the XDG base directory specification: a relative value is invalid and counts as unset. */
export function stateFolder(env: LedgerPathOptions['env']): string {
  const state = env.XDG_STATE_HOME;
  if (state !== undefined && isAbsolute(state)) return state;
  return join(env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME, '.local', 'state');
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

// Upward from where the workspace really is: a link into a project belongs to that project.
function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
