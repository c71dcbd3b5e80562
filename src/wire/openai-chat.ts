/** The wire of OpenAI Chat Completions, also spoken by OpenRouter and by every server that calls itself compatible. */
import { isRecord, type Json } from '../protocol/json.ts';
import type { AssistantMessage, Message, ToolSchema } from '../protocol/messages.ts';
import { WireError } from './errors.ts';
import { ChatReader } from './openai-chat-reader.ts';
import { openaiFault } from './openai-fault.ts';
import { reasoningFields } from './openai-reasoning.ts';
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
    headers: (key): Record<string, string> => (key === null ? {} : { authorization: `Bearer ${key}` }),
    message: (message) => jsonText(messageJson(message)),
    tools: (schemas) => (schemas.length === 0 ? '' : jsonText(schemas.map(toolJson))),
    body: (parts) => bodyText(parts, outputLimit),
    reader: () => new ChatReader(),
    fault: openaiFault,
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
  for (const [name, value] of Object.entries(parts.parameters)) {
    // OpenAI refuses this one in a request without tools.
    if (name === 'parallel_tool_calls' && parts.tools === '') continue;
    fields.push(`${jsonText(name)}:${parameterText(name, value)}`);
  }
  return `{${fields.join(',')}}`;
}

function parameterText(name: string, value: unknown): string {
  if (written.has(name)) {
    throw new WireError(
      'wire.bad-parameter',
      `Expected a parameter that the wire does not write itself; found '${name}'.`,
      { next: `Remove '${name}' from the model parameters.`, details: { parameter: name } },
    );
  }
  if (isJson(value)) return jsonText(value);
  throw new WireError(
    'wire.bad-parameter',
    `Expected a JSON value for the parameter '${name}'; found ${String(value)}.`,
    { next: `Give '${name}' a JSON value or remove it.`, details: { parameter: name } },
  );
}

function isJson(value: unknown): value is Json {
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  if (isRecord(value)) return Object.values(value).every(isJson);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

// JSON.stringify writes half of a surrogate pair as an escape and everything else raw, so the escapes are exactly the
// lone halves. Servers refuse them as invalid UTF-8; a backslash pair before `u` is text and is stepped over.
const escapes = /\\(?:ud[89a-f][0-9a-f]{2}|[\s\S])/g;

function jsonText(value: Json): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return text.replace(escapes, (found) => (found.length > 2 ? '\ufffd' : found));
}
