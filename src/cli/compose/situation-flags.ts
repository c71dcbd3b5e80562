/** The flags that say for which session an agent is composed, and what they come to. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import type { Agent } from '../../compose/agent.ts';
import type { CapabilityResolution } from '../../compose/capabilities.ts';
import type { Source } from '../../compose/explain-sources.ts';
import type { Configuration } from '../../compose/load/configuration.ts';
import type { SessionTexts, Situation } from '../../compose/situation.ts';
import type { Composition } from '../../protocol/composition.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { givenPath } from '../program.ts';
import { readTextFile } from '../text-file.ts';
import { visible } from '../view/visible.ts';
import {
  configuredTexts,
  outsideSkills,
  readConfigured,
  sessionCapabilities,
  settingSources,
} from './configured.ts';

/** The flags as they were given. All closed JSON, so that a session can keep them and be composed again. */
export interface SituationFlags {
  readonly profile?: string | undefined;
  readonly situation?: string | undefined;
  readonly fact?: readonly string[] | undefined;
  readonly unknown?: readonly string[] | undefined;
  readonly interactive?: boolean | undefined;
  readonly identity?: string | undefined;
  readonly governance?: string | undefined;
  readonly memory?: string | undefined;
  readonly sessionText?: string | undefined;
  readonly skill?: readonly string[] | undefined;
  readonly capability?: readonly string[] | undefined;
}

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** Adds the flags to a command that takes an agent. */
export function withSituationFlags(command: Command<[string]>) {
  return command
    .option('--profile <name>', 'the list of fragments to use (default: default)')
    .option('--situation <name|file>', 'a situation of agent.yaml, or a YAML file of facts')
    .option('--fact <k=v>', 'set a fact; may be repeated', collect)
    .option('--unknown <k>', 'make a fact unknown; may be repeated', collect)
    .option(
      '--workspace <dir>',
      'the folder the session works in (default: the current folder)',
      givenPath('--workspace'),
    )
    .option('--interactive', 'somebody can answer questions (otherwise the mode is headless)')
    .option('--identity <file>', 'text in place of the identity layer')
    .option('--governance <file>', 'text for the governance layer')
    .option('--memory <file>', 'text for the memory layer')
    .option('--session-text <file>', 'text for the session layer')
    .option('--skill <dir>', 'the folder of a skill for this session; may be repeated', collect)
    .option('--capability <k=on|off>', 'turn a capability on or off; may be repeated', collect);
}

/** What an agent is composed by; with `json` nothing is said on the side. */
type ComposeFlags = SituationFlags & {
  readonly workspace?: string | undefined;
  readonly json?: boolean | undefined;
};

/** An agent, composed. Paths are absolute. */
export interface Composed {
  readonly agent: Agent;
  /** How its capabilities of this session came about. */
  readonly resolution: CapabilityResolution;
  readonly folder: string;
  readonly workspace: string;
  readonly situation: Situation;
  readonly composition: Composition;
  /** From the configurations of the user and of the workspace. */
  readonly configured: readonly Configuration[];
  /** Where texts and settings came from that stand outside the agent folder. */
  readonly sources: readonly Source[];
}

/** Loads an agent folder and composes it for the session that the flags describe. Executes nothing of the folder. */
export async function composeFolder(
  context: Context,
  folder: string,
  flags: ComposeFlags,
): Promise<Composed> {
  const [{ loadAgent }, { vocabulary }] = await Promise.all([
    import('../../compose/load/agent.ts'),
    import('../../catalog.ts'),
  ]);
  return composeAgent(context, await loadAgent(resolve(context.cwd, folder), vocabulary), flags);
}

/** The same for an agent that is loaded already. */
export async function composeAgent(context: Context, loaded: Agent, flags: ComposeFlags): Promise<Composed> {
  const [{ loadSituation }, { settle }, { compose }, { probes }] = await Promise.all([
    import('../../compose/load/agent.ts'),
    import('../../compose/settle.ts'),
    import('../../compose/compose.ts'),
    import('../../catalog.ts'),
  ]);
  const workspace = await readWorkspace(context, flags.workspace);
  const configured = await readConfigured(context, workspace);
  const held = await sessionCapabilities(loaded, configured, flags.capability);
  const agent = { ...loaded, capabilities: held.capabilities };
  const { texts, sources } = configuredTexts(configured, await readTexts(context, flags), {
    identity: flags.identity,
    governance: flags.governance,
    memory: flags.memory,
    session: flags.sessionText,
  });
  const named = flags.situation;
  const isFile = named !== undefined && !agent.situations.has(named) && (await meansFile(context, named));
  const situation = await settle(
    agent,
    {
      profile: flags.profile,
      situation: isFile ? await loadSituation(resolve(context.cwd, named), agent) : named,
      facts: readFacts(flags.fact),
      unknown: flags.unknown,
      mode: flags.interactive === true ? 'interactive' : 'headless',
      workspace,
      env: context.env,
      texts,
      skills: await outsideSkills(context, agent, workspace, flags.skill),
    },
    await Promise.all(probes.map((probe) => probe.load())),
  );
  const composition = compose(agent, situation);
  if (composition.text === '' && flags.json !== true)
    context.stderr.write(
      `notice: Profile '${visible(situation.profile)}' composes to no text here: its model would get no instructions.\n`,
    );
  return {
    agent,
    resolution: held,
    folder: agent.folder,
    workspace,
    situation,
    composition,
    configured,
    sources: [...sources, ...settingSources(configured)],
  };
}

/** The flags with every path made absolute, so that they mean the same from another folder. */
export function absoluteFlags(context: Context, agent: Agent, flags: SituationFlags): SituationFlags {
  const path = (file: string | undefined) => (file === undefined ? undefined : resolve(context.cwd, file));
  const { situation } = flags;
  return {
    profile: flags.profile,
    situation: situation === undefined || agent.situations.has(situation) ? situation : path(situation),
    fact: flags.fact,
    unknown: flags.unknown,
    interactive: flags.interactive,
    identity: path(flags.identity),
    governance: path(flags.governance),
    memory: path(flags.memory),
    sessionText: path(flags.sessionText),
    skill: flags.skill?.map((folder) => resolve(context.cwd, folder)),
    capability: flags.capability,
  };
}

async function readWorkspace(context: Context, given: string | undefined): Promise<string> {
  const workspace = resolve(context.cwd, given ?? '.');
  const isFolder = await stat(workspace).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return workspace;
  throw new CliError('cli.bad-value', `--workspace expected an existing folder, found ${workspace}.`, {
    next: 'Create it, or name another folder.',
    details: { workspace },
  });
}

// A name with a slash or the ending of a YAML file is a path even where nothing is there; so is what is there, a pipe too.
async function meansFile(context: Context, named: string): Promise<boolean> {
  if (/[/\\]|\.(ya?ml|json)$/i.test(named)) return true;
  return stat(resolve(context.cwd, named)).then(
    (found) => !found.isDirectory(),
    () => false,
  );
}

function readFacts(given: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(given.map((text) => readPair('--fact', text, 'mode=headless')));
}

/** `name=value`; only the first equals sign counts. */
export function readPair(option: string, text: string, example: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new CliError('cli.bad-value', `${option} expected name=value, found ${JSON.stringify(text)}.`, {
    next: `Write it like ${option} ${example}.`,
    details: { option },
  });
}

async function readTexts(context: Context, flags: SituationFlags): Promise<SessionTexts> {
  const read = (option: string, file: string | undefined) =>
    file === undefined ? undefined : readTextFile(context, option, file);
  return {
    identity: await read('--identity', flags.identity),
    governance: await read('--governance', flags.governance),
    memory: await read('--memory', flags.memory),
    session: await read('--session-text', flags.sessionText),
  };
}
