/** The bytes of a request to an AI SDK model, which has none of its own beforehand, and the SDK's call that they stand for. */
import type { LanguageModelV3CallOptions, LanguageModelV3Message } from '@ai-sdk/provider';
import { type ExactJson, holdsBigint, isRecord, type Json, parseExactJson } from '../../protocol/json.ts';
import type {
  AssistantMessage,
  Message,
  ToolCall,
  ToolMessage,
  ToolSchema,
} from '../../protocol/messages.ts';
import { WireError } from '../../wire/errors.ts';
import { jsonText, parameterFields } from '../../wire/json-text.ts';
import type { BodyParts } from '../../wire/wire.ts';
import { keptParts } from './ai-sdk-answer.ts';

/** One message, in no provider's dialect; keys in a fixed order. */
export function messageText(message: Message): string {
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user':
      return jsonText({ role: message.role, text: message.text });
    case 'assistant': {
      const { text, reasoning, calls } = message;
      const kept =
        reasoning === undefined
          ? {}
          : {
              reasoning: {
                text: reasoning.text,
                ...(reasoning.opaque === undefined ? {} : { opaque: reasoning.opaque }),
              },
            };
      return jsonText({
        role: 'assistant',
        text,
        ...kept,
        calls: calls.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments })),
      });
    }
    case 'tool':
      return jsonText({ role: 'tool', callId: message.callId, name: message.name, text: message.text });
  }
}

/** The settings of a call that may be given, by the SDK's own names. */
const settings: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
  'responseFormat',
  'toolChoice',
  'providerOptions',
] satisfies (keyof LanguageModelV3CallOptions)[]);

/** Throws `wire.bad-parameter` for a setting that the SDK would pass over in silence. */
export function bodyText(parts: BodyParts): string {
  for (const message of parts.messages) if (!ours.test(message)) throw foreign(message);
  const strange = Object.keys(parts.parameters).find((name) => !settings.has(name));
  if (strange !== undefined) {
    throw new WireError(
      'wire.bad-parameter',
      `Expected a setting of the AI SDK (${[...settings].join(', ')}); found '${strange}'.`,
      { next: `Remove '${strange}', or give it under providerOptions.`, details: { parameter: strange } },
    );
  }
  const fields = [
    `"model":${jsonText(parts.model)}`,
    `"messages":[${parts.messages.join(',')}]`,
    ...(parts.tools === '' ? [] : [`"tools":${parts.tools}`]),
    ...(parts.maxTokens === null ? [] : [`"maxTokens":${parts.maxTokens}`]),
    `"settings":{${parameterFields(parts.parameters, new Set()).join(',')}}`,
  ];
  return `{${fields.join(',')}}`;
}

const ours = /^\{"role":"(system|developer|user|assistant|tool)","(text|callId)":/;

function foreign(message: string): WireError {
  return new WireError(
    'wire.foreign-message',
    `Expected a message as an AI SDK model writes it; found one that begins with ${JSON.stringify(message.slice(0, 60))}.`,
    { next: 'Continue the session with the protocol it began with, or start a new one.' },
  );
}

interface Body {
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSchema[];
  readonly maxTokens?: number;
  readonly settings: Pick<LanguageModelV3CallOptions, 'temperature'>;
}

/** The call that a body stands for. */
export function callOf(body: string): LanguageModelV3CallOptions {
  const { messages, tools, maxTokens, settings: given } = JSON.parse(body) as Body;
  return {
    ...given,
    prompt: promptOf(messages),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: 'function' as const,
            name,
            description,
            inputSchema: parameters as Record<string, never>,
          })),
        }),
  };
}

function promptOf(messages: readonly Message[]): LanguageModelV3Message[] {
  const prompt: LanguageModelV3Message[] = [];
  for (const message of messages) {
    switch (message.role) {
      case 'system':
      case 'developer':
        prompt.push({ role: 'system', content: message.text });
        break;
      case 'user':
        prompt.push({ role: 'user', content: [{ type: 'text', text: message.text }] });
        break;
      case 'assistant':
        prompt.push({ role: 'assistant', content: assistantContent(message) });
        break;
      case 'tool': {
        // Providers want the results of one batch together.
        const last = prompt.at(-1);
        if (last?.role === 'tool') last.content.push(resultPart(message));
        else prompt.push({ role: 'tool', content: [resultPart(message)] });
      }
    }
  }
  return prompt;
}

function resultPart({ callId, name, text }: ToolMessage) {
  return {
    type: 'tool-result' as const,
    toolCallId: callId,
    toolName: name,
    output: { type: 'text' as const, value: text },
  };
}

type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'];

function assistantContent({ text, reasoning, calls }: AssistantMessage): AssistantContent {
  const kept = keptParts(reasoning?.opaque, calls.length);
  if (kept === undefined) {
    const said = text === '' ? [] : [{ type: 'text' as const, text }];
    return [...said, ...calls.map((call) => callPart(call, {}))];
  }
  const rest = calls.values();
  return kept.map((part) => {
    const options = part.providerOptions === undefined ? {} : { providerOptions: part.providerOptions };
    return part.type === 'tool-call'
      ? callPart(rest.next().value, options)
      : { type: part.type, text: part.text, ...options };
  });
}

function callPart(call: ToolCall | undefined, options: object) {
  if (call === undefined) throw new TypeError('There are as many places for calls as there are calls.');
  const input = inputOf(call.arguments);
  return { type: 'tool-call' as const, toolCallId: call.id, toolName: call.name, input, ...options };
}

// The SDK takes values, not text, and writes them with JSON.stringify: an integer that a double would round goes as a
// text of its digits, and half a surrogate pair goes as U+FFFD. What is no object goes into one under the name that
// Anthropic's documentation gives for this.
function inputOf(args: string): Json {
  if (args.trim() === '') return {};
  const value = parsed(args);
  if (!isRecord(value)) return { INVALID_JSON: args };
  const plain = holdsBigint(value) ? JSON.parse(JSON.stringify(value, digits)) : value;
  return JSON.parse(jsonText(plain)) as Json;
}

function digits(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function parsed(text: string): ExactJson | undefined {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
