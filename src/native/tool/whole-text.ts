/** JSON values of which a text holds half a surrogate pair, for which no bytes exist: finding the text, and mending it. */
import { wellFormed } from './result-text.ts';

/** The place of the first such text or key, like `/files/0`; undefined where there is none. */
export function halfCharacterAt(value: unknown, place = ''): string | undefined {
  if (typeof value === 'string') return isWhole(value) ? undefined : place;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const at = isWhole(key) ? halfCharacterAt(item, `${place}/${key}`) : place;
    if (at !== undefined) return at;
  }
  return undefined;
}

/** True for a text without half a surrogate pair. */
export function isWhole(text: string): boolean {
  return wellFormed(text) === text;
}

/** A copy in which each half stands as U+FFFD. */
export function wholeTexts(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wholeTexts);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [wellFormed(key), wholeTexts(item)]));
}
