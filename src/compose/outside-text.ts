/** Text that comes from outside the agent, made unable to pass for a heading, a layer or a value of another shape. */

const breaks = String.raw`\n\r\v\f\x1c-\x1e\u0085\u2028\u2029`;
// All that some reader takes for the end of a line; \x1c-\x1e because Python's splitlines does.
const lineBreak = new RegExp(String.raw`(\r\n|[${breaks}])`);

// Characters that a reader does not see, or that only colour a line, must not hide how it begins. A control sequence may
// be obeyed, as a terminal does, or be passed over character by character, as a model may: a line is read in both ways.
const unseen = String.raw`(?!\t)[\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\u2800]`;
const sequence = [
  String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]`,
  String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,2000}(?:\x07|\x9c|\x1b\\)`,
  String.raw`\x1b[ -/]*[0-~]`,
].join('|');
const passedOver = new RegExp(unseen, 'gu');
const readings = [passedOver, new RegExp(`${sequence}|${unseen}`, 'gu')];
// Most lines are of these characters alone, of which none is unseen: they are not looked through twice.
const plainCharacters = /^[\t\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e]*$/;

// What may stand before a block on its line: indentation, quote marks, list markers.
const containerPart = /[\s>]+|[-*+](?=\s)|\d{1,9}[.)](?=\s)/y;

// A heading (`# x`, or a line of = or - below a paragraph), a code fence, an HTML block. The last two are here because an
// open one would swallow the headings of the layers that follow.
const opener = /#{1,6}(?:\s|$)|=+\s*$|-+\s*$|`{3}|~{3}|<[A-Za-z!?/]/y;

/** One line with a backslash before whatever would make it open a heading, a fence or an HTML block. */
export function plainLine(line: string): string {
  if (startsAsWord(line)) return line;
  return escaped(line, opener, 0);
}

/** A text with every line plain, outer blank space and one byte-order mark gone, and line ends as `\n`. */
export function plainText(text: string): string {
  const parts = trimBlank(text.startsWith('\ufeff') ? text.slice(1) : text).split(lineBreak);
  let plain = '';
  for (let i = 0; i < parts.length; i += 1) {
    const part = parts[i] ?? '';
    if (i % 2 === 0) plain += plainLine(part);
    else plain += part === '\r\n' || part === '\r' ? '\n' : part;
  }
  return plain;
}

// Most lines begin with a letter, and such a line opens nothing.
function startsAsWord(line: string): boolean {
  const code = line.charCodeAt(0) | 0x20;
  return code >= 0x61 && code <= 0x7a;
}

/** Where a block opens on a line, after the containers it may stand in; undefined where none does. */
function blockAt(line: string, marker: RegExp): number | undefined {
  for (let at = 0; ; at = containerPart.lastIndex) {
    marker.lastIndex = at;
    if (marker.test(line)) return at;
    containerPart.lastIndex = at;
    if (!containerPart.test(line)) return undefined;
  }
}

/** The line with a backslash before the block that opens on it in some reading, but not before the place `from`. */
function escaped(line: string, marker: RegExp, from: number): string {
  if (!holdsUnseen(line)) {
    const at = blockAt(line, marker);
    return at === undefined ? line : withBackslash(line, at, from);
  }
  let safe = line;
  for (const hidden of readings) {
    // Once more, because a control sequence may have taken the first backslash for its end.
    for (let tries = 0; tries < 2; tries += 1) {
      const at = blockAt(safe.replace(hidden, ''), marker);
      if (at === undefined) break;
      safe = withBackslash(safe, placeIn(safe, hidden, at), from);
    }
  }
  return safe;
}

function holdsUnseen(line: string): boolean {
  return !plainCharacters.test(line) && line.search(passedOver) >= 0;
}

function withBackslash(line: string, at: number, from: number): string {
  const place = Math.max(at, from);
  return `${line.slice(0, place)}\\${line.slice(place)}`;
}

// Where a place among the characters shown is on the whole line; before what is hidden there.
function placeIn(line: string, hidden: RegExp, shownAt: number): number {
  let left = shownAt;
  let at = 0;
  for (const found of line.matchAll(hidden)) {
    if (left <= found.index - at) break;
    left -= found.index - at;
    at = found.index + found[0].length;
  }
  return at + left;
}

// Author's text on the line of a value: what it opens itself is meant; what it only begins, a value may not complete.
const authorsOpener = /#{1,6}\s|`{3}|~{3}|<[A-Za-z!?/]/y;
const begunOpener = /(?:#{1,6}|=+|-+|`{1,2}|~{1,2}|<|[*+]|\d{1,9}[.)]?)?$/y;
const valueOpener = new RegExp(`${opener.source}|\`{1,2}$|~{1,2}$|<$`, 'y');
const anyBreak = new RegExp(`[${breaks}]`);

/** The line that a template is writing, as far as it decides what a value on it could still open. */
export class LineSoFar {
  // Null where nothing that follows on this line can open a block.
  #start: string | null = '';

  /** Takes in text of the author's own. */
  text(text: string): void {
    const end = text.lastIndexOf('\n');
    if (end >= 0) this.#start = text.slice(end + 1);
    else if (this.#start !== null) this.#start += text;
    else if (anyBreak.test(text)) this.#start = text;
  }

  /** The value, one line long, with a backslash where it would make the line open a block. */
  value(value: string): string {
    const start = this.#settled();
    if (start === null || value === '') return value;
    const line = escaped(start + value, valueOpener, start.length);
    this.#start = line;
    return line.slice(start.length);
  }

  #settled(): string | null {
    if (this.#start === null) return null;
    const start = this.#start.split(anyBreak).at(-1) ?? '';
    this.#start = start === '' || isOpen(start) ? start : null;
    return this.#start;
  }
}

function isOpen(start: string): boolean {
  if (startsAsWord(start)) return false;
  const ways = holdsUnseen(start) ? readings.map((hidden) => start.replace(hidden, '')) : [start];
  return ways.some(
    (shown) => blockAt(shown, authorsOpener) === undefined && blockAt(shown, begunOpener) !== undefined,
  );
}

const valueCharactersMax = 500;
const printableAscii = /^[\x20-\x7e]*$/;
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A value as one line: control, invisible, direction and half characters escaped, at most 500 characters. */
export function oneLine(value: string): string {
  if (value.length <= valueCharactersMax && printableAscii.test(value)) return value;
  const cut = value.length > valueCharactersMax ? [...value].slice(0, valueCharactersMax).join('') : value;
  const mark = cut.length < value.length ? '…' : '';
  return cut.replace(unprintable, escapeCharacter) + mark;
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
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
