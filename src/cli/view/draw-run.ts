/** Draws a run for a person: what it was asked, what it did in each turn, what it used, how it ended, what to do next. */
import type { BudgetCounter, BudgetLine } from '../../protocol/budget.ts';
import type { CallView, RunView, TurnView } from '../../run/run-view.ts';
import { errorText } from '../report-error.ts';
import type { OpenedStore } from '../run/open-store.ts';
import { count, duration, moment, usageText } from './figures.ts';
import { callResultText } from './progress-lines.ts';
import { ticketLines } from './show-result.ts';
import { visible, visibleLine } from './visible.ts';

/** Several lines, the last one ended. Long one-line texts are cut to `cells`; task, texts and answer are whole. */
export function drawRun(view: RunView, commandFor: OpenedStore['commandFor'], cells: number): string {
  const field = (name: string, value: string) => `${name.padEnd(9)}${visibleLine(value, cells - 9)}`;
  const lines = [
    field('run', view.run),
    field('state', view.state),
    field('agent', `${view.agent} on ${view.harness}`),
    field('model', view.model ?? 'chosen by the harness'),
    field('prompt', view.prompt),
    field('session', `${view.session} (run ${view.index})`),
    field('began', moment(view.createdAt)),
    '',
    'TASK',
    ...paragraph(view.task ?? '(its text is not in the ledger)'),
    '',
    ...view.turns.flatMap((turn) => turnLines(turn, view, cells)),
    ...usageLines(view),
  ];
  if (view.notices.length > 0) lines.push('', 'NOTICES', ...view.notices.flatMap(paragraph));
  if (view.answer !== null) lines.push('', 'ANSWER', ...paragraph(view.answer));
  if (view.error !== null) lines.push('', errorText(view.error).trimEnd());
  lines.push(...nextLines(view, commandFor));
  return `${lines.join('\n')}\n`;
}

function paragraph(text: string): string[] {
  return visible(text)
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`));
}

function turnLines(turn: TurnView, view: RunView, cells: number): string[] {
  // The last turn's text is the answer, which is shown whole below.
  const text = turn.text === null || turn.text === view.answer ? [] : paragraph(turn.text);
  return [
    `TURN ${turn.turn} · ${usageText(turn.usage)}`,
    ...turn.faults.map((fault) => visibleLine(`  ! ${fault.code}: ${fault.message}`, cells)),
    ...text,
    ...turn.calls.flatMap((call) => callLines(call, cells)),
    '',
  ];
}

function callLines({ position, tool, arguments: args, sent, result }: CallView, cells: number): string[] {
  const open = sent ? 'sent; what it did is not known' : 'not run yet';
  const end = result === null ? open : callResultText(result);
  return [visibleLine(`  ${position} ${tool} ${args}`, cells), visibleLine(`    ${end}`, cells)];
}

/** Turns, calls, tokens, money and time of a run, then each limit of its budget. */
export function usageLines(view: RunView): string[] {
  const { usage, turns, toolCalls, elapsedMs } = view;
  const cached =
    usage.cachedTokens === null || usage.cachedTokens === 0 ? [] : [`${usage.cachedTokens} cached`];
  const figures = [
    count(turns.length, 'turn'),
    count(toolCalls, 'call'),
    usageText(usage),
    ...cached,
    duration(elapsedMs),
  ];
  const budget = Object.entries(view.budget).filter(([, line]) => line.limit !== null);
  return [
    `USED ${figures.join(' · ')}`,
    ...budget.map(([counter, line]) => budgetText(counter as BudgetCounter, line)),
  ];
}

function budgetText(counter: BudgetCounter, { limit, used, left, overrun }: BudgetLine): string {
  const over = overrun > 0 ? `, ${amount(overrun)} over what was set aside` : '';
  return `  ${counter.padEnd(12)}${amount(used)} of ${amount(limit ?? 0)}, ${amount(left ?? 0)} left${over}`;
}

function amount(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function nextLines(view: RunView, commandFor: OpenedStore['commandFor']): string[] {
  if (view.ticket !== null && view.state === 'paused')
    return ['', ...ticketLines(view.run, view.ticket, commandFor)];
  if (view.state === 'paused') return ['', `next: ${commandFor('runs', 'resume', view.run)}`];
  if (view.state === 'interrupted')
    return [
      '',
      'Nobody is at work on this run, and it has no end.',
      `  go on: ${commandFor('runs', 'resume', view.run)}`,
      `  end:   ${commandFor('runs', 'cancel', view.run)}`,
    ];
  if (view.state === 'running') return ['', `cancel: ${commandFor('runs', 'cancel', view.run)}`];
  return [];
}
