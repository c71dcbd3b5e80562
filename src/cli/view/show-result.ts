/** The end of a run as the command line shows it: the answer alone on stdout, everything about it on stderr. */
import type { RunResult } from '../../protocol/outcome.ts';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { errorText } from '../report-error.ts';
import type { OpenedStore } from '../run/open-store.ts';
import { count, duration, usageText } from './figures.ts';
import { visible } from './visible.ts';

/** Shows the result and returns the exit code for it. With `json` the whole result is one object on stdout. */
export function showResult(
  context: Context,
  result: RunResult,
  commandFor: OpenedStore['commandFor'],
  json: boolean,
): number {
  if (json) printJson(context, result);
  else {
    if (result.answer !== null) context.stdout.write(answerText(context, result.answer));
    context.stderr.write(endText(result, commandFor));
  }
  return exitCodes[result.status];
}

// A program gets the answer as it is. A terminal would obey what it holds, so there it is made visible.
function answerText(context: Context, answer: string): string {
  const text = context.stdout.terminal ? visible(answer) : answer;
  return text.endsWith('\n') ? text : `${text}\n`;
}

function endText(result: RunResult, commandFor: OpenedStore['commandFor']): string {
  const { run, ticket, error } = result;
  const figures = [
    count(result.turns, 'turn'),
    count(result.toolCalls, 'call'),
    usageText(result.usage),
    duration(result.elapsedMs),
  ];
  const lines = [`${result.status} · ${figures.join(' · ')}`];
  if (ticket !== null) lines.push(...ticketLines(run, ticket, commandFor));
  lines.push(`record: ${commandFor('runs', 'show', run)}`);
  return `${error === null ? '' : errorText(error)}${lines.join('\n')}\n`;
}

/** What is asked, and the exact commands that answer it. */
export function ticketLines(
  run: string,
  ticket: NonNullable<RunResult['ticket']>,
  commandFor: OpenedStore['commandFor'],
): readonly string[] {
  return [
    `waiting for an approval of ${visible(ticket.tool)} ${visible(ticket.arguments)}`,
    `  allow: ${commandFor('runs', 'approve', run, ticket.id)}`,
    `  deny:  ${commandFor('runs', 'deny', run, ticket.id)}`,
    `  then:  ${commandFor('runs', 'resume', run)}`,
  ];
}
