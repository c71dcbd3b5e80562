/** `writ runs forget`: removes a session with everything that was recorded of it. */
import type { Store } from '../../ledger/store.ts';
import { type Context, printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { type LedgerFlags, openStoreToRead } from '../run/open-store.ts';
import { count } from '../view/figures.ts';
import { findRun, ledgerWords, runWords } from './find-run.ts';

interface ForgetFlags extends LedgerFlags {
  readonly yes?: true | undefined;
  readonly json?: true | undefined;
}

export function forgetCommand({ context, command, done }: NewCommand) {
  const forget = command('forget')
    .summary('remove a session for good')
    .description(
      'Removes a session with all its runs, events and texts, and the home of its agent program. This cannot be undone.',
    )
    .argument('<run|session>', `a session id, or a run of it: ${runWords}`)
    .option('--yes', 'really remove it')
    .option('--ledger <path>', ledgerWords)
    .option('--json', 'print what was removed as one JSON object');
  return withExamples(forget, ['writ runs forget last --yes']).action(async (word, options) =>
    done(await forgetSession(context, word, options)),
  );
}

async function forgetSession(context: Context, word: string, flags: ForgetFlags): Promise<number> {
  const { store, path } = await openStoreToRead(context, flags);
  try {
    const session = await sessionOf(store, word, path);
    const runs = (await store.runs({ session })).map((run) => run.id);
    const what = `session ${session} with ${count(runs.length, 'run')}`;
    if (flags.yes !== true) {
      throw new CliError('cli.not-confirmed', `Expected --yes before ${what} is removed for good.`, {
        next: `Look at it first, then write: writ runs forget ${word} --yes`,
        details: { session, runs },
      });
    }
    const [{ forgetSession: forget }, { thisHolder }] = await Promise.all([
      import('../../run/forget.ts'),
      import('../../ledger/holder.ts'),
    ]);
    await forget(store, thisHolder(context.clock), session);
    const { forgetHome, homesFolder } = await import('../../deliver/drive/home.ts');
    await forgetHome(homesFolder(context.env), session);
    if (flags.json) printJson(context, { session, runs });
    else context.stdout.write(`removed ${what}\n`);
    return exitCodes.completed;
  } finally {
    await store.close();
  }
}

async function sessionOf(store: Store, word: string, path: string): Promise<string> {
  const session = await store.session(word);
  return session?.id ?? (await findRun(store, word, path)).session.id;
}
