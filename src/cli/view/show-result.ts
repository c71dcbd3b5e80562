/** The end of a run as the command line shows it: the answer alone on stdout, everything about it on stderr. */
import type { RunEvent } from '../../protocol/events.ts';
import type { RunResult } from '../../protocol/outcome.ts';
import { type KnownUsage, knownUsageOf } from '../../run/derive.ts';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { errorText } from '../report-error.ts';
import type { OpenedStore } from '../run/open-store.ts';
import { boundFileLines } from './bound-files.ts';
import { unsettledLines } from './draw-unsettled.ts';
import { count, duration, usageText } from './figures.ts';
import { specLines } from './spec-lines.ts';
import { visible } from './visible.ts';

/**
 * Shows the result and returns the exit code for it. With `json` the whole result is one object on stdout, with what is
 * unknown beside it and, of a resumed run, where it went on; `earlier` is what that run had done before.
 */
export async function showResult(
  context: Context,
  { store, commandFor }: OpenedStore,
  ended: RunResult,
  { json, earlier }: { readonly json: boolean; readonly earlier: readonly RunEvent[] },
): Promise<number> {
  const { settleFirst, unsettledNow } = await import('../../run/unsettled.ts');
  // Of a resumed run the result alone cannot tell what is known.
  const events = await store.events(ended.run);
  const { status, run } = ended;
  const unsettled = unsettledNow(events, (await store.holder(run)) !== undefined);
  const waits = status === 'paused';
  const result = waits ? ended : { ...ended, error: settleFirst(ended.error, unsettled, run) };
  if (json) {
    const [{ unknownIsNull }, { goesOn }] = await Promise.all([
      import('./unknown-is-null.ts'),
      import('../../run/torn.ts'),
    ]);
    const before = earlier.length === 0 ? {} : goesOn(earlier, await store.torn());
    printJson(context, unknownIsNull({ ...result, unsettled, ...before }));
  } else {
    if (result.answer !== null) {
      // Where both go to one screen, the answer stands apart from what is said about it.
      const apart = context.stdout.terminal && context.stderr.terminal ? '\n' : '';
      context.stdout.write(apart + answerText(context, result.answer) + apart);
    }
    context.stderr.write(endText(result, knownUsageOf(events), commandFor));
    const cells = context.stderr.columns();
    for (const line of unsettledLines(unsettled, { run, commandFor, cells }))
      context.stderr.write(`${line}\n`);
  }
  return exitCodes[status];
}

// A program gets the answer as it is. A terminal would obey what it holds, so there it is made visible.
function answerText(context: Context, answer: string): string {
  const text = context.stdout.terminal ? visible(answer) : answer;
  return text.endsWith('\n') ? text : `${text}\n`;
}

function endText(result: RunResult, known: KnownUsage, commandFor: OpenedStore['commandFor']): string {
  const { run, ticket, error, status } = result;
  const figures = [
    count(result.turns, 'turn'),
    count(result.toolCalls, 'call'),
    usageText(result.usage, known),
    duration(result.elapsedMs),
  ];
  const cancelledBy = error?.code === 'run.cancelled' ? `: ${visible(String(error.details?.reason))}` : '';
  const lines = [`${status}${cancelledBy} · ${figures.join(' · ')}`];
  if (result.spec !== undefined) lines.push(...specLines(result.spec));
  if (status === 'paused' && ticket === null) lines.push(`  go on: ${commandFor('runs', 'resume', run)}`);
  if (ticket !== null) lines.push(...ticketLines(run, ticket, commandFor, commandFor('runs', 'resume', run)));
  lines.push(`session: ${result.session}`, `record: ${commandFor('runs', 'show', run)}`);
  // A cancel is what was asked for: the line that says so is enough.
  const told = error === null || cancelledBy !== '' ? '' : errorText(error);
  return `${told}${lines.join('\n')}\n`;
}

/** What is asked, and the exact commands that answer it; `resume` is how the run then goes on. */
export function ticketLines(
  run: string,
  ticket: NonNullable<RunResult['ticket']>,
  commandFor: OpenedStore['commandFor'],
  resume: string,
): readonly string[] {
  return [
    `waiting for an approval of ${visible(ticket.tool)} ${visible(ticket.arguments)}`,
    ...boundFileLines(ticket).map((line) => `  ${line}`),
    `  allow: ${commandFor('runs', 'approve', run, ticket.id)}`,
    `  deny:  ${commandFor('runs', 'deny', run, ticket.id)}`,
    `  then:  ${resume}`,
  ];
}
