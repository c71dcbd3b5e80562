/** What an expression comes to while a plan runs. */
import { type ExactJson, isRecord } from '../../protocol/json.ts';
import type { Expression } from './ast.ts';
import { PlanError } from './errors.ts';

export interface Names {
  readonly inputs: { readonly [name: string]: ExactJson };
  readonly variables: ReadonlyMap<string, ExactJson>;
}

/** Throws `plan.missing-field`. A checked plan uses no variable before it is bound. */
export function evaluate(expression: Expression, names: Names): ExactJson {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    // A checked plan names only inputs that it is given.
    case 'input':
      return names.inputs[expression.name] ?? null;
    case 'variable':
      return names.variables.get(expression.name) ?? null;
    case 'field':
      return fieldOf(evaluate(expression.of, names), expression.key);
    case 'list':
      return expression.items.map((item) => evaluate(item, names));
    case 'object':
      return Object.fromEntries(expression.fields.map(([key, value]) => [key, evaluate(value, names)]));
  }
}

function fieldOf(value: ExactJson, key: string | number): ExactJson {
  if (typeof key === 'number') {
    const item: ExactJson | undefined = Array.isArray(value) ? value[key] : undefined;
    if (item !== undefined) return item;
  } else if (isRecord(value) && Object.hasOwn(value, key)) return (value[key] as ExactJson) ?? null;
  const found = Array.isArray(value)
    ? `a list of ${value.length}`
    : isRecord(value)
      ? `an object with ${Object.keys(value).length} fields`
      : value === null
        ? 'null'
        : `a ${typeof value}`;
  throw new PlanError(
    'plan.missing-field',
    `A step expected '${String(key).slice(0, 64)}' in a value, found ${found}.`,
  );
}
