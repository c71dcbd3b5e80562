/** `writ runs approve` and `deny`: an answer to the open question of a paused run. It is only recorded. */
import type { TicketAnswer } from '../../protocol/ticket.ts';
import { type Context, printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { personName } from '../run/ask.ts';
import { type LedgerFlags, openStoreToRead } from '../run/open-store.ts';
import { visibleLine } from '../view/visible.ts';
import { findRun, ledgerWords, runWords } from './find-run.ts';
import { resumeHint } from './resume-hint.ts';

const ticketWords = 'the id of the question; may be left out where only one is open';
const byWords = 'who answers (default: you)';
const jsonWords = 'print what was recorded as one JSON object';

export function approveCommand({ context, command, done }: NewCommand) {
  const approve = command('approve')
    .summary('allow the call that a run waits with')
    .description('Allows the call that a paused run waits with. It happens when the run is resumed.')
    .argument('<run>', runWords)
    .argument('[ticket]', ticketWords)
    .option('--by <name>', byWords)
    .option('--ledger <path>', ledgerWords)
    .option('--json', jsonWords);
  return withExamples(approve, [
    'writ runs approve last',
    'writ runs approve last ticket_01jx… --by "the desk"',
  ]).action(async (run, ticket, options) =>
    done(await answer(context, run, { ticket, decision: 'approved', reason: '' }, options)),
  );
}

export function denyCommand({ context, command, done }: NewCommand) {
  const deny = command('deny')
    .summary('deny the call that a run waits with')
    .description(
      'Denies the call that a paused run waits with. The model reads the reason when the run is resumed.',
    )
    .argument('<run>', runWords)
    .argument('[ticket]', ticketWords)
    .option('--reason <text>', 'what the model is told', '')
    .option('--by <name>', byWords)
    .option('--ledger <path>', ledgerWords)
    .option('--json', jsonWords);
  return withExamples(deny, ['writ runs deny last --reason "Ask me first."']).action(
    async (run, ticket, options) =>
      done(await answer(context, run, { ticket, decision: 'denied', reason: options.reason }, options)),
  );
}

async function answer(
  context: Context,
  word: string,
  given: Pick<TicketAnswer, 'decision' | 'reason'> & { readonly ticket: string | undefined },
  flags: LedgerFlags & { readonly by?: string | undefined; readonly json?: true | undefined },
): Promise<number> {
  const opened = await openStoreToRead(context, flags);
  const { store, path } = opened;
  try {
    const [{ answerTicket }, { thisHolder }] = await Promise.all([
      import('../../run/decide.ts'),
      import('../../ledger/holder.ts'),
    ]);
    const found = await findRun(store, word, path);
    const { run } = found;
    const { ticket: named, decision, reason } = given;
    const by = flags.by ?? personName(context.env);
    if (by.trim() === '') throw nobody();
    const ticket = await answerTicket(store, thisHolder(context.clock), {
      ...{ run: run.id, decision, reason, by },
      ...(named === undefined ? {} : { ticket: named }),
    });
    const { text: next } = await resumeHint(opened, found);
    const { id, tool } = ticket;
    if (flags.json) printJson(context, { run: run.id, ticket: id, decision, reason, by, tool, next });
    else {
      // Whoever did not name the question sees here which one it was.
      const what = visibleLine(`${decision} ${tool} ${ticket.arguments}`, context.stdout.columns());
      context.stdout.write(`${what}\nnext: ${next}\n`);
    }
    return exitCodes.completed;
  } finally {
    await store.close();
  }
}

function nobody(): CliError {
  return new CliError('cli.bad-value', '--by expected a name, found none.', {
    next: 'Write who answers, or leave --by out.',
    details: { option: '--by' },
  });
}
