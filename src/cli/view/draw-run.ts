/** Draws a run for a person: what it was asked, the tree of its turns, what it used, how it ended, what to do next. */
import { amountText, type BudgetCounter, type BudgetLine } from '../../protocol/budget.ts';
import type { CallView } from '../../run/call-view.ts';
import type { RunState } from '../../run/derive.ts';
import type { MeterView } from '../../run/meter-view.ts';
import type { PlanView } from '../../run/plan-view.ts';
import type { ChildView, FaultView, RunView, TurnView } from '../../run/run-view.ts';
import { tornText } from '../../run/torn.ts';
import { errorText } from '../report-error.ts';
import type { OpenedStore } from '../run/open-store.ts';
import { endText, historyBranches } from './call-branches.ts';
import { unsettledLines } from './draw-unsettled.ts';
import { count, duration, moment, shortDigest, usageText } from './figures.ts';
import { type PlanCall, taskText } from './plan-calls.ts';
import { ticketLines } from './show-result.ts';
import { specLines } from './spec-lines.ts';
import { type Branch, treeLines } from './tree.ts';
import { visible, visibleLine } from './visible.ts';

export interface DrawOptions {
  readonly commandFor: OpenedStore['commandFor'];
  /** How the run goes on: a command, or words where no command of ours can do it. */
  readonly resume: { readonly text: string; readonly command: boolean };
  readonly cells: number;
  /** The results' texts by the digest of their message, where calls are shown in full. */
  readonly results?: ReadonlyMap<string, string>;
  /** The calls of plans' steps, by lane and path with a space between. */
  readonly planCalls?: ReadonlyMap<string, PlanCall>;
}

/** Several lines, the last one ended. Without `results` calls are cut to one line; task, texts and answer are whole. */
export function drawRun(view: RunView, options: DrawOptions): string {
  const { cells } = options;
  const field = (name: string, value: string) => `${name.padEnd(9)}${visibleLine(value, cells - 9)}`;
  const lines = [
    field('run', view.run),
    field('state', view.state),
    field('agent', `${view.agent} on ${view.harness}`),
    field('model', view.model ?? 'chosen by the harness'),
    field('prompt', view.prompt),
    field('session', `${view.session} (run ${view.index})`),
    ...(view.parent === undefined ? [] : [field('parent', view.parent)]),
    field('began', moment(view.createdAt)),
    ...outsideLines(view, cells),
    '',
    'TASK',
    ...paragraph(taskText(view)),
    '',
    ...workLines(view, options),
    ...strayChildren(view, options),
    ...usageLines(view),
  ];
  const inTurns = view.turns.reduce((sum, turn) => sum + turn.notices.length, 0);
  // The first notices were given before the first turn.
  const ownNotices = view.notices.slice(0, view.notices.length - inTurns);
  if (ownNotices.length > 0) lines.push('', 'NOTICES', ...ownNotices.flatMap(paragraph));
  if (view.spec !== undefined) lines.push('', ...specLines(view.spec));
  if (view.answer !== null) lines.push('', 'ANSWER', ...paragraph(view.answer));
  if (view.error !== null) lines.push('', errorText(view.error).trimEnd());
  const { commandFor } = options;
  const unsettled = unsettledLines(view.unsettled, { run: view.run, commandFor, cells });
  if (unsettled.length > 0) lines.push('', ...unsettled);
  lines.push('', `session: ${view.session}`, ...nextLines(view, options));
  return `${lines.join('\n')}\n`;
}

/** What was delivered to an outside program, by which control, on which evidence. */
function outsideLines({ outside }: RunView, cells: number): readonly string[] {
  if (outside === undefined) return [];
  const { receipt, session, meter } = outside;
  const { intent, control, transport, bytes, sha256, version, cell, role, residue } = receipt;
  const program = `${receipt.harness} ${version ?? '(version not known)'}`;
  const measured = cell === null ? 'not measured' : `measured on ${cell.version}, ${cell.date}`;
  const lines = [
    ['program', session === null ? program : `${program}, its session ${session}`],
    ['given', `${intent} by ${control} (${transport}) · ${count(bytes, 'byte')} · ${shortDigest(sha256)}`],
    ['lands', `${role ?? 'in a role that is not known'} · ${measured}`],
    ...residue.map((text) => ['beside', text]),
    ...(meter === undefined ? [] : meterLines(meter)),
  ];
  return lines.map(([name = '', value = '']) => `${name.padEnd(9)}${visibleLine(value, cells - 9)}`);
}

function meterLines({ upstream, main, proven, side, refused }: MeterView): readonly string[][] {
  const parts = [`${count(main, 'request')} of the task, ${proven} with the text`, `${side} beside it`];
  return [
    ['metered', [...parts, ...(refused === 0 ? [] : [`${refused} refused`])].join(' · ')],
    ['sent to', upstream],
  ];
}

function paragraph(text: string): string[] {
  return visible(text)
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`));
}

function turnLines(turn: TurnView, view: RunView, options: DrawOptions): string[] {
  const branches = turnBranches(turn, view, options);
  return [
    `TURN ${turn.turn}${turn.lane === null ? '' : ` (${turn.lane})`} · ${usageText(turn.usage, turn.known)}`,
    ...treeLines(branches, options.cells),
    '',
  ];
}

/** Turns in their order, each plan behind the turn that proposed it, and the turns of its steps behind the plan. */
function workLines(view: RunView, options: DrawOptions): string[] {
  const { plans, turns } = view;
  const isOf = (turn: TurnView, plan: PlanView) => turn.lane?.startsWith(`${plan.lane}#`) === true;
  const proposedAt = (number: number) =>
    plans
      .filter((plan) => plan.turn === number)
      .flatMap((plan) => [
        ...planLines(plan, options),
        ...turns.filter((turn) => isOf(turn, plan)).flatMap((turn) => turnLines(turn, view, options)),
      ]);
  return [
    ...proposedAt(0),
    ...turns
      .filter((turn) => !plans.some((plan) => isOf(turn, plan)))
      .flatMap((turn) => [...turnLines(turn, view, options), ...proposedAt(turn.turn)]),
  ];
}

function planLines({ lane, plan, steps }: PlanView, { cells, planCalls, results }: DrawOptions): string[] {
  const branches = steps.map(({ path, operation, status, error, label, value, call: told }) => {
    const call = planCalls?.get(`${lane} ${path}`);
    const named = label ?? call?.tool;
    const how = error === null ? (status === 'begun' ? 'not ended' : status) : `${status} (${error.code})`;
    const text = visibleLine(
      `${path} ${operation}${named === undefined ? '' : ` ${visible(named)}`}: ${how}`,
      cells - 3,
    );
    const full = value === null ? undefined : results?.get(value);
    const below = [
      ...(call === undefined || results === undefined ? [] : [{ text: visible(call.arguments) }]),
      ...(told === undefined ? [] : historyBranches(told)),
      ...(error === null ? [] : [{ text: visible(error.message) }]),
      ...(call === undefined || full === undefined ? [] : [{ text: visible(full).trimEnd() }]),
    ];
    return below.length === 0 ? { text } : { text, branches: below };
  });
  return [`PLAN ${lane} · ${shortDigest(plan)}`, ...treeLines(branches, cells), ''];
}

function turnBranches(turn: TurnView, view: RunView, options: DrawOptions): readonly Branch[] {
  // The last turn's text is the answer, which is shown whole below.
  const answers = turn.text !== null && turn.text === view.answer && turn === view.turns.at(-1);
  const text = turn.text === null ? [] : [{ text: answers ? 'the answer' : visible(turn.text).trimEnd() }];
  const open = text.length === 0 && turn.calls.length === 0 && turn === view.turns.at(-1);
  return [
    ...turn.faults.map(faultBranch),
    ...text,
    ...turn.calls.map((call) => callBranch(call, view.state, options, childrenAt(view, turn, call))),
    ...turn.notices.map((notice) => ({ text: `notice: ${visible(notice)}` })),
    ...(open && view.state === 'running' ? [{ text: 'waiting for the model' }] : []),
    ...(open && view.state === 'interrupted' ? [{ text: 'no answer was recorded' }] : []),
  ];
}

function faultBranch({ attempt, error, retryInMs }: FaultView): Branch {
  const again = retryInMs === null ? '' : `; tried again after ${duration(retryInMs)}`;
  return {
    text: `attempt ${attempt} failed (${error.code})${again}`,
    branches: [{ text: visible(error.message) }],
  };
}

function childrenAt({ children = [] }: RunView, { turn }: TurnView, { position }: CallView) {
  return children.filter(({ key }) => key === `${turn}:${position}`);
}

/** Children that no call of a turn shows: those of a plan's steps. */
function strayChildren(view: RunView, options: DrawOptions): string[] {
  const shown = view.turns.flatMap((turn) => turn.calls.flatMap((call) => childrenAt(view, turn, call)));
  const stray = (view.children ?? []).filter((child) => !shown.includes(child));
  if (stray.length === 0) return [];
  const branches = stray.map((child) => childBranch(child, options));
  return ['CHILDREN', ...treeLines(branches, options.cells), ''];
}

/** What a child was given and did, as its own record tells it, to any depth. */
function childBranch({ child, inherits, view }: ChildView, options: DrawOptions): Branch {
  if (view === null) return { text: `child ${child} · it never began, or its record was removed` };
  const { withheld, instructions, tools } = inherits;
  const without = withheld.length === 0 ? '' : `, without ${withheld.map(({ name }) => name).join(', ')}`;
  const given = `given: ${instructions === 'parent' ? 'the same instructions' : 'instructions of its own'}, ${tools.length === 0 ? 'no tools' : tools.join(', ')}${without}`;
  const { cells } = options;
  return {
    text: `child ${child} · ${view.state} · ${usageText(view.usage, view.known)}`,
    branches: [
      { text: visibleLine(given, cells - 6) },
      { text: visibleLine(`task: ${view.task ?? '(its text is not in the ledger)'}`, cells - 6) },
      ...view.turns.map((turn) => ({
        text: `turn ${turn.turn} · ${usageText(turn.usage, turn.known)}`,
        branches: turnBranches(turn, view, { ...options, cells: cells - 9 }),
      })),
      ...(view.error === null
        ? []
        : [{ text: visibleLine(`${view.error.code}: ${view.error.message}`, cells - 6) }]),
      ...(view.answer === null ? [] : [{ text: visibleLine(`answer: ${view.answer}`, cells - 6) }]),
    ],
  };
}

function callBranch(
  call: CallView,
  state: RunState,
  options: DrawOptions,
  children: readonly ChildView[],
): Branch {
  const { cells, results } = options;
  const { position, tool, arguments: args, result } = call;
  const head = `${position} ${tool}`;
  const full = result === null ? undefined : results?.get(result.message);
  const branches: Branch[] = [
    ...(results === undefined ? [] : [{ text: visible(args) }]),
    ...historyBranches(call),
    ...children.map((child) => childBranch(child, { ...options, cells: cells - 6 })),
    {
      text: endText(call, state),
      ...(full === undefined ? {} : { branches: [{ text: visible(full).trimEnd() }] }),
    },
  ];
  // Three columns for the tree.
  return {
    text: results === undefined ? visibleLine(`${head} ${args}`, cells - 3) : visible(head),
    branches,
  };
}

/** Turns, calls, tokens, money and time of a run, then each limit of its budget. */
export function usageLines(view: RunView): string[] {
  const { usage, turns, toolCalls, elapsedMs } = view;
  const cached =
    usage.cachedTokens === null || usage.cachedTokens === 0
      ? []
      : [`${amountText(usage.cachedTokens)} cached`];
  const replays = turns.flatMap(({ calls }) => calls).filter(({ replayOf }) => replayOf !== null).length;
  const figures = [
    count(turns.length, 'turn'),
    `${count(toolCalls, 'call')}${replays === 0 ? '' : ` (for ${replays} of them nothing was sent)`}`,
    usageText(usage, view.known),
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
  const over = overrun > 0 ? `, ${amountText(overrun)} over what was set aside` : '';
  return `  ${counter.padEnd(12)}${amountText(used)} of ${amountText(limit ?? 0)}, ${amountText(left ?? 0)} left${over}`;
}

function nextLines(view: RunView, { commandFor, resume }: DrawOptions): string[] {
  if (view.ticket !== null && view.state === 'paused')
    return ['', ...ticketLines(view.run, view.ticket, commandFor, resume.text)];
  if (view.state === 'paused') return ['', `next: ${resume.text}`];
  if (view.state === 'interrupted')
    return [
      '',
      'Nobody is at work on this run, and it has no end.',
      ...goesOnLines(view),
      `  go on: ${resume.text}`,
      ...(resume.command ? [`  end:   ${commandFor('runs', 'cancel', view.run)}`] : []),
    ];
  if (view.state === 'running') return ['', `cancel: ${commandFor('runs', 'cancel', view.run)}`];
  return [];
}

/** From where it goes on, and what behind that was left out. */
function goesOnLines({ goesOnAfter, torn = [] }: RunView): string[] {
  if (goesOnAfter === undefined) return [];
  const { seq, type } = goesOnAfter;
  if (torn.length === 0) return [`  it goes on after event ${seq} (${type})`];
  return torn.map((tail) => `  ${tornText(tail, goesOnAfter)}`);
}
