/** Our own harness: a model of the caller's choice, the tools of the agent, and the direct loop between them. */
import type { Policies } from '../compose/policies.ts';
import type { Harness } from '../harness.ts';
import type { Gate } from '../sandbox/gate.ts';
import type { CompactionOptions } from './compaction.ts';
import { checkGiven, type GivenContext } from './context/session-contexts.ts';
import type { Model } from './model/model.ts';
import { checkSkills } from './plan/given-skills.ts';
import { planLimits } from './plan/limits.ts';
import { admitPlan, decisionOptions, type PlanOptions, type Root } from './plan/session-plans.ts';
import { stallRetries } from './policies/session-policies.ts';
import { defaultRequestOptions, type RequestOptions } from './request.ts';
import { parametersOf } from './request-parameters.ts';
import { openSession } from './session.ts';
import type { GivenSpec } from './spec/run-spec.ts';
import { type Offer, offerTokensUsual, projectTools } from './surface.ts';
import { gatedTool } from './tool/gated-tool.ts';
import type { Tool } from './tool/tool.ts';

export interface NativeOptions {
  /** Owned by the caller, who closes it. */
  readonly model: Model;
  /** In the order in which the model sees them; owned by the caller, who closes them. */
  readonly tools?: readonly Tool[];
  /** More tools, such as those of MCP servers, from which a session chooses what it shows; owned by the caller too. */
  readonly offer?: Pick<Offer, 'tools'> & Partial<Offer>;
  /** Every call that may change something waits here while `gate.capture` takes a copy of the workspace. */
  readonly gate?: Gate;
  readonly request?: Partial<RequestOptions>;
  /** Data that the model may look into without reading it; needs the capability 'context'. */
  readonly contexts?: readonly GivenContext[];
  /** `loop` unless given: the model works turn by turn. `decide`: it answers or proposes a plan. `plan`: the task is one. */
  readonly root?: Root;
  readonly plans?: PlanOptions;
  /** What may speak to the model or stop the run beside it, by name. */
  readonly policies?: Policies;
  /** The folder that the tools work in: breakers among the policies look for themselves whether anything in it changes. */
  readonly workspace?: string;
  /** What has to be true in the end, whoever says so; of the run itself, never of its children. */
  readonly spec?: GivenSpec;
  /** Lets old messages leave a long conversation; without it, all of it goes with each request. */
  readonly compaction?: CompactionOptions;
}

/**
 * The native harness. It enforces every guarantee that a harness can declare. Throws `plan.bad-limit`, `plan.bad-skill` and
 * `model.setting-unsupported`.
 */
export function native(given: NativeOptions): Harness {
  const {
    model,
    tools = [],
    offer,
    gate,
    request = {},
    contexts = [],
    root = 'loop',
    plans = {},
    policies = {},
    workspace,
    spec,
    compaction,
  } = given;
  planLimits(plans.limits);
  checkSkills(plans.skills ?? {});
  const mode = offer?.mode ?? 'compiled';
  const budgetTokens = mode === 'all_tools' ? null : offerTokensUsual;
  const offered: Offer = { tools: [], budgetTokens, ...offer, mode };
  const all = [...tools, ...offered.tools];
  const behindGate = gate === undefined ? all : all.map((tool) => gatedTool(tool, gate));
  // Whatever asks the model asks with them: the loop, a decision, a step of a plan.
  const options: RequestOptions = {
    ...defaultRequestOptions,
    stallRetries: stallRetries(policies),
    ...request,
  };
  for (const asked of [options, decisionOptions(options, plans)]) parametersOf(model, asked);
  return {
    name: 'native',
    declares: {
      budget: 'enforced',
      approval: 'enforced',
      effects: 'enforced',
      resume: 'enforced',
      cancel: 'enforced',
    },
    model: model.id,
    project: async (session) => {
      checkGiven(contexts, session.capabilities);
      const handedOn = (tool: Tool) => session.tools?.includes(tool.schema.name) ?? true;
      const offer = { ...offered, tools: offered.tools.filter(handedOn) };
      return projectTools(tools.filter(handedOn), offer, session, model);
    },
    unkeepable: (counters) =>
      counters.includes('costUsd') && model.price === null
        ? [
            {
              counter: 'costUsd',
              reason: `no price is known for ${model.id}, so its cost cannot be reserved before a request`,
              next: `Give the price under prices: in agent.yaml, or leave costUsd out of the budget.`,
            },
          ]
        : [],
    ...(root !== 'plan'
      ? {}
      : {
          admit: async (session, { task, child }) => {
            const given = { model, tools: behindGate, options, contexts, plans };
            if (!child) admitPlan(session, task, given);
          },
        }),
    open: async (session, host) =>
      openSession(session, host, {
        model,
        tools: behindGate,
        options,
        contexts,
        root,
        plans,
        policies,
        workspace,
        spec,
        compaction,
      }),
  };
}
