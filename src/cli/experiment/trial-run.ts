/** A trial as an ordinary run of the command line: the harness of its arm in a fresh workspace, recorded in the ledger. */
import { rm } from 'node:fs/promises';
import { plainComposition } from '../../compose/plain.ts';
import { policiesFor } from '../../compose/policies.ts';
import { chooseSkills } from '../../compose/skills.ts';
import { forgetHome, homesFolder } from '../../deliver/drive/home.ts';
import { plantHome } from '../../deliver/verify/planted-home.ts';
import { thisHolder } from '../../ledger/holder.ts';
import { openLedger } from '../../ledger/ledger.ts';
import type { Store } from '../../ledger/store.ts';
import { wireNames } from '../../native/model/wire-names.ts';
import type { Json } from '../../protocol/json.ts';
import type { RunResult } from '../../protocol/outcome.ts';
import type { Execute } from '../../prove/experiment-run.ts';
import type { Judge } from '../../prove/grade/grader.ts';
import { type StartRequest, startRun } from '../../run/run.ts';
import type { Context } from '../context.ts';
import { openHarness } from '../run/harness-parts.ts';
import { type AnyOrigin, type Origin, type OutsideOrigin, originRecord } from '../run/origin.ts';
import { openOutside } from '../run/outside-parts.ts';
import { planSkillsOf } from '../run/plan-skills.ts';
import { givenSpecFile } from '../run/spec-file.ts';
import type { Consent } from '../trust/trust.ts';
import type { OpenedExperiment } from './open-experiment.ts';
import { type OutsideFlags, outsideOrigin } from './outside-trial.ts';

export interface ServerFlags extends OutsideFlags {
  readonly trust?: true | undefined;
}

type Asked = Pick<
  StartRequest,
  'composition' | 'capabilities' | 'limits' | 'task' | 'origin' | 'signal' | 'ask'
>;

/** What runs trials: on the native harness, or on the agent program that the arm names. */
export function executorOf(
  context: Context,
  { experiment, arms }: OpenedExperiment,
  store: Store,
  flags: ServerFlags,
): Execute {
  const { written } = experiment;
  return async ({ side, task, workspace, stamp, signal }) => {
    const { agent, model, harness, compose } = arms[side];
    const { key, capabilities } = agent;
    const { composition } = await compose(workspace);
    const asked = (origin: AnyOrigin): Asked => ({
      composition,
      capabilities,
      limits: limitsOf(written.budget) ?? agent.budget,
      task,
      origin: { ...originRecord(origin), experiment: stamp },
      signal,
    });
    if (harness !== undefined) {
      const outside = await outsideOrigin(context, { harness, agent }, written, flags, workspace);
      return startOutside(context, store, outside, asked(outside));
    }
    const spec = await givenSpecFile(context, undefined, agent.spec);
    // What a session of this agent has, and no other skill of its folder.
    const skills = chooseSkills(agent.skills, agent.ownSkills);
    const planSkills = await planSkillsOf(agent, skills);
    const policies = policiesFor(agent.policies, false);
    const origin: Origin = {
      ...serverOf(written, flags),
      ...(spec === undefined ? {} : { spec }),
      ...(planSkills === undefined ? {} : { planSkills }),
      ...(Object.keys(policies).length === 0 ? {} : { policies: JSON.parse(JSON.stringify(policies)) }),
      ...(agent.conversation === null ? {} : { conversation: { ...agent.conversation } }),
      agentFolder: agent.folder,
      workspace,
      model: model ?? '',
      price: written.price ?? (model === null ? undefined : agent.prices.get(model)),
      tools: agent.tools.map(({ options, ...tool }) => ({ ...tool, options: { ...options } })),
      surface: agent.surface,
      ...(agent.mcp.size === 0 ? {} : { mcp: JSON.parse(JSON.stringify(Object.fromEntries(agent.mcp))) }),
      ...(skills.length === 0
        ? {}
        : { skills: Object.fromEntries(skills.map((skill) => [skill.name, skill.folder])) }),
      situation: {},
    };
    const consent = { agent: key, trust: flags.trust === true, quiet: true, capabilities };
    return start(context, store, origin, consent, {
      ...asked(origin),
      ...(written.approvals === 'grant' ? { ask: granted } : {}),
    });
  };
}

/** What asks a judging model: a run without tools, on record like every other. */
export function judgeOf(
  context: Context,
  store: Store,
  flags: ServerFlags,
  written: OpenedExperiment['experiment']['written'],
): Judge {
  return async ({ model, instructions, case: asked, signal }) => {
    const origin: Origin = {
      ...serverOf(written, flags),
      agentFolder: context.cwd,
      workspace: context.cwd,
      model,
      tools: [],
      situation: {},
    };
    const result = await start(
      context,
      store,
      origin,
      { agent: '', trust: false, quiet: true },
      {
        composition: plainComposition('judge', instructions),
        capabilities: [],
        limits: { turns: 1 },
        task: asked,
        origin: { ...originRecord(origin), experiment: { judge: true } },
        ...(signal === undefined ? {} : { signal }),
      },
    );
    const seen = (await store.events(result.run)).findLast((event) => event.type === 'model-response');
    return {
      text: result.answer,
      modelSeen: seen?.type === 'model-response' ? seen.modelSeen : null,
      usage: result.usage,
    };
  };
}

/**
 * The program has a home full of canaries as its user's, beside the workspace, in the place of the operator's own. Its
 * session is never continued, so nothing of either home stays.
 */
async function startOutside(
  context: Context,
  store: Store,
  origin: OutsideOrigin,
  asked: Asked,
): Promise<RunResult> {
  const userHome = `${origin.workspace}.home`;
  await plantHome(userHome);
  try {
    const parts = await openOutside(context, origin, () => {}, { keepBodies: true, userHome });
    const result = await startRun({
      ...asked,
      harness: parts.harness,
      ...(parts.lowered === undefined ? {} : { lowered: parts.lowered }),
      store: openLedger({ store, secrets: parts.secrets }),
      clock: context.clock,
      holder: thisHolder(context.clock),
      approve: 'deny',
    });
    await forgetHome(homesFolder(context.env), result.session);
    return result;
  } finally {
    await rm(userHome, { recursive: true, force: true });
  }
}

const granted: NonNullable<StartRequest['ask']> = async () => ({
  decision: 'approved',
  by: 'the registration',
  reason: 'approvals: grant',
});

async function start(
  context: Context,
  store: Store,
  origin: Origin,
  consent: Consent,
  asked: Asked,
): Promise<RunResult> {
  const parts = await openHarness(context, origin, consent);
  try {
    return await startRun({
      ...asked,
      harness: parts.harness,
      // The store stays the command's; only what keeps secrets out of it is made anew.
      store: openLedger({ store, secrets: parts.secrets }),
      clock: context.clock,
      holder: thisHolder(context.clock),
      // No person is asked, who would be a part of the arm: the answer is registered.
      approve: asked.ask === undefined ? 'deny' : 'ask',
    });
  } finally {
    await parts.close();
  }
}

function serverOf(
  { server }: OpenedExperiment['experiment']['written'],
  flags: ServerFlags,
): Pick<Origin, 'baseUrl' | 'wire' | 'keyEnv' | 'maxTokens'> {
  return {
    baseUrl: flags.baseUrl ?? server?.baseUrl,
    wire: wireNames.find((name) => name === server?.wire),
    keyEnv: server?.keyEnv,
    maxTokens: server?.maxTokens,
  };
}

function limitsOf(
  budget: Readonly<Record<string, Json | undefined>> | undefined,
): StartRequest['limits'] | undefined {
  return budget === undefined ? undefined : (budget as StartRequest['limits']);
}
