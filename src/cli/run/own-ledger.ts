/** Which ledgers of workspaces were made by this user on this machine: only these are carried on without being named. */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../digest.ts';
import { type LedgerPlace, stateFolder } from '../../ledger/locate.ts';
import type { Store } from '../../ledger/store.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';

/** A ledger as it was found. */
interface FoundLedger extends LedgerPlace {
  readonly store: Store;
  /** A command with the ledger named in it. */
  nameLedger(...words: readonly string[]): string;
}

/** Notes a ledger that holds nothing yet, for then nothing in it can be of somebody else's making. */
export async function noteOwn({ env }: Pick<Context, 'env'>, store: Store): Promise<void> {
  const file = await noteOf(env, store);
  if ((await isThere(file)) || (await store.runs({ limit: 1 })).length > 0) return;
  try {
    await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
    await writeFile(file, '', { mode: 0o600 });
  } catch {
    // Without the note it has to be named later, which is no reason to stop now.
  }
}

/**
 * A workspace may be anybody's repository, and a command may make a `.writ` in a folder of it. Such a record could hold an
 * approved call, or lead a key to another server. Throws `cli.foreign-ledger` for one that nobody named and that is not
 * noted; `words` are those of the command that would carry it on.
 */
export async function mustBeOwn(
  { env }: Pick<Context, 'env'>,
  { store, path, source, nameLedger }: FoundLedger,
  ...words: readonly string[]
): Promise<void> {
  if (source !== 'workspace' || (await isThere(await noteOf(env, store)))) return;
  throw new CliError(
    'cli.foreign-ledger',
    `Expected a ledger that was made by you on this machine, found ${path}, which somebody else may have put there.`,
    {
      next: `Look into it with writ runs show; if it is yours, name it: ${nameLedger(...words)}.`,
      details: { ledger: path },
    },
  );
}

// The id comes from the ledger itself, so it must not lead anywhere.
async function noteOf(env: Context['env'], store: Store): Promise<string> {
  return join(stateFolder(env), 'writ', 'ledgers', sha256((await store.namespace()).id));
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
