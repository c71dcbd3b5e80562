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

// Only a text with a run of 16 digits or an exponent can hold an integer that a double rounds, or a number beyond its
// range; all others take the fast way.
const needsExact = /\d{16}|\d[eE][-+]?\d/;

/**
 * Parses JSON text. An integer is one however it is written (`12.0`, `1.2e1`); one that a double would change is a
 * bigint. Throws a SyntaxError for what is not JSON, and for a number beyond the range of a double, which would be
 * infinite. Of a key given twice the last value counts, as in `JSON.parse`; whoever must refuse that looks at the text.
 */
export function parseExactJson(text: string): ExactJson {
  if (!needsExact.test(text)) return JSON.parse(text) as ExactJson;
  return parseLossless(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue }) as ExactJson;
}

function parseNumber(written: string): number | bigint {
  const value = Number(written);
  if (!Number.isFinite(value))
    throw new SyntaxError(`the number ${written.slice(0, 40)}, which is beyond all that can be kept`);
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  const { whole, exponent } = integerOf(written);
  if (whole === undefined) return value;
  // In digits it is meant as exact. With an exponent it is a measure, which a double keeps if it reads back the same.
  return exponent && significantDigits(String(value)) === significantDigits(written) ? value : whole;
}

/** The integer that a finite number of at least 2^53 stands for; undefined for one with a fraction. */
function integerOf(written: string): { readonly whole: bigint | undefined; readonly exponent: boolean } {
  const [, sign = '', before = '', after = '', power] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(written) ?? [];
  const exponent = power !== undefined;
  const digits = before + after;
  const shift = Number(power ?? 0) - after.length;
  const fraction = shift < 0 ? digits.slice(shift) : '';
  if (/[1-9]/.test(fraction)) return { whole: undefined, exponent };
  const size = shift < 0 ? digits.slice(0, shift) : digits + '0'.repeat(shift);
  return { whole: BigInt(sign + size), exponent };
}

function significantDigits(written: string): string {
  return written
    .replace(/[eE].*/, '')
    .replace(/\D/g, '')
    .replace(/^0+|0+$/g, '');
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
