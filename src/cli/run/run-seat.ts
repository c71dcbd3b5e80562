/** The flags that say how a run is watched and decided about, and the seat they make for it. */
import { Option } from '@commander-js/extra-typings';
import type { RunEvent } from '../../protocol/events.ts';
import type { RunResult } from '../../protocol/outcome.ts';
import { type ApproveMode, approveModes } from '../../protocol/ticket.ts';
import type { RunSeat } from '../../run/seat.ts';
import { reasoningEfforts } from '../../wire/settings.ts';
import type { Context } from '../context.ts';
import { openProgress } from '../view/progress.ts';
import { redactedProgress, redactedResult, redactedTicket } from '../view/redacted.ts';
import { showResult } from '../view/show-result.ts';
import { visible } from '../view/visible.ts';
import { terminalAsk } from './ask.ts';
import type { OpenedStore } from './open-store.ts';
import type { HarnessParts } from './parts.ts';

export const approveOption = () =>
  new Option(
    '--approve <mode>',
    'what happens when a call needs a person: ask, pause, or deny (default: ask on a terminal, else deny)',
  ).choices(approveModes);

/** How much a model reasons, in words that are alike for all of them. */
export const effortOption = <Flag extends string>(flag: Flag, about: string) =>
  new Option(`${flag} <level>` as const, about).choices(reasoningEfforts);

export const trustOption = () =>
  new Option(
    '--trust',
    'accept what the agent folder would run (tools/ and MCP servers) as it was shown, and remember it',
  );

export interface SeatFlags {
  readonly approve?: ApproveMode | undefined;
  readonly json?: boolean | undefined;
}

/**
 * Runs `work` in a seat on an opened store: its record is freed of secrets, it is shown while it goes on, and Ctrl-C
 * cancels it. Shows the result and returns the exit code. `earlier` is what a resumed run did before.
 */
export async function inSeat(
  context: Context,
  opened: OpenedStore,
  parts: HarnessParts,
  flags: SeatFlags,
  work: (seat: RunSeat) => Promise<RunResult>,
  earlier: readonly RunEvent[] = [],
): Promise<number> {
  const [{ openLedger }, { thisHolder }, { secretLengthMin, tooShort }] = await Promise.all([
    import('../../ledger/ledger.ts'),
    import('../../ledger/holder.ts'),
    import('../../ledger/secrets.ts'),
  ]);
  const ledger = openLedger({ store: opened.store, secrets: parts.secrets });
  const progress = openProgress(context, flags.json === true, earlier);
  const ask = terminalAsk(context, progress);
  if (flags.json !== true)
    for (const notice of parts.notices) context.stderr.write(`notice: ${visible(notice)}\n`);
  for (const { name } of tooShort(parts.secrets))
    context.stderr.write(
      `notice: The value of ${name} has fewer than ${secretLengthMin} characters, so it is not taken out of what is shown and stored.\n`,
    );
  const shown = redactedProgress(progress, ledger);
  try {
    const result = await work({
      harness: parts.harness,
      store: ledger,
      clock: context.clock,
      ...(parts.lowered === undefined ? {} : { lowered: parts.lowered }),
      holder: thisHolder(context.clock),
      approve: flags.approve ?? (ask === undefined ? 'deny' : 'ask'),
      ...(ask === undefined ? {} : { ask: (ticket, signal) => ask(redactedTicket(ticket, ledger), signal) }),
      signal: context.interrupts(),
      onEvents: shown.onEvents,
      onLive: shown.onLive,
      onChildEvents: shown.onChildEvents,
    });
    progress.close();
    const json = flags.json === true;
    return await showResult(context, opened, redactedResult(result, ledger), { json, earlier });
  } finally {
    progress.close();
  }
}
