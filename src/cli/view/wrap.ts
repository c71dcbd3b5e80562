/** Breaks a line of text into lines that fit a terminal: between words where it can, within a word where it must. */
import { cellsOf } from './visible.ts';

/** The lines, each at most `cells` wide; one empty line for an empty text. The text must hold no control characters. */
export function wrapLine(line: string, cells: number): readonly string[] {
  const lines: string[] = [];
  let at = '';
  let used = 0;
  for (const word of line.match(/ *[^ ]+| +$/g) ?? []) {
    const width = widthOf(word);
    if (used + width <= cells) {
      at += word;
      used += width;
      continue;
    }
    const rest = used === 0 ? word : word.trimStart();
    if (used > 0) lines.push(at);
    const parts = breakWord(rest, cells);
    lines.push(...parts.slice(0, -1));
    at = parts.at(-1) ?? '';
    used = widthOf(at);
  }
  return [...lines, at];
}

/** Columns that a text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

/** Items with a separator between them, broken into lines only between items; one that is too long is broken itself. */
export function wrapItems(items: readonly string[], separator: string, cells: number): readonly string[] {
  const lines: string[] = [];
  for (const item of items) {
    const joined = lines.length === 0 ? item : `${lines.at(-1)}${separator}${item}`;
    if (lines.length > 0 && widthOf(joined) <= cells) lines[lines.length - 1] = joined;
    else lines.push(...wrapLine(item, cells));
  }
  return lines;
}

function breakWord(word: string, cells: number): readonly string[] {
  const parts: string[] = [];
  let at = '';
  let used = 0;
  for (const character of word) {
    const width = cellsOf(character);
    if (used + width > cells && at !== '') {
      parts.push(at);
      at = '';
      used = 0;
    }
    at += character;
    used += width;
  }
  return [...parts, at];
}
