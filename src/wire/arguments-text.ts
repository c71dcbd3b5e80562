/** The arguments of a call for a protocol that wants an object: in the model's own digits, and always one that a server can read. */
import { isRecord } from '../protocol/json.ts';
import { jsonText } from './json-text.ts';

// An escaped pair stays as the model wrote it; a half without its other half would make the request invalid.
const escapes =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|[\s\S])/g;

/**
 * The text of an object: nothing at all is the empty one, and text that is none goes into one under the name that
 * Anthropic's documentation gives for this, so that the model sees its slip.
 */
export function argumentsText(args: string): string {
  if (args.trim() === '') return '{}';
  if (!isObjectText(args)) return jsonText({ INVALID_JSON: args });
  return args
    .replace(escapes, (found) => (found.length === 6 ? '\ufffd' : found))
    .replace(/\p{Surrogate}/gu, '\ufffd');
}

function isObjectText(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
