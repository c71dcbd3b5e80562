/** The wire of OpenAI Responses: the conversation goes with each request, nothing of it is kept by the provider. */
import { isRecord, type Json } from '../protocol/json.ts';
import type { AssistantMessage, Message, ToolSchema } from '../protocol/messages.ts';
import { foreignMessage } from './errors.ts';
import { responseFault } from './fault.ts';
import { jsonText, parameterFields } from './json-text.ts';
import { ResponsesReader } from './openai-responses-reader.ts';
import { field } from './settings.ts';
import type { BodyParts, Wire } from './wire.ts';

/** Makes the wire. It holds no state; readers do. */
export function openaiResponses(): Wire {
  return {
    name: 'openai-responses',
    path: '/responses',
    settings: {
      temperature: field('temperature'),
      top_p: field('top_p'),
      reasoning_effort: (effort) => ({ reasoning: { effort } }),
    },
    headers: (key): Record<string, string> => (key === null ? {} : { authorization: `Bearer ${key}` }),
    // A message may be several items, so each is written as a list, and a body joins what stands in the lists.
    message: (message) => jsonText(itemsOf(message)),
    tools: (schemas) => (schemas.length === 0 ? '' : jsonText(schemas.map(toolJson))),
    body: bodyText,
    reader: () => new ResponsesReader(),
    fault: responseFault,
  };
}

function itemsOf(message: Message): Json[] {
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user':
      return [{ type: 'message', role: message.role, content: [{ type: 'input_text', text: message.text }] }];
    case 'assistant':
      return assistantItems(message);
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.callId, output: message.text }];
  }
}

function assistantItems({ text, reasoning, calls }: AssistantMessage): Json[] {
  // Beside calls an empty text is no item; alone it has to stand for the answer.
  const said: Json[] =
    text === '' && calls.length > 0
      ? []
      : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }];
  return [
    ...replayed(reasoning?.opaque),
    ...said,
    ...calls.map(({ id, name, arguments: args }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: args,
    })),
  ];
}

// Without its sealed content a reasoning item is only a name of something that the provider was asked not to keep.
function replayed(opaque: Json | undefined): Json[] {
  if (!Array.isArray(opaque)) return [];
  return opaque.filter(
    (item) => isRecord(item) && item.type === 'reasoning' && typeof item.encrypted_content === 'string',
  );
}

function toolJson({ name, description, parameters }: ToolSchema): Json {
  return { type: 'function', name, description, parameters, strict: false };
}

const written = new Set([
  'model',
  'input',
  'instructions',
  'messages',
  'tools',
  'tool_choice',
  'stream',
  'store',
  'max_output_tokens',
  'previous_response_id',
  'conversation',
  'background',
]);

function bodyText(parts: BodyParts): string {
  const items = parts.messages.map(innerItems).filter((text) => text !== '');
  const fields = [
    `"model":${jsonText(parts.model)}`,
    `"input":[${items.join(',')}]`,
    ...(parts.tools === '' ? [] : [`"tools":${parts.tools}`, '"tool_choice":"auto"']),
    '"stream":true',
    '"store":false',
  ];
  if (parts.maxTokens !== null) fields.push(`"max_output_tokens":${parts.maxTokens}`);
  return `{${[...fields, ...parameterFields(parts.parameters, written)].join(',')}}`;
}

function innerItems(message: string): string {
  if (/^\[(?:\{|\]$)/.test(message)) return message.slice(1, -1);
  throw foreignMessage('OpenAI Responses', message);
}
