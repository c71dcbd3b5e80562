/** Tools as units, and back: from the schemas of a session's tools to a catalogue, and from a surface to the schemas to show. */
import type { ToolSchema } from '../../protocol/messages.ts';
import type { Catalogue } from './catalogue.ts';
import type { Surface } from './compile-surface.ts';
import { type Trigger, type UnitDefinition, unitLimits } from './unit.ts';

/** What a unit is made from; a `Tool` of the native harness has these fields. */
export interface ToolParts {
  readonly schema: ToolSchema;
  /** The capability that a session must hold for the tool to be shown and run. */
  readonly capability: string;
  /** The MCP server that offers it; left out for a tool of our own. */
  readonly server?: string;
  readonly category?: string;
  /** Other words for what it does. */
  readonly keywords?: readonly string[];
  readonly requires?: readonly string[];
  readonly available?: boolean;
}

const nameWeight = 40;
const keywordWeight = 20;

/** A unit for each tool: its name and keywords call for it. Only what it is ranked by is cut to the limit of a description. */
export function unitsOfTools(tools: readonly ToolParts[]): UnitDefinition[] {
  return tools.map(({ schema, keywords = [], ...rest }) => {
    const triggers: Trigger[] = [
      { kind: 'phrase', text: schema.name, weight: nameWeight },
      ...keywords
        .filter((text) => text !== schema.name)
        .map((text) => ({ kind: 'phrase' as const, text, weight: keywordWeight })),
    ];
    return {
      kind: rest.server === undefined ? 'tool' : 'mcp_tool',
      name: schema.name,
      description: wholeCharacters(schema.description, unitLimits.description),
      aliases: keywords,
      triggers,
      schema,
      ...rest,
    };
  });
}

/** The schemas of a surface's active tools, in the surface's order: all that a request to a model may name. */
export function toolSchemasOf(catalogue: Catalogue, surface: Surface): ToolSchema[] {
  return surface.active.flatMap(({ unit }) => catalogue.get(unit)?.schema ?? []);
}

function wholeCharacters(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
