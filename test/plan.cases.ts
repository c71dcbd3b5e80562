/** What tests of plans share: the words of the JSON form, the rights of all forms, and tools that count what they did. */
import { planCapabilities, planCapability } from '../src/native/plan/capabilities.ts';
import { defineTool, failed } from '../src/native/tool/define-tool.ts';
import type { Tool } from '../src/native/tool/tool.ts';

/** Every form and the tools of these tests. */
export const rights: readonly string[] = [planCapability, ...Object.values(planCapabilities), 'parts'];

export const ref = (name: string) => ({ ref: 'var', name });
export const field = (name: string, key: string | number) => ({ ref: 'field', value: ref(name), key });
export const final = (value: unknown) => ({ op: 'final', value });
export const tool = (name: string, bind: string, args: unknown = {}) => ({ op: 'tool', name, args, bind });
export const model = (prompt: unknown, bind: string, more: object = {}) => ({
  op: 'model',
  prompt,
  bind,
  ...more,
});
export const parallel = (bind: string, ...plans: unknown[][]) => ({
  op: 'parallel',
  plans: plans.map((steps) => ({ steps })),
  bind,
});
export const plan = (...steps: unknown[]) => JSON.stringify({ steps });

/** What others wrote, as a model reads it: a pattern of the text between marks. */
export const quoted = (tool: string, text: string) =>
  new RegExp(
    `^<untrusted-result mark="(mark_\\w{26})" tool="${tool}">\n[^\n]+\n${text}\n</untrusted-result mark="\\1">$`,
  );

export interface Counted {
  readonly tool: Tool;
  /** The arguments of each call that acted. */
  readonly acted: unknown[];
}

/** A tool that notes its calls; `how` may wait, fail or answer in its own way. */
export function counted(
  name: string,
  access: 'read' | 'write' = 'read',
  how: (args: unknown, signal: AbortSignal, times: number) => unknown = (_, __, times) => ({ times }),
): Counted {
  const acted: unknown[] = [];
  const made = defineTool({
    name,
    description: `Acts as ${name}.`,
    parameters: {
      type: 'object',
      properties: { n: { type: 'integer' }, text: { type: 'string' } },
      additionalProperties: false,
    },
    capability: 'parts',
    exactIntegers: true,
    ...(access === 'read' ? { access } : { access, repeat: 'once' as const }),
    execute: (args, { signal }) => {
      acted.push(args);
      return how(args, signal, acted.length);
    },
  });
  return { tool: made, acted };
}

/** Fails so often, then answers. */
export function flaky(name: string, failures: number): Counted {
  return counted(name, 'read', (_, __, times) =>
    times <= failures ? failed('parts.flaky', 'Not yet.') : times,
  );
}
