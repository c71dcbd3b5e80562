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
export function pack(choice: Choice, budgetTokens: number | null): Packing {
  const limit = budgetTokens ?? Number.POSITIVE_INFINITY;
  const least = choice.chosen.reduce((sum, { unit }) => sum + unit.smallest.tokens, 0);
  const { shown, pending, tokens: taken } = least <= limit ? allOf(least) : admit(choice, limit);
  let tokens = taken;
  const packed: Packed[] = [];
  for (const { unit, score } of choice.chosen) {
    if (shown !== 'all' && !shown.has(unit)) continue;
    const variant = unit.variants.length === 1 ? unit.smallest : mostUseful(unit, limit - tokens);
    tokens += variant.tokens - unit.smallest.tokens;
    packed.push({ unit, score, variant });
  }
  return { packed, pending, tokens };
}

/** The most useful form of a unit that stands in its smallest one and may grow by `leftTokens`. */
function mostUseful({ variants, smallest }: Unit, leftTokens: number): SizedVariant {
  return variants.find((one) => one.tokens <= leftTokens + smallest.tokens) ?? smallest;
}

interface Admitted {
  readonly shown: ReadonlySet<Unit> | 'all';
  readonly pending: readonly Pending[];
  /** Of what is shown in its smallest forms. */
  readonly tokens: number;
}

// By far the commonest case, and nothing in it has to be weighed.
function allOf(tokens: number): Admitted {
  return { shown: 'all', pending: [], tokens };
}

function admit({ roots, chosen }: Choice, limit: number): Admitted {
  const shown = new Set<Unit>();
  let tokens = 0;
  const add = (unit: Unit) => {
    if (shown.has(unit)) return;
    shown.add(unit);
    tokens += unit.smallest.tokens;
  };
  for (const { unit } of chosen) if (unit.mandatory) for (const needed of needsOf(unit, chosen)) add(needed);
  if (tokens > limit) throw tooLarge(shown, tokens, limit);
  const pending = new Map<Unit, Pending>();
  for (const { unit: root, closure } of roots) {
    let cost = 0;
    for (const unit of closure) if (!shown.has(unit)) cost += unit.smallest.tokens;
    const fits = tokens + cost <= limit;
    for (const unit of closure) {
      if (fits) add(unit);
      else if (!shown.has(unit) && !pending.has(unit))
        pending.set(unit, { unit: unit.id, root: root.id, tokens: cost, leftTokens: limit - tokens });
    }
  }
  return { shown, pending: [...pending].flatMap(([unit, one]) => (shown.has(unit) ? [] : [one])), tokens };
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

function tooLarge(shown: ReadonlySet<Unit>, tokens: number, limit: number): ComposeError {
  const units = [...shown].map(({ id, smallest }) => ({ unit: id, tokens: smallest.tokens }));
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
