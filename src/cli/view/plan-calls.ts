/** What a plan's own text says of its steps, which the record names by their place, and of the task that is a plan. */
import { isRecord } from '../../protocol/json.ts';
import type { RunView } from '../../run/run-view.ts';

/** The call of a step as the plan writes it: a value that another step brings stands there by its reference. */
export interface PlanCall {
  readonly tool: string;
  readonly arguments: string;
}

/** The call at a place such as `2` or `2/b0/1`; undefined where the step there calls no tool. */
export function planCallAt(plan: unknown, path: string): PlanCall | undefined {
  let steps: unknown = stepsOf(plan);
  let step: unknown;
  for (const part of path.split('/')) {
    const branch = /^b(\d+)$/.exec(part)?.[1];
    if (branch !== undefined) steps = stepsOf(elementAt(field(step, 'plans'), branch));
    else if (/^(r|t\d+)$/.test(part)) steps = stepsOf(field(step, 'plan'));
    else step = elementAt(steps, part);
  }
  const tool = field(step, 'op') === 'tool' ? field(step, 'name') : undefined;
  if (typeof tool !== 'string') return undefined;
  return { tool, arguments: JSON.stringify(written(field(step, 'args') ?? {})) };
}

/** An expression in the form in which plans are written. */
function written(expression: unknown): unknown {
  if (!isRecord(expression)) return expression;
  const { kind, value, name, of, key, items, fields } = expression;
  if (kind === 'literal') return value;
  if (kind === 'input') return { ref: 'input', name };
  if (kind === 'variable') return { ref: 'var', name };
  if (kind === 'field') return { ref: 'field', value: written(of), key };
  if (kind === 'list' && Array.isArray(items)) return items.map(written);
  if (kind !== 'object' || !Array.isArray(fields)) return expression;
  return Object.fromEntries(fields.map(([member, one]) => [member, written(one)]));
}

/** The task for a person: of a plan its own text, and its inputs below where it has any. */
export function taskText({ task, plans }: Pick<RunView, 'task' | 'plans'>): string {
  if (task === null) return '(its text is not in the ledger)';
  const form = plans.some(({ turn }) => turn === 0) ? parsed(task) : undefined;
  const [plan, inputs] = [field(form, 'plan'), field(form, 'inputs')];
  if (typeof plan !== 'string') return task;
  const given = isRecord(inputs) ? Object.entries(inputs) : [];
  const lines = given.map(([name, value]) => `input ${name}: ${JSON.stringify(value)}`);
  return [plan.trimEnd(), ...lines].join('\n');
}

/** Undefined for what is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const stepsOf = (plan: unknown) => field(plan, 'steps');

function field(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function elementAt(value: unknown, index: string): unknown {
  return Array.isArray(value) ? value[Number(index)] : undefined;
}
