/** What the user's configuration folder and the workspace add to a session: texts, settings, limits and skills. */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Agent } from '../../compose/agent.ts';
import type { CapabilityResolution } from '../../compose/capabilities.ts';
import type { Source } from '../../compose/explain-sources.ts';
import type { Configuration } from '../../compose/load/configuration.ts';
import type { SessionTexts } from '../../compose/situation.ts';
import type { Skill } from '../../compose/skills.ts';
import type { Context, Environment } from '../context.ts';
import { CliError } from '../errors.ts';

/** The user's folder for Writ's configuration. */
export function configFolder(env: Environment): string {
  const config = env.XDG_CONFIG_HOME;
  const home = env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME;
  return join(config !== undefined && isAbsolute(config) ? config : join(home, '.config'), 'writ');
}

/** Skills beside the agent's own, in the order in which a later source stands for an equal earlier one. */
export async function outsideSkills(
  context: Context,
  agent: Agent,
  workspace: string,
  given: readonly string[] = [],
): Promise<readonly Skill[]> {
  const { readSkill, readSkills } = await import('../../compose/load/skills.ts');
  // Where nothing is asked for, nothing is looked for; a folder that was named is looked at all the same.
  const wanted = agent.skills.length > 0;
  return [
    ...(wanted ? await readSkills(join(configFolder(context.env), 'skills'), 'deployment') : []),
    ...(wanted ? await readSkills(join(workspace, '.writ', 'skills'), 'workspace') : []),
    ...(await Promise.all(given.map((folder) => readSkill(resolve(context.cwd, folder), 'session')))),
  ];
}

/** What stands in `config.yaml` of the user and in `.writ/config.yaml` of the workspace, the later beating the earlier. */
export async function readConfigured(context: Context, workspace: string): Promise<readonly Configuration[]> {
  const { readConfiguration } = await import('../../compose/load/configuration.ts');
  const user = join(configFolder(context.env), 'config.yaml');
  const own = join(workspace, '.writ', 'config.yaml');
  const read = [
    await readConfiguration(user, 'deployment'),
    // A session in the configuration folder itself has one configuration, not two.
    own === user ? undefined : await readConfiguration(own, 'workspace'),
  ];
  return read.filter((one) => one !== undefined);
}

/** Texts of a session, each with where it came from. */
export interface SourcedTexts {
  readonly texts: SessionTexts;
  readonly sources: readonly Source[];
}

/**
 * A text that was given as a flag stands alone. Without one, the workspace's identity and memory stand for those of the
 * deployment, and its governance follows that of the deployment, because a workspace may add rules and take none away.
 */
export function configuredTexts(
  configured: readonly Configuration[],
  given: SessionTexts,
  flags: { readonly [Id in keyof SessionTexts]: string | undefined },
): SourcedTexts {
  const sources: Source[] = [];
  const chosen = (id: 'identity' | 'governance' | 'memory'): string | undefined => {
    if (given[id] !== undefined) return given[id];
    const all = configured.filter(({ texts }) => texts[id] !== undefined);
    const used = id === 'governance' ? all : all.slice(-1);
    for (const { origin, file } of used) sources.push({ what: id, from: `${file} (${origin})` });
    return used.length === 0 ? undefined : used.map(({ texts }) => texts[id]).join('\n\n');
  };
  const texts = {
    identity: chosen('identity'),
    governance: chosen('governance'),
    memory: chosen('memory'),
    session: given.session,
  };
  for (const [what, from] of Object.entries(flags))
    if (from !== undefined) sources.push({ what, from: `${from} (flag)` });
  return { texts, sources };
}

/** What the agent holds in this session: its own, cut by the configurations, with what `--capability` turned on and off. */
export async function sessionCapabilities(
  agent: Agent,
  configured: readonly Configuration[],
  flags: readonly string[] = [],
): Promise<CapabilityResolution> {
  const { resolveCapabilities } = await import('../../compose/capabilities.ts');
  return resolveCapabilities(
    { from: { agent: agent.capabilities }, set: Object.fromEntries(flags.map(readToggle)) },
    {
      known: agent.knownCapabilities,
      unavailable: configured.flatMap(({ file, unavailable }) =>
        unavailable.map((name) => ({ name, by: file })),
      ),
    },
  );
}

function readToggle(text: string): readonly [string, boolean] {
  const toggle = /^([^=]+)=(on|off)$/.exec(text);
  if (toggle !== null) return [toggle[1] ?? '', toggle[2] === 'on'];
  throw new CliError(
    'cli.bad-value',
    `--capability expected name=on or name=off, found ${JSON.stringify(text)}.`,
    {
      next: 'Write it like --capability sql=off.',
      details: { option: '--capability' },
    },
  );
}

/** The settings of a run that a configuration gives, the later source beating the earlier. */
export function configuredRun(configured: readonly Configuration[]) {
  const last = <T>(pick: (one: Configuration) => T | undefined) =>
    configured.map(pick).findLast((value) => value !== undefined);
  return {
    model: last((one) => one.model),
    baseUrl: last((one) => one.baseUrl),
    wire: last((one) => one.wire),
    keyEnv: last((one) => one.keyEnv),
    prices: new Map(configured.flatMap(({ prices }) => [...prices])),
  };
}

/** What a configuration set, for `--explain`. */
export function settingSources(configured: readonly Configuration[]): readonly Source[] {
  return configured.flatMap(({ file, origin, unavailable, prices, ...one }) => {
    const what = [
      ...(['model', 'baseUrl', 'wire', 'keyEnv'] as const).filter((key) => one[key] !== undefined),
      ...(prices.size === 0 ? [] : ['prices']),
      ...(unavailable.length === 0 ? [] : ['unavailable']),
    ];
    return what.map((key) => ({ what: key, from: `${file} (${origin})` }));
  });
}
