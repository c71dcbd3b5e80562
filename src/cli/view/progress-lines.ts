/** A run as plain lines: what each event says to a person who watches, or nothing where it is only for the record. */
import { amountText } from '../../protocol/budget.ts';
import type { LiveDelta, RunEvent } from '../../protocol/events.ts';
import { decisionText } from './decision-text.ts';
import { count, duration, shortDigest } from './figures.ts';
import { fitCells, visible, visibleLine } from './visible.ts';
import { wrapLine } from './wrap.ts';

/** Shows a run while it works. */
export interface Progress {
  onEvents(events: readonly RunEvent[]): void;
  onLive(delta: LiveDelta): void;
  /** The same of the runs below, at any depth. */
  onChildEvents(events: readonly RunEvent[]): void;
  /** Clears the way for a question; the function it returns goes on with showing. */
  hold(): () => void;
  /** Leaves the screen clean. Safe to call twice. */
  close(): void;
}

/** The lines for an event, each at most `cells` wide; none for events that only a record needs. */
export function eventLines(event: RunEvent, cells: number): readonly string[] {
  const line = lineOf(event);
  if (line === undefined) return [];
  // A reason that is cut off is no reason; what a call is given may be of any length and is cut.
  return reasons.has(event.type) ? wrapped(line, cells) : [visibleLine(line, cells)];
}

const reasons: ReadonlySet<RunEvent['type']> = new Set([
  'model-fault',
  'effect-unknown',
  'effect-reconcile',
  'effect-resolve',
  'approval-answer',
  'notice',
]);
const reasonLinesMax = 4;

function wrapped(text: string, cells: number): readonly string[] {
  const indent = ' '.repeat(text.length - text.trimStart().length);
  // Cut before it is broken, so that a text of any length costs no more than what is shown of it.
  const line = visibleLine(text.trimStart(), (cells - indent.length) * reasonLinesMax);
  return wrapLine(line, cells - indent.length)
    .slice(0, reasonLinesMax)
    .map((part) => `${indent}${part}`);
}

function lineOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'run-start':
      return `${event.run} · ${event.agent} on ${event.model ?? event.harness} · prompt ${shortDigest(event.prompt)}`;
    case 'run-resume':
      return `${event.run} goes on after event ${event.seq - 1}`;
    case 'turn-start':
      return `turn ${event.turn}`;
    case 'tool-call':
      return `  ${event.position} ${event.tool} ${event.arguments}`;
    case 'tool-result':
      return `  ${event.position} ${event.tool} ${callResultText(event)}`;
    case 'model-fault':
      // A fault that is not tried again is the error that the run ends with, and is told there.
      if (event.retryInMs === null) return undefined;
      return `  trying again in ${duration(event.retryInMs)}: ${event.error.message}`;
    case 'spec-verdict': {
      const unmet = event.results.filter(({ status }) => status !== 'passed');
      const which = unmet.map(({ id, status }) => `${id} ${status}`).join(', ');
      return `specification ${event.accepted ? 'met' : 'not met'}${which === '' ? '' : `: ${which}`}`;
    }
    case 'plan-accept':
      return `plan ${event.lane} · ${shortDigest(event.plan)}`;
    case 'plan-step':
      return event.status === 'begun' ? undefined : `  ${planStepText(event)}`;
    case 'approval-request':
      return `  an approval is needed: ${event.ticket.tool} ${event.ticket.arguments}`;
    case 'effect-reconcile':
      return `  ${event.position} ${decisionText({ ...event, decision: event.answer })}`;
    case 'effect-resolve':
      return `  ${event.position} ${decisionText(event)}`;
    case 'effect-unknown':
      return `  ${event.position} the outcome is unknown: ${event.reason}`;
    case 'approval-answer':
      return `  ${event.decision} by ${event.by}${event.reason === '' ? '' : `: ${event.reason}`}`;
    case 'budget-overrun':
      return `  ${event.counter} used ${amountText(event.actual)}, ${amountText(event.reserved)} were set aside`;
    case 'notice':
      return `notice: ${event.text}`;
    default:
      return undefined;
  }
}

/** A step by its place: `2/b0/1 tool: failed (plan.tool-failed)`. */
function planStepText({
  path,
  operation,
  status,
  label,
  error,
}: Extract<RunEvent, { type: 'plan-step' }>): string {
  const named = label === undefined ? '' : ` ${label}`;
  return `${path} ${operation}${named}: ${status}${error === null ? '' : ` (${error.code})`}`;
}

/** How a call ended: `ok · 1,204 bytes · 35 ms`. */
export function callResultText(
  result: Pick<
    Extract<RunEvent, { type: 'tool-result' }>,
    'status' | 'code' | 'bytes' | 'truncated' | 'elapsedMs'
  >,
): string {
  const why = result.code === null ? '' : ` (${result.code})`;
  const cut = result.truncated ? ', cut' : '';
  return `${result.status}${why} · ${count(result.bytes, 'byte')}${cut} · ${duration(result.elapsedMs)}`;
}

/** A model's words beside its calls, set in below its turn and no longer than a glance. */
export function asideLines(text: string, cells: number): readonly string[] {
  const lines = visible(text.trim()).split('\n');
  const shown = lines.slice(0, asideLinesMax).map((line) => fitCells(`  | ${line}`, cells));
  return lines.length > asideLinesMax ? [...shown, '  | …'] : shown;
}

const asideLinesMax = 6;

/** Collects what the model says live, and gives it back once it turns out to stand beside calls and not to be the answer. */
export function asides() {
  let text = '';
  return {
    hear(delta: LiveDelta): void {
      if (delta.type === 'text-delta') text += delta.text;
    },
    take(event: RunEvent, cells: number): readonly string[] {
      // A request that is sent again begins its answer anew.
      if (event.type === 'model-request') text = '';
      if (event.type !== 'message-finish') return [];
      const lines = event.calls > 0 && text.trim() !== '' ? asideLines(text, cells) : [];
      text = '';
      return lines;
    },
  };
}
