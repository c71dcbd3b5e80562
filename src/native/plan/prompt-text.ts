/** What the prompt of a model step comes to: the words of the plan as they are, and whatever a step has brought between marks. */
import { type ExactJson, exactJsonText } from '../../protocol/json.ts';
import { wrapUntrusted } from '../untrusted.ts';
import type { Expression } from './ast.ts';
import { evaluate, type Names } from './evaluate.ts';

/**
 * The text of a prompt; undefined for one that says nothing. Values of steps were written by tools, contexts and models: each
 * is wrapped under `mark`, which must be made for this prompt. Throws `plan.missing-field`.
 */
export function promptText(prompt: Expression, names: Names, mark: string): string | undefined {
  const said = evaluate(prompt, names);
  if (textOf(said).trim() === '') return undefined;
  return textOf(marked(prompt, names, mark));
}

function marked(expression: Expression, names: Names, mark: string): ExactJson {
  const source = sourceOf(expression);
  // What the plan itself says, and what it was started with, is as trusted as the plan.
  if (source === undefined) return evaluate(expression, names);
  if (expression.kind === 'list') return expression.items.map((item) => marked(item, names, mark));
  if (expression.kind === 'object')
    return Object.fromEntries(expression.fields.map(([key, value]) => [key, marked(value, names, mark)]));
  return wrapUntrusted(textOf(evaluate(expression, names)), `plan:${source}`, mark);
}

/** The first name in an expression that a step has bound. */
function sourceOf(expression: Expression): string | undefined {
  switch (expression.kind) {
    case 'literal':
    case 'input':
      return undefined;
    case 'variable':
      return expression.name;
    case 'field':
      return sourceOf(expression.of);
    case 'list':
      return expression.items.map(sourceOf).find((name) => name !== undefined);
    case 'object':
      return expression.fields.map(([, value]) => sourceOf(value)).find((name) => name !== undefined);
  }
}

function textOf(value: ExactJson): string {
  return typeof value === 'string' ? value : exactJsonText(value);
}
