/** The wire of OpenAI Chat Completions, also spoken by OpenRouter and by every server that calls itself compatible. */
import type { Json } from '../protocol/json.ts';
import type { AssistantMessage, Message, ToolSchema } from '../protocol/messages.ts';
import { responseFault } from './fault.ts';
import { jsonText, parameterFields } from './json-text.ts';
import { ChatReader } from './openai-chat-reader.ts';
import { reasoningFields } from './openai-reasoning.ts';
import { field } from './settings.ts';
import type { BodyParts, Wire } from './wire.ts';

export interface OpenaiChatOptions {
  /**
   * The name of the output limit. OpenAI itself wants `max_completion_tokens`; most compatible servers only know the
   * older `max_tokens`, which is the default here.
   */
  readonly outputLimit?: 'max_tokens' | 'max_completion_tokens';
}

/** Makes the wire. It holds no state; readers do. */
export function openaiChat(options: OpenaiChatOptions = {}): Wire {
  const outputLimit = options.outputLimit ?? 'max_tokens';
  return {
    name: 'openai-chat',
    path: '/chat/completions',
    settings: {
      temperature: field('temperature'),
      top_p: field('top_p'),
      seed: field('seed'),
      stop: field('stop'),
      reasoning_effort: field('reasoning_effort'),
    },
    headers: (key): Record<string, string> => (key === null ? {} : { authorization: `Bearer ${key}` }),
    message: (message) => jsonText(messageJson(message)),
    tools: (schemas) => (schemas.length === 0 ? '' : jsonText(schemas.map(toolJson))),
    body: (parts) => bodyText(parts, outputLimit),
    reader: () => new ChatReader(),
    fault: responseFault,
  };
}

function messageJson(message: Message): { [key: string]: Json } {
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user':
      return { role: message.role, content: message.text };
    case 'assistant':
      return assistantJson(message);
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text };
  }
}

// Beside calls an empty content is null, as OpenAI writes it itself: some servers refuse an empty text there. Without
// calls content is required, so an empty answer is an empty text.
function assistantJson(message: AssistantMessage): { [key: string]: Json } {
  const calls = message.calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  return {
    role: 'assistant',
    content: message.text === '' && calls.length > 0 ? null : message.text,
    ...replayedReasoning(message.reasoning?.opaque),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

// Only the fields of reasoning: a block of another protocol must not write over `role` or `content`.
function replayedReasoning(opaque: Json | undefined): { [key: string]: Json } {
  if (typeof opaque !== 'object' || opaque === null || Array.isArray(opaque)) return {};
  return Object.fromEntries(Object.entries(opaque).filter(([field]) => reasoningFields.includes(field)));
}

function toolJson({ name, description, parameters }: ToolSchema): Json {
  return { type: 'function', function: { name, description, parameters } };
}

const written = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
]);

function bodyText(parts: BodyParts, outputLimit: string): string {
  const fields = [
    `"model":${jsonText(parts.model)}`,
    `"messages":[${parts.messages.join(',')}]`,
    ...(parts.tools === '' ? [] : [`"tools":${parts.tools}`, '"tool_choice":"auto"']),
    '"stream":true',
    '"stream_options":{"include_usage":true}',
  ];
  if (parts.maxTokens !== null) fields.push(`"${outputLimit}":${parts.maxTokens}`);
  // OpenAI refuses this one in a request without tools.
  const { parallel_tool_calls: parallel, ...parameters } = parts.parameters;
  const asked = parallel === undefined || parts.tools === '' ? parameters : parts.parameters;
  return `{${[...fields, ...parameterFields(asked, written)].join(',')}}`;
}
