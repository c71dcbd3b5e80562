/** `parsePlan`: reads the JSON form of a plan into its steps, or says by one bounded fault why it is none. */
import { type ExactJson, isRecord } from '../../protocol/json.ts';
import { reasoningEfforts } from '../../wire/settings.ts';
import { mappings, type Partition, reductions, type Selector } from '../context/operations.ts';
import { closedJson } from '../tool/closed-json.ts';
import { halfCharacterAt } from '../tool/whole-text.ts';
import {
  actionFields,
  type ContextAction,
  type Expression,
  namePattern,
  optionRanges,
  type Plan,
  planBounds,
  reservedOptions,
  type Step,
  type StepName,
  type StepOptions,
  stepFields,
} from './ast.ts';
import { type PlanFault, Rejected } from './fault.ts';
import { type JsonObject, oneJsonObject } from './plan-json.ts';

export type ParsedPlan =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly fault: PlanFault };

/** Reads a plan from the text of a model or a file, or from parsed JSON. Never throws, and never runs anything. */
export function parsePlan(given: string | ExactJson): ParsedPlan {
  return orFault(() => readPlan(typeof given === 'string' ? oneJsonObject(given) : closed(given), ''));
}

function closed(given: ExactJson): ExactJson {
  const copy = closedJson(given);
  if (!copy.ok) throw new Rejected('invalid_json_text', '');
  return copy.value;
}

/** Runs a reader and returns what it rejects. */
export function orFault(read: () => Plan): ParsedPlan {
  try {
    return { ok: true, plan: read() };
  } catch (thrown) {
    if (thrown instanceof Rejected) return { ok: false, fault: thrown.fault };
    throw thrown;
  }
}

/** Reads `{"steps": […]}`. Throws Rejected. */
export function readPlan(json: unknown, path: string, depth = 0): Plan {
  // A value that a program hands over may be deeper than any text that is read.
  if (depth > planBounds.nesting) throw new Rejected('nested_too_deep', path);
  const { steps } = fieldsOf(json, ['steps'], path);
  if (!Array.isArray(steps)) throw new Rejected('invalid_field', path, { name: 'steps' });
  if (steps.length === 0) throw new Rejected('empty_plan', path);
  return { steps: steps.map((step, i) => readStep(step, inside(path, String(i)), depth)) };
}

/** The place of a step or branch below another. */
export function inside(path: string, part: string): string {
  return path === '' ? part : `${path}/${part}`;
}

function readStep(json: unknown, path: string, depth: number): Step {
  const op = isRecord(json) ? json.op : undefined;
  if (!isRecord(json) || typeof op !== 'string' || !Object.hasOwn(stepFields, op))
    throw new Rejected('unknown_or_malformed_step', path);
  const fields = fieldsOf(json, ['op', ...stepFields[op as StepName]], path);
  // Plans inside look for themselves, so that the fault names the step where it is.
  const { plan: _plan, plans: _plans, ...own } = fields;
  if (halfCharacterAt(own) !== undefined) throw new Rejected('half_character', path);
  const below = (plan: unknown, part: string) => readPlan(plan, inside(path, part), depth + 1);
  const bind = () => nameIn(fields, 'bind', path);
  const value = (name: string) => readExpression(fields[name], path, 0);
  switch (op as StepName) {
    case 'context': {
      const handle = fields.handle === undefined ? literal('input') : value('handle');
      return { op: 'context', handle, action: readAction(fields.action, path), bind: bind() };
    }
    case 'tool': {
      const args = fields.args === undefined ? literal({}) : value('args');
      if (args.kind === 'list' || (args.kind === 'literal' && !isRecord(args.value)))
        throw new Rejected('invalid_field', path, { name: 'args' });
      return { op: 'tool', name: textIn(fields, 'name', path, 128), args, bind: bind() };
    }
    case 'model': {
      const provider = fields.provider === undefined ? null : textIn(fields, 'provider', path, 256);
      const options = readOptions(fields.options ?? {}, path);
      const prompt = value('prompt');
      if (prompt.kind === 'literal' && typeof prompt.value === 'string' && prompt.value.trim() === '')
        throw new Rejected('invalid_field', path, { name: 'prompt' });
      return { op: 'model', provider, prompt, options, bind: bind() };
    }
    case 'recurse':
      return { op: 'recurse', plan: below(fields.plan, 'r'), bind: bind() };
    case 'parallel': {
      const { plans } = fields;
      if (!Array.isArray(plans) || plans.length === 0)
        throw new Rejected('invalid_field', path, { name: 'plans' });
      return { op: 'parallel', plans: plans.map((plan, i) => below(plan, `b${i}`)), bind: bind() };
    }
    case 'retry': {
      const attempts = wholeIn(fields, 'attempts', path, 1, planBounds.attempts);
      return { op: 'retry', attempts, plan: below(fields.plan, 't'), bind: bind() };
    }
    case 'checkpoint':
      return { op: 'checkpoint', label: nameIn(fields, 'label', path) };
    case 'final':
      return { op: 'final', value: value('value') };
  }
}

function readAction(json: unknown, path: string): ContextAction {
  const type = isRecord(json) ? json.type : undefined;
  if (typeof type !== 'string' || !Object.hasOwn(actionFields, type))
    throw new Rejected('invalid_field', path, { name: 'action' });
  const fields = fieldsOf(json, ['type', ...actionFields[type as ContextAction['type']]], path);
  const whole = (name: string, least: number) => wholeIn(fields, name, path, least);
  const invalid = (name: string) => new Rejected('invalid_field', path, { name });
  switch (type as ContextAction['type']) {
    case 'search': {
      const pattern = readExpression(fields.pattern, path, 0);
      const given = pattern.kind === 'literal' && typeof pattern.value === 'string' && pattern.value !== '';
      if (!given && !['input', 'variable', 'field'].includes(pattern.kind)) throw invalid('pattern');
      if (fields.regex !== undefined && typeof fields.regex !== 'boolean') throw invalid('regex');
      const from = fields.from === undefined ? 0 : whole('from', 0);
      return { type: 'search', pattern, regex: fields.regex === true, from };
    }
    case 'slice':
      return { type: 'slice', start: whole('start', 0), length: whole('length', 1) };
    case 'peek':
      return { type: 'peek', selector: readSelector(fields.selector, path) };
    case 'partition':
      return { type: 'partition', how: readPartition(fields.how, path) };
    case 'map': {
      const how = mappings.find((name) => name === fields.how);
      if (how === undefined) throw invalid('how');
      return { type: 'map', how };
    }
    case 'reduce': {
      const how = reductions.find((name) => name === fields.how);
      if (how === undefined) throw invalid('how');
      return { type: 'reduce', how };
    }
  }
}

function readSelector(json: unknown, path: string): Selector {
  const type = isRecord(json) ? json.type : undefined;
  switch (type) {
    case 'metadata':
      fieldsOf(json, ['type'], path);
      return { type };
    case 'head':
    case 'tail':
      return { type, count: wholeIn(fieldsOf(json, ['type', 'count'], path), 'count', path, 1) };
    case 'item':
      return { type, index: wholeIn(fieldsOf(json, ['type', 'index'], path), 'index', path, 0) };
    default:
      throw new Rejected('invalid_field', path, { name: 'selector' });
  }
}

function readPartition(json: unknown, path: string): Partition {
  const fields = fieldsOf(json, ['type', 'size'], path);
  const { type } = fields;
  if (type !== 'fixed' && type !== 'lines') throw new Rejected('invalid_field', path, { name: 'how' });
  return { type, size: wholeIn(fields, 'size', path, 1) };
}

function readOptions(json: unknown, path: string): StepOptions {
  if (!isRecord(json)) throw new Rejected('invalid_field', path, { name: 'options' });
  const options: { [name: string]: number | string | readonly string[] } = {};
  for (const [name, value] of Object.entries(json)) {
    if (reservedOptions.includes(name)) throw new Rejected('reserved_request_option', path, { name });
    if (name === 'stop') {
      const stops = Array.isArray(value) && value.length > 0 && value.length <= 4 ? value : [''];
      if (stops.some((stop) => typeof stop !== 'string' || stop === ''))
        throw new Rejected('invalid_field', path, { name });
      options[name] = stops;
    } else if (name === 'reasoning_effort') {
      const effort = reasoningEfforts.find((one) => one === value);
      if (effort === undefined) throw new Rejected('invalid_field', path, { name });
      options[name] = effort;
    } else if (Object.hasOwn(optionRanges, name)) {
      const [low, high] = optionRanges[name as keyof typeof optionRanges];
      const whole = name === 'seed' || name === 'max_tokens';
      if (typeof value !== 'number' || value < low || value > high || (whole && !Number.isInteger(value)))
        throw new Rejected('invalid_field', path, { name });
      options[name] = value;
    } else throw new Rejected('unknown_request_option', path);
  }
  return options;
}

function literal(value: ExactJson): Expression {
  return { kind: 'literal', value };
}

function readExpression(json: unknown, path: string, depth: number): Expression {
  if (depth > planBounds.nesting) throw new Rejected('nested_too_deep', path);
  if (Array.isArray(json)) {
    const items = json.map((item) => readExpression(item, path, depth + 1));
    const values = valuesOf(items);
    return values === undefined ? { kind: 'list', items } : literal(values);
  }
  if (!isRecord(json)) {
    if (json === undefined || typeof json === 'function' || typeof json === 'symbol')
      throw new Rejected('missing_field', path, { name: 'value' });
    return literal(json as ExactJson);
  }
  if (Object.hasOwn(json, 'ref')) return readReference(json, path, depth);
  const fields = Object.entries(json).map(
    ([key, value]) => [key, readExpression(value, path, depth + 1)] as const,
  );
  const values = valuesOf(fields.map(([, value]) => value));
  if (values === undefined) return { kind: 'object', fields };
  // fromEntries defines each key as an own field, whatever it is called.
  return literal(Object.fromEntries(fields.map(([key], i) => [key, values[i] ?? null])));
}

/** The values of expressions that all stand whole in the plan; undefined if one does not. */
function valuesOf(expressions: readonly Expression[]): readonly ExactJson[] | undefined {
  const values: ExactJson[] = [];
  for (const one of expressions) {
    if (one.kind !== 'literal') return undefined;
    values.push(one.value);
  }
  return values;
}

function readReference(json: Record<string, unknown>, path: string, depth: number): Expression {
  const exactly = (...names: readonly string[]) =>
    Object.keys(json).length === names.length + 1 && names.every((name) => Object.hasOwn(json, name));
  if (json.ref === 'literal' && exactly('value')) return literal(json.value as ExactJson);
  if ((json.ref === 'input' || json.ref === 'var') && exactly('name')) {
    const kind = json.ref === 'input' ? 'input' : 'variable';
    return { kind, name: nameIn(json, 'name', path) };
  }
  if (json.ref === 'field' && exactly('value', 'key')) {
    const { key } = json;
    if (typeof key === 'string' || (typeof key === 'number' && Number.isSafeInteger(key) && key >= 0))
      return { kind: 'field', of: readExpression(json.value, path, depth + 1), key };
  }
  throw new Rejected('invalid_reference', path);
}

/** The fields of an object that has those named and no others; a name with `?` may be missing. */
function fieldsOf(json: unknown, names: readonly string[], path: string): JsonObject {
  if (!isRecord(json)) throw new Rejected('unknown_or_malformed_step', path);
  const known = names.map((name) => name.replace('?', ''));
  const missing = names.find((name) => !name.endsWith('?') && !Object.hasOwn(json, name));
  if (missing !== undefined) throw new Rejected('missing_field', path, { name: missing });
  if (Object.keys(json).some((name) => !known.includes(name))) throw new Rejected('unexpected_field', path);
  return json as JsonObject;
}

function textIn(fields: JsonObject, name: string, path: string, charactersMax: number): string {
  const value = fields[name];
  if (typeof value === 'string' && value !== '' && value.length <= charactersMax) return value;
  throw new Rejected('invalid_field', path, { name });
}

function nameIn(fields: Record<string, unknown>, name: string, path: string): string {
  const value = fields[name];
  if (typeof value === 'string' && namePattern.test(value)) return value;
  throw new Rejected('invalid_field', path, { name });
}

function wholeIn(
  fields: JsonObject,
  name: string,
  path: string,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most)
    return value;
  throw new Rejected('invalid_field', path, { name });
}
