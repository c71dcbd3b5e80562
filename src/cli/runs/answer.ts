/** `writ runs approve` and `deny`: an answer to the open question of a paused run. It is only recorded. */
import type { TicketAnswer } from '../../protocol/ticket.ts';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { personName } from '../run/ask.ts';
import { type LedgerFlags, openStoreToRead } from '../run/open-store.ts';
import { visible } from '../view/visible.ts';
import { findRun, ledgerWords, runWords } from './find-run.ts';
import { resumeHint } from './resume-hint.ts';

const ticketWords = 'the id of the question, as writ runs show names it';
const jsonWords = 'print what was recorded as one JSON object';

export function approveCommand({ context, command, done }: NewCommand) {
  const approve = command('approve')
    .summary('allow the call that a run waits with')
    .description('Allows the call that a paused run waits with. It happens when the run is resumed.')
    .argument('<run>', runWords)
    .argument('<ticket>', ticketWords)
    .option('--ledger <path>', ledgerWords)
    .option('--json', jsonWords);
  return withExamples(approve, ['writ runs approve last ticket_01jx…']).action(async (run, ticket, options) =>
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
    .argument('<ticket>', ticketWords)
    .option('--reason <text>', 'what the model is told', '')
    .option('--ledger <path>', ledgerWords)
    .option('--json', jsonWords);
  return withExamples(deny, ['writ runs deny last ticket_01jx… --reason "Ask me first."']).action(
    async (run, ticket, options) =>
      done(await answer(context, run, { ticket, decision: 'denied', reason: options.reason }, options)),
  );
}

async function answer(
  context: Context,
  word: string,
  given: Pick<TicketAnswer, 'ticket' | 'decision' | 'reason'>,
  flags: LedgerFlags & { readonly json?: true | undefined },
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
    const decision = { run: run.id, ...given, by: personName(context.env) };
    const ticket = await answerTicket(store, thisHolder(context.clock), decision);
    const { text: next } = await resumeHint(opened, found);
    if (flags.json) printJson(context, { ...decision, tool: ticket.tool, next });
    else context.stdout.write(`${given.decision} ${visible(ticket.tool)}\nnext: ${next}\n`);
    return exitCodes.completed;
  } finally {
    await store.close();
  }
}
