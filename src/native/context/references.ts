/** Arguments that name a context: a parameter whose JSON Schema says `"format": "writ-context"`. */
import { isRecord } from '../../protocol/json.ts';
import type { ToolSchema } from '../../protocol/messages.ts';

export const contextFormat = 'writ-context';

/** The contexts that checked arguments name; only fields at the top of the parameters can. */
export function contextsNamed({ parameters }: ToolSchema, args: unknown): readonly string[] {
  const { properties } = parameters;
  if (!isRecord(properties) || !isRecord(args)) return [];
  return Object.entries(properties).flatMap(([field, schema]) => {
    const value = args[field];
    return isRecord(schema) && schema.format === contextFormat && typeof value === 'string' ? [value] : [];
  });
}
