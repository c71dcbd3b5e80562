/** The packer: fits the chosen units into a token budget, in one pass over them, the same way every time. */
import { ComposeError } from '../errors.ts';
import type { Choice } from './choose.ts';
import type { Ranked } from './closure.ts';
import type { SizedVariant, Unit } from './unit.ts';

export interface Packed extends Ranked {
  readonly variant: SizedVariant;
}

export interface Pending {
  readonly unit: string;
  /** The root that would have brought it in; the unit itself where it is one. */
  readonly root: string;
  /** What the root would have added in its smallest form, with all that it needs. */
  readonly tokens: number;
  /** What was left when the root's turn came. */
  readonly leftTokens: number;
}

export interface Packing {
  readonly packed: readonly Packed[];
  readonly pending: readonly Pending[];
  readonly tokens: number;
}

/**
 * Mandatory units first, then roots by score, each with all that it needs and in the smallest form: breadth comes before
 * depth. What is left then buys the more useful forms, best unit first. Throws `compose.surface-too-large` if the mandatory
 * units alone do not fit.
 */
export function pack({ roots, chosen }: Choice, budgetTokens: number | null): Packing {
  const limit = budgetTokens ?? Number.POSITIVE_INFINITY;
  const shown = new Map<string, SizedVariant>();
  let tokens = 0;
  const add = (unit: Unit) => {
    if (shown.has(unit.id)) return;
    const variant = smallestOf(unit);
    shown.set(unit.id, variant);
    tokens += variant.tokens;
  };
  for (const { unit } of chosen) if (unit.mandatory) for (const needed of needsOf(unit, chosen)) add(needed);
  if (tokens > limit) throw tooLarge(shown, tokens, limit);
  const pending = new Map<string, Pending>();
  for (const { unit: root, closure } of roots) {
    let cost = 0;
    for (const unit of closure) if (!shown.has(unit.id)) cost += smallestOf(unit).tokens;
    const fits = tokens + cost <= limit;
    for (const unit of closure) {
      if (fits) add(unit);
      else if (!shown.has(unit.id) && !pending.has(unit.id))
        pending.set(unit.id, { unit: unit.id, root: root.id, tokens: cost, leftTokens: limit - tokens });
    }
  }
  const packed: Packed[] = [];
  for (const { unit, score } of chosen) {
    const smallest = shown.get(unit.id);
    if (smallest === undefined) continue;
    pending.delete(unit.id);
    const free = limit - tokens + smallest.tokens;
    const variant = unit.variants.find((one) => one.tokens <= free) ?? smallest;
    tokens += variant.tokens - smallest.tokens;
    packed.push({ unit, score, variant });
  }
  return { packed, pending: [...pending.values()], tokens };
}

function needsOf(root: Unit, chosen: readonly Ranked[]): ReadonlySet<Unit> {
  const byId = new Map(chosen.map(({ unit }) => [unit.id, unit]));
  const needs = new Set([root]);
  for (const { requires } of needs) {
    for (const id of requires) {
      const needed = byId.get(id);
      if (needed !== undefined) needs.add(needed);
    }
  }
  return needs;
}

function smallestOf({ variants }: Unit): SizedVariant {
  const [only] = variants;
  if (only !== undefined && variants.length === 1) return only;
  // The most useful comes first, so it wins among equals.
  return variants.reduce((least, one) => (one.tokens < least.tokens ? one : least));
}

function tooLarge(shown: ReadonlyMap<string, SizedVariant>, tokens: number, limit: number): ComposeError {
  const units = [...shown].map(([unit, variant]) => ({ unit, tokens: variant.tokens }));
  const listed = units.map((one) => `${one.unit} ${one.tokens}`).join(', ');
  return new ComposeError(
    'compose.surface-too-large',
    `The units that may not be left out need ${tokens} tokens in their smallest forms (${listed}), and the budget is ${limit}.`,
    {
      next: `Raise the budget to at least ${tokens} tokens, or give these units smaller forms.`,
      details: { budgetTokens: limit, tokens, units },
    },
  );
}
