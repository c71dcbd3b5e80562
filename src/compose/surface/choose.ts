/** From ranked candidates to the chosen units: closures first, then suggestions, then what excludes what. */
import type { Catalogue } from './catalogue.ts';
import { closureOf, type Ranked, type Root } from './closure.ts';
import { applyExclusions } from './exclusions.ts';
import type { Judge, Reason } from './verdict.ts';

/** Every `requires` of what was chosen, and each `suggests` that brought a unit in. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'requires' | 'suggests';
}

export interface Choice {
  /** Best first. */
  readonly roots: readonly Root[];
  /** All units of the roots' closures, each once with the highest score of those that need it, best first. */
  readonly chosen: readonly Ranked[];
  readonly edges: readonly Edge[];
  readonly rejected: ReadonlyMap<string, readonly Reason[]>;
}

/** `candidates` come best first and may each be chosen; whether what they need may be is asked here. */
export function choose(candidates: readonly Ranked[], catalogue: Catalogue, judge: Judge): Choice {
  const rejected = new Map<string, readonly Reason[]>();
  const roots = new Map<string, Root>();
  const admit = ({ unit, score }: Ranked, suggestedBy?: string) => {
    const closure = closureOf(unit, catalogue, judge);
    if (closure.ok) roots.set(unit.id, { unit, score, closure: closure.units, suggestedBy });
    else rejected.set(unit.id, closure.reasons);
  };
  for (const candidate of candidates) admit(candidate);
  const asked = [...roots.values()];
  for (const { unit, score } of asked) {
    for (const id of unit.suggests) {
      const number = catalogue.numberOf(id);
      if (number === undefined || roots.has(id) || rejected.has(id)) continue;
      if (judge.allows(number)) admit({ unit: catalogue.at(number), score: Math.floor(score / 4) }, unit.id);
      else rejected.set(id, judge.reasons(number));
    }
  }
  const kept = applyExclusions(roots.size === asked.length ? asked : byScore(roots.values()), catalogue);
  for (const [id, reasons] of kept.lost) rejected.set(id, reasons);
  return { roots: kept.roots, ...gather(kept.roots), rejected };
}

function byScore(roots: Iterable<Root>): Root[] {
  return [...roots].sort((a, b) => b.score - a.score || (a.unit.id < b.unit.id ? -1 : 1));
}

function gather(roots: readonly Root[]): Pick<Choice, 'chosen' | 'edges'> {
  const chosen = new Map<string, Ranked>();
  const edges: Edge[] = [];
  for (const { unit: root, score, closure, suggestedBy } of roots) {
    if (suggestedBy !== undefined) edges.push({ from: suggestedBy, to: root.id, kind: 'suggests' });
    for (const unit of closure) {
      if (chosen.has(unit.id)) continue;
      chosen.set(unit.id, { unit, score });
      for (const to of unit.requires) edges.push({ from: unit.id, to, kind: 'requires' });
    }
  }
  return { chosen: [...chosen.values()], edges };
}
