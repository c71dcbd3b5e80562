/** The wire of Anthropic Messages: what it sends, and where it asks the provider to cache. */
import type { Json } from '../protocol/json.ts';
import type { AssistantMessage, Message, SystemMessage, ToolCall, ToolSchema } from '../protocol/messages.ts';
import { replayedBlocks } from './anthropic-blocks.ts';
import { MessagesReader } from './anthropic-reader.ts';
import { argumentsText } from './arguments-text.ts';
import { responseFault } from './fault.ts';
import { jsonText, parameterFields } from './json-text.ts';
import { type Group, groupsOf, tail } from './message-groups.ts';
import { field, type Parameters, type ReasoningEffort } from './settings.ts';
import type { BodyParts, Wire } from './wire.ts';

/** Sent where no output limit is given, because this protocol needs one; every model since Claude 3.5 allows as many. */
const maxTokensDefault = 8192;

/** Makes the wire. It holds no state; readers do. */
export function anthropic(): Wire {
  return {
    name: 'anthropic',
    path: '/v1/messages',
    settings: {
      temperature: field('temperature'),
      top_p: field('top_p'),
      stop: field('stop_sequences'),
      reasoning_effort: effortFields,
    },
    maxTokensDefault,
    headers: (key): Record<string, string> => ({
      'anthropic-version': '2023-06-01',
      ...(key === null ? {} : { 'x-api-key': key }),
    }),
    message: messageText,
    tools: toolsText,
    body: bodyText,
    reader: () => new MessagesReader(),
    fault: responseFault,
  };
}

// Effort is one of the whole answer; only where the model may think as it sees fit is it one of its reasoning. There is no
// level below `low`. Models from before Claude 4.6 know no `adaptive`, and the provider refuses it for them.
function effortFields(effort: ReasoningEffort): Parameters | null {
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  return effort === 'minimal' ? null : { thinking: { type: 'adaptive' }, output_config: { effort } };
}

/**
 * What stands before and after the blocks of a message. A message is written once, alone and whole; in a body neighbours
 * of one role share a message, because the protocol wants the results of one batch together. Their blocks are put
 * side by side as they were written, so what was sent once is sent in the same bytes again.
 */
const heads = {
  system: '{"role":"system","content":[',
  user: '{"role":"user","content":[',
  assistant: '{"role":"assistant","content":[',
} as const;
type Role = keyof typeof heads;

function messageText(message: Message): string {
  switch (message.role) {
    case 'system':
    case 'developer':
      return heads.system + systemBlocks(message) + tail;
    case 'user':
      return heads.user + jsonText({ type: 'text', text: message.text }) + tail;
    case 'assistant':
      return heads.assistant + assistantBlocks(message) + tail;
    case 'tool': {
      // An empty content is left out: the protocol refuses a text block with nothing in it.
      const content = message.text === '' ? {} : { content: message.text };
      return heads.user + jsonText({ type: 'tool_result', tool_use_id: message.callId, ...content }) + tail;
    }
  }
}

/** Asks the provider to cache everything up to and with the block that carries it. */
const mark = '"cache_control":{"type":"ephemeral"}';
/** The provider refuses a request with more marks than this. */
const marksMax = 4;

function marked(block: string): string {
  return `${block.slice(0, -1)},${mark}}`;
}

// One block, or two that join to exactly the text: the first ends where the text begins to differ between sessions.
function systemBlocks({ text, stablePrefixBytes = 0 }: SystemMessage): string {
  if (text === '') return '';
  const block = (part: string) => jsonText({ type: 'text', text: part });
  const stable = Buffer.from(text).toString('utf8', 0, stablePrefixBytes);
  const rest = text.slice(stable.length);
  // Inside a character there is nothing to cut at, and the protocol refuses a block of blanks.
  if (!text.startsWith(stable) || stable.trim() === '') return block(text);
  return rest.trim() === '' ? marked(block(text)) : `${marked(block(stable))},${block(rest)}`;
}

function assistantBlocks({ text, reasoning, calls }: AssistantMessage): string {
  const kept = replayedBlocks(reasoning?.opaque, calls.length);
  if (kept === undefined) {
    return [...(text.trim() === '' ? [] : [jsonText({ type: 'text', text })]), ...calls.map(callText)].join(
      ',',
    );
  }
  const rest = calls.values();
  return kept.map((block) => (block === 'call' ? callText(rest.next().value) : jsonText(block))).join(',');
}

function callText(call: ToolCall | undefined): string {
  if (call === undefined) throw new TypeError('There are as many places for calls as there are calls.');
  return `{"type":"tool_use","id":${jsonText(call.id)},"name":${jsonText(call.name)},"input":${argumentsText(call.arguments)}}`;
}

function toolsText(schemas: readonly ToolSchema[]): string {
  if (schemas.length === 0) return '';
  const tools = schemas.map((schema) => jsonText(toolJson(schema)));
  return `[${[...tools.slice(0, -1), ...tools.slice(-1).map(marked)].join(',')}]`;
}

function toolJson({ name, description, parameters }: ToolSchema): Json {
  return { name, description, input_schema: parameters };
}

const written = new Set(['model', 'max_tokens', 'system', 'tools', 'messages', 'stream', 'cache_control']);

function bodyText(parts: BodyParts): string {
  const groups = groupsOf(parts.messages, heads, 'Anthropic Messages');
  const system = groups.filter(({ role }) => role === 'system').flatMap(({ parts: blocks }) => blocks);
  const conversation = groups.filter(({ role }) => role !== 'system');
  const taken = marksIn(system) + (parts.tools === '' ? 0 : 1);
  const { tool_choice: choice, ...others } = parts.parameters;
  // Refused by the provider in a request without tools.
  const parameters = choice === undefined || parts.tools === '' ? others : parts.parameters;
  const fields = [
    `"model":${jsonText(parts.model)}`,
    `"max_tokens":${parts.maxTokens ?? maxTokensDefault}`,
    ...(system.length === 0 ? [] : [`"system":[${system.join(',')}]`]),
    ...(parts.tools === '' ? [] : [`"tools":${parts.tools}`]),
    `"messages":[${conversationText(conversation, marksMax - taken)}]`,
    '"stream":true',
    ...parameterFields(parameters, written),
  ];
  return `{${fields.join(',')}}`;
}

// The newest message of the user and the one before it. The first makes the next request find all of this one; the second
// stands where the request before had its first, so that the provider finds that one however many blocks lie between.
// A mark is not part of what is cached: moving on, it changes nothing of what a message means to the cache.
function conversationText(groups: readonly Group<Role>[], marks: number): string {
  const asked = groups
    .filter(({ role }) => role === 'user')
    .slice(marks > 0 ? -Math.min(marks, 2) : groups.length);
  const texts = groups.map((group) => {
    const blocks = asked.includes(group) ? markedLast(group.parts) : group.parts;
    return heads[group.role] + blocks.join(',') + tail;
  });
  return texts.join(',');
}

function markedLast(blocks: readonly string[]): string[] {
  return [...blocks.slice(0, -1), ...blocks.slice(-1).map(marked)];
}

// Inside a JSON text every quote of a value is escaped, so the mark can only stand there as a mark.
function marksIn(blocks: readonly string[]): number {
  return blocks.reduce((sum, block) => sum + block.split(mark).length - 1, 0);
}
