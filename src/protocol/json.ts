/** JSON values, and a reader that keeps every integer digit for digit. */
import { parse as parseLossless, stringify as stringifyLossless } from 'lossless-json';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** JSON in which an integer beyond ±2^53 is a bigint, so that it is never rounded. */
export type ExactJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ExactJson[]
  | { readonly [key: string]: ExactJson };

// Only a text with a run of 16 digits can hold an integer that a double rounds; all others take the fast way.
const longDigits = /\d{16}/;

/**
 * Parses JSON text; an integer written with a fraction of zeros (`12.0`) is an integer too. Throws a SyntaxError for what is
 * not JSON. Of a key given twice the last value counts, as in `JSON.parse`; whoever must refuse that looks at the text.
 */
export function parseExactJson(text: string): ExactJson {
  if (!longDigits.test(text)) return JSON.parse(text) as ExactJson;
  return parseLossless(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue }) as ExactJson;
}

function parseNumber(digits: string): number | bigint {
  const whole = /^(-?\d+)(\.0+)?$/.exec(digits)?.[1];
  const value = Number(digits);
  return whole === undefined || Number.isSafeInteger(value) ? value : BigInt(whole);
}

/** Writes JSON text; a bigint is written as its digits. */
export function exactJsonText(value: ExactJson): string {
  return stringifyLossless(value) ?? 'null';
}

/** True if a bigint stands anywhere in the value. */
export function holdsBigint(value: ExactJson): boolean {
  if (typeof value === 'bigint') return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(holdsBigint);
}

/** True for an object that is neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
