/** Scopes and denials: lists of entries that name units singly or in groups, and the rule that a child's can only narrow. */
import { ComposeError } from '../errors.ts';
import type { Unit } from './unit.ts';

/**
 * What may be found and chosen; null is everything. An entry is an id (`tool:sql_query`), all ids with a beginning
 * (`mcp_tool:github/*`), or `category:NAME`.
 */
export type Scope = readonly string[] | null;

/** Says of a unit whether one of the entries names it. */
export function matcher(entries: readonly string[]): (unit: Unit) => boolean {
  const ids = new Set<string>();
  const beginnings: string[] = [];
  const categories = new Set<string>();
  for (const entry of entries) {
    if (entry.endsWith('*')) beginnings.push(entry.slice(0, -1));
    else if (entry.startsWith('category:')) categories.add(entry.slice('category:'.length));
    else ids.add(entry);
  }
  if (entries.length === 0) return () => false;
  return ({ id, category }) =>
    ids.has(id) ||
    (category !== null && categories.has(category)) ||
    beginnings.some((beginning) => id.startsWith(beginning));
}

/**
 * The scope of a child that asks for `entries` below a parent's scope. Throws `compose.scope-widened` for an entry that no
 * entry of the parent covers: the same one, or a beginning of it.
 */
export function narrowScope(parent: Scope, entries: Scope): Scope {
  if (parent === null) return entries;
  if (entries === null) throw widened('everything', parent);
  for (const entry of entries) {
    if (!parent.some((one) => covers(one, entry))) throw widened(`'${entry}'`, parent);
  }
  return entries;
}

function covers(one: string, entry: string): boolean {
  if (one === entry || one === '*') return true;
  // Which units a category has, only a catalogue knows: no beginning of an id covers it.
  return one.endsWith('*') && !entry.startsWith('category:') && entry.startsWith(one.slice(0, -1));
}

function widened(asked: string, parent: readonly string[]): ComposeError {
  return new ComposeError(
    'compose.scope-widened',
    `A child asked to find ${asked}, and its parent may find only: ${parent.join(', ') || 'nothing'}.`,
    { next: "Name only units that the parent's scope covers.", details: { parent } },
  );
}
