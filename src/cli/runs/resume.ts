/** `writ runs resume`: carries on an interrupted or paused run with the text and tools it began with. */

import { toErrorJson } from '../../errors.ts';
import type { RunRecord } from '../../protocol/record.ts';
import type { ApproveMode } from '../../protocol/ticket.ts';
import { collect, composeFolder } from '../compose/situation-flags.ts';
import type { Context } from '../context.ts';
import { type NewCommand, withExamples } from '../program.ts';
import { errorText } from '../report-error.ts';
import { overlayLimits } from '../run/limits.ts';
import { type LedgerFlags, type OpenedStore, openStoreToRead } from '../run/open-store.ts';
import type { AnyOrigin } from '../run/origin.ts';
import { mustBeOwn } from '../run/own-ledger.ts';
import { approveOption, inSeat, type SeatFlags, trustOption } from '../run/run-seat.ts';
import { visible } from '../view/visible.ts';
import { findRun, ledgerWords, runWords } from './find-run.ts';

interface ResumeFlags extends LedgerFlags, SeatFlags {
  readonly budget?: readonly string[] | undefined;
  readonly trust?: true | undefined;
}

const resumeApproveOption = () => {
  const option = approveOption();
  option.description = `${option.description.replace(/ \(default: .*\)$/, '')} (default: ask on a terminal, else wait on, unless the run was begun with deny and asks nothing)`;
  return option;
};

export function resumeCommand({ context, command, done }: NewCommand) {
  const resume = command('resume')
    .summary('carry on an interrupted or paused run')
    .description(
      'Carries on a run with the instructions and tools it began with, even if the folder has changed since.',
    )
    .argument('<run>', runWords)
    .addOption(resumeApproveOption())
    .addOption(trustOption())
    .option(
      '--budget <k=v>',
      'a limit over those of the run, or k=none to lift one; may be repeated',
      collect,
    )
    .option('--ledger <path>', ledgerWords)
    .option('--json', 'print the result as one JSON object');
  return withExamples(resume, [
    'writ runs resume last',
    'writ runs resume last --approve pause --budget turns=20',
  ]).action(async (word, options) => {
    const opened = await openStoreToRead(context, options);
    try {
      done(await carryOn(context, opened, word, options));
    } finally {
      await opened.store.close();
    }
  });
}

async function carryOn(
  context: Context,
  opened: OpenedStore,
  word: string,
  flags: ResumeFlags,
): Promise<number> {
  const [{ originOfRun }, { openHarness }, { resumeRun }] = await Promise.all([
    import('../run/origin.ts'),
    import('../run/harness-parts.ts'),
    import('../../run/run.ts'),
  ]);
  const { run, session } = await findRun(opened.store, word, opened.path);
  await mustBeOwn(context, opened, 'runs', 'resume', run.id);
  const origin = await originOfRun(opened.store, run.id, session);
  const limits = flags.budget === undefined ? undefined : await limitsOf(opened, run, flags.budget);
  const quiet = flags.json === true;
  if (!quiet) await tellUnknown(context, opened, run.id);
  const parts = await openHarness(context, origin, {
    agent: session.agent,
    trust: flags.trust === true,
    quiet,
  });
  try {
    const unasked = await modeWithoutPerson(opened, run);
    const promptNow = await composedNow(context, origin, flags.json === true);
    return await inSeat(
      context,
      opened,
      parts,
      flags,
      (seat) =>
        resumeRun({
          ...seat,
          // At a terminal the question is put there.
          approve: flags.approve ?? (seat.approve === 'deny' ? unasked : seat.approve),
          run: run.id,
          promptNow,
          ...(limits === undefined ? {} : { limits }),
        }),
      await opened.store.events(run.id),
    );
  } finally {
    await parts.close();
  }
}

/**
 * What a person should know before the run goes on: what nobody saw, and what becomes of it. Nothing of a run that will
 * not go on: another process is at work on it, or it has ended.
 */
async function tellUnknown(context: Context, { store }: OpenedStore, run: string): Promise<void> {
  const [{ stateOf }, { unsettledOf }] = await Promise.all([
    import('../../run/derive.ts'),
    import('../../run/unsettled.ts'),
  ]);
  const events = await store.events(run);
  const state = stateOf(events, (await store.holder(run)) !== undefined);
  if (state !== 'interrupted' && state !== 'paused') return;
  for (const { effect, tool, repeat } of unsettledOf(events)) {
    const then =
      repeat === 'once'
        ? 'it is not repeated; a tool that can look is asked what became of it'
        : 'to send it again does no harm';
    context.stderr.write(
      `unknown: ${effect} ${visible(tool)} was sent, and no result was recorded; ${then}\n`,
    );
  }
}

/**
 * What becomes of a question where nobody can be asked: a run that waits with one, or that was begun so that somebody is
 * asked, waits on. Refusing it would end the run and take the question from whoever was to answer it.
 */
async function modeWithoutPerson({ store }: OpenedStore, run: RunRecord): Promise<ApproveMode> {
  const [{ lastOf, openTicketOf }, { asking }] = await Promise.all([
    import('../../run/derive.ts'),
    import('../../run/child-record.ts'),
  ]);
  const events = await store.events(run.id);
  const open = openTicketOf(events) ?? (await asking(store, run.id))?.ticket;
  return open === undefined && lastOf(events, 'run-start')?.approve === 'deny' ? 'deny' : 'pause';
}

async function limitsOf(opened: OpenedStore, run: RunRecord, flags: readonly string[]) {
  const derive = await import('../../run/derive.ts');
  return overlayLimits(derive.limitsOf(await opened.store.events(run.id)) ?? {}, flags);
}

// The run goes on with its own text in any case; the folder is only compared, so its faults must not stop the run.
async function composedNow(context: Context, origin: AnyOrigin, quiet: boolean): Promise<string | null> {
  const { agentFolder, workspace, situation } = origin;
  try {
    const { composition } = await composeFolder(context, agentFolder, {
      ...situation,
      workspace,
      // It is compared, and not used.
      json: true,
    });
    return composition.digest;
  } catch (thrown) {
    if (!quiet)
      context.stderr.write(
        `notice: the agent folder cannot be composed now; the run keeps its own text.\n${errorText(toErrorJson(thrown))}`,
      );
    return null;
  }
}
