/** How often each conditional fragment was really kept, left out, or undecided, counted over recorded compositions. */
import type { Composition } from '../../protocol/composition.ts';

export interface FireRate {
  readonly fragment: string;
  readonly profile: string;
  readonly when: string;
  /** In the text; those that an unknown fact kept included. */
  readonly kept: number;
  readonly left: number;
  /** Of both: how often the condition was unknown. */
  readonly unknown: number;
}

/** One entry per profile, fragment and condition: a condition that was rewritten begins to count anew. */
export function fireRates(compositions: Iterable<Composition>): FireRate[] {
  const rates = new Map<string, FireRate>();
  for (const { profile, decisions } of compositions) {
    for (const { fragment, included, value, when } of decisions) {
      if (when === null) continue;
      const key = JSON.stringify([profile, fragment, when]);
      const before = rates.get(key) ?? { fragment, profile, when, kept: 0, left: 0, unknown: 0 };
      rates.set(key, {
        ...before,
        kept: before.kept + (included ? 1 : 0),
        left: before.left + (included ? 0 : 1),
        unknown: before.unknown + (value === 'unknown' ? 1 : 0),
      });
    }
  }
  return [...rates.values()];
}

/** A pack whose condition never left it out did nothing; one that it always left out is never read. */
export function fireRateNote({ kept, left, unknown }: FireRate): string | null {
  if (kept === 0) return 'never in';
  if (left > 0) return null;
  return unknown === kept
    ? 'never fired: its condition was unknown every time'
    : 'never fired: it was never left out';
}
