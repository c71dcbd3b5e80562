/** Units for tests, with what a test does not care about filled in. */
import type { UnitDefinition } from './unit.ts';

export function tool(name: string, more: Partial<UnitDefinition> = {}): UnitDefinition {
  const description = more.description ?? `Does ${name}.`;
  const schema = { name, description, parameters: { type: 'object', properties: {} } };
  return { kind: 'tool', name, description, schema, ...more };
}

export function skill(name: string, more: Partial<UnitDefinition> = {}): UnitDefinition {
  return { kind: 'skill', name, description: `About ${name}.`, ...more };
}

export function mcpTool(server: string, name: string, more: Partial<UnitDefinition> = {}): UnitDefinition {
  return { ...tool(name, more), kind: 'mcp_tool', server };
}
