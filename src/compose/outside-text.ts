/** Text that comes from outside the agent, made unable to pass for a heading, a layer or a value of another shape. */

const lineBreak = /(\r\n|[\n\r\v\f\u0085\u2028\u2029])/;

// What may stand before a block on its line: indentation, quote marks, list markers.
const container = String.raw`(?:[\s>]|[-*+](?=\s)|\d{1,9}[.)](?=\s))*`;

// A heading (`# x`, or a line of = or - below a paragraph), a code fence, an HTML block. The last two are here because an
// open one would swallow the headings of the layers that follow.
const opening = new RegExp(
  String.raw`^(${container})(?=#{1,6}(?:\s|$)|=+\s*$|-+\s*$|\`{3}|~{3}|<[A-Za-z!?/])`,
);

/** One line with a backslash before whatever would make it open a heading, a fence or an HTML block. */
export function plainLine(line: string): string {
  return line.replace(opening, '$1\\');
}

/** A text with every line plain, outer blank space gone and line ends as `\n`. A blank text becomes empty. */
export function plainText(text: string): string {
  const parts = trimBlank(text).split(lineBreak);
  return parts
    .map((part, i) => (i % 2 === 0 ? plainLine(part) : part === '\r\n' || part === '\r' ? '\n' : part))
    .join('');
}

/**
 * A value that goes on a line already begun, with a backslash where it would make the line open a block. What the
 * author's own text opens (`# {{ fact }}`) stays.
 */
export function plainContinuation(before: string, value: string): string {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const found = opening.exec(line + value);
  if (found === null) return value;
  const at = Math.max(0, found[0].length - line.length);
  if (found[0].length < line.length && opening.test(line)) return value;
  return `${value.slice(0, at)}\\${value.slice(at)}`;
}

const valueCharactersMax = 500;
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** A value as one line: control, direction and half characters escaped, at most 500 characters. */
export function oneLine(value: string): string {
  const cut = value.length > valueCharactersMax ? [...value].slice(0, valueCharactersMax).join('') : value;
  const mark = cut.length < value.length ? '…' : '';
  return cut.replace(unprintable, escapeCharacter) + mark;
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Spaces, tabs and line ends gone from both ends; unlike `trim`, a byte-order mark or a hard space is kept. */
export function trimBlank(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}
