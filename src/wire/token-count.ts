/** A count of tokens as a provider reports it, as far as it can be believed. */

/** Null for what is missing, negative or not whole. */
export function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Null where one of the two is. */
export function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}
