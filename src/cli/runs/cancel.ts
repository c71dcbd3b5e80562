/** `writ runs cancel`: asks the process that is at work to end its run, or ends a run that nobody is at work on. */
import { systemCode } from '../../errors.ts';
import { localPid } from '../../ledger/holder.ts';
import type { Lease, Store } from '../../ledger/store.ts';
import { type Context, printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { personName } from '../run/ask.ts';
import { type LedgerFlags, openStoreToRead } from '../run/open-store.ts';
import { type FoundRun, findRun, ledgerWords, runWords } from './find-run.ts';

/** How long a run that is at work gets to settle its calls and record its end. */
const endingMsMax = 20_000;
const lookMs = 50;

export function cancelCommand({ context, command, done }: NewCommand) {
  const cancel = command('cancel')
    .summary('end a run')
    .description(
      'Ends a run. One that is at work on this machine is asked to end cleanly; one that waits or was interrupted gets its end recorded.',
    )
    .argument('<run>', runWords)
    .option('--ledger <path>', ledgerWords)
    .option('--json', 'print how it ended as one JSON object');
  return withExamples(cancel, ['writ runs cancel last']).action(async (word, options) =>
    done(await cancelRun(context, word, options)),
  );
}

async function cancelRun(
  context: Context,
  word: string,
  flags: LedgerFlags & { readonly json?: true | undefined },
): Promise<number> {
  const { store, path, commandFor } = await openStoreToRead(context, flags);
  try {
    const found = await findRun(store, word, path);
    const { id, parent } = found.run;
    if (parent !== null) {
      // The process at work holds the whole tree: to ask it would end the parent, and nobody said so.
      const { childRun } = await import('../../run/errors.ts');
      throw childRun(id, parent);
    }
    const lease = await store.holder(found.run.id);
    const asked = lease !== undefined && askToEnd(lease);
    const state = asked
      ? await untilEnded(context, store, found.run.id)
      : await endHere(context, store, found);
    const [{ unsettledOf }, { leftAtWork }] = await Promise.all([
      import('../../run/unsettled.ts'),
      import('../../native/settle-run.ts'),
    ]);
    const events = await store.events(found.run.id);
    const unknown = unsettledOf(events);
    const left = events.flatMap((event) =>
      event.type === 'notice' && event.code === leftAtWork ? [event.text] : [],
    );
    if (flags.json) printJson(context, { run: found.run.id, state, unknown, left });
    else {
      context.stdout.write(`${found.run.id} ${state}\n`);
      for (const line of left) context.stderr.write(`${line}\n`);
      const { unsettledLines } = await import('../view/draw-unsettled.ts');
      const cells = context.stderr.columns();
      for (const line of unsettledLines(unknown, { run: found.run.id, commandFor, cells }))
        context.stderr.write(`${line}\n`);
    }
    return exitCodes.completed;
  } finally {
    await store.close();
  }
}

/**
 * Sends SIGTERM, which ends a run as the first Ctrl-C does and never as the second, however often it comes. The store
 * has just checked that the process of that number is the one that took the run. False if it ended meanwhile.
 */
function askToEnd(lease: Lease): boolean {
  const pid = localPid(lease.holder);
  if (pid === undefined) throw elsewhere(lease, 'It is not a process of this machine.');
  try {
    process.kill(pid, 'SIGTERM');
    return true;
  } catch (cause) {
    if (systemCode(cause) === 'ESRCH') return false;
    throw elsewhere(lease, 'It belongs to another user.');
  }
}

function elsewhere({ run, holder }: Lease, why: string): CliError {
  return new CliError('cli.held-elsewhere', `Run ${run} is at work in ${holder}. ${why}`, {
    next: 'Cancel it where it runs.',
    details: { run, holder },
  });
}

async function untilEnded(context: Context, store: Store, run: string): Promise<string> {
  const { stateOf } = await import('../../run/derive.ts');
  const { clock } = context;
  const deadline = clock.monotonicMs() + endingMsMax;
  for (;;) {
    const events = await store.events(run);
    const state = stateOf(events, (await store.holder(run)) !== undefined);
    if (state !== 'running') return state;
    if (clock.monotonicMs() > deadline) break;
    await clock.sleep(lookMs);
  }
  throw new CliError(
    'cli.still-running',
    `Run ${run} was asked to end and has not ended within ${endingMsMax / 1000} s.`,
    { next: `Look again with: writ runs show ${run}`, details: { run } },
  );
}

// Resumed with a signal that has already fired: every open call is settled, the end is recorded, nothing is sent.
async function endHere(context: Context, store: Store, found: FoundRun): Promise<string> {
  const [{ endingHarness }, { resumeRun }, { thisHolder }] = await Promise.all([
    import('../run/ending-harness.ts'),
    import('../../run/run.ts'),
    import('../../ledger/holder.ts'),
  ]);
  const { status } = await resumeRun({
    ...(await endingHarness(context, store, found)),
    store,
    clock: context.clock,
    holder: thisHolder(context.clock),
    approve: 'deny',
    signal: AbortSignal.abort(`by ${personName(context.env)} with writ runs cancel`),
    run: found.run.id,
    promptNow: null,
  });
  return status;
}
