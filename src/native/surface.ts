/** The visible surface: which tools a session shows its model, in a fixed order, as bytes that never change again. */
import type { Projection } from '../harness.ts';
import { NativeError } from './errors.ts';
import type { Model } from './model/model.ts';
import type { Tool } from './tool/tool.ts';

/**
 * Projects the tools whose capability is held, in the order they were given. Throws `native.tool-name-clash` if two of
 * them, shown or not, bear one name.
 */
export function projectTools(
  tools: readonly Tool[],
  capabilities: readonly string[],
  model: Model,
): Projection {
  const names = new Set<string>();
  for (const tool of tools) {
    if (names.has(tool.schema.name)) {
      throw new NativeError('native.tool-name-clash', `Two tools are named '${tool.schema.name}'.`, {
        next: 'Name each tool once in the agent folder.',
        details: { tool: tool.schema.name },
      });
    }
    names.add(tool.schema.name);
  }
  const held = tools.filter((tool) => capabilities.includes(tool.capability));
  const shown = held.map((tool) => tool.schema);
  const definitions = held.flatMap((tool) =>
    tool.definition === undefined ? [] : [[tool.schema.name, tool.definition() ?? ''] as const],
  );
  return {
    tools: shown.map((schema) => schema.name),
    text: shown.length === 0 ? '' : model.tools(shown),
    ...(definitions.length === 0 ? {} : { definitions: Object.fromEntries(definitions) }),
  };
}

/** Shown tools of outside servers that are not here any more as the session showed them. */
export function changedTools(
  { definitions = {} }: Projection,
  tools: ReadonlyMap<string, Tool>,
): readonly string[] {
  return Object.keys(definitions).filter((name) => tools.get(name)?.definition?.() !== definitions[name]);
}
