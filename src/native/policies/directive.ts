/** What a policy may do, speak or stop, and the arbiter that lets at most one of them do it in a turn. */
import type { PolicyTurn } from './history.ts';

/** What ranks first when several want to speak: the end of the run, then a way out of a rut, then a reminder. */
export type DirectiveSource = 'termination' | 'starvation' | 'reminder';

export interface Directive {
  readonly policy: string;
  readonly source: DirectiveSource;
  /** Within one source: 3 asks for a check, 2 names a repeated failure, 1 is a hint. */
  readonly strength: 1 | 2 | 3;
  /** `stop` ends the run as failed; `speak` puts the text before the model. Nothing else is possible. */
  readonly do: 'speak' | 'stop';
  readonly text: string;
}

/** A decision over the turns of a run. Pure: the same turns give the same directive, so that a resumed run decides alike. */
export type Policy = (turns: readonly PolicyTurn[]) => Directive | undefined;

const rank: Readonly<Record<DirectiveSource, number>> = { termination: 2, starvation: 1, reminder: 0 };

/**
 * The one directive of a turn; the others are dropped, not kept for later. A stop outranks what only speaks; then comes the
 * source, then the strength, and of equals the one that was asked last.
 */
export function arbitrate(policies: readonly Policy[], turns: readonly PolicyTurn[]): Directive | undefined {
  // Said already, before an interruption: the turn has had its directive.
  if (turns.at(-1)?.spoken.length) return undefined;
  let best: Directive | undefined;
  for (const policy of policies) {
    const found = policy(turns);
    if (found !== undefined && (best === undefined || weight(found) >= weight(best))) best = found;
  }
  return best;
}

function weight({ source, strength, do: act }: Directive): number {
  return (act === 'stop' ? 100 : 0) + rank[source] * 10 + strength;
}
