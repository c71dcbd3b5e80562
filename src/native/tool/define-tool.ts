/** `defineTool`: turns what an author writes into a Tool, and refuses a definition that would mislead a model or the record. */
import { messageOf } from '../../errors.ts';
import type { Access, NonDispatch, Repeat } from '../../protocol/effect.ts';
import { type ExactJson, isRecord, type Json } from '../../protocol/json.ts';
import { jsonSchemaCheck, type StandardParameters, standardCheck } from './argument-check.ts';
import { closedJson } from './closed-json.ts';
import { ToolError } from './errors.ts';
import { short } from './short.ts';
import type { ArgumentCheck, Tool, ToolContext, ToolFinding, ToolLimits, ToolOutput } from './tool.ts';

/** A JSON Schema of type object, read as draft 2020-12. */
export type JsonParameters = { readonly [key: string]: Json };

/** Arguments of a tool whose parameters are a JSON Schema and whose author named no type. */
export type JsonArguments = { readonly [key: string]: ExactJson };

interface Definition<Args> {
  /** 1 to 64 of `A-Z a-z 0-9 _ -`. */
  readonly name: string;
  /** What the model chooses by: what the tool does, what it returns, when to use it. */
  readonly description: string;
  /** The capability that a run must hold. */
  readonly capability: string;
  /** True where equal arguments in one run are meant to act again. */
  readonly repeatable?: boolean;
  /** Defaults: 10 seconds, 64 KiB. */
  readonly limits?: Partial<ToolLimits>;
  /** True where others write what it returns, as on a page or in a mail: the model then reads that between marks, as data. */
  readonly untrusted?: boolean;
  /** How the model can look at what happened after an unknown outcome, in one sentence. */
  readonly look?: string;
  /**
   * True if `execute` takes a bigint for an integer beyond ±2^53. Otherwise such a number is sent back to the model:
   * it is never rounded. A JSON Schema says `integer`; Zod says `z.union([z.int(), z.bigint()])`.
   */
  readonly exactIntegers?: boolean;
  /** What is held while an effect of this tool is unknown; the tool's name unless this says otherwise. */
  effectKey?(args: Args): string;
  /**
   * Runs one call. Returns any JSON value (`undefined` counts as null), `failed(…)`, or `notDispatched(…)`.
   * A thrown error is a failure of a read and an unknown outcome of a write.
   */
  execute(args: Args, context: ToolContext): unknown;
  /**
   * Looks what became of an earlier attempt of this call whose outcome is unknown, and changes nothing outside. Returns
   * what `execute` would have returned where the call was carried out, `failed(…)` where it was and failed,
   * `notDispatched(…)` where it surely never arrived and never will, and `stillUnknown(…)` or undefined otherwise. For writes.
   */
  reconcile?(args: Args, context: ToolContext): unknown;
  /** Told of each run in which the tool may be called, before its first call there; a resumed run is one too. */
  attend?(run: string): void;
  /**
   * Ends what a run left at work, once the run's own work is over and before its end is recorded. Returns a sentence for
   * each thing that is not proven gone; nothing for none.
   */
  settle?(run: string): readonly string[] | undefined | Promise<readonly string[] | undefined>;
  /** Frees what the tool holds; called once. */
  close?(): void | Promise<void>;
}

/** A read says nothing about repeating: it is always safe. A write must say it. */
type Effects =
  | { readonly access: 'read'; readonly repeat?: 'safe' }
  | { readonly access: 'write'; readonly repeat: Repeat };

export type ToolDefinition<Args> = Definition<Args> & Effects;

const fields = new Set([
  'name',
  'description',
  'parameters',
  'capability',
  'access',
  'repeat',
  'repeatable',
  'limits',
  'look',
  'untrusted',
  'exactIntegers',
  'effectKey',
  'execute',
  'reconcile',
  'attend',
  'settle',
  'close',
]);
const defaultLimits: ToolLimits = { timeoutMs: 10_000, outputBytesMax: 64 * 1024 };
// Below this the closing line of a cut result would leave no room for the result.
const outputBytesMin = 512;
// Symbol.for, so that a tool file which resolved another copy of this module still speaks the same language.
const ending = Symbol.for('writ.tool-ending');

/** The end of a call that did not succeed. Made by `failed` and `notDispatched` only; JSON cannot imitate it. */
export interface ToolEnding {
  readonly [ending]: Exclude<ToolFinding, { readonly status: 'succeeded' }>;
}

/** Return this when the call failed and nothing is left in doubt. The model reads `failed(code): message`. */
export function failed(code: string, message: string): ToolEnding {
  return { [ending]: { status: 'failed', code: words(code), message: words(message) } };
}

/**
 * Return this only if the outside call was never begun: it is the proof that licenses another attempt. A timeout, a
 * closed connection or an error answer proves nothing; for those, throw. With `park` the run pauses until a person has
 * made what is missing available and resumes it: for a tool that has already tried as often as it may.
 */
export function notDispatched(
  reason: NonDispatch['reason'],
  message: string,
  { park = false }: { readonly park?: boolean } = {},
): ToolEnding {
  const nonDispatch = { proof: 'not-dispatched', reason, message: words(message) } as const;
  return { [ending]: { status: 'not-dispatched', nonDispatch, ...(park ? { park } : {}) } };
}

/** Return this from `reconcile` where looking did not tell what became of the call. */
export function stillUnknown(message: string): ToolEnding {
  return { [ending]: { status: 'unknown', message: words(message) } };
}

// A `tools/*.mjs` file may hand over whatever it caught. The call has ended by then, and its end must be told.
function words(text: unknown): string {
  return typeof text === 'string' ? text : messageOf(text);
}

/**
 * Makes a Tool. `parameters` is a Zod object (any Standard Schema that can also say its JSON Schema), from which the
 * type of `args` follows, or a JSON Schema of type object. Throws a ToolError for a definition that cannot be right.
 */
export function defineTool<Args>(
  definition: ToolDefinition<Args> & { readonly parameters: StandardParameters<Args> },
): Tool;
export function defineTool<Args = JsonArguments>(
  definition: ToolDefinition<Args> & { readonly parameters: JsonParameters },
): Tool;
export function defineTool<Args>(
  definition: ToolDefinition<Args> & { readonly parameters: StandardParameters<Args> | JsonParameters },
): Tool {
  checkDefinition(definition);
  const { name, access } = definition;
  const exact = definition.exactIntegers ?? false;
  const { parameters, check } = isStandard(definition.parameters)
    ? standardCheck(name, definition.parameters, exact)
    : jsonSchemaCheck(name, definition.parameters, exact);
  let closing: Promise<void> | undefined;
  return {
    schema: { name, description: definition.description, parameters },
    capability: definition.capability,
    access,
    repeat: definition.repeat ?? 'safe',
    repeatable: definition.repeatable ?? false,
    limits: { ...defaultLimits, ...definition.limits },
    ...(definition.untrusted === true ? { untrusted: true } : {}),
    ...(definition.look === undefined ? {} : { look: definition.look }),
    check: (args: ExactJson): ArgumentCheck => check(args),
    // The runtime hands over nothing but values that `check` returned, which are of the author's type.
    effectKey: (value) => effectKeyOf(definition, value as Args),
    execute: async (value, context) =>
      toOutput(await definition.execute(value as Args, context), access, name),
    ...(definition.reconcile === undefined
      ? {}
      : {
          reconcile: async (value: unknown, context: ToolContext) =>
            toFinding(await definition.reconcile?.(value as Args, context), name),
        }),
    ...(definition.settle === undefined
      ? {}
      : { settle: async (run: string) => (await definition.settle?.(run)) ?? [] }),
    ...(definition.attend === undefined ? {} : { attend: (run: string) => definition.attend?.(run) }),
    close: () => {
      closing ??= Promise.resolve(definition.close?.());
      return closing;
    },
  };
}

function isStandard<Args>(
  parameters: StandardParameters<Args> | JsonParameters,
): parameters is StandardParameters<Args> {
  return '~standard' in parameters;
}

// Nothing was sent yet when the key is asked for, so without one the call is not run: it could hold the wrong calls.
function effectKeyOf<Args>({ name, effectKey }: ToolDefinition<Args>, args: Args): string {
  let found: string;
  let cause: unknown;
  try {
    const key: unknown = effectKey === undefined ? name : (effectKey(args) ?? name);
    if (typeof key === 'string') return key;
    found = short(key);
  } catch (thrown) {
    cause = thrown;
    found = `that it threw: ${short(messageOf(thrown))}`;
  }
  throw new ToolError('tool.bad-definition', `${name}: expected a text from effectKey, found ${found}.`, {
    next: 'Correct effectKey in the definition of the tool.',
    ...(cause === undefined ? {} : { cause }),
  });
}

function toOutput(returned: unknown, access: Access, name: string): ToolOutput {
  const ended = endingOf(returned);
  // Thrown, as it leaves open what an outcome that nobody knows leaves open.
  if (ended?.status === 'unknown') throw new Error(ended.message);
  if (ended !== undefined) return ended;
  const closed = closedJson(returned);
  if (closed.ok) return { status: 'succeeded', value: closed.value };
  const message = `${name} returned a result that has no JSON form: ${closed.problem}.`;
  // A write has acted by now; to call it failed would invite the model to act again.
  if (access === 'write')
    return { status: 'succeeded', value: `The call was carried out, but ${message} Do not repeat it.` };
  return { status: 'failed', code: 'tool.result-not-json', message };
}

// Nothing is not null here: a hook that forgets to answer must not settle anything.
function toFinding(returned: unknown, name: string): ToolFinding {
  if (returned === undefined) return { status: 'unknown', message: 'Looking brought no answer.' };
  return endingOf(returned) ?? toOutput(returned, 'write', name);
}

function endingOf(returned: unknown): ToolEnding[typeof ending] | undefined {
  try {
    const ended = typeof returned === 'object' && returned !== null && ending in returned;
    return ended ? (returned as ToolEnding)[ending] : undefined;
  } catch {
    // A proxy that refuses to be looked at; `closedJson` says so.
    return undefined;
  }
}

// Typed authors cannot get most of this wrong; a `tools/*.mjs` file can.
function checkDefinition(definition: object): void {
  const it: Readonly<Record<string, unknown>> = { ...definition };
  checkWords(it);
  checkEffects(it);
  if (!isRecord(it.parameters) && typeof it.parameters !== 'function')
    throw new ToolError(
      'tool.bad-schema',
      `${it.name}: expected parameters as a Zod object or a JSON Schema of type object, found ${short(it.parameters)}.`,
      { next: 'Give parameters, {"type":"object"} for a tool that takes none.' },
    );
  checkLimits(it.name, it.limits);
  const hooks = { effectKey: 'function?', reconcile: 'function?', attend: 'function?', close: 'function?' };
  const kinds = { execute: 'function', ...hooks, look: 'string?' };
  const flags = { repeatable: 'boolean?', exactIntegers: 'boolean?', untrusted: 'boolean?' };
  for (const [field, kind] of Object.entries({ ...kinds, ...flags })) {
    const missingIsFine = kind.endsWith('?') && it[field] === undefined;
    if (!missingIsFine && typeof it[field] !== kind.replace('?', ''))
      fault(it.name, field, `a ${kind.replace('?', '')}`, it[field]);
  }
  const unknown = Object.keys(it).find((field) => !fields.has(field));
  if (unknown !== undefined)
    throw new ToolError('tool.bad-definition', `${it.name}: expected no field '${unknown}'.`, {
      next: `Use only: ${[...fields].join(', ')}.`,
    });
}

function checkWords(it: Readonly<Record<string, unknown>>): void {
  if (typeof it.name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(it.name))
    throw new ToolError(
      'tool.bad-name',
      `Expected a tool name of 1 to 64 letters, digits, _ or -, found ${short(it.name)}.`,
      { next: 'Choose a name that every provider accepts, such as send_mail.' },
    );
  if (typeof it.description !== 'string' || it.description.trim() === '')
    throw new ToolError(
      'tool.bad-description',
      `${it.name}: expected a description, found ${short(it.description)}.`,
      {
        next: 'Say what the tool does, what it returns and when to use it.',
      },
    );
  if (typeof it.capability !== 'string' || it.capability.trim() === '')
    fault(it.name, 'capability', 'the name of the capability that a run must hold', it.capability);
}

function checkEffects(it: Readonly<Record<string, unknown>>): void {
  const wrong = (expected: string, found: unknown, next: string): never => {
    throw new ToolError('tool.bad-access', `${it.name}: expected ${expected}, found ${short(found)}.`, {
      next,
    });
  };
  if (it.access !== 'read' && it.access !== 'write')
    wrong("access 'read' or 'write'", it.access, "Say 'write' if a call may change anything outside.");
  if (it.access === 'read' && it.repeat !== undefined && it.repeat !== 'safe')
    wrong("repeat 'safe' with access 'read'", it.repeat, "Say access 'write' if a second call does more.");
  if (it.access === 'read' && it.reconcile !== undefined)
    wrong('no reconcile with a read', it.reconcile, 'Leave reconcile out: a read is simply made again.');
  if (it.access === 'write' && it.repeat !== 'safe' && it.repeat !== 'idempotent' && it.repeat !== 'once')
    wrong(
      "repeat 'safe', 'idempotent' or 'once' with access 'write'",
      it.repeat,
      "Say 'once' unless the service ignores a second call.",
    );
}

function checkLimits(name: unknown, limits: unknown): void {
  if (limits === undefined) return;
  if (!isRecord(limits)) fault(name, 'limits', 'an object', limits);
  for (const [field, value] of Object.entries(limits)) {
    const least = field === 'timeoutMs' ? 1 : field === 'outputBytesMax' ? outputBytesMin : undefined;
    if (least === undefined) fault(name, `limits.${field}`, 'only timeoutMs and outputBytesMax', value);
    // A timer of Node turns a longer delay into one millisecond.
    else if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > 2 ** 31 - 1)
      fault(name, `limits.${field}`, `a whole number from ${least} to 2147483647`, value);
  }
}

function fault(name: unknown, field: string, expected: string, found: unknown): never {
  throw new ToolError(
    'tool.bad-definition',
    `${name}: expected ${expected} in ${field}, found ${short(found)}.`,
    {
      next: `Correct ${field} in the definition of the tool.`,
    },
  );
}
