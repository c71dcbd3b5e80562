/** Reads an agent folder: every file is parsed, every name resolved and every condition compiled, or nothing is. */

import { join } from 'node:path';
import type { z } from 'zod';
import type { BudgetLimits } from '../../protocol/budget.ts';
import {
  type Agent,
  type Fragment,
  factsReadBy,
  factTypesOf,
  type LayerLimits,
  type McpServer,
} from '../agent.ts';
import { conditionCompiler } from '../conditions.ts';
import { environmentFact, type FactDeclaration, type StatedFacts } from '../facts.ts';
import type { Policies } from '../policies.ts';
import { fragmentPaths, list, mustBeAgentFolder } from './folder.ts';
import { compileFragment, type FragmentFile, readFragment } from './fragment.ts';
import { readSource } from './located.ts';
import { declaredFacts, heldCapabilities, mustKnow, situationValues, type Vocabulary } from './names.ts';
import type { OptionForm } from './options.ts';
import { ownNames } from './own-names.ts';
import { agentSchema, readForm, situationSchema } from './schema.ts';
import { readSkills } from './skills.ts';
import { readTools, toolOffersOf } from './tool-choices.ts';
import { YamlMap } from './yaml.ts';

export type { OptionForm, Vocabulary };

type AgentFile = z.output<typeof agentSchema>;

/**
 * Loads the agent of a folder; executes nothing of it. Throws a ComposeError: `compose.no-agent` where there is no
 * folder with an agent.yaml, else the located error that stands first in the file that is read first.
 */
export async function loadAgent(folder: string, vocabulary: Vocabulary): Promise<Agent> {
  await mustBeAgentFolder(folder);
  const source = await readSource(join(folder, 'agent.yaml'));
  const map = new YamlMap(source, source.text, 0, 'agent.yaml');
  const written = readForm(agentSchema, map);
  const names = ownNames(written, (await list(join(folder, 'tools'))) ?? [], vocabulary);
  const facts = declaredFacts(map, written.facts ?? {}, names.known);
  const tools = readTools(map, written.tools ?? [], names, vocabulary);
  const toolOffers = toolOffersOf(tools, names, vocabulary);
  const fragments = compileAll(folder, await readFragments(folder), facts, toolOffers);
  const profiles = readProfiles(map, written.profiles, fragments);
  const used = new Set([...profiles.values()].flat());
  return {
    folder,
    key: written.key,
    name: written.name ?? written.key,
    join: written.join ?? 'blocks',
    profiles,
    facts,
    toolOffers,
    situations: new Map(
      Object.entries(written.situations ?? {}).map(([name, values]) => [
        name,
        situationValues(map, ['situations', name], values, facts),
      ]),
    ),
    capabilities: heldCapabilities(map, written.capabilities, names.known.capabilities),
    knownCapabilities: [...names.known.capabilities].sort(),
    tools,
    mcp: new Map(Object.entries(written.mcp ?? {}).map(([name, server]) => [name, mcpServer(server)])),
    surface: { mode: written.surface?.mode ?? 'compiled', tokens: written.surface?.tokens ?? null },
    model: written.model ?? null,
    // YAML has no undefined, so a counter that is there has a number.
    budget: (written.budget ?? {}) as BudgetLimits,
    deliver: { intent: written.deliver?.intent ?? null, fidelity: written.deliver?.fidelity ?? null },
    skills: written.skills ?? [],
    ownSkills: (written.skills ?? []).length === 0 ? [] : await readSkills(join(folder, 'skills'), 'agent'),
    limits: (written.limits ?? {}) as LayerLimits,
    conversation: written.conversation ?? null,
    policies: (written.policies ?? {}) as Policies,
    plans: {
      decisionSkills: written.plans?.decisionSkills ?? [],
      stepSkills: written.plans?.stepSkills ?? [],
    },
    spec: written.spec === undefined ? null : join(folder, written.spec),
    prices: new Map(Object.entries(written.prices ?? {})),
    fragments,
    unused: [...fragments.keys()].filter((id) => !used.has(id)),
  };
}

/**
 * Reads a file of facts, as `--situation FILE` gives it, and checks it against the agent's declarations. A pipe is read
 * to its end, because the caller named it.
 */
export async function loadSituation(file: string, agent: Pick<Agent, 'facts'>): Promise<StatedFacts> {
  const source = await readSource(file, 'any');
  const map = new YamlMap(source, source.text, 0, 'a situation');
  return situationValues(map, [], readForm(situationSchema, map), agent.facts);
}

async function readFragments(folder: string): Promise<FragmentFile[]> {
  const files: FragmentFile[] = [];
  for (const path of await fragmentPaths(join(folder, 'instructions'))) {
    const file = readFragment(await readSource(path));
    const twin = files.find((other) => other.id === file.id);
    if (twin !== undefined) {
      throw file.source.error(
        'compose.repeated-name',
        file.map.valueOffset(['id']),
        `the fragment '${file.id}' is already in ${twin.source.file}`,
        'Give one of the two another id.',
      );
    }
    files.push(file);
  }
  return files;
}

function compileAll(
  folder: string,
  files: readonly FragmentFile[],
  facts: Map<string, FactDeclaration>,
  toolOffers: Agent['toolOffers'],
): ReadonlyMap<string, Fragment> {
  const compile = conditionCompiler(factTypesOf({ facts, toolOffers }));
  const declared = (name: string) => facts.get(name) ?? environmentFact(name);
  const context = { compile, declared, names: () => facts.keys() };
  const fragments = files.map((file) => compileFragment(file, folder, context));
  const read = new Set(fragments.flatMap(factsReadBy));
  for (const name of [...read].sort()) {
    const fact = declared(name);
    if (fact !== undefined) facts.set(name, fact);
  }
  return new Map(fragments.map((fragment) => [fragment.id, fragment]));
}

function readProfiles(
  map: YamlMap,
  written: AgentFile['profiles'],
  fragments: ReadonlyMap<string, Fragment>,
): ReadonlyMap<string, readonly string[]> {
  if (written.default === undefined) {
    throw map.source.error(
      'compose.unknown-name',
      map.keyOffset(['profiles']),
      "there is no profile called 'default', which is the one used unless another is asked for",
      'Add default: [ … ] to profiles.',
    );
  }
  for (const [name, ids] of Object.entries(written)) {
    ids.forEach((id, i) => {
      const path = ['profiles', name, i];
      mustKnow(map, path, 'value', 'fragment', id, fragments.keys());
      if (ids.indexOf(id) < i) {
        throw map.source.error(
          'compose.repeated-name',
          map.valueOffset(path),
          `the fragment '${id}' stands twice in the profile '${name}'`,
          'Take one of the two out.',
        );
      }
    });
  }
  return new Map(Object.entries(written));
}

// Either a url or a command is there, and nothing that belongs to the other; the form has seen to it.
function mcpServer(written: NonNullable<AgentFile['mcp']>[string]): McpServer {
  const { url, command = '', args = [], env, keyEnv, reads } = written;
  const shared = reads === undefined ? {} : { reads };
  if (url !== undefined) return { url, ...(keyEnv === undefined ? {} : { keyEnv }), ...shared };
  return { command, args, ...(env === undefined ? {} : { env }), ...shared };
}
