/** Markdown source line by line: what each line is, and where its words begin behind the layout. */

/** `rule` is a thematic break, the underline of a heading, or the delimiter row of a table: layout without words. */
export type LineKind = 'blank' | 'heading' | 'rule' | 'code' | 'row' | 'text';

export interface MarkdownLine {
  readonly kind: LineKind;
  /** Offsets into the source; the line break lies outside. */
  readonly start: number;
  readonly end: number;
  /** Where the words begin: behind indentation, quote marks, a list marker or the signs of a heading. */
  readonly words: number;
  /** True where a list marker begins a paragraph of its own. */
  readonly opens: boolean;
  /** 1-6 for a heading, else 0. */
  readonly level: number;
  /** Code: true on the line that opens the fence. */
  readonly fence: boolean;
}

interface Fence {
  readonly sign: string;
  readonly length: number;
}

/** All lines in order. A fence that is never closed runs to the end, as Markdown has it. */
export function markdownLines(text: string): MarkdownLine[] {
  const lines: MarkdownLine[] = [];
  let fence: Fence | undefined;
  let list = false;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const next = newline < 0 ? text.length : newline + 1;
    const end = contentEnd(text, start, newline < 0 ? text.length : newline);
    const raw = text.slice(start, end);
    if (fence !== undefined) {
      lines.push({ kind: 'code', start, end, words: start, opens: false, level: 0, fence: false });
      if (closes(fence, raw)) fence = undefined;
    } else {
      const before = lines.at(-1)?.kind === 'text';
      const layout = layoutOf(raw, before && !list);
      fence = openedFence(raw.slice(layout.length));
      const line = lineOf(raw, start, end, layout, fence !== undefined);
      if (line.kind === 'rule' && /^\s*(=+|-+)\s*$/.test(raw)) underline(lines);
      if (line.kind !== 'text' || !before || layout.opens) list = line.kind === 'text' && layout.opens;
      lines.push(line);
    }
    start = next;
  }
  return lines;
}

function contentEnd(text: string, start: number, end: number): number {
  return end > start && text[end - 1] === '\r' ? end - 1 : end;
}

interface Layout {
  readonly length: number;
  readonly opens: boolean;
}

// A number opens no list in the middle of a paragraph unless it is 1: a wrapped line may begin with a year.
function layoutOf(raw: string, inParagraph: boolean): Layout {
  const bullets = /^(?:[ \t\ufeff]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*/.exec(raw)?.[0] ?? '';
  const plain = /^[ \t>\ufeff]*/.exec(raw)?.[0] ?? '';
  const marker = bullets.slice(plain.length);
  const interrupts = !inParagraph || marker === '' || /^([-*+]|1[.)])/.test(marker);
  return interrupts
    ? { length: bullets.length, opens: marker !== '' }
    : { length: plain.length, opens: false };
}

function lineOf(raw: string, start: number, end: number, layout: Layout, fence: boolean): MarkdownLine {
  const rest = raw.slice(layout.length);
  const heading = /^(#{1,6})(?:[ \t]+|$)/.exec(rest);
  const words = start + layout.length + (heading?.[0].length ?? 0);
  const line = { start, end, words, opens: layout.opens, level: heading?.[1]?.length ?? 0, fence };
  if (fence) return { ...line, kind: 'code' };
  if (raw.trim() === '' || rest.trim() === '') return { ...line, kind: 'blank' };
  if (heading !== null) return { ...line, kind: 'heading' };
  if (isRule(raw) || /^\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-*:?[ \t]*)+$/.test(rest))
    return { ...line, kind: 'rule', words: end };
  return { ...line, kind: rest.startsWith('|') ? 'row' : 'text' };
}

function isRule(raw: string): boolean {
  return /^[ \t]*(?:=+|-+|(?:[-*_][ \t]*){3,})[ \t]*$/.test(raw) && raw.trim() !== '*';
}

// The lines of the paragraph above an underline are a heading after all.
function underline(lines: MarkdownLine[]): void {
  const level = 1;
  for (let i = lines.length - 1; i >= 0; i -= 1) {
    const line = lines[i];
    if (line?.kind !== 'text') return;
    lines[i] = { ...line, kind: 'heading', level };
    if (line.opens) return;
  }
}

function openedFence(rest: string): Fence | undefined {
  const found = /^(`{3,}|~{3,})(.*)$/.exec(rest);
  const sign = found?.[1]?.[0];
  if (found === null || sign === undefined) return undefined;
  // Three backticks and more of them on the same line are inline code.
  if (sign === '`' && (found[2] ?? '').includes('`')) return undefined;
  return { sign, length: found[1]?.length ?? 0 };
}

function closes(fence: Fence, raw: string): boolean {
  const found = /^[ \t>]*(`{3,}|~{3,})[ \t]*$/.exec(raw)?.[1];
  return found !== undefined && found[0] === fence.sign && found.length >= fence.length;
}
