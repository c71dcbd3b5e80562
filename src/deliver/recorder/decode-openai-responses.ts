/** The texts of an OpenAI Responses request. */
import { isRecord } from '../../protocol/json.ts';
import {
  asJson,
  asText,
  contentParts,
  type DecodedTexts,
  listOf,
  roleOf,
  type TextPart,
  toolsOf,
} from './text-part.ts';

/** `instructions` stand above the conversation as a system message; `input` is a text or a list of items. */
export function openaiResponsesTexts(body: Readonly<Record<string, unknown>>): DecodedTexts {
  const instructions = contentParts(
    { field: 'instructions', role: 'system', index: 0 },
    body.instructions,
    readBlock,
  );
  const items = listOf(body.input);
  const input = items.flatMap((item, index): TextPart[] => {
    if (typeof item === 'string')
      return contentParts({ field: 'input', role: 'user', index }, item, readBlock);
    return isRecord(item)
      ? itemParts(item, index)
      : contentParts({ field: 'input', role: 'other', index }, [item], readBlock);
  });
  const added = items.flatMap((item) =>
    isRecord(item) && item.type === addedTools ? listOf(item.tools) : [],
  );
  const tools = toolsOf([...listOf(body.tools), ...added].flatMap(members), (tool) => tool.name);
  return { parts: [...instructions, ...input], tools };
}

// Codex puts its tools into the conversation for some models: they are tools all the same, and no text.
const addedTools = 'additional_tools';

/** A namespace holds tools, each of which goes by both names. */
function members(tool: unknown): readonly unknown[] {
  if (!isRecord(tool) || tool.type !== 'namespace' || !Array.isArray(tool.tools)) return [tool];
  return tool.tools.map((one: unknown) =>
    isRecord(one) ? { ...one, name: `${tool.name}.${one.name}` } : one,
  );
}

function itemParts(item: Readonly<Record<string, unknown>>, index: number): TextPart[] {
  const one = (role: TextPart['role'], read: Pick<TextPart, 'kind' | 'text'>): TextPart[] => [
    { field: 'input', role, index, part: 0, ...read },
  ];
  // A message may leave its type out.
  switch (item.type ?? 'message') {
    case 'message':
      return contentParts({ field: 'input', role: roleOf(item.role), index }, item.content, readBlock);
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
      return one('assistant', asJson('tool-call', item));
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      return one('tool', asText('tool-result', item, item.output));
    case addedTools:
      return [];
    case 'reasoning':
      return one('assistant', asJson('reasoning', item));
    default:
      return one(item.role === undefined ? 'other' : roleOf(item.role), asJson('other', item));
  }
}

function readBlock(block: Readonly<Record<string, unknown>>): Pick<TextPart, 'kind' | 'text'> {
  switch (block.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return asText('text', block, block.text);
    case 'input_image':
    case 'input_file':
      return asJson('media', block);
    default:
      return asJson('other', block);
  }
}
