/** A run on a terminal: finished things scroll away as lines, and below them one block shows what is going on now. */
import pc from 'picocolors';
import type { Clock } from '../../clock.ts';
import type { RunEvent } from '../../protocol/events.ts';
import { spentBy } from '../../run/derive.ts';
import type { Output } from '../output.ts';
import { childLines, doingText } from './child-lines.ts';
import { counterText, duration, usageFigures } from './figures.ts';
import { afterDelta, afterEvent, budgetLeft, type LiveState, startState } from './live-state.ts';
import { asides, eventLines, type Progress } from './progress-lines.ts';
import { visible, visibleLine } from './visible.ts';
import { widthOf, wrapItems, wrapLine } from './wrap.ts';

const redrawMs = 100;
/** So many lines of the text that is arriving are shown. */
const textLines = 4;
/** And so many of the runs below. */
const childrenLines = 6;

export interface LiveViewOptions {
  readonly output: Output;
  readonly clock: Clock;
  readonly color: boolean;
  /** What the run did before it was resumed. */
  readonly earlier: readonly RunEvent[];
}

/**
 * Opens the view. It only moves the cursor within its own block, hides nothing, and leaves the cursor on the empty line
 * below the block: whatever ends the process, the terminal is in order.
 */
export function liveView({ output, clock, color, earlier }: LiveViewOptions): Progress {
  const { dim, red } = pc.createColors(color);
  const startedMs = clock.monotonicMs() - (spentBy(earlier).wallTimeMs ?? 0);
  const said = asides();
  const children = childLines();
  const events = [...earlier];
  let state = earlier.reduce(afterEvent, startState);
  let left = leftTexts(state, events);
  let drawn: readonly string[] = [];
  let waiting: string[] = [];
  let held = false;

  // A terminal that became narrower has broken the lines of the block anew.
  const clearing = () => {
    const columns = output.columns();
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
    drawn = [];
    return rows === 0 ? '' : `\x1b[${rows}A\r\x1b[0J`;
  };
  const draw = (lines: readonly string[] = []) => {
    if (held) {
      waiting.push(...lines);
      return;
    }
    const block = blockOf(state, left, clock.monotonicMs() - startedMs, sizeOf(output), children.now);
    const [head = '', ...rest] = block;
    const text = [...lines, head, ...rest.map(dim)].map((line) => `${line}\n`).join('');
    output.write(clearing() + text);
    drawn = block;
  };
  const timer = setInterval(draw, redrawMs);
  timer.unref();

  return {
    onEvents(stored) {
      const { cells } = sizeOf(output);
      const lines: string[] = [];
      for (const event of stored) {
        lines.push(...said.take(event, cells).map(dim));
        state = afterEvent(state, event);
        lines.push(...eventLines(event, cells).map(isTrouble(event) ? red : dim));
      }
      events.push(...stored);
      left = leftTexts(state, events);
      if (lines.length > 0) draw(lines);
    },
    onChildEvents(stored) {
      const { cells } = sizeOf(output);
      const lines = stored.flatMap((event) => children.take(event, cells).map(isTrouble(event) ? red : dim));
      if (lines.length > 0) draw(lines);
    },
    onLive(delta) {
      said.hear(delta);
      state = afterDelta(state, delta);
    },
    hold() {
      output.write(clearing());
      held = true;
      return () => {
        held = false;
        const lines = waiting;
        waiting = [];
        draw(lines);
      };
    },
    close() {
      clearInterval(timer);
      output.write(clearing() + waiting.map((line) => `${line}\n`).join(''));
      waiting = [];
      held = true;
    },
  };
}

interface Size {
  readonly cells: number;
  readonly lines: number;
}

// One column stays free: some terminals go on to the next line when the last one is filled.
function sizeOf(output: Output): Size {
  return { cells: Math.max(20, output.columns() - 1), lines: Math.max(3, output.rows() - 2) };
}

function isTrouble(event: RunEvent): boolean {
  if (event.type === 'tool-result') return event.status !== 'ok';
  return event.type === 'model-fault' || event.type === 'effect-unknown';
}

function leftTexts({ limits }: LiveState, events: readonly RunEvent[]): readonly string[] {
  return budgetLeft(limits, events).map(([counter, amount]) => counterText(counter, amount));
}

function blockOf(
  state: LiveState,
  left: readonly string[],
  elapsedMs: number,
  { cells, lines }: Size,
  below: (cells: number) => readonly string[],
): readonly string[] {
  const { turn, usage, known, limits } = state;
  const timeLeft =
    limits.wallTimeMs === undefined ? [] : [duration(Math.max(0, limits.wallTimeMs - elapsedMs))];
  const [first, ...others] = [...left, ...timeLeft];
  const figures = [
    ...wrapItems([...usageFigures(usage, known), duration(elapsedMs)], ' · ', cells - 2),
    ...(first === undefined ? [] : wrapItems([`left: ${first}`, ...others], ' · ', cells - 2)),
  ];
  const head = [
    visibleLine(`turn ${turn} · ${doingText(state)}`, cells),
    ...childrenNow(below(cells), lines),
    ...figures.map((line) => `  ${line}`),
  ];
  const room = Math.min(textLines, lines - head.length);
  return [...head.slice(0, lines), ...lastLines(visible(state.text), cells, room)];
}

/** Those below, as many as a screen has room for. */
function childrenNow(all: readonly string[], lines: number): readonly string[] {
  const most = Math.max(1, Math.min(childrenLines, lines - 4));
  return all.length <= most ? all : [...all.slice(0, most - 1), `  and ${all.length - most + 1} more`];
}

function lastLines(text: string, cells: number, room: number): readonly string[] {
  if (text.trim() === '' || room <= 0) return [];
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapLine(line.replaceAll('\t', '  '), cells - 4))
    .slice(-room)
    .map((line) => `  | ${line}`);
}
