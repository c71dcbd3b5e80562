/** The `tools` of agent.yaml: which ones the agent lists, and what `tool.NAME` stands for in its conditions. */
import type { z } from 'zod';
import type { Agent, OwnCapability, ToolChoice } from '../agent.ts';
import { type ToolOffer, toolName } from '../facts.ts';
import { mustKnow, type Vocabulary } from './names.ts';
import { formOf, mustFitForm } from './options.ts';
import type { OwnNames } from './own-names.ts';
import type { agentSchema } from './schema.ts';
import type { Path, YamlMap } from './yaml.ts';

type Entry = NonNullable<z.output<typeof agentSchema>['tools']>[number];

/** Throws a located error for what is no tool, stands twice, or has options or a capability that it cannot have. */
export function readTools(
  map: YamlMap,
  written: readonly Entry[],
  { known, ownTools }: OwnNames,
  builtIn: Vocabulary,
): ToolChoice[] {
  const tools: ToolChoice[] = [];
  written.forEach((entry, i) => {
    const path = ['tools', i];
    const { capability, ...named }: Exclude<Entry, string> =
      typeof entry === 'string' ? { [entry]: {} } : entry;
    const pairs = Object.entries(named);
    const [pair] = pairs;
    if (pair === undefined || pairs.length > 1) {
      throw map.error(
        map.valueOffset(path),
        `a tool is one name with its options, found ${pairs.length} names`,
        'Begin each tool with its own hyphen.',
      );
    }
    const [name, given] = pair;
    mustKnow(map, path, 'value', 'tool', name, known.tools);
    const own = ownTools.includes(name);
    if (own && builtIn.tools.includes(name)) {
      throw map.source.error(
        'compose.repeated-name',
        map.valueOffset(path),
        `'${name}' is a built-in tool and tools/${name}.mjs another`,
        'Give the file another name.',
      );
    }
    if (tools.some((tool) => tool.name === name)) {
      throw map.source.error(
        'compose.repeated-name',
        map.valueOffset(path),
        `the tool '${name}' stands twice`,
        'Take one of the two out.',
      );
    }
    const options = given ?? {};
    const form = formOf(known.toolOptions, name);
    const at = typeof entry === 'string' ? path : [...path, name];
    if (form !== undefined) mustFitForm(map, at, `the tool '${name}'`, options, form);
    if (capability !== undefined) mustBeOwn(map, [...path, 'capability'], name, own, capability);
    tools.push({
      name,
      options,
      ...(own ? { own } : {}),
      ...(capability === undefined ? {} : { capability }),
    });
  });
  return tools;
}

function mustBeOwn(map: YamlMap, path: Path, name: string, own: boolean, said: OwnCapability): void {
  if (!own) {
    throw map.error(
      map.keyOffset(path),
      `the capability of the built-in tool '${name}' is known, and no other can be given to it`,
      'Take capability out.',
    );
  }
  if (typeof said === 'string') return;
  const tools = Object.keys(said);
  const stranger = tools.find((tool) => tool !== name && !tool.startsWith(`${name}_`));
  if (tools.length > 0 && stranger === undefined) return;
  throw map.error(
    stranger === undefined ? map.valueOffset(path) : map.keyOffset([...path, stranger]),
    `the tools of tools/${name}.mjs are called ${name}, or ${name}_ and more, found ${stranger === undefined ? 'none' : `'${stranger}'`}`,
    `Write one capability for all of them, or { ${name}: … }.`,
  );
}

/**
 * Of every tool that could be listed whether it is, and its capability as far as that is known. A file whose tools agent.yaml
 * names stands there by them, not by its own name. What is listed comes first, in that order.
 */
export function toolOffersOf(
  tools: readonly ToolChoice[],
  { known }: OwnNames,
  { toolCapabilities = {} }: Vocabulary,
): Agent['toolOffers'] {
  const offersOf = (name: string): ToolOffer[] => {
    const choice = tools.find((tool) => tool.name === name);
    const said = choice?.capability;
    if (typeof said === 'object')
      return Object.entries(said).map(([tool, capability]) => ({ tool, listed: true, capability }));
    const builtIn = Object.hasOwn(toolCapabilities, name) ? toolCapabilities[name] : undefined;
    return [{ tool: name, listed: choice !== undefined, capability: said ?? builtIn ?? null }];
  };
  const names = new Set([...tools.map(({ name }) => name), ...known.tools]);
  return new Map([...names].flatMap(offersOf).map((offer) => [toolName(offer.tool), offer]));
}
