/** Two breakers: of runs that change nothing for long, and of runs that do the same thing again and again. */
import type { Directive, Policy } from './directive.ts';
import type { PolicyCall, PolicyTurn } from './history.ts';

export interface StarvationOptions {
  /** So many turns without a change, and again after as many more. */
  readonly turns: number;
  /** Whether a tool is one whose success is a change outside. */
  readonly changes: (tool: string) => boolean;
}

export const starvationTurnsUsual = 12;

/**
 * Speaks when nothing was changed for a number of turns: no write has succeeded, and the workspace is what it was. A write
 * that was only tried, or that failed, is no change.
 */
export function starvation({ turns: every, changes }: StarvationOptions): Policy {
  return (turns) => {
    const lastChange = turns.findLastIndex(
      ({ calls, touched }) =>
        touched.length > 0 || calls.some(({ tool, status }) => status === 'ok' && changes(tool)),
    );
    const idle = turns.length - 1 - lastChange;
    if (idle === 0 || idle % every !== 0) return undefined;
    return speak(
      'starvation',
      1,
      `Nothing outside was changed in the last ${idle} turns. If that is right for this task, go on. If something stands in the way, say what it is.`,
    );
  };
}

export interface RepetitionOptions {
  /** Equal calls in a row until it speaks, asks for a check, and stops. */
  readonly nudge: number;
  readonly check: number;
  readonly stop: number;
  /** Tools that are meant to be asked again; they get five times as many. */
  readonly polling: readonly string[];
}

export const repetitionUsual: RepetitionOptions = {
  nudge: 3,
  check: 6,
  stop: 9,
  polling: ['command_read', 'command_wait'],
};

const pollingFactor = 5;
/** Failures of the same kind, in a row or not, between two hints. */
const failuresEvery = 3;

/**
 * Speaks, asks for a check and stops when one call is made with equal arguments again and again. Behind a stop it counts
 * from one again, for a run that goes on because it was only noted.
 */
export function repetition(options: RepetitionOptions): Policy {
  return (turns) => {
    const calls = turns.flatMap((turn) => turn.calls);
    const last = calls.at(-1);
    const newest = turns.at(-1);
    if (last === undefined || newest === undefined || newest.calls.length === 0) return undefined;
    const factor = options.polling.includes(last.tool) ? pollingFactor : 1;
    const before = countInRow(calls.slice(0, calls.length - newest.calls.length), last);
    const now = countInRow(calls, last);
    const round = options.stop * factor;
    const reached = (limit: number) =>
      range(now > before ? before + 1 : 1, now).some((count) => ((count - 1) % round) + 1 === limit * factor);
    const what = `'${last.tool}' was called ${now} times in a row with the same arguments`;
    if (reached(options.stop)) {
      return { ...speak('repetition', 3, `${what}, which is the most that the agent allows.`), do: 'stop' };
    }
    if (reached(options.check)) {
      return speak(
        'repetition',
        3,
        `${what}. Before another call, say in one sentence each: what you know now, what is still missing, and what you will do differently.`,
      );
    }
    if (reached(options.nudge)) {
      return speak('repetition', 1, `${what}. Its answer will hardly change: use it, or try something else.`);
    }
    return repeatedFailure(turns, last);
  };
}

/** The same call with the same failure and the same files changed by it: a hint at each third, whatever was done between. */
function repeatedFailure(turns: readonly PolicyTurn[], last: PolicyCall): Directive | undefined {
  if (last.seen?.outcome !== 'failed') return undefined;
  const touched = turns.at(-1)?.touched ?? [];
  const alike = turns
    .filter((turn) => turn.touched.join('\0') === touched.join('\0'))
    .flatMap((turn) => turn.calls)
    .filter(
      (call) => same(call, last) && call.code === last.code && call.seen?.content === last.seen?.content,
    ).length;
  if (alike % failuresEvery !== 0) return undefined;
  const status = last.status === 'ok' ? 'failed' : last.status;
  return speak(
    'repetition',
    2,
    `'${last.tool}' has ended as ${status}${last.code === null ? '' : ` (${last.code})`} ${alike} times with the same arguments. Change the arguments or the way; if neither helps, say what stands in the way.`,
  );
}

function countInRow(calls: readonly PolicyCall[], last: PolicyCall): number {
  let count = 0;
  for (let i = calls.length - 1; i >= 0 && same(calls[i], last); i -= 1) count += 1;
  return count;
}

function same(a: PolicyCall | undefined, b: PolicyCall): boolean {
  return a?.tool === b.tool && a.arguments === b.arguments;
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}

function speak(policy: string, strength: Directive['strength'], text: string): Directive {
  return { policy, source: 'starvation', strength, do: 'speak', text };
}
