/** Finds and opens the ledger of a command, and writes the commands that find the same record again. */
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { WritError } from '../../errors.ts';
import { type LedgerPlace, ledgerPath } from '../../ledger/locate.ts';
import type { Store } from '../../ledger/store.ts';
import type { Context } from '../context.ts';
import { noteOwn } from './own-ledger.ts';

export interface LedgerFlags {
  readonly ledger?: string | undefined;
}

export interface OpenedStore {
  readonly store: Store;
  readonly path: string;
  /** How it was found. */
  readonly source: LedgerPlace['source'];
  /** `writ runs show RUN`, and where the ledger is if the command would not find it by itself. */
  commandFor(...words: readonly string[]): string;
  /** The same, with the ledger named in any case. */
  nameLedger(...words: readonly string[]): string;
}

/** The ledger for a workspace: it is made if there is none. The caller closes it. */
export async function openStore(
  context: Context,
  flags: LedgerFlags,
  workspace = context.cwd,
): Promise<OpenedStore> {
  const place = placeOf(context, flags, workspace);
  const store = await openFile(context, place.path);
  try {
    if (place.source !== 'user') await noteOwn(context, store);
  } catch (error) {
    await store.close();
    throw error;
  }
  return opened(context, place, store);
}

/** The same for a command about what is recorded: where there is no ledger, an empty one stands in and nothing is made. */
export async function openStoreToRead(
  context: Context,
  flags: LedgerFlags,
  workspace = context.cwd,
): Promise<OpenedStore> {
  const place = placeOf(context, flags, workspace);
  if (existsSync(place.path)) return opened(context, place, await openFile(context, place.path));
  const { memoryStore } = await import('../../ledger/stores/memory.ts');
  return opened(context, place, memoryStore({ clock: context.clock }));
}

/** The same for a command that changes nothing: a ledger that may not be written can be looked at all the same. */
export async function openStoreToLook(context: Context, flags: LedgerFlags): Promise<OpenedStore> {
  try {
    return await openStoreToRead(context, flags);
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== 'ledger.unwritable') throw error;
    const place = placeOf(context, flags, context.cwd);
    return opened(context, place, await openFile(context, place.path, { readOnly: true }));
  }
}

async function openFile(
  { clock }: Context,
  path: string,
  more: { readonly readOnly?: true } = {},
): Promise<Store> {
  const { sqliteStore } = await import('../../ledger/stores/sqlite.ts');
  return sqliteStore({ path, clock, ...more });
}

function placeOf(context: Context, { ledger }: LedgerFlags, workspace: string): LedgerPlace {
  // `join` keeps a slash at the end, which says that a folder is meant; an empty path is for the ledger to refuse.
  const given =
    ledger === undefined || ledger === '' || isAbsolute(ledger) ? ledger : join(context.cwd, ledger);
  return ledgerPath({ given, workspace, env: context.env });
}

function opened(context: Context, { path, source }: LedgerPlace, store: Store): OpenedStore {
  const found = placeOf(context, {}, context.cwd).path === path;
  const named = (...words: readonly string[]) => `writ ${words.join(' ')} --ledger ${shellWord(path)}`;
  const commandFor = found ? (...words: readonly string[]) => `writ ${words.join(' ')}` : named;
  return { store, path, source, commandFor, nameLedger: named };
}

/** A word that a POSIX shell reads as it is. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
