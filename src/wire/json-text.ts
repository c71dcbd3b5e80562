/** JSON text as servers accept it: always valid UTF-8, and no parameter that would write over the wire's own. */
import { isRecord, type Json } from '../protocol/json.ts';
import { WireError } from './errors.ts';

// JSON.stringify writes half of a surrogate pair as an escape and everything else raw, so the escapes are exactly the
// lone halves. Servers refuse them as invalid UTF-8; a backslash pair before `u` is text and is stepped over.
const escapes = /\\(?:ud[89a-f][0-9a-f]{2}|[\s\S])/g;

/** Writes a value; half a surrogate pair becomes U+FFFD. */
export function jsonText(value: Json): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return text.replace(escapes, (found) => (found.length > 2 ? '\ufffd' : found));
}

/** The parameters as fields of a body. Throws `wire.bad-parameter` for a name in `written`, which the wire writes itself. */
export function parameterFields(
  parameters: { readonly [name: string]: unknown },
  written: ReadonlySet<string>,
): string[] {
  return Object.entries(parameters).map(
    ([name, value]) => `${jsonText(name)}:${parameterText(name, value, written)}`,
  );
}

function parameterText(name: string, value: unknown, written: ReadonlySet<string>): string {
  if (written.has(name)) {
    throw new WireError(
      'wire.bad-parameter',
      `Expected a parameter that the wire does not write itself; found '${name}'.`,
      { next: `Remove '${name}' from the model parameters.`, details: { parameter: name } },
    );
  }
  if (isJson(value)) return jsonText(value);
  throw new WireError(
    'wire.bad-parameter',
    `Expected a JSON value for the parameter '${name}'; found ${String(value)}.`,
    { next: `Give '${name}' a JSON value or remove it.`, details: { parameter: name } },
  );
}

function isJson(value: unknown): value is Json {
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  if (isRecord(value)) return Object.values(value).every(isJson);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}
