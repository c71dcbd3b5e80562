/** A trial of an agent program: the run of `writ run --harness --metered`, with its requests kept for what is looked for in them. */
import { resolve } from 'node:path';
import { allAdapters } from '../../catalog.ts';
import { type Adapter, authModeOf, vendorServer } from '../../deliver/adapter.ts';
import { agentModel } from '../../deliver/agent-model.ts';
import type { Arm, ArmHarness, AskedHarness } from '../../prove/arm.ts';
import type { ExperimentFile } from '../../prove/form.ts';
import type { Context } from '../context.ts';
import { findOnPath } from '../doctor/program-version.ts';
import { CliError } from '../errors.ts';
import type { OutsideOrigin } from '../run/origin.ts';

/** What the command line says of the programs of all arms. */
export interface OutsideFlags {
  readonly baseUrl?: string | undefined;
  /** Each as `NAME=PATH`. */
  readonly bin?: readonly string[] | undefined;
}

/** What an arm says of an agent program, held against the programs that there are. */
export function armHarness(asked: AskedHarness, adapters: readonly Adapter[]): ArmHarness {
  const adapter = adapters.find(({ name }) => name === asked.name);
  const known = adapters.filter((one) => one.needsCell !== false && one.redirects !== false);
  if (adapter === undefined || !known.includes(adapter)) {
    throw new CliError(
      'cli.unsupported',
      `An arm names the harness '${asked.name}', of which nothing could be measured in an experiment.`,
      {
        next: `Name one of: native, ${known.map(({ name }) => name).join(', ')}.`,
        details: { harness: asked.name },
      },
    );
  }
  // A server of the experiment's own is asked for the name without the provider, as by our own harness.
  const { model } = agentModel(adapter, asked.model, { given: undefined, redirected: true });
  return { ...asked, model };
}

/** How the run of a trial is opened, with every guarantee lowered to what the program gives: that is recorded with it. */
export async function outsideOrigin(
  context: Pick<Context, 'env' | 'cwd'>,
  { harness, agent }: Pick<Arm, 'agent'> & { readonly harness: ArmHarness },
  written: Pick<ExperimentFile, 'server' | 'price'>,
  flags: OutsideFlags,
  workspace: string,
): Promise<OutsideOrigin> {
  const adapter = (await allAdapters()).find(({ name }) => name === harness.name);
  if (adapter === undefined) throw new Error(`${harness.name} was opened before`);
  const { dimensionsOf } = await import('../../deliver/agent-dimensions.ts');
  const dimensions = {
    ...(await dimensionsOf(adapter.name, agent, agent.ownSkills)),
    ...(harness.model === null ? {} : { model: harness.model }),
  };
  const { approval, effects, resume, cancel } = adapter.declares;
  const lowered = Object.fromEntries(
    Object.entries({ approval, effects, resume, cancel }).filter(([, level]) => level !== 'enforced'),
  );
  return {
    agentFolder: agent.folder,
    workspace,
    situation: {},
    outside: {
      harness: harness.name,
      program: programOf(context, adapter, flags.bin ?? []),
      intent: harness.intent,
      fidelity: harness.fidelity,
      unmeasured: 'refuse',
      baseUrl: upstreamOf(adapter, context, flags.baseUrl ?? written.server?.baseUrl),
      metered: true,
      ...(written.price === undefined || harness.model === null
        ? {}
        : { prices: { [harness.model]: written.price } }),
      dimensions: JSON.parse(JSON.stringify(dimensions)),
      lowered,
    },
  };
}

function upstreamOf(adapter: Adapter, { env }: Pick<Context, 'env'>, given: string | undefined): string {
  const url = given ?? vendorServer(adapter, authModeOf(adapter, env));
  if (url !== undefined) return url;
  throw new CliError(
    'cli.missing-argument',
    `Expected --base-url: ${adapter.name} asks models of several vendors.`,
    {
      next: 'Give the base URL of the model server, or write server.baseUrl into experiment.yaml.',
    },
  );
}

function programOf(context: Pick<Context, 'env' | 'cwd'>, adapter: Adapter, bins: readonly string[]): string {
  const given = bins.findLast((bin) => bin.startsWith(`${adapter.name}=`));
  if (given !== undefined) return resolve(context.cwd, given.slice(adapter.name.length + 1));
  const found = adapter.program === null ? undefined : findOnPath(adapter.program, context.env);
  if (found !== undefined) return found;
  throw new CliError('cli.no-program', `Expected the program of ${adapter.name} on PATH, found none.`, {
    next: `Install it, or give its path with --bin ${adapter.name}=PATH.`,
    details: { harness: adapter.name },
  });
}
