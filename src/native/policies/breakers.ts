/** Two breakers: of runs that change nothing for long, and of runs that do the same thing again and again. */
import type { Directive, Policy } from './directive.ts';
import type { PolicyCall, PolicyTurn } from './history.ts';

export interface StarvationOptions {
  /** So many turns without a change, and again after as many more. */
  readonly turns: number;
  /** Whether a tool is one that changes something outside. */
  readonly changes: (tool: string) => boolean;
}

export const starvationTurnsUsual = 12;

/** Speaks when no write has succeeded for a number of turns. A write that was only tried, or that failed, is no change. */
export function starvation({ turns: every, changes }: StarvationOptions): Policy {
  return (turns) => {
    const lastChange = turns.findLastIndex(({ calls }) =>
      calls.some(({ tool, status }) => status === 'ok' && changes(tool)),
    );
    const idle = turns.length - 1 - lastChange;
    if (idle === 0 || idle % every !== 0) return undefined;
    return speak(
      'starvation',
      1,
      `Nothing outside was changed in the last ${idle} turns. If that is right for this task, go on. If something stands in the way, say what it is; if the task is finished, finish.`,
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

/** Speaks, asks for a check and stops when one call is made with equal arguments again and again. */
export function repetition(options: RepetitionOptions): Policy {
  return (turns) => {
    const calls = turns.flatMap((turn) => turn.calls);
    const last = calls.at(-1);
    const newest = turns.at(-1);
    if (last === undefined || newest === undefined || newest.calls.length === 0) return undefined;
    const factor = options.polling.includes(last.tool) ? pollingFactor : 1;
    const before = countInRow(calls.slice(0, calls.length - newest.calls.length), last);
    const now = countInRow(calls, last);
    const reached = (limit: number) => now >= limit * factor && (now > before ? before : 0) < limit * factor;
    const what = `'${last.tool}' was called ${now} times in a row with the same arguments`;
    if (reached(options.stop)) {
      return { ...speak('repetition', 3, `${what}, which is the most that the agent allows.`), do: 'stop' };
    }
    if (reached(options.check)) {
      return speak(
        'repetition',
        3,
        `${what}. Before another call, say in one sentence each: what you know now, what is still missing, and what you will do differently. If the task is finished, finish.`,
      );
    }
    if (reached(options.nudge)) {
      return speak('repetition', 1, `${what}. Its answer will hardly change: use it, or try something else.`);
    }
    return repeatedFailure(turns, last);
  };
}

/** The same call with the same failure: a hint at each third, whatever was done between. */
function repeatedFailure(turns: readonly PolicyTurn[], last: PolicyCall): Directive | undefined {
  if (last.status === 'ok' || last.status === undefined) return undefined;
  const alike = turns
    .flatMap((turn) => turn.calls)
    .filter((call) => same(call, last) && call.status === last.status && call.code === last.code).length;
  if (alike % failuresEvery !== 0) return undefined;
  return speak(
    'repetition',
    2,
    `'${last.tool}' has ended as ${last.status}${last.code === null ? '' : ` (${last.code})`} ${alike} times with the same arguments. Change the arguments or the way; if neither helps, say what stands in the way.`,
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

function speak(policy: string, strength: Directive['strength'], text: string): Directive {
  return { policy, source: 'starvation', strength, do: 'speak', text };
}
