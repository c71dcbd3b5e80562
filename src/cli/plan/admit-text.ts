/** `admitText`: what both commands hold of a plan before anything of it is run, a model or a key being no part of that. */
import type { AcceptedPlan, PlanCheck, RegisteredTool } from '../../native/plan/check-plan.ts';
import { configuredRun } from '../compose/configured.ts';
import type { Composed } from '../compose/situation-flags.ts';
import { CliError } from '../errors.ts';
import type { RunFlags } from '../run/run-flags.ts';

export interface AdmittedText {
  readonly accepted: AcceptedPlan;
  /** True if a step of it asks a model, or calls a tool that may. */
  readonly asksModel: boolean;
}

/**
 * Checks the plan of a text, for the agent that `compose` gives if there is one. Throws a PlanError, and `cli.no-model` for a plan that asks a
 * model where none is given.
 */
export async function admitText(
  text: string,
  inputs: readonly string[],
  compose: (() => Promise<Composed>) | undefined,
  { model }: Pick<RunFlags, 'model'>,
): Promise<AdmittedText> {
  const [{ parsePlan }, { checkPlan, eachStep }, { faultError }, { planLimits }] = await Promise.all([
    import('../../native/plan/read-plan.ts'),
    import('../../native/plan/check-plan.ts'),
    import('../../native/plan/fault.ts'),
    import('../../native/plan/limits.ts'),
  ]);
  const parsed = parsePlan(text);
  if (!parsed.ok) throw faultError(parsed.fault);
  const named = new Set<string>();
  eachStep(parsed.plan, (step) => {
    if (step.op === 'tool') named.add(step.name);
  });
  const { mayAsk, ...rights } =
    compose === undefined ? await everyRight() : await rightsOf(await compose(), model, named);
  const checked = checkPlan(parsed.plan, { ...rights, limits: planLimits(), inputs });
  if (!checked.ok) {
    if (checked.fault?.fault === 'unknown_provider' && rights.registry?.provider === null)
      throw modelMissing();
    throw checked.error;
  }
  let asksModel = false;
  eachStep(parsed.plan, (step) => {
    asksModel ||= step.op === 'model' || (step.op === 'tool' && mayAsk(step.name));
  });
  return { accepted: checked.accepted, asksModel };
}

type Rights = Pick<PlanCheck, 'capabilities' | 'registry'> & {
  /** Whether a tool may have a model asked, by a child. */
  readonly mayAsk: (tool: string) => boolean;
};

async function everyRight(): Promise<Rights> {
  const { planCapabilities, planCapability } = await import('../../native/plan/capabilities.ts');
  return { capabilities: [planCapability, ...Object.values(planCapabilities)], mayAsk: () => true };
}

/**
 * Of tools in the agent's folder only the names are known: their code is never loaded by a check. Of built-in ones that the plan
 * names, the parameters are known too.
 */
async function rightsOf(
  composed: Composed,
  model: string | undefined,
  named: ReadonlySet<string>,
): Promise<Rights> {
  const { agent, configured } = composed;
  const { tools: builtIn } = await import('../../catalog.ts');
  const listed = new Map<string, RegisteredTool>();
  for (const { name, options, own } of agent.tools) {
    const capability = builtIn.find((tool) => tool.name === name)?.capability ?? null;
    const counter = capability === 'context' ? 'contextOps' : 'toolCalls';
    const known = own !== true && named.has(name);
    const misfits = known ? await misfitsOfBuiltIn(name, options, composed) : undefined;
    listed.set(name, { capability, counter, ...(misfits === undefined ? {} : { misfits }) });
  }
  // Which tools a server offers is known only once it was asked, and a check starts none.
  const servers = agent.mcp.size > 0;
  return {
    capabilities: agent.capabilities,
    registry: {
      provider: model ?? configuredRun(configured).model ?? agent.model,
      context: () => true,
      tool: (name) => listed.get(name) ?? (servers ? { capability: null, counter: 'toolCalls' } : undefined),
    },
    // Code of the folder may ask for a child like `subagent`; no other tool of ours does, and no server can.
    mayAsk: (name) => listed.get(name)?.capability === null || name === 'subagent',
  };
}

/** Undefined for a tool that cannot be opened here; a run would say why. */
async function misfitsOfBuiltIn(
  name: string,
  options: Composed['agent']['tools'][number]['options'],
  { workspace, situation }: Composed,
): Promise<RegisteredTool['misfits']> {
  const [{ openBuiltIn, skillFolders }, { misfitsIn }] = await Promise.all([
    import('../run/built-in-tool.ts'),
    import('../../native/plan/session-plans.ts'),
  ]);
  try {
    const seat = { workspace, skills: skillFolders(situation.skills ?? []) };
    const tool = await openBuiltIn({ name, options: { ...options } }, seat);
    await tool.close();
    return (args) => misfitsIn(tool, args);
  } catch {
    return undefined;
  }
}

function modelMissing(): CliError {
  return new CliError('cli.no-model', 'The plan asks a model, and none is given: --model.', {
    next: 'Give one with --model provider/name, or write model: provider/name into agent.yaml.',
  });
}
