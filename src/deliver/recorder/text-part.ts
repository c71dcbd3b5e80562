/** One text of a model request with its place, and the small readers that the decoders of all protocols share. */
import { isRecord } from '../../protocol/json.ts';

export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'other';

export type PartKind = 'text' | 'reasoning' | 'tool-call' | 'tool-result' | 'media' | 'other';

export interface TextPart {
  /** The field of the request: `system`, `messages`, `instructions`, `input`, `systemInstruction`, `contents`. */
  readonly field: string;
  readonly role: Role;
  /** The place in the field's list from 0; 0 where the field is one text. */
  readonly index: number;
  /** The place in the content of that entry from 0; 0 where the content is one text. */
  readonly part: number;
  readonly kind: PartKind;
  /** The text itself; of what is not text its JSON. */
  readonly text: string;
}

export interface DecodedTexts {
  readonly parts: readonly TextPart[];
  readonly tools: readonly { readonly name: string; readonly json: unknown }[];
}

type Place = Pick<TextPart, 'field' | 'role' | 'index'>;

/** A content that is a text, or a list of blocks each of which `read` knows. Anything else is kept as JSON. */
export function contentParts(
  place: Place,
  content: unknown,
  read: (block: Readonly<Record<string, unknown>>) => Pick<TextPart, 'kind' | 'text'>,
): TextPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ ...place, part: 0, kind: 'text', text: content }];
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((block, part) => {
    if (typeof block === 'string') return { ...place, part, kind: 'text', text: block };
    return { ...place, part, ...(isRecord(block) ? read(block) : asJson('other', block)) };
  });
}

/** What is not text, as its JSON. */
export function asJson(kind: PartKind, value: unknown): Pick<TextPart, 'kind' | 'text'> {
  return { kind, text: JSON.stringify(value) };
}

/** The text of a field, if it is one; else the whole block as JSON. */
export function asText(kind: PartKind, block: unknown, text: unknown): Pick<TextPart, 'kind' | 'text'> {
  return typeof text === 'string' ? { kind, text } : asJson(kind, block);
}

const roles: ReadonlySet<string> = new Set<Role>(['system', 'developer', 'user', 'assistant', 'tool']);

/** The role that an entry names; Gemini's `model` is the assistant. */
export function roleOf(value: unknown): Role {
  if (value === 'model') return 'assistant';
  return typeof value === 'string' && roles.has(value) ? (value as Role) : 'other';
}

/** A field that should be a list; a single value counts as a list of one, a missing one as none. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** The tools of a list by the name that `named` finds; what has none goes by its type. */
export function toolsOf(
  value: unknown,
  named: (tool: Readonly<Record<string, unknown>>) => unknown,
): DecodedTexts['tools'] {
  return listOf(value).map((json) => {
    const name = isRecord(json) ? (named(json) ?? json.type) : undefined;
    return { name: typeof name === 'string' ? name : 'unnamed', json };
  });
}
