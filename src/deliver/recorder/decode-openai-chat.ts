/** The texts of an OpenAI Chat Completions request. */
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

/** Everything is a message; the calls of an assistant follow its content. */
export function openaiChatTexts(body: Readonly<Record<string, unknown>>): DecodedTexts {
  const parts = listOf(body.messages).flatMap((message, index): TextPart[] => {
    if (!isRecord(message))
      return contentParts({ field: 'messages', role: 'other', index }, [message], readBlock);
    const role = roleOf(message.role);
    const place = { field: 'messages', role, index } as const;
    const content = contentParts(place, message.content, readBlock);
    const texts =
      role === 'tool' ? content.map((part) => ({ ...part, kind: 'tool-result' as const })) : content;
    const calls = listOf(message.tool_calls).map((call, i) => ({
      ...place,
      part: texts.length + i,
      ...asJson('tool-call', isRecord(call) ? (call.function ?? call) : call),
    }));
    return [...texts, ...calls];
  });
  const nameOf = (tool: Readonly<Record<string, unknown>>) =>
    isRecord(tool.function) ? tool.function.name : tool.name;
  return { parts, tools: toolsOf(body.tools, nameOf) };
}

function readBlock(block: Readonly<Record<string, unknown>>): Pick<TextPart, 'kind' | 'text'> {
  switch (block.type) {
    case 'text':
      return asText('text', block, block.text);
    case 'refusal':
      return asText('text', block, block.refusal);
    case 'image_url':
    case 'input_audio':
    case 'file':
      return asJson('media', block);
    default:
      return asJson('other', block);
  }
}
