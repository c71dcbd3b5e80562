/** A second opinion on how a line opens a block, written apart from the code under test, character by character. */

/** Lines as any reader may split them; `\r\n` counts as two ends. */
export function linesOf(text: string): string[] {
  const ends = '\n\r\v\f\u001c\u001d\u001e\u0085\u2028\u2029';
  const lines = [''];
  for (const character of text) {
    if (ends.includes(character)) lines.push('');
    else lines.push(`${lines.pop()}${character}`);
  }
  return lines;
}

/** The line for a reader to whom control and format characters are nothing. */
export function passedOver(line: string): string {
  return [...line].filter((character) => !isUnseen(character)).join('');
}

/** The line for a reader that obeys control sequences as a terminal does. */
export function obeyed(line: string): string {
  const characters = [...line];
  let shown = '';
  for (let at = 0; at < characters.length; at += 1) {
    const skipped = sequenceLength(characters, at);
    if (skipped > 0) at += skipped - 1;
    else if (!isUnseen(characters[at] ?? '')) shown += characters[at];
  }
  return shown;
}

/**
 * Where a block opens: the characters of its marker, and the white space that makes it one. By CommonMark, but stricter:
 * a line of = or - counts whatever stands above it, and white space is that of Unicode.
 */
export function blockOf(line: string): { readonly from: number; readonly to: number } | undefined {
  for (let at = 0; at <= line.length; ) {
    const block = markerAt(line, at);
    if (block !== undefined) return block;
    const step = containerLength(line, at);
    if (step === 0) return undefined;
    at += step;
  }
  return undefined;
}

function markerAt(line: string, from: number) {
  const rest = line.slice(from);
  const first = rest.charAt(0);
  const run = runLength(rest, first);
  if (first === '#' && run <= 6 && (rest.length === run || isBlank(rest.charAt(run))))
    return { from, to: from + Math.min(run + 1, rest.length) };
  if ((first === '=' || first === '-') && rest.slice(run).trim() === '') return { from, to: line.length };
  if ((first === '`' || first === '~') && run >= 3) return { from, to: from + 3 };
  if (first === '<' && /^[a-z!?/]/i.test(rest.slice(1))) return { from, to: from + 2 };
  return undefined;
}

function containerLength(line: string, at: number): number {
  const first = line.charAt(at);
  if (first !== '' && (isBlank(first) || first === '>')) return 1;
  if ('-*+'.includes(first) && first !== '') return isBlank(line.charAt(at + 1)) ? 1 : 0;
  let digits = 0;
  while (digits < 9 && /[0-9]/.test(line.charAt(at + digits))) digits += 1;
  const isItem = digits > 0 && '.)'.includes(line.charAt(at + digits) || ' ');
  return isItem && isBlank(line.charAt(at + digits + 1)) ? digits + 1 : 0;
}

function runLength(text: string, character: string): number {
  let length = 0;
  while (character !== '' && text.charAt(length) === character) length += 1;
  return length;
}

function isBlank(character: string): boolean {
  return character !== '' && character.trim() === '';
}

function isUnseen(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  const ranges = [
    [0x00, 0x08],
    [0x0e, 0x1f],
    [0x7f, 0x9f],
    [0xad, 0xad],
    [0x300, 0x36f],
    [0x200b, 0x200f],
    [0x2060, 0x206f],
    [0x3164, 0x3164],
    [0xfeff, 0xfeff],
    [0xe0000, 0xe0fff],
  ] as const;
  return ranges.some(([first, last]) => code >= first && code <= last);
}

// ECMA-48: a control sequence, a control string, or an escape with its intermediate characters and its final one.
function sequenceLength(characters: readonly string[], at: number): number {
  const rest = characters.slice(at).join('');
  if (rest.startsWith('\u001b[') || rest.startsWith('\u009b')) {
    let end = rest.startsWith('\u009b') ? 1 : 2;
    while (isBetween(rest, end, '0', '?')) end += 1;
    while (isBetween(rest, end, ' ', '/')) end += 1;
    if (isBetween(rest, end, '@', '~')) return end + 1;
  }
  if (opensString(rest)) {
    for (let end = 1; end < rest.length; end += 1) {
      if (rest.charAt(end) === '\u0007' || rest.charAt(end) === '\u009c')
        return [...rest.slice(0, end + 1)].length;
      if (rest.charAt(end) === '\u001b') {
        if (rest.charAt(end + 1) === '\\') return [...rest.slice(0, end + 2)].length;
        break;
      }
    }
  }
  if (!rest.startsWith('\u001b')) return 0;
  let end = 1;
  while (isBetween(rest, end, ' ', '/')) end += 1;
  return isBetween(rest, end, '0', '~') ? end + 1 : 0;
}

function opensString(text: string): boolean {
  const [first = '', second = ''] = [text.charAt(0), text.charAt(1)];
  return first === '\u001b'
    ? second !== '' && ']PX^_'.includes(second)
    : '\u0090\u0098\u009d\u009e\u009f'.includes(first);
}

function isBetween(text: string, at: number, first: string, last: string): boolean {
  const character = text.charAt(at);
  return character !== '' && character >= first && character <= last;
}
