/** A run on a terminal: finished things scroll away as lines, and below them one block shows what is going on now. */
import pc from 'picocolors';
import type { Clock } from '../../clock.ts';
import type { LiveDelta, RunEvent } from '../../protocol/events.ts';
import { addUsage, noUsage } from '../../protocol/usage.ts';
import type { Output } from '../output.ts';
import { duration, usageText } from './figures.ts';
import { asides, eventLine, type Progress } from './progress-lines.ts';
import { cellsOf, visible, visibleLine } from './visible.ts';

const redrawMs = 100;
/** So many lines of the text that is arriving are shown. */
const textLines = 4;
/** No more of it is kept than those lines can need. */
const textCharsMax = 4096;

export interface LiveViewOptions {
  readonly output: Output;
  readonly clock: Clock;
  readonly color: boolean;
}

/** Opens the view. It only moves the cursor within its own block, and hides nothing that a sudden end would leave hidden. */
export function liveView({ output, clock, color }: LiveViewOptions): Progress {
  const { dim, red } = pc.createColors(color);
  const startedMs = clock.monotonicMs();
  const said = asides();
  let state = startState;
  let drawn = 0;
  let held = false;

  const clear = () => {
    if (drawn > 0) output.write(`${drawn > 1 ? `\x1b[${drawn - 1}A` : ''}\r\x1b[0J`);
    drawn = 0;
  };
  const draw = () => {
    if (held) return;
    // One column stays free: a full line would wrap and break the count.
    const cells = Math.max(20, output.columns() - 1);
    const [first, ...text] = blockOf(state, clock.monotonicMs() - startedMs, cells);
    clear();
    output.write([first, ...text.map(dim)].join('\n'));
    drawn = 1 + text.length;
  };
  const timer = setInterval(draw, redrawMs);
  timer.unref();

  return {
    onEvents(events) {
      const cells = Math.max(20, output.columns() - 1);
      const lines: string[] = [];
      for (const event of events) {
        lines.push(...said.take(event, cells).map(dim));
        state = after(state, event);
        const line = eventLine(event, cells);
        if (line !== undefined) lines.push(isTrouble(event) ? red(line) : dim(line));
      }
      if (lines.length === 0) return;
      clear();
      output.write(lines.map((line) => `${line}\n`).join(''));
      draw();
    },
    onLive(delta) {
      said.hear(delta);
      state = afterDelta(state, delta);
    },
    hold() {
      clear();
      held = true;
      return () => {
        held = false;
        draw();
      };
    },
    close() {
      clearInterval(timer);
      clear();
      held = true;
    },
  };
}

function isTrouble(event: RunEvent): boolean {
  if (event.type === 'tool-result') return event.status !== 'ok';
  return event.type === 'model-fault' || event.type === 'effect-unknown';
}

interface State {
  readonly turn: number;
  readonly doing: 'starting' | 'waiting for the model' | 'thinking' | 'writing';
  /** Calls without a result, in order. */
  readonly calls: readonly { readonly position: number; readonly text: string }[];
  readonly usage: typeof noUsage;
  readonly text: string;
}

const startState: State = { turn: 0, doing: 'starting', calls: [], usage: noUsage, text: '' };

function after(state: State, event: RunEvent): State {
  switch (event.type) {
    case 'turn-start':
      return { ...state, turn: event.turn, calls: [] };
    case 'model-request':
      return { ...state, doing: 'waiting for the model', text: '' };
    case 'model-response':
    case 'model-fault':
      return { ...state, usage: addUsage(state.usage, event.usage) };
    case 'message-finish':
      return { ...state, doing: 'waiting for the model', text: event.calls > 0 ? '' : state.text };
    case 'tool-call': {
      const call = { position: event.position, text: `${event.tool} ${event.arguments}` };
      return { ...state, calls: [...state.calls, call] };
    }
    case 'tool-result':
      return { ...state, calls: state.calls.filter((call) => call.position !== event.position) };
    default:
      return state;
  }
}

function afterDelta(state: State, { type, text }: LiveDelta): State {
  if (type === 'reasoning-delta') return { ...state, doing: 'thinking' };
  return { ...state, doing: 'writing', text: (state.text + text).slice(-textCharsMax) };
}

function blockOf(state: State, elapsedMs: number, cells: number): readonly [string, ...string[]] {
  const { calls, turn, usage, doing } = state;
  // What may be long stands last, so that a narrow terminal cuts it and never the figures.
  const now = calls[0]?.text ?? doing;
  const more = calls.length > 1 ? `${calls.length} calls: ` : '';
  const head = visibleLine(
    `turn ${turn} · ${usageText(usage)} · ${duration(elapsedMs)} · ${more}${now}`,
    cells,
  );
  return [head, ...lastLines(visible(state.text), cells)];
}

function lastLines(text: string, cells: number): readonly string[] {
  if (text.trim() === '') return [];
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrap(line.replaceAll('\t', '  '), cells - 2))
    .slice(-textLines)
    .map((line) => `  ${line}`);
}

function wrap(line: string, cells: number): string[] {
  const lines: string[] = [];
  let at = '';
  let used = 0;
  for (const character of line) {
    const width = cellsOf(character);
    if (used + width > cells) {
      lines.push(at);
      at = '';
      used = 0;
    }
    at += character;
    used += width;
  }
  return [...lines, at];
}
