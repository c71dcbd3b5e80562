/** Records as the stores keep them: JSON text that reads back unchanged, and the digests that a record names. */
import { isRecord } from '../protocol/json.ts';
import { LedgerError } from './errors.ts';

/**
 * The JSON text of a record. Throws `ledger.unserialisable` for what JSON would drop, alter or refuse: undefined in a
 * list, NaN, a bigint, a function, a Map or Date, a cycle. An undefined member is left out, as everywhere in JSON.
 */
export function recordText(record: object): string {
  const fault = faultIn(record, 0);
  if (fault === undefined) return JSON.stringify(record);
  throw new LedgerError(
    'ledger.unserialisable',
    `A record must be closed JSON, but at ${fault.at || '/'} it holds ${fault.what}.`,
    { next: 'Record texts, finite numbers, booleans, null, lists and plain objects only.' },
  );
}

interface Fault {
  readonly at: string;
  readonly what: string;
}

/** A cycle shows as endless depth; nothing honest nests this far. */
export const depthMax = 200;

function faultIn(value: unknown, depth: number): Fault | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { at: '', what: `${value}` };
  if (typeof value !== 'object') return { at: '', what: `a value of type ${typeof value}` };
  if (depth > depthMax) return { at: '', what: `more than ${depthMax} levels, or a cycle` };
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const fault = faultIn(value[i], depth + 1);
      if (fault !== undefined) return { ...fault, at: `/${i}${fault.at}` };
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return { at: '', what: `an object of class ${value.constructor?.name ?? 'unknown'}` };
  }
  if (!isRecord(value)) return undefined;
  for (const key in value) {
    const member = value[key];
    const fault = member === undefined ? undefined : faultIn(member, depth + 1);
    if (fault !== undefined) return { ...fault, at: `/${key}${fault.at}` };
  }
  return undefined;
}

/** Every digest that stands as a whole string in a record's JSON text, each once. */
export function digestsIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const match of text.matchAll(/"([0-9a-f]{64})"/g)) found.add(match[1] ?? '');
  return found;
}
