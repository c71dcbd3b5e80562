/** Chooses what a person sees while a run works: plain lines where it is piped, one updating view on a terminal. */
import type { RunEvent } from '../../protocol/events.ts';
import type { Context } from '../context.ts';
import { liveView } from './live-view.ts';
import { plainLines } from './plain-lines.ts';
import type { Progress } from './progress-lines.ts';

/**
 * Chooses by where stderr goes; `quiet` shows nothing. A terminal that cannot move its cursor gets plain lines. `earlier`
 * is what a resumed run did before.
 */
export function openProgress(context: Context, quiet: boolean, earlier: readonly RunEvent[] = []): Progress {
  const { stderr, env, clock } = context;
  if (quiet) return { onEvents() {}, onLive() {}, onChildEvents() {}, hold: () => () => {}, close() {} };
  if (!stderr.terminal || env.TERM === 'dumb') return plainLines(stderr);
  return liveView({ output: stderr, clock, color: wantsColor(env), earlier });
}

/** https://no-color.org: any value that is not empty turns colour off. */
function wantsColor(env: Context['env']): boolean {
  return env.NO_COLOR === undefined || env.NO_COLOR === '';
}
