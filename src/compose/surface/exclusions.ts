/** What excludes what: supersession whatever the scores, then conflicts by score, until nothing chosen excludes another. */
import type { Catalogue } from './catalogue.ts';
import { type Root, replacedBy } from './closure.ts';
import type { Unit } from './unit.ts';
import type { Reason } from './verdict.ts';

export interface Kept {
  readonly roots: readonly Root[];
  /** Why a root was taken out. A suggestion whose suggester is gone is in neither list: nothing speaks for it any more. */
  readonly lost: ReadonlyMap<string, readonly Reason[]>;
}

interface Round {
  readonly living: ReadonlySet<Root>;
  /** In the order in which they were lost. */
  readonly lost: ReadonlyMap<Root, readonly Reason[]>;
  /** Superseders that took something out, in that order. */
  readonly acted: readonly Unit[];
}

/**
 * Takes out roots that carry a superseded unit or lose a conflict. A superseder may itself be lost later in a round, and then
 * what it took out was lost for nothing: so that one is left out for good and the rest is decided anew. Each round but the
 * last leaves one root out, so the rounds end. `roots` come best first.
 */
export function applyExclusions(roots: readonly Root[], catalogue: Catalogue): Kept {
  const excludes = ({ supersedes, conflicts }: Unit) => supersedes.length > 0 || conflicts.length > 0;
  if (!roots.some(({ closure }) => closure.some(excludes))) return { roots, lost: new Map() };
  const gone = new Map<Root, readonly Reason[]>();
  for (;;) {
    const rest = roots.filter((root) => !gone.has(root));
    const round = playRound(rest, catalogue);
    const voided = round.acted.findLast((unit) => !carried(unit, round.living));
    const loser = [...round.lost].findLast(([root]) => voided !== undefined && carries(root, voided));
    if (loser === undefined) {
      const lost = [...gone, ...round.lost].filter(([, reasons]) => reasons.length > 0);
      return {
        roots: rest.filter((root) => round.living.has(root)),
        lost: new Map(lost.map(([{ unit }, reasons]) => [unit.id, reasons])),
      };
    }
    gone.set(...loser);
  }
}

function playRound(roots: readonly Root[], catalogue: Catalogue): Round {
  const living = new Set(roots);
  const lost = new Map<Root, readonly Reason[]>();
  const lose = (root: Root, reasons: readonly Reason[]) => {
    living.delete(root);
    lost.set(root, reasons);
  };
  const acted: Unit[] = [];
  for (const { unit, replaced } of superseders(roots, catalogue)) {
    if (!carried(unit, living)) continue;
    for (const root of living) {
      const old = root.closure.find(({ id }) => replaced.has(id));
      if (old === undefined) continue;
      lose(root, because(root, old, { kind: 'superseded', by: unit.id }));
      acted.push(unit);
    }
  }
  const kept = new Set<string>();
  const against = new Map<string, string>();
  for (const root of living) {
    const clash = clashOf(root, kept, against);
    if (root.suggestedBy !== undefined && !kept.has(root.suggestedBy)) lose(root, []);
    else if (clash !== undefined) lose(root, clash);
    else {
      for (const { id, conflicts } of root.closure) {
        kept.add(id);
        for (const other of conflicts) against.set(other, id);
      }
    }
  }
  return { living, lost, acted };
}

function superseders(roots: readonly Root[], catalogue: Catalogue) {
  const units = new Set(roots.flatMap(({ closure }) => closure.filter((unit) => unit.supersedes.length > 0)));
  return [...units].map((unit) => ({ unit, replaced: replacedBy(unit, catalogue) }));
}

/**
 * The reasons against a root one of whose units conflicts with one that was kept, whichever of the two says so. `against`
 * holds what the kept ones speak against, and who does.
 */
function clashOf(
  root: Root,
  kept: ReadonlySet<string>,
  against: ReadonlyMap<string, string>,
): readonly Reason[] | undefined {
  for (const unit of root.closure) {
    // What is kept conflicts with none of the kept but, where it says so, itself.
    if (kept.has(unit.id)) continue;
    const other = against.get(unit.id) ?? unit.conflicts.find((id) => kept.has(id));
    if (other !== undefined) return because(root, unit, { kind: 'conflict', with: other });
  }
  return undefined;
}

function because(root: Root, unit: Unit, reason: Reason): readonly Reason[] {
  return root.unit === unit ? [reason] : [{ kind: 'requirement', unit: unit.id, reasons: [reason] }];
}

function carries({ closure }: Root, unit: Unit): boolean {
  return closure.includes(unit);
}

function carried(unit: Unit, roots: Iterable<Root>): boolean {
  for (const root of roots) if (carries(root, unit)) return true;
  return false;
}
