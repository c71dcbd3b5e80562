/** Dependency closure: everything that a unit needs, in one go, or the reason why it cannot be had. */
import type { Catalogue } from './catalogue.ts';
import type { Unit } from './unit.ts';
import type { Judge, Reason } from './verdict.ts';

export interface Ranked {
  readonly unit: Unit;
  readonly score: number;
}

/** A unit that is wanted for itself, with all that it needs. */
export interface Root extends Ranked {
  /** Itself first. */
  readonly closure: readonly Unit[];
  /** The root whose suggestion brought it in; undefined for one that the request speaks for. */
  readonly suggestedBy: string | undefined;
}

export type Closure =
  /** The unit itself first; circles are walked once. */
  | { readonly ok: true; readonly units: readonly Unit[] }
  | { readonly ok: false; readonly reasons: readonly Reason[] };

/** Walks `requires` from a unit that may itself be chosen. Nothing is connected, loaded or installed on the way. */
export function closureOf(root: Unit, catalogue: Catalogue, judge: Judge): Closure {
  if (root.requires.length === 0) return { ok: true, units: [root] };
  const reached = new Map([[root.id, root]]);
  const failed = new Map<string, Reason>();
  // A Map grows while it is walked, so this reaches each unit once and nearer ones first.
  for (const unit of reached.values()) {
    for (const id of unit.requires) {
      if (reached.has(id)) continue;
      const number = catalogue.numberOf(id);
      if (number === undefined)
        failed.set(id, { kind: 'requirement', unit: id, reasons: [{ kind: 'not-registered' }] });
      else if (judge.allows(number)) reached.set(id, catalogue.at(number));
      else failed.set(id, { kind: 'requirement', unit: id, reasons: judge.reasons(number) });
    }
  }
  if (failed.size > 0) return { ok: false, reasons: [...failed.values()] };
  const contradiction = contradictionIn(reached, catalogue);
  return contradiction === undefined
    ? { ok: true, units: [...reached.values()] }
    : { ok: false, reasons: [contradiction] };
}

function contradictionIn(units: ReadonlyMap<string, Unit>, catalogue: Catalogue): Reason | undefined {
  for (const unit of units.values()) {
    const excluded = [...unit.conflicts, ...replacedBy(unit, catalogue)];
    const other = excluded.find((id) => id !== unit.id && units.has(id));
    if (other !== undefined) return { kind: 'contradiction', units: [unit.id, other] };
  }
  return undefined;
}

/** What a unit supersedes, and what that supersedes in turn: the third version replaces the first as well. */
export function replacedBy(unit: Unit, catalogue: Catalogue): ReadonlySet<string> {
  const replaced = new Set(unit.supersedes);
  for (const id of replaced) for (const older of catalogue.get(id)?.supersedes ?? []) replaced.add(older);
  return replaced;
}
