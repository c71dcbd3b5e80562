/** The texts of an Anthropic Messages request. */
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

/** `system` is one text or a list of blocks; a block of it is an entry of its own. */
export function anthropicTexts(body: Readonly<Record<string, unknown>>): DecodedTexts {
  const system = listOf(body.system).flatMap((block, index) =>
    contentParts({ field: 'system', role: 'system', index }, block, readBlock),
  );
  const messages = listOf(body.messages).flatMap((message, index): TextPart[] => {
    if (!isRecord(message))
      return contentParts({ field: 'messages', role: 'other', index }, [message], readBlock);
    return contentParts({ field: 'messages', role: roleOf(message.role), index }, message.content, readBlock);
  });
  return { parts: [...system, ...messages], tools: toolsOf(body.tools, (tool) => tool.name) };
}

function readBlock(block: Readonly<Record<string, unknown>>): Pick<TextPart, 'kind' | 'text'> {
  switch (block.type) {
    case 'text':
      return asText('text', block, block.text);
    case 'thinking':
      return asText('reasoning', block, block.thinking);
    case 'tool_use':
      return asJson('tool-call', { name: block.name, input: block.input });
    case 'tool_result':
      return asText('tool-result', block, onlyText(block.content));
    case 'image':
    case 'document':
      return asJson('media', block);
    default:
      return asJson('other', block);
  }
}

// A result of texts alone is those texts; one with an image in it is shown as it is.
function onlyText(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const texts = content.map((block) => (isRecord(block) && block.type === 'text' ? block.text : undefined));
  return texts.every((text) => typeof text === 'string') ? texts.join('') : undefined;
}
