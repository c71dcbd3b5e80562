/** The two ways to check arguments, by JSON Schema and by Standard Schema, each answering in sentences for a model. */
import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
import { messageOf } from '../../errors.ts';
import type { ExactJson, Json } from '../../protocol/json.ts';
import { isRecord } from '../../protocol/json.ts';
import { misfitsOf, misfitsOfIntegers, misfitsOfIssues } from './argument-misfits.ts';
import { problemOf, problemsAt, unknownField, valueAt } from './argument-problems.ts';
import { ToolError } from './errors.ts';
import { isPlainSchema } from './plain-schema.ts';
import { short } from './short.ts';
import type { ArgumentCheck, Misfit } from './tool.ts';

/** What `defineTool` needs of a Standard Schema (https://standardschema.dev): its check and its JSON Schema. */
export interface StandardParameters<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema: {
      readonly input: (options: {
        readonly target: 'draft-2020-12';
        readonly libraryOptions?: Record<string, unknown>;
      }) => Record<string, unknown>;
    };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

export interface Checker {
  /** The JSON Schema that the model is shown. */
  readonly parameters: { readonly [key: string]: Json };
  check(args: ExactJson): ArgumentCheck;
}

const problemsMax = 8;
const require = createRequire(import.meta.url);

/**
 * Checks by ajv, compiled once. ajv is loaded by `require` and only when needed: it costs 40 ms that a command without
 * tool calls should not pay, and `check` is synchronous. So a schema that is sure to compile waits for its first check;
 * any other is compiled here, and throws `tool.bad-schema` where it cannot be.
 */
export function jsonSchemaCheck(name: string, schema: object, exactIntegers: boolean): Checker {
  const parameters = modelSchema(name, schema);
  let validate = isPlainSchema(parameters) ? undefined : compile(name, parameters);
  return {
    parameters,
    check(args) {
      const rounded = exactIntegers ? [] : beyondExact(args);
      if (rounded.length > 0) return refuseIntegers(rounded, parameters);
      validate ??= compile(name, parameters);
      // ajv knows no bigint. It judges a stand-in; the tool gets the exact one.
      if (validate(exactIntegers ? standIn(args) : args)) return { ok: true, value: args };
      const errors = validate.errors ?? [];
      return refuse(errors.map(problemOf), misfitsOf(errors, parameters));
    },
  };
}

/**
 * Checks by the schema itself, so that its transforms and refinements hold. What its JSON Schema finds as well is said in
 * our words; what its author wrote stays. A check that throws refuses the call; one that must wait throws
 * `tool.async-check`.
 */
export function standardCheck<Output>(
  name: string,
  schema: StandardParameters<Output>,
  exactIntegers: boolean,
): Checker {
  const parameters = modelSchema(name, standardJsonSchema(name, schema['~standard'], exactIntegers));
  return {
    parameters,
    check(args) {
      const rounded = exactIntegers ? [] : beyondExact(args);
      if (rounded.length > 0) return refuseIntegers(rounded, parameters);
      try {
        const result = validateNow(name, schema, args);
        if (result.issues === undefined) return { ok: true, value: result.value };
        const { issues } = result;
        const misfits = misfitsOfIssues(
          issues.map((issue) => ({ path: pathOf(issue), unknown: unknownIn(issue).length })),
          args,
          parameters,
        );
        const found = errorsOf(name, parameters, exactIntegers ? standIn(args) : args);
        return refuse(
          issues.flatMap((issue) => issueProblems(issue, args, parameters, found)),
          misfits,
        );
      } catch (thrown) {
        if (thrown instanceof ToolError) throw thrown;
        return refuse([
          `the arguments: expected ones that the tool can check, found that it broke off: ${short(messageOf(thrown))}.`,
        ]);
      }
    },
  };
}

// A schema that ajv cannot compile only costs its words: whether arguments fit is decided already.
function errorsOf(name: string, parameters: object, args: unknown): readonly ErrorObject[] {
  try {
    const validate = compile(name, parameters);
    return validate(args) ? [] : (validate.errors ?? []);
  } catch {
    return [];
  }
}

function validateNow<Output>(
  name: string,
  schema: StandardParameters<Output>,
  args: ExactJson,
): StandardResult<Output> {
  const result = schema['~standard'].validate(args);
  if (!('then' in result)) return result;
  result.then(undefined, () => {});
  // Zod answers with a promise where a check threw as well; asked without one, it throws what the check threw.
  if ('safeParse' in schema && typeof schema.safeParse === 'function') {
    try {
      schema.safeParse(args);
    } catch (thrown) {
      if (!(thrown instanceof Error && thrown.constructor.name === '$ZodAsyncError')) throw thrown;
    }
  }
  throw new ToolError('tool.async-check', `${name}: expected a check that answers at once.`, {
    next: 'Move what must wait from the schema into execute.',
  });
}

function standardJsonSchema(
  name: string,
  standard: StandardParameters['~standard'],
  exactIntegers: boolean,
): Record<string, unknown> {
  // JSON Schema's `integer` has no largest value, so it does describe a bigint, but Zod wants to be told.
  const override = ({ zodSchema, jsonSchema }: ZodOverride) => {
    if (zodSchema._zod.def.type === 'bigint') jsonSchema.type = 'integer';
  };
  const libraryOptions =
    exactIntegers && standard.vendor === 'zod' ? { unrepresentable: 'any', override } : undefined;
  try {
    return standard.jsonSchema.input({
      target: 'draft-2020-12',
      ...(libraryOptions === undefined ? {} : { libraryOptions }),
    });
  } catch (cause) {
    throw new ToolError('tool.bad-schema', `${name}: expected parameters that JSON Schema can describe.`, {
      next: 'Use a Standard Schema with a JSON Schema part, and only types that JSON has.',
      cause,
    });
  }
}

interface ZodOverride {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string } } };
  readonly jsonSchema: Record<string, unknown>;
}

/** A copy that nobody can change later, without `$schema`, which tells a model nothing and misleads ajv. */
function modelSchema(name: string, schema: object): { readonly [key: string]: Json } {
  const { $schema: _, ...copy } = plainCopy(name, schema);
  if (copy.type !== 'object' || !isRecord(copy.properties ?? {}))
    throw new ToolError(
      'tool.bad-schema',
      `${name}: expected parameters of type "object", found ${short(copy.type)}.`,
      { next: 'Make the arguments the named fields of one object; providers accept nothing else.' },
    );
  return copy;
}

function plainCopy(name: string, schema: object): { readonly [key: string]: Json } {
  try {
    return JSON.parse(JSON.stringify(schema));
  } catch (cause) {
    throw new ToolError('tool.bad-schema', `${name}: expected parameters that can be written as JSON.`, {
      next: 'Use only JSON values, and $ref instead of a cycle.',
      cause,
    });
  }
}

let loaded: Ajv | undefined;

function compile(name: string, schema: object): ValidateFunction {
  loaded ??= loadAjv();
  try {
    return loaded.compile(schema);
  } catch (cause) {
    throw new ToolError('tool.bad-schema', `${name}: expected a JSON Schema that can be compiled.`, {
      next: 'Correct the parameters; the cause names the place.',
      cause,
    });
  }
}

// One for all tools, since making one costs more than compiling a schema. Not strict: schemas of other programs hold
// keywords of their own, which are no fault of the call. Nothing is registered, so that two may bear the same `$id`.
function loadAjv(): Ajv {
  const { Ajv2020 }: typeof import('ajv/dist/2020.js') = require('ajv/dist/2020.js');
  const formats: typeof import('ajv-formats') = require('ajv-formats');
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: false,
    logger: false,
    addUsedSchema: false,
  });
  formats.default(ajv);
  return ajv;
}

// How the libraries begin where the author of the schema wrote no sentence.
const libraryWords = /^(Invalid|Too (small|big)|Expected)\b/;

function issueProblems(
  issue: StandardIssue,
  args: ExactJson,
  schema: { readonly [key: string]: Json },
  found: readonly ErrorObject[],
): string[] {
  const path = pathOf(issue);
  const unknown = unknownIn(issue);
  if (unknown.length > 0)
    return unknown.map((key) => unknownField(path, String(key), propertiesAt(schema, path)));
  const said = libraryWords.test(issue.message) ? problemsAt(found, path) : [];
  if (said.length > 0) return said;
  const place = path.length === 0 ? 'the arguments' : `/${path.map(String).join('/')}`;
  const message = issue.message.replace(/[.\s]+$/, '');
  return [`${place}: ${message} (found ${short(valueAt(args, path))}).`];
}

function pathOf({ path = [] }: StandardIssue): readonly PropertyKey[] {
  return path.map((part) => (typeof part === 'object' && part !== null ? part.key : part));
}

// Zod names all unknown fields of one object in one issue; a model mends one at a time.
function unknownIn(issue: StandardIssue): readonly unknown[] {
  return 'keys' in issue && Array.isArray(issue.keys) ? issue.keys : [];
}

function propertiesAt(schema: Json | undefined, path: readonly PropertyKey[]): string[] {
  let at: unknown = schema;
  for (const key of path) {
    if (!isRecord(at)) return [];
    at =
      typeof key === 'number' ? at.items : isRecord(at.properties) ? at.properties[String(key)] : undefined;
  }
  return isRecord(at) && isRecord(at.properties) ? Object.keys(at.properties) : [];
}

function refuse(problems: readonly string[], misfits: readonly Misfit[] = []): ArgumentCheck {
  const distinct = [...new Set(problems)];
  const more = distinct.length - problemsMax;
  return {
    ok: false,
    problems: more > 0 ? [...distinct.slice(0, problemsMax), `There are ${more} more problems.`] : distinct,
    misfits,
  };
}

interface Rounded {
  readonly path: readonly string[];
  readonly value: bigint;
}

function beyondExact(value: ExactJson, path: readonly string[] = []): Rounded[] {
  if (typeof value === 'bigint') return [{ path, value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => beyondExact(item, [...path, key]));
}

function refuseIntegers(
  rounded: readonly Rounded[],
  schema: { readonly [key: string]: Json },
): ArgumentCheck {
  const problems = rounded.map(({ path, value }) => {
    const place = path.length === 0 ? 'the arguments' : `/${path.join('/')}`;
    return `${place}: expected an integer within ±2^53, found ${short(value)}, which would be rounded. Send it as text if the field takes text: "${short(value)}".`;
  });
  return refuse(
    problems,
    misfitsOfIntegers(
      rounded.map(({ path }) => path),
      schema,
    ),
  );
}

function standIn(value: ExactJson): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(standIn);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, standIn(item)]));
}
