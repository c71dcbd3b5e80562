/** A fragment as something that situations decide: in or out, and which branches of its template are taken. */
import type { Fragment } from '../agent.ts';
import type { Condition, FactTypes, ReadFact } from '../conditions.ts';
import type { Piece } from '../template.ts';
import type { Decider } from './reach.ts';
import { type RestOf, restOf } from './residual.ts';

export interface FragmentDecider extends Decider {
  readonly fragment: Fragment;
}

/** The decider of a fragment; null where nothing decides it. Its outcomes are `out` and `in`, with a letter per branch. */
export function fragmentDecider(fragment: Fragment, types: FactTypes): FragmentDecider | null {
  const when = fragment.when === null ? null : restOf(fragment.when, types);
  const branches = fragment.template === null ? [] : branchesOf(fragment.template.pieces, types);
  const facts = new Set([...(fragment.when?.facts ?? []), ...branches.flatMap((branch) => branch.facts)]);
  if (when === null && branches.length === 0) return null;
  return {
    fragment,
    facts: [...facts],
    state(read, settled) {
      const rest = when === null ? 'T' : when(read, settled);
      if (rest.length > 1)
        return `${rest};${branches.map((branch) => branch.state(read, settled)).join(';')}`;
      if (rest === 'F' || (rest === 'U' && fragment.unknown === 'drop')) return '=out';
      const taken = branches.map((branch) => branch.state(read, settled));
      const final = taken.every((one) => one.length === 1);
      return final ? `=in${taken.join('')}` : taken.join(';');
    },
  };
}

/** The decider of a condition by itself: true, false or unknown. */
export function conditionDecider(condition: Condition, types: FactTypes): Decider {
  const rest = restOf(condition, types);
  return {
    facts: condition.facts,
    state(read, settled) {
      const left = rest(read, settled);
      return left.length === 1 ? `=${left}` : left;
    },
  };
}

interface Branch {
  readonly facts: readonly string[];
  /** `1` or `2` for the branch taken, `-` where it lies in a branch that is not; longer while it is open. */
  state(read: ReadFact, settled: (name: string) => boolean): string;
}

function branchesOf(pieces: readonly Piece[], types: FactTypes, outer: readonly Outer[] = []): Branch[] {
  return pieces.flatMap((piece) => {
    if (piece.kind !== 'when') return [];
    const rest = restOf(piece.condition, types);
    const side = (read: ReadFact, settled: (name: string) => boolean) => {
      const left = rest(read, settled);
      if (left.length > 1) return left;
      const first = left === 'T' || (left === 'U' && piece.unknownTakes === 'first');
      return first ? '1' : '2';
    };
    const own: Branch = {
      facts: [...new Set([...piece.condition.facts, ...outer.flatMap((one) => one.facts)])],
      state(read, settled) {
        const around = outer.map((one) => ({ taken: one.side(read, settled), wanted: one.wanted }));
        if (around.some(({ taken, wanted }) => taken.length === 1 && taken !== wanted)) return '-';
        const open = around.find(({ taken }) => taken.length > 1);
        return open === undefined ? side(read, settled) : `<${open.taken}>${side(read, settled)}`;
      },
    };
    const inside = (wanted: '1' | '2') => [...outer, { facts: own.facts, wanted, side }];
    return [
      own,
      ...branchesOf(piece.first, types, inside('1')),
      ...branchesOf(piece.otherwise, types, inside('2')),
    ];
  });
}

interface Outer {
  readonly facts: readonly string[];
  readonly wanted: '1' | '2';
  readonly side: RestOf;
}
