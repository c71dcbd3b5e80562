/** Whether a unit may be chosen at all, and every reason why not: negative evidence first, then what stands outside the task. */
import type { Catalogue } from './catalogue.ts';
import { negatedIn } from './negation.ts';
import type { CheckedRequest } from './request.ts';
import { matcher } from './scope.ts';
import type { Word } from './words.ts';

/** Why a unit with evidence, or one that was selected or required, is not active. */
export type Reason =
  | { readonly kind: 'not-registered' }
  | { readonly kind: 'denied' }
  /** The words of the task that say not to use it. */
  | { readonly kind: 'negated'; readonly words: string }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'out-of-scope' }
  | { readonly kind: 'not-capable'; readonly capability: string }
  /** A unit that it needs, perhaps over others, is not to be had. */
  | { readonly kind: 'requirement'; readonly unit: string; readonly reasons: readonly Reason[] }
  /** Two units that it needs, itself counted, exclude each other. */
  | { readonly kind: 'contradiction'; readonly units: readonly [string, string] }
  | { readonly kind: 'superseded'; readonly by: string }
  | { readonly kind: 'conflict'; readonly with: string };

/** Says of a unit, by its number in the catalogue, whether it may be chosen as it stands. */
export interface Judge {
  allows(number: number): boolean;
  /** Every reason against it; none where it is allowed. */
  reasons(number: number): readonly Reason[];
}

export function judgeOf(catalogue: Catalogue, request: CheckedRequest, words: readonly Word[]): Judge {
  const negated = negatedIn(words, catalogue.names);
  const denied = request.denied.length === 0 ? undefined : matcher(request.denied);
  const inScope = request.scope === null ? undefined : matcher(request.scope);
  const held = new Set(request.capabilities);
  const open = (number: number) => {
    const gate = catalogue.gates[number];
    return gate === null || (gate !== undefined && held.has(gate));
  };
  return {
    // Asked of every unit with evidence, tens of thousands at times: the unit itself is looked at last.
    allows: (number) =>
      open(number) &&
      !negated.has(number) &&
      !denied?.(catalogue.at(number)) &&
      (inScope?.(catalogue.at(number)) ?? true),
    reasons: (number) => {
      const unit = catalogue.at(number);
      const said = negated.get(number);
      const reasons: Reason[] = [];
      if (denied?.(unit)) reasons.push({ kind: 'denied' });
      if (said !== undefined) reasons.push({ kind: 'negated', words: said });
      if (!unit.available) reasons.push({ kind: 'unavailable' });
      if (inScope?.(unit) === false) reasons.push({ kind: 'out-of-scope' });
      if (unit.capability !== null && !held.has(unit.capability))
        reasons.push({ kind: 'not-capable', capability: unit.capability });
      return reasons;
    },
  };
}
