/** Finds and opens the ledger of a command, and writes the commands that find the same record again. */
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { WritError } from '../../errors.ts';
import { ledgerPath } from '../../ledger/locate.ts';
import type { Store } from '../../ledger/store.ts';
import type { Context } from '../context.ts';

export interface LedgerFlags {
  readonly ledger?: string | undefined;
}

export interface OpenedStore {
  readonly store: Store;
  readonly path: string;
  /** `writ runs show RUN`, and where the ledger is if the command would not find it by itself. */
  commandFor(...words: readonly string[]): string;
}

/** The ledger for a workspace: it is made if there is none. The caller closes it. */
export async function openStore(
  context: Context,
  flags: LedgerFlags,
  workspace = context.cwd,
): Promise<OpenedStore> {
  const path = placeOf(context, flags, workspace);
  const { sqliteStore } = await import('../../ledger/stores/sqlite.ts');
  return opened(context, path, sqliteStore({ path, clock: context.clock }));
}

/** The same for a command about what is recorded: where there is no ledger, an empty one stands in and nothing is made. */
export async function openStoreToRead(
  context: Context,
  flags: LedgerFlags,
  workspace = context.cwd,
): Promise<OpenedStore> {
  const path = placeOf(context, flags, workspace);
  if (existsSync(path)) return openStore(context, flags, workspace);
  const { memoryStore } = await import('../../ledger/stores/memory.ts');
  return opened(context, path, memoryStore({ clock: context.clock }));
}

/** The same for a command that changes nothing: a ledger that may not be written can be looked at all the same. */
export async function openStoreToLook(context: Context, flags: LedgerFlags): Promise<OpenedStore> {
  try {
    return await openStoreToRead(context, flags);
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== 'ledger.unwritable') throw error;
    const path = placeOf(context, flags, context.cwd);
    const { sqliteStore } = await import('../../ledger/stores/sqlite.ts');
    return opened(context, path, sqliteStore({ path, clock: context.clock, readOnly: true }));
  }
}

function placeOf(context: Context, { ledger }: LedgerFlags, workspace: string): string {
  // `join` keeps a slash at the end, which says that a folder is meant; an empty path is for the ledger to refuse.
  const given =
    ledger === undefined || ledger === '' || isAbsolute(ledger) ? ledger : join(context.cwd, ledger);
  return ledgerPath({ given, workspace, env: context.env }).path;
}

function opened(context: Context, path: string, store: Store): OpenedStore {
  const found = placeOf(context, {}, context.cwd) === path;
  const where = found ? '' : ` --ledger ${shellWord(path)}`;
  return { store, path, commandFor: (...words) => `writ ${words.join(' ')}${where}` };
}

/** A word that a POSIX shell reads as it is. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
