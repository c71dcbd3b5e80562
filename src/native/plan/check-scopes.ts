/** The names of a plan: each is bound once, before it is used, and a field of a runtime's object is one that it has. */
import { type Envelope, type Expression, envelopes, type Plan, type Step } from './ast.ts';
import { Rejected } from './fault.ts';
import { inside } from './read-plan.ts';

/** Each bound name with the object of the runtime that it stands for; null for any other value. */
type Scope = ReadonlyMap<string, Envelope | null>;

/** Throws Rejected. Plans inside see the names around them; what they bind stays inside. */
export function checkScopes(plan: Plan, inputs: readonly string[]): void {
  checkPlanScope(plan, new Map(), new Set(inputs), '');
}

function checkPlanScope(plan: Plan, outer: Scope, inputs: ReadonlySet<string>, path: string): void {
  const scope = new Map(outer);
  for (const [i, step] of plan.steps.entries()) {
    const at = inside(path, String(i));
    const isLast = i === plan.steps.length - 1;
    if ((step.op === 'final') !== isLast) throw new Rejected('final_must_be_unique_and_last', at);
    for (const value of valuesOf(step)) checkExpression(value, scope, inputs, at);
    if (step.op === 'recurse') checkPlanScope(step.plan, scope, inputs, inside(at, 'r'));
    if (step.op === 'retry') checkPlanScope(step.plan, scope, inputs, inside(at, 't'));
    if (step.op === 'parallel')
      for (const [b, branch] of step.plans.entries())
        checkPlanScope(branch, scope, inputs, inside(at, `b${b}`));
    if (!('bind' in step)) continue;
    if (scope.has(step.bind)) throw new Rejected('duplicate_binding', at);
    scope.set(step.bind, envelopeOf(step));
  }
}

function valuesOf(step: Step): readonly Expression[] {
  switch (step.op) {
    case 'context':
      return step.action.type === 'search' ? [step.handle, step.action.pattern] : [step.handle];
    case 'tool':
      return [step.args];
    case 'model':
      return [step.prompt];
    case 'final':
      return [step.value];
    case 'recurse':
    case 'parallel':
    case 'retry':
    case 'checkpoint':
      return [];
  }
}

function envelopeOf(step: Step): Envelope | null {
  return step.op === 'tool' || step.op === 'context' || step.op === 'model' ? step.op : null;
}

function checkExpression(value: Expression, scope: Scope, inputs: ReadonlySet<string>, path: string): void {
  const inner = (one: Expression) => checkExpression(one, scope, inputs, path);
  switch (value.kind) {
    case 'literal':
      return;
    case 'input':
      if (!inputs.has(value.name)) throw new Rejected('unknown_input', path);
      return;
    case 'variable':
      if (!scope.has(value.name)) throw new Rejected('unbound_variable', path);
      return;
    case 'field': {
      inner(value.of);
      const envelope = value.of.kind === 'variable' ? scope.get(value.of.name) : undefined;
      if (envelope === undefined || envelope === null) return;
      const { fields, result } = envelopes[envelope];
      if (!fields.some((field) => field === value.key))
        throw new Rejected('tool_result_envelope_field', path, { hop: result });
      return;
    }
    case 'list':
      for (const one of value.items) inner(one);
      return;
    case 'object':
      for (const [, one] of value.fields) inner(one);
  }
}
