/** The texts of a Gemini generateContent request. */
import { isRecord } from '../../protocol/json.ts';
import { asJson, asText, type DecodedTexts, listOf, roleOf, type TextPart, toolsOf } from './text-part.ts';

/** The provider takes both spellings of each field. Each part of the system instruction is an entry of its own. */
export function geminiTexts(body: Readonly<Record<string, unknown>>): DecodedTexts {
  const instruction = body.systemInstruction ?? body.system_instruction;
  const system = partsOf(instruction).map(
    (part, index): TextPart => ({
      field: 'systemInstruction',
      role: 'system',
      index,
      part: 0,
      ...readPart(part),
    }),
  );
  const contents = listOf(body.contents).flatMap((content, index): TextPart[] => {
    // An entry without a role is the user's.
    const role = isRecord(content) ? roleOf(content.role ?? 'user') : 'other';
    return partsOf(content).map((value, part) => ({
      field: 'contents',
      role,
      index,
      part,
      ...readPart(value),
    }));
  });
  const tools = listOf(body.tools).flatMap((tool) => {
    const functions = isRecord(tool) ? (tool.functionDeclarations ?? tool.function_declarations) : undefined;
    if (functions !== undefined) return toolsOf(functions, ({ name }) => name);
    // A tool of the provider itself is an object whose one key is its name.
    return [{ name: isRecord(tool) ? (Object.keys(tool)[0] ?? 'unnamed') : 'unnamed', json: tool }];
  });
  return { parts: [...system, ...contents], tools };
}

function partsOf(content: unknown): readonly unknown[] {
  return isRecord(content) ? listOf(content.parts) : listOf(content);
}

function readPart(part: unknown): Pick<TextPart, 'kind' | 'text'> {
  if (typeof part === 'string') return { kind: 'text', text: part };
  if (!isRecord(part)) return asJson('other', part);
  if (part.text !== undefined) return asText(part.thought === true ? 'reasoning' : 'text', part, part.text);
  if (part.functionCall !== undefined) return asJson('tool-call', part.functionCall);
  if (part.functionResponse !== undefined) return asJson('tool-result', part.functionResponse);
  if (part.inlineData !== undefined || part.fileData !== undefined) return asJson('media', part);
  return asJson('other', part);
}
