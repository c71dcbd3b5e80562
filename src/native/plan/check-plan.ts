/** `checkPlan`: all that must hold of a whole plan before its first step, found without running anything. */
import { sha256 } from '../../digest.ts';
import { type ExactJson, exactJsonText } from '../../protocol/json.ts';
import { exactCanonicalJson } from '../exact-canonical.ts';
import type { Misfit } from '../tool/tool.ts';
import type { Expression, Plan, StepOptions } from './ast.ts';
import { planCapabilities, planCapability } from './capabilities.ts';
import { checkScopes } from './check-scopes.ts';
import { PlanError } from './errors.ts';
import { estimatePlan, type PlanEstimate } from './estimate-plan.ts';
import { faultError, type PlanFault, type PlanFaultName, Rejected } from './fault.ts';
import type { PlanLimits } from './limits.ts';
import { inside } from './read-plan.ts';

/** What is really here, so that a plan is refused before its first step instead of at the one that misses something. */
export interface PlanRegistry {
  /** Undefined for a tool that the session does not show. */
  tool(name: string): RegisteredTool | undefined;
  /** The model of the session; null where there is none. */
  readonly provider: string | null;
  /** The name of a request option that its protocol has no words for; undefined answers that it can say them all. */
  unsaid?(options: StepOptions): string | undefined;
  /** True if there is a context of this alias or id. */
  context(alias: string): boolean;
}

export interface RegisteredTool {
  /** Null where the tool is known by name only, as before its code was loaded. */
  readonly capability: string | null;
  readonly counter: 'toolCalls' | 'contextOps';
  /** Why arguments that stand whole in the plan do not fit; undefined where they do, and left out where nobody can say here. */
  misfits?(args: ExactJson): readonly Misfit[] | undefined;
}

export interface PlanCheck {
  readonly capabilities: readonly string[];
  /** What plans inside `recurse` hold; all of `capabilities` unless given. What `capabilities` lacks, they lack. */
  readonly childCapabilities?: readonly string[];
  readonly limits: PlanLimits;
  /** What is left of the run's budget; null for no limit. */
  left?(counter: 'steps' | 'modelCalls' | 'toolCalls' | 'contextOps'): number | null;
  /** Names of the inputs that the plan is given. */
  readonly inputs: readonly string[];
  /** Left out where only the form is to be judged. */
  readonly registry?: PlanRegistry;
}

const accepted = Symbol('accepted');

/** A plan that passed every check. Only `checkPlan` makes one, and nothing else is executed. */
export interface AcceptedPlan {
  readonly [accepted]: true;
  readonly plan: Plan;
  readonly estimate: PlanEstimate;
  readonly limits: PlanLimits;
  /** What is stored: the steps as JSON. */
  readonly text: string;
  readonly digest: string;
  readonly capabilities: readonly string[];
  readonly childCapabilities: readonly string[];
}

export type CheckedPlan =
  | { readonly ok: true; readonly accepted: AcceptedPlan }
  /** With a `fault` whoever wrote the plan can mend it; a missing right or a spent budget nobody can mend in the plan. */
  | { readonly ok: false; readonly error: PlanError; readonly fault: PlanFault | null };

/** Checks scopes and forms, then capabilities, then the worst case against the limits, then what is really here. */
export function checkPlan(plan: Plan, check: PlanCheck): CheckedPlan {
  const childCapabilities = (check.childCapabilities ?? check.capabilities).filter((name) =>
    check.capabilities.includes(name),
  );
  try {
    checkScopes(plan, check.inputs);
    checkRecursions(plan);
    checkCapabilities(plan, check, check.capabilities, childCapabilities);
    const counter = (name: string) => check.registry?.tool(name)?.counter;
    const estimate = estimatePlan(plan, (name) => counter(name) === 'contextOps');
    checkEstimate(estimate, check);
    if (check.registry !== undefined) preflight(plan, check.registry);
    const text = planText(plan);
    const { capabilities, limits } = check;
    const digest = sha256(text);
    return {
      ok: true,
      accepted: { [accepted]: true, plan, estimate, limits, text, digest, capabilities, childCapabilities },
    };
  } catch (thrown) {
    if (thrown instanceof Rejected)
      return { ok: false, error: faultError(thrown.fault), fault: thrown.fault };
    if (thrown instanceof PlanError) return { ok: false, error: thrown, fault: null };
    throw thrown;
  }
}

/** A plan's steps as JSON text, every integer exact. */
export function planText(plan: Plan): string {
  // Steps are closed JSON of the reader's own making.
  return exactJsonText(plan as unknown as ExactJson);
}

/** SHA-256 of a plan whatever the order of keys in it. */
export function planFingerprint(plan: Plan): string {
  return sha256(exactCanonicalJson(plan));
}

/** Calls `visit` with each step of the plan and of all plans in it. `inRecursion` is true below a `recurse`. */
export function eachStep(
  plan: Plan,
  visit: (step: Plan['steps'][number], path: string, inRecursion: boolean) => void,
  path = '',
  inRecursion = false,
): void {
  for (const [i, step] of plan.steps.entries()) {
    const at = inside(path, String(i));
    visit(step, at, inRecursion);
    if (step.op === 'recurse') eachStep(step.plan, visit, inside(at, 'r'), true);
    if (step.op === 'retry') eachStep(step.plan, visit, inside(at, 't'), inRecursion);
    if (step.op === 'parallel')
      for (const [b, branch] of step.plans.entries())
        eachStep(branch, visit, inside(at, `b${b}`), inRecursion);
  }
}

/** A recursion that is made twice, or that a retry would make again, asks the same of the same: it cannot get nearer. */
function checkRecursions(plan: Plan): void {
  const seen = new Set<string>();
  eachStep(plan, (step, path) => {
    if (step.op === 'recurse') {
      const fingerprint = planFingerprint(step.plan);
      if (seen.has(fingerprint)) throw new Rejected('duplicate_recursive_call', path);
      seen.add(fingerprint);
    }
    if (step.op === 'retry' && step.attempts > 1)
      eachStep(step.plan, (inner, at) => {
        if (inner.op === 'recurse') throw new Rejected('repeated_recursive_retry', inside(path, `t/${at}`));
      });
  });
}

function checkCapabilities(
  plan: Plan,
  { registry }: PlanCheck,
  own: readonly string[],
  ofChildren: readonly string[],
): void {
  // Each once, with the first step that needs it.
  const missing = new Map<string, string>();
  const must = (held: readonly string[], name: string, path: string) => {
    if (!held.includes(name) && !missing.has(name)) missing.set(name, path);
  };
  must(own, planCapability, '');
  eachStep(plan, (step, path, inRecursion) => {
    const held = inRecursion ? ofChildren : own;
    if (step.op === 'final') return;
    if (step.op !== 'tool') return must(held, planCapabilities[step.op], path);
    const capability = registry?.tool(step.name)?.capability;
    // Which right a tool needs is known only where the tool is; the preflight refuses one that is not here.
    if (capability !== undefined && capability !== null) must(held, capability, path);
  });
  if (missing.size > 0) throw capabilitiesMissing([...missing].map(([name, path]) => ({ name, path })));
}

function capabilitiesMissing(
  missing: readonly { readonly name: string; readonly path: string }[],
): PlanError {
  const needs = missing.map(({ name, path }) => `'${name}'${path === '' ? '' : ` (step ${path})`}`);
  const grants = missing.map(({ name }) => `${name}: true`).join(', ');
  const [{ name = '', path = '' } = {}] = missing;
  return new PlanError(
    'plan.capability-missing',
    missing.length === 1
      ? `The plan needs the capability ${needs[0]}, which is not held.`
      : `The plan needs the capabilities ${needs.join(', ')}, which are not held.`,
    {
      next: `Add to those under capabilities in agent.yaml: ${grants}; or plan without ${missing.length === 1 ? 'it' : 'them'}.`,
      details: { capability: name, path, missing },
    },
  );
}

function checkEstimate(estimate: PlanEstimate, { limits, left }: PlanCheck): void {
  const must = (budget: string, wanted: number, limit: number) => {
    if (wanted <= limit) return;
    throw new PlanError(
      'plan.over-budget',
      `At its worst the plan needs ${wanted} ${budget}; at most ${limit} are left for it.`,
      { next: 'Plan with fewer steps, or raise the limit.', details: { budget, estimated: wanted, limit } },
    );
  };
  must('depth', estimate.depth, limits.depth);
  must('concurrency', estimate.concurrency, limits.concurrency);
  for (const counter of ['steps', 'modelCalls', 'toolCalls', 'contextOps'] as const)
    must(counter, estimate[counter], Math.min(limits[counter], left?.(counter) ?? Number.POSITIVE_INFINITY));
}

function preflight(plan: Plan, registry: PlanRegistry): void {
  const reject = (fault: PlanFaultName, path: string) => {
    throw new Rejected(fault, path);
  };
  eachStep(plan, (step, path) => {
    if (step.op === 'tool') {
      const tool = registry.tool(step.name);
      if (tool === undefined) return reject('unknown_tool', path);
      const misfits = step.args.kind === 'literal' ? tool.misfits?.(step.args.value) : undefined;
      if (misfits !== undefined) throw new Rejected('invalid_tool_arguments', path, { misfits });
    }
    if (
      step.op === 'model' &&
      (registry.provider === null || (step.provider ?? registry.provider) !== registry.provider)
    )
      reject('unknown_provider', path);
    const unsaid = step.op === 'model' ? registry.unsaid?.(step.options) : undefined;
    if (unsaid !== undefined) throw new Rejected('unsupported_request_option', path, { name: unsaid });
    if (step.op === 'context' && !isHere(step.handle, registry)) reject('unknown_context', path);
  });
}

function isHere(handle: Expression, registry: PlanRegistry): boolean {
  if (handle.kind !== 'literal') return true;
  return typeof handle.value === 'string' && registry.context(handle.value);
}
