/** `closedJson`: what an author returned, as plain JSON, or the place where it is none. */
import { messageOf } from '../../errors.ts';
import { type ExactJson, isRecord } from '../../protocol/json.ts';

export type Closed =
  | { readonly ok: true; readonly value: ExactJson }
  | { readonly ok: false; readonly problem: string };

// Every reader of a result recurses; a structure deeper than this is a cycle or an attack, not an answer.
const depthMax = 200;

/**
 * A deep copy as plain JSON: `undefined` is null at the top and in a list and leaves a field out, `toJSON` is followed, bigints
 * stay. Functions, symbols, NaN, infinities, Maps, Sets, class instances, cycles: a problem that names the place.
 * So is whatever throws when it is read. Never throws.
 */
export function closedJson(value: unknown): Closed {
  try {
    return { ok: true, value: value === undefined ? null : close(value, '', 0) };
  } catch (thrown) {
    const problem = messageOf(thrown);
    return { ok: false, problem: thrown instanceof Open ? problem : `reading it threw: ${problem}` };
  }
}

class Open extends Error {}

function close(value: unknown, place: string, depth: number): ExactJson {
  if (depth > depthMax) throw new Open(`it is nested deeper than ${depthMax} levels`);
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new Open(`${place || 'the value'} is ${value}`);
    case 'object':
      return closeObject(value, place, depth);
    default:
      throw new Open(`${place || 'the value'} is ${value === undefined ? 'undefined' : `a ${typeof value}`}`);
  }
}

function closeObject(value: object | null, place: string, depth: number): ExactJson {
  if (value === null) return null;
  if (Array.isArray(value))
    return Array.from(value, (item: unknown, i) => close(item ?? null, `${place}/${i}`, depth + 1));
  if ('toJSON' in value && typeof value.toJSON === 'function') return close(value.toJSON(), place, depth + 1);
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object of another realm has a prototype of its own, but that one has none above it.
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!plain || !isRecord(value))
    throw new Open(`${place || 'the value'} is a ${value.constructor?.name ?? 'class instance'}`);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  // fromEntries defines each key as an own field, `__proto__` included.
  return Object.fromEntries(entries.map(([key, item]) => [key, close(item, `${place}/${key}`, depth + 1)]));
}
