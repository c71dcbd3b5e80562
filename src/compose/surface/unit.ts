/** Units of the visible surface: what a catalogue holds of a skill, tool, prompt or resource, checked and within limits. */
import { sha256 } from '../../digest.ts';
import { isRecord, type Json } from '../../protocol/json.ts';
import type { ToolSchema } from '../../protocol/messages.ts';
import { ComposeError } from '../errors.ts';
import { sizesOf } from '../layers.ts';
import { namingMend } from '../nearest.ts';
import { wordsOf } from './words.ts';

/** Fragments are no units: conditions alone choose them. */
export const unitKinds = ['skill', 'tool', 'mcp_tool', 'mcp_prompt', 'resource'] as const;
export type UnitKind = (typeof unitKinds)[number];

/**
 * `phrase`: these words one after the other in the task. `keyword`: this word as written. `verb`, `object`: any form of this
 * word. `need`, `signal`: given with the request. Weights of all that match add up.
 */
export const triggerKinds = ['phrase', 'keyword', 'verb', 'object', 'need', 'signal'] as const;
export type TriggerKind = (typeof triggerKinds)[number];

export interface Trigger {
  readonly kind: TriggerKind;
  readonly text: string;
  /** 0 to 100,000. */
  readonly weight: number;
}

/** One form in which a unit can be shown; the packer takes the most useful one that fits. */
export interface Variant {
  readonly kind: string;
  readonly text: string;
  /** 0 to 1,000,000. */
  readonly utility: number;
}

export interface SizedVariant extends Variant {
  readonly bytes: number;
  /** By the composition's `tokenMethod`. */
  readonly tokens: number;
}

/** What is registered. Units name each other by id: `tool:sql_query`, `mcp_tool:github/create_issue`. */
export interface UnitDefinition {
  readonly kind: UnitKind;
  readonly name: string;
  /** The MCP server; for the MCP kinds, and only for them. */
  readonly server?: string;
  /** What it is ranked by, with name, aliases, category and server; at most 2,048 characters. */
  readonly description: string;
  readonly category?: string;
  readonly aliases?: readonly string[];
  readonly triggers?: readonly Trigger[];
  /** Units without which this one is never active, theirs included. */
  readonly requires?: readonly string[];
  /** Units that join this one if they can. */
  readonly suggests?: readonly string[];
  readonly conflicts?: readonly string[];
  /** Units that this one replaces where both are chosen. */
  readonly supersedes?: readonly string[];
  /** What the request must hold for this unit to be active. */
  readonly capability?: string;
  /** False for what is known and cannot be used now. */
  readonly available?: boolean;
  /** Added to any score above zero; 100 by default. */
  readonly priority?: number;
  /** Once chosen it must fit: if it does not, compiling fails instead of leaving it out. */
  readonly mandatory?: boolean;
  /** What the model is told of a tool; for the tool kinds, and only for them. */
  readonly schema?: ToolSchema;
  /** For the other kinds; without any, the line `name: description` is shown. */
  readonly variants?: readonly Variant[];
  /** Where it comes from, for people; cut to 512 characters. */
  readonly provenance?: string;
}

/** A checked definition, deeply frozen, with its id, sizes and digest. */
export interface Unit
  extends Required<Omit<UnitDefinition, 'server' | 'category' | 'capability' | 'schema'>> {
  readonly id: string;
  readonly server: string | null;
  readonly category: string | null;
  readonly capability: string | null;
  readonly schema: ToolSchema | null;
  /** The most useful first. */
  readonly variants: readonly SizedVariant[];
  /** That of the fewest tokens, the more useful one of two. */
  readonly smallest: SizedVariant;
  /** SHA-256 over all of the definition; equal digests are equal definitions. */
  readonly digest: string;
}

/** Characters, or how many. */
export const unitLimits = {
  name: 128,
  description: 2048,
  aliases: 32,
  triggers: 64,
  references: 64,
  weight: 100_000,
  variants: 8,
  content: 32_768,
  utility: 1_000_000,
  provenance: 512,
} as const;

const keys = [
  ...['kind', 'name', 'server', 'description', 'category', 'aliases', 'triggers', 'requires', 'suggests'],
  ...['conflicts', 'supersedes', 'capability', 'available', 'priority', 'mandatory', 'schema', 'variants'],
  'provenance',
];
const namePattern = /^[^\s*\p{C}]{1,128}$/u;
const serverPattern = /^[^\s*/:\p{C}]{1,128}$/u;
const loneSurrogate = /\p{Cs}/u;

/** Checks a definition. Throws `compose.bad-unit`, naming the unit, the field, what was expected and what was found. */
export function unitOf(definition: UnitDefinition): Unit {
  if (!isRecord(definition))
    throw badUnit('?', 'unit', 'a unit is an object with kind, name and description.');
  const label = typeof definition.name === 'string' ? definition.name.slice(0, unitLimits.name) : '?';
  const fault: Fault = (field, problem) => badUnit(label, field, problem);
  for (const key of Object.keys(definition)) {
    if (!keys.includes(key)) throw fault(key, `no unit has a field of this name. ${namingMend(key, keys)}`);
  }
  const { kind, name, server } = definition;
  if (!unitKinds.includes(kind)) throw fault('kind', `expected one of ${unitKinds.join(', ')}.`);
  if (typeof name !== 'string' || !namePattern.test(name))
    throw fault('name', `expected 1 to ${unitLimits.name} characters without blanks and '*'.`);
  const remote = kind === 'mcp_tool' || kind === 'mcp_prompt';
  if (remote !== (server !== undefined)) {
    throw fault('server', remote ? `a unit of kind ${kind} names its server.` : `a ${kind} has no server.`);
  }
  if (server !== undefined && (typeof server !== 'string' || !serverPattern.test(server)))
    throw fault('server', `expected 1 to ${unitLimits.name} characters without blanks, '*', '/' and ':'.`);
  const description = textOf(definition.description, 'description', unitLimits.description, fault);
  const schema = schemaOf(definition, fault);
  const forms = listOf(definition.variants, 'variants', unitLimits.variants, fault);
  if (schema !== null && forms.length > 0)
    throw fault('variants', 'a tool is shown as its schema and in no other form.');
  const checked = {
    kind,
    name,
    server: server ?? null,
    description,
    category: optionalText(definition.category, 'category', fault),
    aliases: namesOf(definition.aliases, 'aliases', unitLimits.aliases, fault),
    triggers: triggersOf(definition.triggers, fault),
    requires: namesOf(definition.requires, 'requires', unitLimits.references, fault),
    suggests: namesOf(definition.suggests, 'suggests', unitLimits.references, fault),
    conflicts: namesOf(definition.conflicts, 'conflicts', unitLimits.references, fault),
    supersedes: namesOf(definition.supersedes, 'supersedes', unitLimits.references, fault),
    capability: optionalText(definition.capability, 'capability', fault),
    available: flagOf(definition.available, true, 'available', fault),
    priority: numberOf(definition.priority ?? 100, unitLimits.weight, 'priority', fault),
    mandatory: flagOf(definition.mandatory, false, 'mandatory', fault),
    schema,
    variants:
      schema !== null
        ? [sized({ kind: 'schema', text: JSON.stringify(schema), utility: 0 })]
        : forms.length > 0
          ? variantsOf(forms, fault)
          : [sized({ kind: 'line', text: `${name}: ${description}`, utility: 0 })],
    provenance: textOf(definition.provenance ?? '', 'provenance', Number.POSITIVE_INFINITY, fault).slice(
      0,
      unitLimits.provenance,
    ),
  };
  // The fields stand in one order and each list is sorted, so the plain JSON text is already the one of this definition. The
  // keys of a schema keep their order, because it is part of what the model reads.
  return freeze({
    id: unitId(kind, name, server),
    ...checked,
    smallest: checked.variants.reduce((least, one) => (one.tokens < least.tokens ? one : least)),
    digest: sha256(JSON.stringify(checked)),
  });
}

/** `tool:sql_query`; for the MCP kinds `mcp_tool:github/create_issue`. */
export function unitId(kind: UnitKind, name: string, server?: string): string {
  return server === undefined ? `${kind}:${name}` : `${kind}:${server}/${name}`;
}

type Fault = (field: string, problem: string) => ComposeError;

function badUnit(unit: string, field: string, problem: string): ComposeError {
  return new ComposeError('compose.bad-unit', `The unit '${unit}' has a wrong ${field}: ${problem}`, {
    next: 'Correct the definition where it is made.',
    details: { unit, field },
  });
}

function textOf(value: unknown, field: string, max: number, fault: Fault): string {
  if (typeof value !== 'string') throw fault(field, `expected text, found ${typeName(value)}.`);
  if (value.length > max) throw fault(field, `expected at most ${max} characters, found ${value.length}.`);
  if (loneSurrogate.test(value)) throw fault(field, 'it holds half of a character.');
  return value;
}

function optionalText(value: unknown, field: string, fault: Fault): string | null {
  if (value === undefined) return null;
  const text = textOf(value, field, unitLimits.name, fault);
  if (text.trim() === '') throw fault(field, 'it is blank.');
  return text;
}

function flagOf(value: unknown, otherwise: boolean, field: string, fault: Fault): boolean {
  if (value === undefined) return otherwise;
  if (typeof value !== 'boolean') throw fault(field, `expected true or false, found ${typeName(value)}.`);
  return value;
}

function numberOf(value: unknown, max: number, field: string, fault: Fault): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
  const found = typeof value === 'number' ? value : typeName(value);
  throw fault(field, `expected a whole number from 0 to ${max}, found ${found}.`);
}

function listOf(value: unknown, field: string, max: number, fault: Fault): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw fault(field, `expected a list, found ${typeName(value)}.`);
  if (value.length > max) throw fault(field, `expected at most ${max} entries, found ${value.length}.`);
  return value;
}

/** Sorted and each once: the order in which names were listed says nothing. */
function namesOf(value: unknown, field: string, max: number, fault: Fault): string[] {
  const names = listOf(value, field, max, fault).map((item) => {
    // An id is longer than a name by its kind and server.
    const text = textOf(item, field, field === 'aliases' ? unitLimits.name : 2 * unitLimits.name + 16, fault);
    if (text.trim() === '') throw fault(field, 'an entry is blank.');
    return text;
  });
  return [...new Set(names)].sort();
}

function triggersOf(value: unknown, fault: Fault): Trigger[] {
  const triggers = listOf(value, 'triggers', unitLimits.triggers, fault).map((item): Trigger => {
    if (!isRecord(item)) throw fault('triggers', `expected {kind, text, weight}, found ${typeName(item)}.`);
    const kind = triggerKinds.find((one) => one === item.kind);
    if (kind === undefined) throw fault('triggers', `expected a kind of ${triggerKinds.join(', ')}.`);
    const text = textOf(item.text, 'triggers', unitLimits.name, fault);
    const words = wordsOf(text).length;
    if (words === 0) throw fault('triggers', 'a text has neither letter nor digit.');
    if (words > 1 && (kind === 'keyword' || kind === 'verb' || kind === 'object'))
      throw fault('triggers', `a ${kind} is one word; several are a phrase.`);
    return { kind, text, weight: numberOf(item.weight, unitLimits.weight, 'triggers', fault) };
  });
  const byText = new Map(triggers.map((trigger) => [`${trigger.kind}:${trigger.text}`, trigger]));
  if (byText.size < triggers.length) throw fault('triggers', 'two of them have one kind and text.');
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, trigger]) => trigger);
}

function schemaOf({ kind, schema }: UnitDefinition, fault: Fault): ToolSchema | null {
  const tool = kind === 'tool' || kind === 'mcp_tool';
  if (!tool && schema !== undefined) throw fault('schema', `only tools have one, and this is a ${kind}.`);
  if (!tool) return null;
  if (!isRecord(schema) || !isRecord(schema.parameters))
    throw fault('schema', 'a tool needs {name, description, parameters}.');
  const copy = {
    name: textOf(schema.name, 'schema', unitLimits.name, fault),
    description: textOf(schema.description, 'schema', unitLimits.content, fault),
    parameters: closedRecord(schema.parameters, 0, fault),
  };
  const { length } = JSON.stringify(copy);
  if (length > unitLimits.content)
    throw fault('schema', `expected at most ${unitLimits.content} characters of JSON, found ${length}.`);
  return copy;
}

function variantsOf(given: readonly unknown[], fault: Fault): SizedVariant[] {
  const forms = given.map((item): SizedVariant => {
    if (!isRecord(item)) throw fault('variants', `expected {kind, text, utility}, found ${typeName(item)}.`);
    return sized({
      kind: textOf(item.kind, 'variants', unitLimits.name, fault),
      text: textOf(item.text, 'variants', unitLimits.content, fault),
      utility: numberOf(item.utility, unitLimits.utility, 'variants', fault),
    });
  });
  if (new Set(forms.map((form) => form.kind)).size < forms.length)
    throw fault('variants', 'two of them have one kind.');
  return forms.sort((a, b) => b.utility - a.utility || (a.kind < b.kind ? -1 : 1));
}

function sized(variant: Variant): SizedVariant {
  const { bytes, tokens } = sizesOf(variant.text);
  return { ...variant, bytes, tokens };
}

const schemaDepthMax = 64;

// Whatever has no JSON form (a function, a handler, a Map, a cycle) is refused: a catalogue holds descriptions, nothing live.
function closedJson(value: unknown, depth: number, fault: Fault): Json {
  if (depth > schemaDepthMax) throw fault('schema', `it is nested deeper than ${schemaDepthMax} levels.`);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return textOf(value, 'schema', unitLimits.content, fault);
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item) => closedJson(item, depth + 1, fault));
  if (isRecord(value)) return closedRecord(value, depth, fault);
  throw fault('schema', `it holds ${typeName(value)}, which has no JSON form.`);
}

function closedRecord(value: Readonly<Record<string, unknown>>, depth: number, fault: Fault) {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw fault('schema', 'it holds an instance of a class, which has no JSON form.');
  // fromEntries defines each key as an own field, `__proto__` included.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      textOf(key, 'schema', unitLimits.content, fault),
      closedJson(item, depth + 1, fault),
    ]),
  );
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}

function freeze<T extends object>(value: T): T {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) freeze(item);
  return Object.freeze(value);
}
