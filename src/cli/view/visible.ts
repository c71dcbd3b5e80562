/** Texts of models and tools as a terminal may show them: nothing in them can move a cursor, hide or reorder what follows. */

// C0 but tab and newline, DEL, C1, bidirectional marks and overrides, line separators, lone surrogates, invisible joiners.
const dangerous =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/gu;

/** The text with control characters written as `\xNN` or `\u{NNNN}`; line breaks and tabs stay. */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(dangerous, (found) => {
    const code = found.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** The same on one line: line breaks become `\n`, tabs blanks; cut to `cells` columns with an ellipsis. */
export function visibleLine(text: string, cells: number): string {
  // No more of a long text is looked at than could be shown.
  const line = visible(text.slice(0, cells * 4 + 16))
    .replaceAll('\n', '\\n')
    .replaceAll('\t', ' ');
  return fitCells(line, cells);
}

/** Cuts to so many terminal columns, with an ellipsis where something was cut. */
export function fitCells(text: string, cells: number): string {
  let used = 0;
  let kept = '';
  for (const character of text) {
    const width = cellsOf(character);
    if (used + width > cells) return `${trimCells(kept, cells - 1)}…`;
    used += width;
    kept += character;
  }
  return kept;
}

function trimCells(text: string, cells: number): string {
  let used = 0;
  let kept = '';
  for (const character of text) {
    used += cellsOf(character);
    if (used > Math.max(0, cells)) return kept;
    kept += character;
  }
  return kept;
}

/** Columns of one character. Whatever may be wide counts as wide: a line that is cut early still stays one line. */
export function cellsOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x1100) return 1;
  return (code >= 0x1e00 && code <= 0x22ff) || (code >= 0x2500 && code <= 0x257f) ? 1 : 2;
}
