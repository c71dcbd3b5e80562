/** `context_search`, `context_slice`, `context_peek`: a model's look into the contexts of its session, bounded and read-only. */
import type { ExactJson, Json } from '../../protocol/json.ts';
import type { ContextAnswer, Selector } from '../context/operations.ts';
import { contextFormat } from '../context/references.ts';
import {
  defineTool,
  failed,
  type JsonParameters,
  type ToolDefinition,
  type ToolEnding,
} from './define-tool.ts';
import { readOptions } from './options.ts';
import type { Tool } from './tool.ts';

/** They have no options; the workspace is what every built-in tool is given. */
export interface ContextToolOptions {
  readonly workspace?: string;
}

const context = {
  type: 'string',
  format: contextFormat,
  minLength: 1,
  maxLength: 128,
  description: 'The name of the context; "input" if left out.',
} as const;

interface Named {
  readonly context?: string;
}

/** Finds lines of a text, or items of a list. */
export function contextSearch(options: ContextToolOptions = {}): Tool {
  return contextTool<Named & { query: string; regex?: boolean; from?: number }>(options, {
    name: 'context_search',
    description:
      'Searches a context line by line (a list item by item), letter for letter, or with regex true by an RE2 expression. ' +
      'Returns hits with index (the line, from 0), at (the character, for context_slice) and value; next says where to go on, as from.',
    parameters: parameters(['query'], {
      query: { type: 'string', minLength: 1, maxLength: 1024, description: 'What a line has to hold.' },
      regex: { type: 'boolean', description: 'True for an expression; false if left out.' },
      from: { type: 'integer', minimum: 0, description: 'The line to begin at; 0 if left out.' },
    }),
    async execute({ query, regex = false, from = 0, context: name = 'input' }, call) {
      return ending(await call.context(name).search({ pattern: query, regex, from }), (value) => value);
    },
  });
}

/** Reads a range of characters, or of items. */
export function contextSlice(options: ContextToolOptions = {}): Tool {
  return contextTool<Named & { start: number; length: number }>(options, {
    name: 'context_slice',
    description:
      'Reads a range of a context: characters of a text, items of a list, both from 0. ' +
      'Returns start, value, truncated; next says where to go on, and is null at the end.',
    parameters: parameters(['start', 'length'], {
      start: { type: 'integer', minimum: 0 },
      length: { type: 'integer', minimum: 1 },
    }),
    async execute({ start, length, context: name = 'input' }, call) {
      return ending(await call.context(name).slice({ start, length }), (value) => value);
    },
  });
}

/** Says how large a context is, or shows its beginning, its end, or one item. */
export function contextPeek(options: ContextToolOptions = {}): Tool {
  return contextTool<Named & { selector: { type: Selector['type']; count?: number; index?: number } }>(
    options,
    {
      name: 'context_peek',
      description:
        'Looks at a context: metadata (its size), head or tail (count characters or items), or item (of a list, by index). ' +
        'Returns value and truncated.',
      parameters: parameters(['selector'], {
        selector: {
          type: 'object',
          properties: {
            type: { type: 'string', enum: ['metadata', 'head', 'tail', 'item'] },
            count: { type: 'integer', minimum: 1, description: 'For head and tail; 128 if left out.' },
            index: { type: 'integer', minimum: 0, description: 'For item; 0 if left out.' },
          },
          required: ['type'],
          additionalProperties: false,
        },
      }),
      async execute({ selector: { type, count = 128, index = 0 }, context: name = 'input' }, call) {
        const selector: Selector =
          type === 'metadata' ? { type } : type === 'item' ? { type, index } : { type, count };
        return ending(await call.context(name).peek(selector), (value) => ({ value }));
      },
    },
  );
}

function parameters(
  required: readonly string[],
  properties: { readonly [name: string]: Json },
): JsonParameters {
  return {
    type: 'object',
    properties: { ...properties, context },
    required,
    additionalProperties: false,
  };
}

type ContextDefinition<Args> = Pick<
  ToolDefinition<Args> & { readonly parameters: JsonParameters },
  'name' | 'description' | 'parameters' | 'execute'
>;

function contextTool<Args>(options: ContextToolOptions, definition: ContextDefinition<Args>): Tool {
  readOptions(definition.name, options, { workspace: 'string?' });
  const tool = defineTool<Args>({ ...definition, capability: 'context', access: 'read' });
  return { ...tool, counter: 'contextOps' };
}

function ending<Value extends Json>(
  answer: ContextAnswer<Value>,
  fields: (value: Value) => { readonly [name: string]: ExactJson },
): ExactJson | ToolEnding {
  if (!answer.ok) return failed(answer.code, answer.message);
  return { ...fields(answer.value), truncated: answer.truncated };
}
