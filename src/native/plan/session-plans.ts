/** The plans of a native session: what they are checked against, and the seat in which they are executed. */

import { plainComposition } from '../../compose/plain.ts';
import type { Policies } from '../../compose/policies.ts';
import type { Host, Session, TaskInput } from '../../harness.ts';
import { type ExactJson, isRecord, parseExactJson } from '../../protocol/json.ts';
import type { HarnessOutcome } from '../../protocol/outcome.ts';
import { type ReasoningEffort, type Settings, writeSettings } from '../../wire/settings.ts';
import { toolboxOf } from '../batch.ts';
import { type CallEnd, type CallHeld, fromOutput, type ReadyCall, type RunPlanCall } from '../call.ts';
import type { CompactionOptions } from '../compaction.ts';
import { ContextError } from '../context/errors.ts';
import type { GivenContext, SessionContexts } from '../context/session-contexts.ts';
import type { Model } from '../model/model.ts';
import { cancelled, type RequestOptions } from '../request.ts';
import type { RunSpec } from '../spec/run-spec.ts';
import { projectTools } from '../surface.ts';
import { wholeText } from '../tool/result-text.ts';
import type { Misfit, Tool } from '../tool/tool.ts';
import type { Plan, StepOptions } from './ast.ts';
import { type AcceptedPlan, type CheckedPlan, checkPlan, type PlanRegistry } from './check-plan.ts';
import type { PlanError } from './errors.ts';
import { executePlan, type PlanEnd } from './execute-plan.ts';
import { faultError } from './fault.ts';
import type { PlanSkills } from './given-skills.ts';
import { type PlanLimits, planLimits } from './limits.ts';
import { planRecordOf } from './plan-record.ts';
import { stepSystemText } from './planner-text.ts';
import { parsePlan } from './read-plan.ts';
import type { Conversing, PlanSeat, TurnNumbers } from './seat.ts';

/** What a task is worked on by: the loop, a decision between an answer and a plan, or the plan that the task is. */
export type Root = 'loop' | 'decide' | 'plan';

export interface PlanOptions {
  /** Over the defaults; they never add to the run's budget. */
  readonly limits?: Partial<PlanLimits>;
  /** What plans inside `recurse` hold; all that the run holds unless given. */
  readonly childCapabilities?: readonly string[];
  /** `delegated` leaves out the sentence that says which agent is at work. */
  readonly scope?: 'root' | 'delegated';
  /** How often the model may be asked for its decision; 2 unless given. */
  readonly attempts?: number;
  /** How much the model reasons about its decision; what `request.settings` says unless given. */
  readonly reasoningEffort?: ReasoningEffort;
  /** Skills that are given whole as system text: to the model that decides, and to each model step. Neither gets the other's. */
  readonly skills?: PlanSkills;
  /** Said to the model at the end of the question for its decision. */
  readonly instruction?: string;
}

/** One conversation with the session's model, by the one loop that there is. */
export interface Looping {
  readonly input: TaskInput;
  readonly session: Session;
  readonly host: Host;
  readonly parts: {
    readonly model: Model;
    readonly tools: readonly Tool[];
    readonly options: RequestOptions;
    /** Those of this conversation. */
    readonly policies?: Policies;
    readonly workspace?: string | undefined;
    readonly compaction?: CompactionOptions | undefined;
  };
  readonly contexts: SessionContexts | undefined;
  readonly numbers: TurnNumbers;
  readonly plans?: RunPlanCall | undefined;
  /** What has to be true in the end; of the conversation of the session alone. */
  readonly spec?: RunSpec | undefined;
  /** The lane of its turns; left out for the conversation of the session. */
  readonly lane?: string;
}

export interface PlanWork extends Looping {
  readonly parts: Looping['parts'] & { readonly plans: PlanOptions };
  readonly loop: (work: Looping) => AsyncGenerator<unknown, HarnessOutcome, void>;
}

export type PlanInputs = { readonly [name: string]: ExactJson };

export interface SessionPlans {
  readonly limits: PlanLimits;
  readonly registry: PlanRegistry;
  /** Checks a plan for this lane. One that the record has as accepted is not estimated again. */
  check(plan: Plan, lane: string, inputs: PlanInputs): CheckedPlan;
  run(accepted: AcceptedPlan, lane: string, turn: number, inputs: PlanInputs): Promise<PlanEnd>;
  readonly call: RunPlanCall;
  /** Runs the plan that a task is: what `planTask` has written. */
  task(text: string): Promise<HarnessOutcome>;
}

/** What a plan that the model proposes is given: the task, and the name of the first context. */
export function inputsOf(task: string): PlanInputs {
  return { query: task, context: 'input' };
}

/** A plan and its inputs as the task of a run. */
export function planTask(plan: string, inputs: { readonly [name: string]: string } = {}): string {
  return JSON.stringify({ plan, inputs });
}

/** Throws `plan.bad-limit`. */
export function openSessionPlans(work: PlanWork): SessionPlans {
  const { input, session, host, parts, contexts, numbers } = work;
  const options = parts.plans;
  const limits = planLimits(options.limits);
  // A plan cannot have another plan executed: whatever it does is in it and was checked.
  const tools = parts.tools.filter((tool) => tool.runs !== 'plan');
  const toolbox = toolboxOf(session, tools, contexts);
  const registry = registryOf(toolbox.tools, session.projection.tools, parts, contexts);
  const events = input.earlier.filter((event) => event.run === input.run);
  const seat = (lane: string, turn: number, inputs: PlanInputs): PlanSeat => ({
    host,
    run: input.run,
    lane,
    turn,
    events,
    inputs,
    toolbox,
    contexts,
    numbers,
    converse: (request) => converse(work, tools, request),
  });
  const plans: SessionPlans = {
    limits,
    registry,
    check: (plan, lane, inputs) =>
      checkPlan(plan, {
        capabilities: session.capabilities,
        ...(options.childCapabilities === undefined ? {} : { childCapabilities: options.childCapabilities }),
        limits,
        inputs: Object.keys(inputs),
        registry,
        ...(planRecordOf(events, lane).accepted ? {} : { left: (counter) => host.left(counter) }),
      }),
    run: (accepted, lane, turn, inputs) => executePlan(accepted, seat(lane, turn, inputs)),
    call: (ready, turn) => callPlan(plans, work, ready, turn),
    task: (text) => runTask(plans, text),
  };
  return plans;
}

function registryOf(
  tools: ReadonlyMap<string, Tool>,
  shown: readonly string[],
  { model, options }: Pick<Looping['parts'], 'model' | 'options'>,
  contexts: { fault(alias: string): ContextError | undefined } | undefined,
): PlanRegistry {
  return {
    provider: model.id,
    unsaid: ({ max_tokens: _, ...own }) => {
      const written = writeSettings(model.settings, stepSettings(options.settings, own));
      return written.ok ? undefined : written.setting;
    },
    context: (alias) => contexts !== undefined && contexts.fault(alias) === undefined,
    tool: (name) => {
      const tool = shown.includes(name) ? tools.get(name) : undefined;
      if (tool === undefined) return undefined;
      const { capability, counter = 'toolCalls' } = tool;
      return { capability, counter, misfits: (args) => misfitsIn(tool, args) };
    },
  };
}

/** Why a tool refuses arguments, without a word of them; undefined if it takes them. */
export function misfitsIn(tool: Pick<Tool, 'check'>, args: ExactJson): readonly Misfit[] | undefined {
  const checked = tool.check(args);
  return checked.ok ? undefined : (checked.misfits ?? []);
}

/** A model step: the session's own loop, in a lane, with the tools that the step may use and nothing of the agent's text. */
async function converse(
  work: PlanWork,
  tools: readonly Tool[],
  request: Conversing,
): Promise<HarnessOutcome> {
  const { session, input, numbers, parts } = work;
  const { host, lane, prompt, capabilities, options } = request;
  const shown = tools.filter((tool) => session.projection.tools.includes(tool.schema.name));
  const offer = { tools: [], mode: 'all_tools', budgetTokens: null } as const;
  const projection = projectTools(shown, offer, { capabilities, task: prompt }, parts.model);
  const { scope = 'root', skills } = parts.plans;
  const { agent } = session.composition;
  const turns = work.loop({
    input: { task: prompt, earlier: input.earlier, run: input.run },
    session: {
      id: session.id,
      composition: plainComposition(agent, stepSystemText(agent, scope, skills?.steps)),
      projection,
      capabilities,
    },
    host,
    parts: {
      model: parts.model,
      tools: shown,
      options: withStepOptions(parts.options, options),
      policies: stepPolicies(parts.policies),
      compaction: parts.compaction,
    },
    contexts: capabilities.includes('context') ? work.contexts : undefined,
    numbers,
    lane,
  });
  for (;;) {
    const turn = await turns.next();
    if (turn.done) return turn.value;
  }
}

/** Who speaks to the model or ends a run speaks to the session's own conversation; how much of a result is shown holds for each. */
function stepPolicies(policies: Policies = {}): Policies {
  const cap = policies['result-cap'];
  return cap === undefined ? {} : { 'result-cap': cap };
}

/** What the question for a decision is asked with. */
export function decisionOptions(options: RequestOptions, { reasoningEffort }: PlanOptions): RequestOptions {
  if (reasoningEffort === undefined) return options;
  return { ...options, settings: { ...options.settings, reasoning_effort: reasoningEffort } };
}

/** A step may ask for less than the session would. */
function withStepOptions(options: RequestOptions, { max_tokens, ...own }: StepOptions): RequestOptions {
  const given = max_tokens ?? null;
  const maxTokens =
    given === null || options.maxTokens === null
      ? (given ?? options.maxTokens)
      : Math.min(given, options.maxTokens);
  return { ...options, maxTokens, settings: stepSettings(options.settings, own) };
}

// Of sampling the step has the last word; how much is reasoned is for whoever pays for it to say.
function stepSettings(session: Settings = {}, own: Settings): Settings {
  const { reasoning_effort } = session;
  return { ...session, ...own, ...(reasoning_effort === undefined ? {} : { reasoning_effort }) };
}

async function callPlan(
  plans: SessionPlans,
  { input, contexts }: PlanWork,
  ready: ReadyCall,
  turn: number,
): Promise<CallEnd | CallHeld> {
  const { tool, position, value } = ready;
  const place = { tool, turn, position, contexts };
  const failed = (error: { readonly code: string; readonly message: string }) =>
    fromOutput(place, { status: 'failed', code: error.code, message: error.message });
  const parsed = parsePlan(isRecord(value) ? ((value.plan ?? null) as ExactJson) : null);
  const refused = async (error: PlanError) => ({ ...(await failed(error)), own: true as const });
  if (!parsed.ok) return refused(faultError(parsed.fault));
  const lane = `call-${turn}-${position}`;
  const inputs = inputsOf(input.task);
  const checked = plans.check(parsed.plan, lane, inputs);
  if (!checked.ok) return refused(checked.error);
  const end = await plans.run(checked.accepted, lane, turn, inputs);
  switch (end.status) {
    case 'completed':
      return fromOutput(place, { status: 'succeeded', value: end.value });
    case 'failed':
      return failed(end.error);
    case 'cancelled':
      return failed({ code: 'tool.cancelled', message: 'Cancelled before the plan was done.' });
    case 'held':
      return { status: 'waiting', outcome: end.outcome };
  }
}

/**
 * Throws a PlanError for a task that is no plan, or none that this session may carry out, before there is a run. What is
 * left of its budget is looked at when it begins.
 */
export function admitPlan(
  session: Session,
  task: string,
  given: Pick<PlanWork['parts'], 'model' | 'tools' | 'options' | 'plans'> & {
    readonly contexts: readonly GivenContext[];
  },
): void {
  const { tools, contexts, plans } = given;
  const { plan, inputs } = readTask(task);
  const parsed = parsePlan(plan);
  if (!parsed.ok) throw faultError(parsed.fault);
  const { capabilities, projection } = session;
  const byName = new Map(tools.flatMap((tool) => (tool.runs === 'plan' ? [] : [[tool.schema.name, tool]])));
  const isGiven = {
    fault: (alias: string) => (contexts.some((one) => one.alias === alias) ? undefined : missing),
  };
  const checked = checkPlan(parsed.plan, {
    capabilities,
    ...(plans.childCapabilities === undefined ? {} : { childCapabilities: plans.childCapabilities }),
    limits: planLimits(plans.limits),
    inputs: Object.keys(inputs),
    registry: registryOf(byName, projection.tools, given, isGiven),
  });
  if (!checked.ok) throw checked.error;
}

const missing = new ContextError('context.unknown', 'There is no such context.');

/** The lane of the one plan that carries out a whole run. */
export const rootLane = 'plan';

async function runTask(plans: SessionPlans, text: string): Promise<HarnessOutcome> {
  const { plan, inputs } = readTask(text);
  const parsed = parsePlan(plan);
  if (!parsed.ok) return { status: 'refused', error: faultError(parsed.fault).toJSON() };
  const checked = plans.check(parsed.plan, rootLane, inputs);
  if (!checked.ok) return { status: 'refused', error: checked.error.toJSON() };
  return planOutcome(await plans.run(checked.accepted, rootLane, 0, inputs));
}

function readTask(text: string): { readonly plan: string; readonly inputs: PlanInputs } {
  try {
    const task = parseExactJson(text);
    if (isRecord(task) && typeof task.plan === 'string' && isRecord(task.inputs))
      return { plan: task.plan, inputs: task.inputs as PlanInputs };
  } catch {
    // A task that is no JSON may still be a plan in a fence.
  }
  return { plan: text, inputs: {} };
}

/** How the run of a plan ends by how the plan did. A final text is the answer as it is, any other value as JSON. */
export function planOutcome(end: PlanEnd): HarnessOutcome {
  switch (end.status) {
    case 'completed':
      return { status: 'completed', answer: wholeText(end.value) };
    case 'failed':
      return { status: 'failed', error: end.error };
    case 'cancelled':
      return { status: 'cancelled', error: cancelled() };
    case 'held':
      return end.outcome;
  }
}
