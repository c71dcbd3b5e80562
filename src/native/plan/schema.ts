/** The JSON form of a plan as a JSON Schema, built from the same tables that the reader goes by. */
import type { Json } from '../../protocol/json.ts';
import { reasoningEfforts } from '../../wire/settings.ts';
import { mappings, reductions } from '../context/operations.ts';
import { actionFields, namePattern, optionRanges, planBounds, stepFields } from './ast.ts';

type Schema = { readonly [key: string]: Json };

const name: Schema = { type: 'string', pattern: namePattern.source };
const plan: Schema = { $ref: '#/$defs/plan' };
const value: Schema = { $ref: '#/$defs/value' };
const whole = (minimum: number): Schema => ({ type: 'integer', minimum });

/** Draft 2020-12. It says what the form says; scopes, rights and limits are for `checkPlan`. */
export function planJsonSchema(): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A typed plan of Writ',
    ...plan,
    $defs: {
      plan: closed(['steps'], { steps: { type: 'array', minItems: 1, items: { $ref: '#/$defs/step' } } }),
      step: { oneOf: Object.entries(stepFields).map(([op, fields]) => formOf('op', op, fields, stepTypes)) },
      action: {
        oneOf: Object.entries(actionFields).map(([type, fields]) =>
          formOf('type', type, fields, { ...actionTypes, how: hows[type] ?? {} }),
        ),
      },
      options: optionsSchema(),
      value: {
        description:
          'Any JSON. An object with "ref" is a reference; {"ref":"literal","value":…} stands for its value.',
        anyOf: [
          { type: ['string', 'number', 'boolean', 'null'] },
          { type: 'array', items: value },
          { type: 'object', not: { required: ['ref'] }, additionalProperties: value },
          closed(['ref', 'name'], { ref: { enum: ['input', 'var'] }, name }),
          closed(['ref', 'value', 'key'], {
            ref: { const: 'field' },
            value,
            key: { anyOf: [{ type: 'string' }, whole(0)] },
          }),
          closed(['ref', 'value'], { ref: { const: 'literal' }, value: true }),
        ],
      },
    },
  };
}

const notEmpty: Schema = { anyOf: [{ type: 'string', pattern: '\\S' }, { not: { type: 'string' } }] };

/** A value that must be of some form where it stands whole in the plan, also as `{"ref":"literal"}`. */
function wholeAs(form: Schema): Schema {
  const isLiteral: Schema = { type: 'object', properties: { ref: { const: 'literal' } }, required: ['ref'] };
  return { anyOf: [{ not: isLiteral }, { properties: { value: form } }] };
}

const stepTypes: { readonly [field: string]: Json } = {
  handle: value,
  action: { $ref: '#/$defs/action' },
  bind: name,
  name: { type: 'string', minLength: 1, maxLength: 128 },
  args: { allOf: [value, { type: 'object' }, wholeAs({ type: 'object' })] },
  provider: { type: 'string', minLength: 1, maxLength: 256 },
  prompt: { allOf: [value, notEmpty, wholeAs(notEmpty)] },
  options: { $ref: '#/$defs/options' },
  plan,
  plans: { type: 'array', minItems: 1, items: plan },
  attempts: { type: 'integer', minimum: 1, maximum: planBounds.attempts },
  label: name,
  value,
};

const actionTypes: { readonly [field: string]: Json } = {
  pattern: {
    allOf: [
      value,
      { type: ['string', 'object'], minLength: 1, required: ['ref'] },
      wholeAs({ type: 'string', minLength: 1 }),
    ],
  },
  regex: { type: 'boolean' },
  from: whole(0),
  start: whole(0),
  length: whole(1),
  selector: {
    oneOf: [
      closed(['type'], { type: { const: 'metadata' } }),
      closed(['type', 'count'], { type: { enum: ['head', 'tail'] }, count: whole(1) }),
      closed(['type', 'index'], { type: { const: 'item' }, index: whole(0) }),
    ],
  },
};

const hows: { readonly [type: string]: Json } = {
  partition: closed(['type', 'size'], { type: { enum: ['fixed', 'lines'] }, size: whole(1) }),
  map: { enum: mappings },
  reduce: { enum: reductions },
};

function optionsSchema(): Schema {
  const numbers = Object.entries(optionRanges).map(([option, [minimum, maximum]]) => {
    const type = option === 'seed' || option === 'max_tokens' ? 'integer' : 'number';
    return [option, { type, minimum, maximum }] as const;
  });
  const stop: Schema = { type: 'array', minItems: 1, maxItems: 4, items: { type: 'string', minLength: 1 } };
  const reasoning_effort: Schema = { enum: [...reasoningEfforts] };
  return closed([], { ...Object.fromEntries(numbers), stop, reasoning_effort });
}

function closed(required: readonly string[], properties: { readonly [field: string]: Json }): Schema {
  return { type: 'object', properties, required, additionalProperties: false };
}

function formOf(
  key: string,
  form: string,
  fields: readonly string[],
  types: { readonly [field: string]: Json },
): Schema {
  const names = fields.map((field) => field.replace('?', ''));
  const required = [key, ...fields.filter((field) => !field.endsWith('?'))];
  return closed(required, {
    [key]: { const: form },
    ...Object.fromEntries(names.map((field) => [field, types[field] ?? {}])),
  });
}
