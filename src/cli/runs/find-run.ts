/** Finds the run that a person means: by its id, a beginning or an end of it, or `last`, the newest that no experiment made. */
import type { Store } from '../../ledger/store.ts';
import type { RunRecord, SessionRecord } from '../../protocol/record.ts';
import { CliError } from '../errors.ts';
import { madeFor, ownRuns } from './trials.ts';

export interface FoundRun {
  readonly run: RunRecord;
  readonly session: SessionRecord;
}

/** So many of the runs that fit are named. */
const namedMax = 5;

/** Throws `run.unknown-run`, `cli.ambiguous-run`, or `ledger.no-session` for a record without its session. */
export async function findRun(store: Store, word: string, path: string): Promise<FoundRun> {
  const run = word === 'last' ? await newestRun(store) : await runByPart(store, word);
  if (run === undefined) {
    const { RunError } = await import('../../run/errors.ts');
    const none = (await store.runs({ limit: 1 })).length === 0 ? 'no run yet' : 'only runs of experiments';
    const found = word === 'last' ? none : `none that fits '${word}'`;
    throw new RunError('run.unknown-run', `Expected a run in ${path}, found ${found}.`, {
      next: 'See what is there: writ runs list --trials, or name another ledger with --ledger.',
      details: { run: word, ledger: path },
    });
  }
  const session = await store.session(run.session);
  if (session !== undefined) return { run, session };
  const { noSession } = await import('../../ledger/errors.ts');
  throw noSession(run.session);
}

// Whoever says last means the run they started, not one of the hundreds that an experiment began since.
async function newestRun(store: Store): Promise<RunRecord | undefined> {
  const [newest] = await store.runs({ limit: 1 });
  if (newest === undefined) return undefined;
  const session = await store.session(newest.session);
  if (session === undefined || madeFor(session) === null) return newest;
  return (await ownRuns(store, await store.runs(), 1)).runs[0];
}

async function runByPart(store: Store, word: string): Promise<RunRecord | undefined> {
  if (word === '') return undefined;
  const exact = await store.run(word);
  if (exact !== undefined) return exact;
  const fits = (id: string) => id.startsWith(word) || id.startsWith(`run_${word}`) || id.endsWith(word);
  const found = (await store.runs()).filter((run) => fits(run.id));
  if (found.length <= 1) return found[0];
  const names = found.slice(0, namedMax).map((run) => run.id);
  throw new CliError('cli.ambiguous-run', `Expected one run, found ${found.length} that fit '${word}'.`, {
    next: `Write more of one of: ${names.join(', ')}${found.length > namedMax ? ', …' : ''}.`,
    details: { runs: names },
  });
}

/** How commands describe an argument that names a run, and the option that names a ledger. */
export const runWords = 'an id, a part at its beginning or end, or last';
export const ledgerWords = 'the ledger (default: the nearest .writ, else the one of the user)';
