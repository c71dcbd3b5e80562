/** From what a model wrote to one JSON object, exactly: nothing inside it is squeezed, mended or guessed. */
import { type ExactJson, isRecord, parseExactJson } from '../../protocol/json.ts';
import { repeatedKey } from '../tool/json-keys.ts';
import { planBounds } from './ast.ts';
import { Rejected } from './fault.ts';

export type JsonObject = { readonly [key: string]: ExactJson };

/**
 * The one JSON object of a text, which may stand in a fence or between sentences. Two objects are none: which of them was
 * meant would be a guess. Throws Rejected.
 */
export function oneJsonObject(text: string): JsonObject {
  if (text.length > planBounds.characters) throw new Rejected('text_too_long', '');
  const whole = parsed(text);
  if (whole !== undefined) return checkedObject(text.trim(), whole);
  const pieces = balancedObjects(text);
  const read = pieces.flatMap((piece) => {
    const value = parsed(piece);
    return value === undefined ? [] : [{ piece, value }];
  });
  const [only, second] = read;
  if (only === undefined) throw new Rejected(text.includes('{') ? 'invalid_json_text' : 'not_one_object', '');
  if (second !== undefined) throw new Rejected('not_one_object', '');
  return checkedObject(only.piece, only.value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checkedObject(text: string, value: unknown): JsonObject {
  if (!isRecord(value)) throw new Rejected('not_one_object', '');
  const keys = repeatedKey(text, planBounds.nesting);
  if (keys !== null) throw new Rejected(keys.includes('nested') ? 'nested_too_deep' : 'duplicate_key', '');
  try {
    const exact = parseExactJson(text);
    if (isRecord(exact)) return exact as JsonObject;
  } catch {
    // It is JSON, so this is a number beyond all that can be kept.
  }
  throw new Rejected('invalid_json_text', '');
}

/** Every outermost `{…}` of the text. A brace that is never closed ends the search, so that it stays linear. */
function balancedObjects(text: string): readonly string[] {
  const found: string[] = [];
  let start = 0;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i += 1;
      else if (character === '"') inString = false;
    } else if (depth > 0 && character === '"') inString = true;
    else if (character === '{') {
      if (depth === 0) start = i;
      depth += 1;
    } else if (character === '}' && depth > 0) {
      depth -= 1;
      if (depth === 0) found.push(text.slice(start, i + 1));
    }
  }
  return found;
}
