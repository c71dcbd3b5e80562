/** The wire of the Gemini API: the model stands in the address, and neighbours of one role share a message. */
import { isRecord, type Json } from '../protocol/json.ts';
import type { AssistantMessage, Message, ToolCall, ToolSchema } from '../protocol/messages.ts';
import { argumentsText } from './arguments-text.ts';
import { responseFault } from './fault.ts';
import { GeminiReader, madeIdPrefix } from './gemini-reader.ts';
import { jsonText, parameterFields } from './json-text.ts';
import { groupsOf, tail } from './message-groups.ts';
import { field, type Parameters, type ReasoningEffort } from './settings.ts';
import type { BodyParts, Wire } from './wire.ts';

/** Makes the wire for a model by the provider's own name of it. */
export function gemini(model: string): Wire {
  return {
    name: 'gemini',
    path: `/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
    settings: {
      temperature: field('temperature'),
      top_p: field('topP'),
      seed: field('seed'),
      stop: field('stopSequences'),
      reasoning_effort: (effort) => thinkingOf(model, effort),
    },
    headers: (key): Record<string, string> => (key === null ? {} : { 'x-goog-api-key': key }),
    message: messageText,
    tools: (schemas) =>
      schemas.length === 0 ? '' : jsonText([{ functionDeclarations: schemas.map(toolJson) }]),
    body: bodyText,
    reader: () => new GeminiReader(),
    fault: responseFault,
  };
}

/** Tokens of thinking, as Google's own translation of `reasoning_effort` has them for Gemini 2.5. */
const thinkingBudgets: { readonly [E in ReasoningEffort]?: number } = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
};

// Gemini 2.5 takes a budget, later models a level, and those before neither. The thinking of 2.5 Pro and of the later ones
// cannot be turned off.
function thinkingOf(model: string, effort: ReasoningEffort): Parameters | null {
  if (/^gemini-2\.5-/.test(model)) {
    const thinkingBudget = effort === 'none' && model.includes('pro') ? undefined : thinkingBudgets[effort];
    return thinkingBudget === undefined ? null : { thinkingConfig: { thinkingBudget } };
  }
  const levels: readonly ReasoningEffort[] = ['minimal', 'low', 'medium', 'high'];
  const levelled = /^gemini-(?:[3-9]|\d{2})/.test(model) && levels.includes(effort);
  return levelled ? { thinkingConfig: { thinkingLevel: effort } } : null;
}

/** What stands before the parts of a message, whose texts are put side by side as they were written. */
const heads = {
  system: '{"role":"system","parts":[',
  user: '{"role":"user","parts":[',
  model: '{"role":"model","parts":[',
} as const;

function messageText(message: Message): string {
  switch (message.role) {
    case 'system':
    case 'developer':
      return heads.system + (message.text === '' ? '' : jsonText({ text: message.text })) + tail;
    case 'user':
      return heads.user + jsonText({ text: message.text }) + tail;
    case 'assistant':
      return heads.model + modelParts(message) + tail;
    case 'tool': {
      const { callId, name, text } = message;
      const id = callId.startsWith(madeIdPrefix) ? {} : { id: callId };
      return heads.user + jsonText({ functionResponse: { ...id, name, response: { result: text } } }) + tail;
    }
  }
}

// The signatures of thoughts hang on their parts, so the parts go back as they came; only calls are written anew, in the
// digits in which they were recorded.
function modelParts({ text, reasoning, calls }: AssistantMessage): string {
  const kept = keptParts(reasoning?.opaque, calls.length);
  if (kept === undefined) {
    return [...(text === '' ? [] : [jsonText({ text })]), ...calls.map((call) => callText(call, {}))].join(
      ',',
    );
  }
  return kept
    .map((part) => {
      if (typeof part.call !== 'number') return jsonText(part);
      const { call: at, ...beside } = part;
      const call = calls[Number(at)];
      return call === undefined ? '' : callText(call, beside);
    })
    .filter((part) => part !== '')
    .join(',');
}

function keptParts(
  opaque: Json | undefined,
  calls: number,
): readonly { readonly [key: string]: Json }[] | undefined {
  if (!isRecord(opaque) || !Array.isArray(opaque.parts)) return undefined;
  const parts: { readonly [key: string]: Json }[] = opaque.parts.filter(
    (part: Json): part is { readonly [key: string]: Json } => isRecord(part),
  );
  const named = parts.filter((part) => typeof part.call === 'number');
  return named.length === calls ? parts : undefined;
}

function callText({ id, name, arguments: args }: ToolCall, beside: { readonly [key: string]: Json }): string {
  const own = id.startsWith(madeIdPrefix) ? '' : `"id":${jsonText(id)},`;
  const more = Object.entries(beside).map(([key, value]) => `,${jsonText(key)}:${jsonText(value)}`);
  return `{"functionCall":{${own}"name":${jsonText(name)},"args":${argumentsText(args)}}${more.join('')}}`;
}

function toolJson({ name, description, parameters }: ToolSchema): Json {
  return { name, description, parametersJsonSchema: parameters };
}

const written = new Set([
  'model',
  'contents',
  'systemInstruction',
  'system_instruction',
  'tools',
  'maxOutputTokens',
]);
/** What a request has beside its contents; every other parameter is one of the generation. */
const beside = new Set(['safetySettings', 'toolConfig', 'cachedContent', 'labels']);

function bodyText({ messages, tools, maxTokens, parameters }: BodyParts): string {
  const groups = groupsOf(messages, heads, 'the Gemini API');
  const system = groups.filter(({ role }) => role === 'system').flatMap(({ parts }) => parts);
  const contents = groups
    .filter(({ role }) => role !== 'system')
    .map(({ role, parts }) => heads[role] + parts.join(',') + tail);
  const named = Object.entries(parameters);
  const outside = Object.fromEntries(named.filter(([name]) => beside.has(name)));
  const inside = Object.fromEntries(named.filter(([name]) => !beside.has(name)));
  const generation = [
    ...(maxTokens === null ? [] : [`"maxOutputTokens":${maxTokens}`]),
    ...parameterFields(inside, written),
  ];
  const fields = [
    ...(system.length === 0 ? [] : [`"systemInstruction":{"parts":[${system.join(',')}]}`]),
    `"contents":[${contents.join(',')}]`,
    ...(tools === '' ? [] : [`"tools":${tools}`]),
    ...(generation.length === 0 ? [] : [`"generationConfig":{${generation.join(',')}}`]),
    ...parameterFields(outside, written),
  ];
  return `{${fields.join(',')}}`;
}
