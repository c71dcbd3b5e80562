/** `writ run --harness NAME` for an agent program: all that the agent asks for is delivered to it, or refused. */
import { resolve } from 'node:path';
import { allAdapters } from '../../catalog.ts';
import type { Adapter } from '../../deliver/adapter.ts';
import { type ReasoningEffort, reasoningEfforts } from '../../deliver/request.ts';
import { type Declarations, type Guarantee, guarantees } from '../../harness.ts';
import type { Lowered } from '../../run/guarantees.ts';
import { configuredRun } from '../compose/configured.ts';
import { absoluteFlags, type Composed, composeFolder } from '../compose/situation-flags.ts';
import type { Context } from '../context.ts';
import { findOnPath } from '../doctor/program-version.ts';
import { CliError } from '../errors.ts';
import { overlayLimits, unlimitedNotices } from './limits.ts';
import type { OutsideOrigin } from './origin.ts';
import type { RunFlags } from './run-flags.ts';

/** Runs the task. Whatever cannot be honoured is refused before the program is looked for. */
export async function runOutside(
  context: Context,
  folder: string,
  flags: RunFlags & { readonly harness: string },
  task: string,
): Promise<number> {
  mustBeMeant(flags);
  const composed = await composeFolder(context, folder, flags);
  mustBeKept(composed, flags.harness);
  const limits = overlayLimits(composed.agent.budget, flags.budget);
  const { origin, unused } = await describe(context, composed, flags, task);
  await mustBeTrustedToo(context, composed, flags);
  const [
    { openOutside },
    { originRecord },
    { openStore },
    { mustBeOwn },
    { inSeat },
    { startRun },
    { checkGuarantees },
  ] = await Promise.all([
    import('./outside-parts.ts'),
    import('./origin.ts'),
    import('./open-store.ts'),
    import('./own-ledger.ts'),
    import('./run-seat.ts'),
    import('../../run/run.ts'),
    import('../../run/guarantees.ts'),
  ]);
  const parts = await openOutside(
    context,
    origin,
    (harness, lowered) => {
      checkGuarantees(harness, limits, lowered);
    },
    { verify: flags.verify === true },
  );
  const notices = [...parts.notices, ...unused];
  const opened = await openStore(context, flags, composed.workspace);
  try {
    if (flags.session !== undefined) await mustBeOwn(context, opened, 'run', '…', '--session', flags.session);
    return await inSeat(context, opened, { ...parts, notices }, flags, (seat) =>
      startRun({
        ...seat,
        composition: composed.composition,
        capabilities: composed.agent.capabilities,
        limits,
        notices: unlimitedNotices(limits, flags.budget),
        task,
        ...(flags.session === undefined ? {} : { session: flags.session }),
        origin: originRecord(origin),
      }),
    );
  } finally {
    await opened.store.close();
  }
}

const ofNative = ['wire', 'keyEnv', 'surface', 'context', 'spec', 'decisionEffort'] as const;
const optionNames = {
  wire: '--wire',
  keyEnv: '--key-env',
  surface: '--surface',
  context: '--context',
  spec: '--spec',
  decisionEffort: '--decision-effort',
};

function mustBeMeant(flags: RunFlags & { readonly harness: string }): void {
  if (flags.verify === true && flags.unmeasured === 'warn')
    throw new CliError('cli.bad-value', '--verify measures, and --unmeasured warn goes on without that.', {
      next: 'Leave one of the two out.',
      details: { option: '--verify' },
    });
  const option = ofNative.find((name) => flags[name] !== undefined);
  if (option === undefined) return;
  throw new CliError(
    'cli.unsupported',
    `${optionNames[option]} is for the native harness; ${flags.harness} has nothing like it.`,
    { next: `Leave ${optionNames[option]} out.`, details: { option: optionNames[option] } },
  );
}

// An agent program answers to its own loop: what nothing keeps must be an error, not a promise.
function mustBeKept({ agent }: Composed, harness: string): void {
  const { policies, plans, spec } = agent;
  const [policy] = Object.keys(policies);
  const unkept = [
    policy === undefined ? undefined : `policies.${policy}`,
    plans.decisionSkills.length + plans.stepSkills.length === 0 ? undefined : 'plans',
    spec === null ? undefined : 'spec',
  ].find((key) => key !== undefined);
  if (unkept === undefined) return;
  throw new CliError('cli.unsupported', `agent.yaml has ${unkept}, which ${harness} does not keep.`, {
    next: 'Take it out, or run the agent on the native harness.',
    details: { key: unkept },
  });
}

/** All that is needed to open it again. Throws a refusal for what no start of it could honour, before it is looked for. */
async function describe(
  context: Context,
  composed: Composed,
  flags: RunFlags & { readonly harness: string },
  task: string,
): Promise<{ readonly origin: OutsideOrigin; readonly unused: readonly string[] }> {
  const { agent, composition, folder, workspace, situation } = composed;
  const { env } = context;
  const [
    adapters,
    { adapterOf, planDelivery },
    { dimensionsOf },
    { agentModel },
    { authModeOf, vendorServer },
    { homesFolder },
    cells,
    { claimedCell },
    { mustBeMeterable },
  ] = await Promise.all([
    allAdapters(),
    import('../../deliver/plan-delivery.ts'),
    import('../../deliver/agent-dimensions.ts'),
    import('../../deliver/agent-model.ts'),
    import('../../deliver/adapter.ts'),
    import('../../deliver/drive/home.ts'),
    import('../../deliver/verify/measured-cells.ts'),
    import('../../deliver/verify/claimed-cell.ts'),
    import('../../deliver/meter/meterable.ts'),
  ]);
  const intent = flags.intent ?? agent.deliver.intent ?? 'append';
  const fidelity = flags.fidelity ?? agent.deliver.fidelity ?? 'base';
  const unmeasured = flags.unmeasured ?? 'refuse';
  const adapter = adapterOf(flags.harness, { intent }, { adapters });
  const authMode = authModeOf(adapter, env);
  if (flags.metered === true) mustBeMeterable(adapter);
  const program = () => programOf(context, adapter, flags.bin);
  if (adapter.program !== null && flags.binArg !== undefined)
    throw new CliError('cli.unsupported', `--bin-arg is for ACP agents; ${adapter.name} has its own words.`, {
      next: 'Leave --bin-arg out.',
      details: { option: '--bin-arg' },
    });
  const { model, notices } = agentModel(adapter, agent.model, {
    given: flags.model,
    redirected: flags.baseUrl !== undefined,
  });
  const dimensions = {
    // Where the harness is a protocol, its program is a part of the request.
    ...(adapter.program === null ? { agent: [program(), ...(flags.binArg ?? [])] } : {}),
    ...(await dimensionsOf(adapter.name, agent, situation.skills)),
    ...(model === null ? {} : { model }),
    ...(flags.maxTokens === undefined ? {} : { outputTokensMax: flags.maxTokens }),
    ...(flags.permissions === undefined ? {} : { permissions: flags.permissions }),
    ...(flags.reasoningEffort === undefined ? {} : { reasoningEffort: effortOf(flags.reasoningEffort) }),
  };
  const baseUrl =
    flags.baseUrl ??
    (flags.metered === true ? vendorOf(adapter.name, vendorServer(adapter, authMode)) : null);
  const asked = { intent, fidelity, baseUrl, ...dimensions };
  planDelivery(
    adapter.name,
    {
      ...asked,
      text: composition.text,
      task,
      version: null,
      authMode,
      home: homesFolder(env),
      workspace,
      platform: process.platform,
      resume: null,
    },
    {
      adapters,
      unmeasured,
      measured:
        flags.verify === true
          ? [claimedCell({ adapter, version: null, model, authMode }, intent, fidelity)]
          : await cells.readMeasuredCells(cells.measuredCellsPath(env)),
    },
  );
  // What a meter enforces need not be done without.
  const declared =
    flags.metered === true ? { ...adapter.declares, budget: 'enforced' as const } : adapter.declares;
  const origin = {
    agentFolder: folder,
    workspace,
    situation: absoluteFlags(context, agent, flags),
    outside: {
      harness: adapter.name,
      program: program(),
      intent,
      fidelity,
      unmeasured,
      ...(baseUrl === null ? {} : { baseUrl }),
      ...(flags.metered === true ? { metered: true as const, ...pricesOf(composed) } : {}),
      dimensions: JSON.parse(JSON.stringify(dimensions)),
      lowered: readLowered(flags.lower ?? [], declared),
    },
  };
  return { origin, unused: notices };
}

/** No program takes `max` by a control that is known. */
function effortOf(given: NonNullable<RunFlags['reasoningEffort']>): ReasoningEffort {
  const effort = reasoningEfforts.find((one) => one === given);
  if (effort !== undefined) return effort;
  throw new CliError(
    'cli.bad-value',
    `--reasoning-effort ${given} is for models; agent programs stop at xhigh.`,
    {
      next: `Give one of: ${reasoningEfforts.join(', ')}.`,
      details: { option: '--reasoning-effort' },
    },
  );
}

/** Where a metered program's requests are sent on to. */
function vendorOf(name: string, server: string | undefined): string {
  if (server !== undefined) return server;
  throw new CliError(
    'cli.missing-argument',
    `Expected --base-url beside --metered: ${name} asks models of several vendors.`,
    { next: 'Give the base URL of the model server, such as --base-url https://api.openai.com/v1.' },
  );
}

/** Prices by the model's own name, as a request bears it; the ones of a configuration win. */
function pricesOf({ agent, configured }: Composed): Pick<OutsideOrigin['outside'], 'prices'> {
  const known = [...agent.prices, ...configuredRun(configured).prices];
  if (known.length === 0) return {};
  const named = known.map(([spec, price]) => [spec.slice(spec.indexOf('/') + 1), { ...price }] as const);
  return { prices: JSON.parse(JSON.stringify(Object.fromEntries(named))) };
}

function programOf(context: Context, adapter: Adapter, bin: string | undefined): string {
  if (bin !== undefined) return resolve(context.cwd, bin);
  const found = adapter.program === null ? undefined : findOnPath(adapter.program, context.env);
  if (found !== undefined) return found;
  throw new CliError(
    'cli.no-program',
    `Expected the program ${adapter.program ?? adapter.name} of ${adapter.name} on PATH, found none.`,
    { next: 'Install it, or give its path with --bin.', details: { harness: adapter.name } },
  );
}

/** Each text is `all`, or `guarantee=level` several times with commas between. */
function readLowered(texts: readonly string[], declares: Declarations): Lowered {
  const lowered: { [G in (typeof guarantees)[number]]?: Exclude<Guarantee, 'enforced'> } = {};
  for (const text of texts.flatMap((one) => one.split(','))) {
    if (text === 'all') {
      for (const name of guarantees) {
        const given = declares[name];
        if (given !== 'enforced') lowered[name] = given;
      }
      continue;
    }
    const [name, level] = text.split('=');
    const guarantee = guarantees.find((one) => one === name);
    if (guarantee === undefined || (level !== 'observed' && level !== 'none')) throw badLower(text);
    lowered[guarantee] = level;
  }
  return lowered;
}

function badLower(text: string): CliError {
  return new CliError('cli.bad-value', `--lower expected all, or a guarantee and a level; found '${text}'.`, {
    next: `Write it like approval=none; guarantees are ${guarantees.join(', ')}, levels observed and none.`,
    details: { option: '--lower' },
  });
}

async function mustBeTrustedToo(context: Context, { agent, folder }: Composed, flags: RunFlags) {
  if (agent.mcp.size === 0) return;
  const [{ readToolFiles }, { mustBeTrusted }] = await Promise.all([
    import('../trust/tool-files.ts'),
    import('../trust/trust.ts'),
  ]);
  const consent = { agent: agent.key, trust: flags.trust === true, quiet: flags.json === true };
  await mustBeTrusted(context, { files: await readToolFiles(folder), servers: agent.mcp }, consent);
}
