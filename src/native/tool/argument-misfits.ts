/** Where arguments do not fit, in the words of the tool's schema alone: nothing that was given is ever in it. */
import type { ErrorObject } from 'ajv';
import { isRecord, type Json } from '../../protocol/json.ts';
import { bound, expectedOf, valueAt } from './argument-problems.ts';
import { short } from './short.ts';
import type { Misfit } from './tool.ts';

type Schema = { readonly [key: string]: Json };
type Issue = { readonly path: readonly PropertyKey[]; readonly unknown: number };

/** What ajv found, which must run with `verbose`. */
export function misfitsOf(errors: readonly ErrorObject[], schema: Schema): readonly Misfit[] {
  // An object with three unknown fields is three findings of one kind.
  const unknown = new Map<string, number>();
  const found = errors.flatMap((error): Misfit[] => {
    const path = error.instancePath.split('/').slice(1).map(unescaped);
    if (error.keyword === 'required')
      return [missingAt([...path, String(error.params.missingProperty)], schema)];
    if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') {
      const place = placeOf(path, schema).text;
      unknown.set(place, (unknown.get(place) ?? 0) + 1);
      return [];
    }
    // What a branch of several lacks says nothing of the branch that was meant; that none fits is a finding of its own.
    return [wrongAt(path, schema, ruleOf(error))];
  });
  return distinct([
    ...found,
    ...[...unknown].map(([place, count]) => ({ kind: 'unexpected' as const, place, count })),
  ]);
}

/** Integers that would be rounded. */
export function misfitsOfIntegers(paths: readonly (readonly string[])[], schema: Schema): readonly Misfit[] {
  return paths.map((path) => wrongAt(path, schema, 'an integer within ±2^53'));
}

/** What a Standard Schema found: for each issue its path, and how many fields it counts as unknown. */
export function misfitsOfIssues(issues: readonly Issue[], args: unknown, schema: Schema): readonly Misfit[] {
  return distinct(
    issues.map(({ path, unknown }): Misfit => {
      if (unknown > 0) return { kind: 'unexpected', place: placeOf(path, schema).text, count: unknown };
      return valueAt(args, path) === undefined ? missingAt(path, schema) : wrongAt(path, schema);
    }),
  );
}

function missingAt(path: readonly PropertyKey[], schema: Schema): Misfit {
  const { text, schema: at } = placeOf(path, schema);
  return { kind: 'missing', place: text, expected: expectedOf(at) };
}

function wrongAt(path: readonly PropertyKey[], schema: Schema, rule?: string): Misfit {
  const { text, schema: at } = placeOf(path, schema);
  return { kind: 'wrong', place: text, expected: rule ?? expectedOf(at) };
}

/** The rule that is broken; undefined where the type says it. */
function ruleOf({ keyword, params }: ErrorObject): string | undefined {
  switch (keyword) {
    case 'minLength':
    case 'maxLength':
      return `text of ${bound(keyword, params.limit)} characters`;
    case 'minItems':
    case 'maxItems':
      return `${bound(keyword, params.limit)} items`;
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `a number ${params.comparison} ${params.limit}`;
    case 'pattern':
      return `text that matches ${short(params.pattern)}`;
    case 'format':
      return `text in the format ${short(params.format)}`;
    case 'const':
      return short(params.allowedValue);
    default:
      return undefined;
  }
}

function distinct(misfits: readonly Misfit[]): readonly Misfit[] {
  return [...new Map(misfits.map((misfit) => [JSON.stringify(misfit), misfit])).values()];
}

/** A path in the schema's own names. A name that only the arguments have, as in an object of any fields, is `*`. */
function placeOf(
  path: readonly PropertyKey[],
  root: Schema,
): { readonly text: string; readonly schema: unknown } {
  let at: readonly unknown[] = branches(root, root);
  let text = '';
  for (const key of path) {
    const named = at.flatMap((one) =>
      isRecord(one) && isRecord(one.properties) ? own(one.properties, key) : [],
    );
    const items = /^\d+$/.test(String(key)) ? at.flatMap((one) => itemAt(one, Number(key))) : [];
    text += `/${named.length > 0 || items.length > 0 ? String(key) : '*'}`;
    at = [...named, ...items].flatMap((one) => branches(one, root));
  }
  return { text, schema: at.find((one) => isRecord(one) && ('type' in one || 'enum' in one)) };
}

function own(properties: object, key: PropertyKey): unknown[] {
  return Object.hasOwn(properties, key) ? [Reflect.get(properties, key)] : [];
}

function itemAt(schema: unknown, index: number): unknown[] {
  if (!isRecord(schema)) return [];
  const fixed = Array.isArray(schema.prefixItems) ? schema.prefixItems[index] : undefined;
  return [fixed ?? schema.items].filter((one) => isRecord(one));
}

/** The schema with all that it is made of, each part once, so that references may go round. */
function branches(schema: unknown, root: Schema, seen = new Set<unknown>()): unknown[] {
  if (!isRecord(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const referred = typeof schema.$ref === 'string' ? valueAt(root, refPath(schema.$ref)) : undefined;
  const more = [referred, ...['allOf', 'anyOf', 'oneOf'].flatMap((key) => schema[key] ?? [])];
  return [schema, ...more.flatMap((one) => branches(one, root, seen))];
}

function refPath(ref: string): string[] {
  return ref.startsWith('#/') ? ref.slice(2).split('/').map(unescaped) : ref === '#' ? [] : ['', ref];
}

function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
