/** `unreadable`: not one JSON object. `invalid`: it does not fit the parameters. */
export type ArgumentFault = 'tool.arguments-unreadable' | 'tool.arguments-invalid';

/** `readArguments`: from the text a model wrote to checked arguments, or to one bounded message that lets it mend them. */
import { messageOf } from '../../errors.ts';
import { type ExactJson, isRecord, parseExactJson } from '../../protocol/json.ts';
import { repeatedKey } from './json-keys.ts';
import { utf8Prefix, wellFormed } from './result-text.ts';
import { short } from './short.ts';
import type { Tool } from './tool.ts';
import { halfCharacterAt } from './whole-text.ts';

export type ReadArguments =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly code: ArgumentFault;
      readonly message: string;
    };

const messageBytesMax = 2000;
// More than any model writes in one answer; the readers below are linear, but not free.
const charactersMax = 4_000_000;
// Deeper text overflows the stack of the exact reader; no tool asks for a tenth of it.
const depthMax = 500;

/**
 * Reads and checks. Nothing at all stands for `{}` only where the tool takes no parameters; everything else that is not
 * exactly one JSON object is refused, never guessed at. The message quotes at most a short piece of what was written.
 */
export function readArguments(text: string | undefined, tool: Tool): ReadArguments {
  const written = (text ?? '').trim();
  if (written === '' && !takesNothing(tool))
    return unreadable(tool, 'expected one JSON object, found nothing');
  if (written.length > charactersMax)
    return unreadable(tool, `expected at most ${charactersMax} characters, found ${written.length}`);
  const read = readObject(written === '' ? '{}' : written);
  if (!read.ok) return unreadable(tool, read.problem);
  const checked = tool.check(read.value);
  if (checked.ok) return checked;
  const message = `The arguments of ${tool.schema.name} do not fit. ${checked.problems.join(' ')}`;
  return { ok: false, code: 'tool.arguments-invalid', message: bounded(message) };
}

function takesNothing(tool: Tool): boolean {
  const {
    type: _,
    additionalProperties: __,
    title: ___,
    description: ____,
    properties,
    ...rest
  } = tool.schema.parameters;
  return Object.keys(rest).length === 0 && Object.keys(isRecord(properties) ? properties : {}).length === 0;
}

function readObject(
  text: string,
): { readonly ok: true; readonly value: ExactJson } | { readonly ok: false; readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return { ok: false, problem: `expected one JSON object, found text that ${brokenBy(text, cause)}` };
  }
  if (typeof value === 'string' && value.trim().startsWith('{'))
    return { ok: false, problem: 'expected one JSON object, found one written as text; send it unquoted' };
  if (!isRecord(value)) return { ok: false, problem: `expected one JSON object, found ${short(value)}` };
  const keys = repeatedKey(text, depthMax);
  if (keys !== null) return { ok: false, problem: `expected one JSON object, found ${keys}` };
  // It has no bytes: neither a file nor a digest of the call could hold it.
  const half = halfCharacterAt(value);
  if (half !== undefined)
    return {
      ok: false,
      problem: `expected whole characters, found half of one (a \\u escape of D800 to DFFF alone) in ${half === '' ? 'a name of a field' : short(half)}; write the character itself`,
    };
  try {
    return { ok: true, value: parseExactJson(text) };
  } catch (cause) {
    // It is JSON, so this is a number that no tool could be handed as it was written.
    return { ok: false, problem: `expected one JSON object, found ${messageOf(cause)}; send it as text` };
  }
}

// V8's own message quotes the text at length, so only the place or the character is taken from it.
function brokenBy(text: string, cause: unknown): string {
  const said = cause instanceof Error ? cause.message : '';
  if (/^(Unexpected end|Unterminated)/.test(said))
    return `ends too early, after ${short(text.slice(-30))}; it may have been cut off`;
  const place = /at position (\d+)/.exec(said)?.[1];
  if (place !== undefined)
    return `is no JSON at character ${place}, near ${short(text.slice(Number(place), Number(place) + 20))}`;
  const token = /^Unexpected token '(.)'/u.exec(said)?.[1];
  return token === undefined ? 'is no JSON' : `is no JSON because of the character ${short(token)}`;
}

function unreadable(tool: Tool, problem: string): ReadArguments {
  const names = isRecord(tool.schema.parameters.properties)
    ? Object.keys(tool.schema.parameters.properties)
    : [];
  const fields = names.length === 0 ? '{}' : `an object with ${names.slice(0, 12).join(', ')}`;
  const message = `The arguments of ${tool.schema.name} cannot be read: ${problem}. Call it again with ${fields}.`;
  return { ok: false, code: 'tool.arguments-unreadable', message: bounded(message) };
}

function bounded(message: string): string {
  return utf8Prefix(wellFormed(message), messageBytesMax);
}
