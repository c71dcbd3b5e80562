/** The runs below a run as they work: each gets a number when it is first seen, and its lines bear that. */
import type { RunEvent } from '../../protocol/events.ts';
import { usageText } from './figures.ts';
import { afterEvent, type LiveState, startState } from './live-state.ts';
import { eventLines } from './progress-lines.ts';
import { visibleLine } from './visible.ts';

interface Child {
  readonly name: string;
  state: LiveState;
}

/** Keeps those at work. Texts that arrive are not shown: several conversations side by side would mix. */
export function childLines() {
  const atWork = new Map<string, Child>();
  let seen = 0;
  return {
    /** What an event of a child says to a person who watches, each line at most `cells` wide. */
    take(event: RunEvent, cells: number): readonly string[] {
      let child = atWork.get(event.run);
      if (child === undefined) {
        seen += 1;
        child = { name: `child ${seen}`, state: startState };
        atWork.set(event.run, child);
      }
      const { name } = child;
      child.state = afterEvent(child.state, event);
      if (event.type === 'run-start') return [visibleLine(`  ${name} · ${event.run} begins`, cells)];
      if (event.type === 'run-finish' || event.type === 'run-pause') {
        atWork.delete(event.run);
        const how = event.type === 'run-pause' ? 'waits' : event.status;
        const { usage, known } = child.state;
        return [visibleLine(`  ${name} · ${how} · ${usageText(usage, known)}`, cells)];
      }
      return eventLines(event, cells - name.length - 5).map((line) => `  ${name} | ${line}`);
    },
    /** One line of what each child does now. */
    now(cells: number): readonly string[] {
      return [...atWork.values()].map(({ name, state }) =>
        visibleLine(`  ${name} · turn ${state.turn} · ${doingText(state)}`, cells),
      );
    },
  };
}

/** The call that is under way, or what else is. */
export function doingText({ calls, steps, doing }: LiveState): string {
  const first = calls[0]?.text ?? steps[0];
  const count = calls.length > 0 ? calls.length : steps.length;
  const what = calls.length > 0 ? 'calls' : 'steps';
  if (first === undefined) return doing;
  return count > 1 ? `${count} ${what}: ${first}` : first;
}
