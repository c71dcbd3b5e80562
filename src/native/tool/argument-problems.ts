/** The sentences a model reads about its arguments: the place, what was expected, what was found, and the nearest mend. */
import type { ErrorObject } from 'ajv';
import { nearest as nearestName } from '../../compose/nearest.ts';
import { isRecord } from '../../protocol/json.ts';
import { short } from './short.ts';

/** One sentence for one finding of ajv, which must run with `verbose`. */
export function problemOf(error: ErrorObject): string {
  const { keyword, params, data, instancePath, schema, parentSchema } = error;
  const place = instancePath === '' ? 'the arguments' : instancePath;
  switch (keyword) {
    case 'required': {
      const field: string = params.missingProperty;
      return `${instancePath}/${field}: expected ${expectedOf(propertyOf(parentSchema, field))}, found nothing. Add it.`;
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const field: string = params.additionalProperty ?? params.unevaluatedProperty;
      const known = isRecord(parentSchema?.properties) ? Object.keys(parentSchema.properties) : [];
      return unknownField(instancePath.split('/').slice(1), field, known);
    }
    case 'type':
      return `${place}: expected ${expectedOf({ ...parentSchema, type: schema })}, found ${short(data)}.${retype(schema, data)}`;
    case 'enum':
    case 'const': {
      const allowed = allowedBy(error);
      const near = nearest(String(data), allowed.map(String));
      const mend = near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`;
      return `${place}: expected ${oneOf(allowed)}, found ${short(data)}.${mend}`;
    }
    case 'minLength':
    case 'maxLength':
      return `${place}: expected text of ${bound(keyword, params.limit)} characters, found ${[...String(data)].length}.`;
    case 'minItems':
    case 'maxItems':
      return `${place}: expected ${bound(keyword, params.limit)} items, found ${Array.isArray(data) ? data.length : short(data)}.`;
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum': {
      const nearestAllowed = keyword.startsWith('exclusive') ? '' : ` The nearest is ${params.limit}.`;
      return `${place}: expected a number ${params.comparison} ${params.limit}, found ${short(data)}.${nearestAllowed}`;
    }
    case 'pattern':
      return `${place}: expected text that matches ${short(params.pattern)}, found ${short(data)}.`;
    case 'format':
      return `${place}: expected text in the format ${short(params.format)}, found ${short(data)}.`;
    default:
      return `${place}: ${error.message ?? `it breaks the rule ${keyword}`}, found ${short(data)}.`;
  }
}

/**
 * What ajv found at one place, one sentence for each rule: the types and the values of several branches are one choice.
 * Unknown fields are not among it.
 */
export function problemsAt(errors: readonly ErrorObject[], path: readonly PropertyKey[]): string[] {
  const pointer = path.map((key) => `/${escaped(key)}`).join('');
  const here = errors.filter(({ keyword, instancePath, params }) => {
    if (keyword === 'required') return `${instancePath}/${escaped(params.missingProperty)}` === pointer;
    return instancePath === pointer && !['additionalProperties', 'unevaluatedProperties'].includes(keyword);
  });
  const types = here.filter(({ keyword }) => keyword === 'type');
  const values = here.filter(({ keyword }) => keyword === 'const' || keyword === 'enum');
  const rest = here.filter((error) => !types.includes(error) && !values.includes(error));
  const [type] = types;
  const [value] = values;
  if (type === undefined && value === undefined) return rest.map(problemOf);
  const all = [
    ...(type === undefined ? [] : [{ ...type, schema: [...new Set(types.flatMap(({ schema }) => schema))] }]),
    ...(value === undefined
      ? []
      : [{ ...value, keyword: 'enum', params: { allowedValues: values.flatMap(allowedBy) } }]),
    ...rest.filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'oneOf'),
  ];
  return all.map(problemOf);
}

function allowedBy({ keyword, params }: ErrorObject): unknown[] {
  return keyword === 'enum' ? params.allowedValues : [params.allowedValue];
}

function escaped(key: PropertyKey): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** A field the schema does not know, with the known one that is probably meant. */
export function unknownField(path: readonly PropertyKey[], field: string, known: readonly string[]): string {
  const near = nearest(field, known);
  const mend = near === undefined ? 'Leave it out.' : `Did you mean '${near}'?`;
  const fields = known.length === 0 ? 'no fields' : `only ${known.slice(0, 12).join(', ')}`;
  // The name is the model's own text: cut it like a value.
  const name = field.length > 40 ? `${field.slice(0, 39)}…` : field;
  return `/${[...path.map(String), name].join('/')}: expected ${fields}, found an unknown field. ${mend}`;
}

/** What stands at a path; undefined where nothing does. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}

/** What a schema expects, in few words. */
export function expectedOf(schema: unknown): string {
  if (!isRecord(schema)) return 'a value';
  if (Array.isArray(schema.enum)) return oneOf(schema.enum);
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  return types.length === 0 ? 'a value' : types.map(noun).join(' or ');
}

function noun(type: string): string {
  const nouns: Readonly<Record<string, string>> = {
    string: 'text',
    integer: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    array: 'a list',
    object: 'an object',
    null: 'null',
  };
  return nouns[type] ?? type;
}

// The commonest slip of a model is the right value in the wrong kind of quotes.
function retype(schema: unknown, data: unknown): string {
  const types = [schema].flat();
  if (types.includes('string') && ['number', 'boolean', 'bigint'].includes(typeof data))
    return ` Put it in quotes: "${short(data)}".`;
  if (typeof data !== 'string' || data.length > 1000) return '';
  const text = data.trim();
  if (
    (types.includes('integer') && /^-?\d+$/.test(text)) ||
    (types.includes('number') && /^-?\d+(\.\d+)?$/.test(text))
  )
    return ` Leave the quotes out: ${short(text).slice(1, -1)}.`;
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return ` Leave the quotes out: ${text}.`;
  if ((types.includes('array') && text.startsWith('[')) || (types.includes('object') && text.startsWith('{')))
    return ' Send the value itself, not its JSON as text.';
  return '';
}

/** How many a rule such as `maxItems` allows. */
export function bound(keyword: string, limit: number): string {
  return keyword.startsWith('min') ? `at least ${limit}` : `at most ${limit}`;
}

function oneOf(allowed: readonly unknown[]): string {
  const listed = allowed.slice(0, 12).map(short).join(', ');
  const more = allowed.length > 12 ? `, … (${allowed.length} in all)` : '';
  return allowed.length === 1 ? listed : `one of ${listed}${more}`;
}

function propertyOf(schema: unknown, field: string): unknown {
  return isRecord(schema) && isRecord(schema.properties) ? schema.properties[field] : undefined;
}

/** The known word within a third of its length in edits, case and punctuation aside; undefined if none is. */
// Names are compared by their letters and digits: a model writes row_limit for rowLimit.
function nearest(word: string, known: readonly string[]): string | undefined {
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  // Bounds the work: the distance of two words costs the product of their lengths.
  if (word.length > 64) return undefined;
  const byLetters = new Map(known.filter((name) => name.length <= 64).map((name) => [bare(name), name]));
  return byLetters.get(nearestName(bare(word), byLetters.keys()) ?? '');
}
