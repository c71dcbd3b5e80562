/** Builds the native harness that a session's origin describes: its model, its tools, and the secrets among them. */
import { vocabulary } from '../../catalog.ts';
import { namingMend } from '../../compose/nearest.ts';
import type { Policies } from '../../compose/policies.ts';
import type { HttpLimits } from '../../native/model/http-model.ts';
import { noModel } from '../../native/model/mute-model.ts';
import { type ResolvedModel, resolveModel } from '../../native/model/providers.ts';
import { type NativeOptions, native } from '../../native/native.ts';
import type { Tool } from '../../native/tool/tool.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { type OpenedCode, openOwnCode } from '../trust/own-code.ts';
import type { Consent } from '../trust/trust.ts';
import { openBuiltIn } from './built-in-tool.ts';
import { givenContexts } from './context-files.ts';
import type { AnyOrigin, Origin } from './origin.ts';
import { openOutside } from './outside-parts.ts';
import type { HarnessParts } from './parts.ts';
import { givenSpec } from './spec-file.ts';

/**
 * Throws for what cannot be used. Nothing is sent yet. Code of the agent folder is run only by what `consent` says, and
 * without it not at all; a built-in tool starts nothing before its first call.
 */
export async function openHarness(
  context: Context,
  origin: AnyOrigin,
  consent: Consent = { agent: '', trust: false, quiet: true },
): Promise<HarnessParts> {
  if ('outside' in origin) return openOutside(context, origin);
  const model = origin.modelless === true ? { ...noModel, secrets: [] } : modelOf(context, origin);
  const tools: Tool[] = [];
  let code: OpenedCode | undefined;
  const close = async () => {
    await Promise.all([model.close(), code?.close(), ...tools.map((tool) => tool.close())]);
  };
  try {
    code = await openOwnCode(context, origin, consent, model.secrets);
    for (const choice of origin.tools) {
      tools.push(...(code.own.get(choice.name) ?? [await openBuiltIn(choice, origin)]));
    }
    mustBeUsed(consent.capabilities ?? [], origin, [...tools, ...code.mcp]);
  } catch (error) {
    await close();
    throw error;
  }
  const { reasoningEffort: effort, decisionEffort, planSkills: skills } = origin;
  const request = {
    maxTokens: origin.maxTokens ?? null,
    ...(effort === undefined ? {} : { settings: { reasoning_effort: effort } }),
  };
  return {
    harness: native({
      model,
      tools,
      offer: offerOf(code, origin),
      request,
      contexts: givenContexts(origin),
      root: origin.root ?? 'loop',
      plans: {
        ...(decisionEffort === undefined ? {} : { reasoningEffort: decisionEffort }),
        ...(skills === undefined ? {} : { skills }),
      },
      ...(origin.spec === undefined ? {} : { spec: givenSpec(origin.spec, origin.workspace) }),
      policies: (origin.policies ?? {}) as Policies,
      workspace: origin.workspace,
      ...(origin.conversation === undefined ? {} : { compaction: origin.conversation }),
    }),
    secrets: [...model.secrets, ...code.secrets],
    notices: [...code.notices, ...unseen(consent.capabilities, code)],
    close,
  };
}

function modelOf(context: Context, origin: Origin): ResolvedModel {
  return resolveModel(origin.model, {
    env: context.env,
    baseUrl: origin.baseUrl,
    wire: origin.wire,
    keyEnv: origin.keyEnv,
    prices: pricesOf(origin),
    clock: context.clock,
    limits: stallLimits(origin),
  });
}

/** How long an answer may stand still, where the agent says it. */
function stallLimits({ policies }: Origin): Partial<HttpLimits> {
  const { firstByteMs, idleMs } = policies?.['stall-recovery'] ?? {};
  return {
    ...(firstByteMs === undefined ? {} : { firstByteTimeoutMs: firstByteMs }),
    ...(idleMs === undefined ? {} : { idleTimeoutMs: idleMs }),
  };
}

/** A capability that only a tool of the folder could have, and none has, is a slip that would leave a tool unseen. */
function mustBeUsed(held: readonly string[], { mcp = {} }: Origin, tools: readonly Tool[]): void {
  const known = new Set([
    ...vocabulary.capabilities,
    ...Object.keys(mcp).map((server) => `mcp.${server}`),
    ...tools.map((tool) => tool.capability),
  ]);
  const unknown = held.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new CliError(
    'cli.unknown-capability',
    `agent.yaml grants the capability '${unknown}', and no tool of the agent has it.`,
    { next: namingMend(unknown, known), details: { capability: unknown } },
  );
}

/** What servers offer beside the tools that the agent lists. */
function offerOf({ mcp }: OpenedCode, { surface }: Origin): NonNullable<NativeOptions['offer']> {
  if (surface === undefined) return { tools: mcp };
  const { mode, tokens } = surface;
  return { tools: mcp, mode, ...(tokens === null ? {} : { budgetTokens: tokens }) };
}

/** Tools that the agent brings and may not use: allowed, and most often forgotten. */
function unseen(held: readonly string[] | undefined, { own, mcp }: OpenedCode): readonly string[] {
  const tools = [...own.values(), mcp].flat();
  const capabilities = new Set(tools.map((tool) => tool.capability));
  return [...capabilities]
    .filter((name) => held !== undefined && !held.includes(name))
    .map((name) => {
      const hidden = tools.filter(({ capability }) => capability === name).map(({ schema }) => schema.name);
      return `The agent does not hold the capability '${name}', so its model does not see ${firstOf(hidden)}.`;
    });
}

const namesMax = 8;

// A server may offer hundreds.
function firstOf(names: readonly string[]): string {
  const more = names.length - namesMax;
  return more > 0 ? `${names.slice(0, namesMax).join(', ')} and ${more} more` : names.join(', ');
}

function pricesOf({ model, price }: Origin): Parameters<typeof resolveModel>[1]['prices'] {
  if (price === undefined) return undefined;
  const { prompt, completion, cached, cacheWrite } = price;
  return {
    [model]: {
      prompt,
      completion,
      ...(cached === undefined ? {} : { cached }),
      ...(cacheWrite === undefined ? {} : { cacheWrite }),
    },
  };
}
