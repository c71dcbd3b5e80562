/** The sentences of a Markdown source: what is said, apart from how it is laid out, each with a stable identity. */
import { sha256 } from '../../digest.ts';
import { type MarkdownLine, markdownLines } from './markdown-lines.ts';

/** A sentence; a whole code block; or one row of a table. Headings and list markers are layout and no part of any. */
export interface Sentence {
  readonly kind: 'sentence' | 'code' | 'row';
  /** On one line, white space collapsed; the line breaks of code are written `\n`, its backslashes doubled. */
  readonly text: string;
  /** Digest of the text and the how-manieth of its kind: `3f2a…#2`. The same in any text that says the same. */
  readonly identity: string;
  /** Offsets into the source, and the line where it begins, from 1. */
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

type Piece = Omit<Sentence, 'identity' | 'line'>;

/** All sentences in order. Splitting is Unicode's, with abbreviations, inline code and emphasis taken into account. */
export function sentencesOf(text: string): Sentence[] {
  const seen = new Map<string, number>();
  const lineAt = lineCounter(text);
  return pieces(text).map(({ kind, text: said, start, end }) => {
    const digest = sha256(kind === 'code' ? `code\n${said}` : said).slice(0, 16);
    const occurrence = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, occurrence);
    return { kind, text: said, identity: `${digest}#${occurrence}`, start, end, line: lineAt(start) };
  });
}

/** Counts lines from 1 for offsets that never decrease. */
function lineCounter(text: string): (offset: number) => number {
  let at = 0;
  let line = 1;
  return (offset) => {
    for (let next = text.indexOf('\n', at); next >= 0 && next < offset; next = text.indexOf('\n', at)) {
      at = next + 1;
      line += 1;
    }
    return line;
  };
}

function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let paragraph: MarkdownLine[] = [];
  const flush = () => {
    if (paragraph.length > 0) for (const piece of paragraphPieces(text, paragraph)) found.push(piece);
    paragraph = [];
  };
  const lines = markdownLines(text);
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i];
    if (line === undefined) break;
    if (line.kind !== 'text' || line.opens) flush();
    if (line.kind === 'text') paragraph.push(line);
    if (line.kind === 'row') found.push(rowPiece(text, line));
    if (line.kind === 'code') {
      let last = i;
      while (lines[last + 1]?.kind === 'code' && lines[last + 1]?.fence === false) last += 1;
      found.push(codePiece(text, line, lines[last] ?? line));
      i = last;
    }
  }
  flush();
  return found;
}

function codePiece(text: string, first: MarkdownLine, last: MarkdownLine): Piece {
  const code = text.slice(first.words, last.end).replaceAll('\r\n', '\n');
  return {
    kind: 'code',
    text: code.replaceAll('\\', '\\\\').replaceAll('\n', '\\n'),
    start: first.words,
    end: last.end,
  };
}

function rowPiece(text: string, { words, end }: MarkdownLine): Piece {
  const cells = text.slice(words, end).trim().replace(/\|$/, '').split('|');
  return { kind: 'row', text: `${cells.map(said).join(' | ').trim()} |`, start: words, end };
}

function said(text: string): string {
  return text.replace(/\s+/g, ' ').trim().normalize('NFC');
}

// The words of a paragraph as one line, and where each part of it stands in the source.
function paragraphPieces(text: string, lines: readonly MarkdownLine[]): Piece[] {
  let flat = '';
  const places: { readonly flat: number; readonly source: number }[] = [];
  for (const { words, end } of lines) {
    if (flat !== '') flat += ' ';
    places.push({ flat: flat.length, source: words });
    flat += text.slice(words, end).trimEnd();
  }
  let at = 0;
  const sourceOf = (offset: number): number => {
    while (at + 1 < places.length && (places[at + 1]?.flat ?? 0) <= offset) at += 1;
    const place = places[at];
    return place === undefined ? offset : place.source + offset - place.flat;
  };
  const found: Piece[] = [];
  const cuts = [...cutsOf(flat), flat.length];
  cuts.forEach((cut, i) => {
    const from = i === 0 ? 0 : (cuts[i - 1] ?? 0);
    const part = flat.slice(from, cut);
    const lead = part.length - part.trimStart().length;
    const sentence = said(part);
    if (sentence === '') return;
    const start = sourceOf(from + lead);
    found.push({
      kind: 'sentence',
      text: sentence,
      start,
      end: sourceOf(from + part.trimEnd().length - 1) + 1,
    });
  });
  return found;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

// These never end a sentence. What may do both (etc., U.S., a.m.) is left to the capital letter that follows.
const abbreviation =
  /(?:^|[\s("'[*_])(?:e\.g|i\.e|cf|vs|viz|approx|incl|excl|resp|esp|ca|al|Dr|Mr|Mrs|Ms|Prof|St|Mt|Fig|Figs|Eq|Eqs|Sec|Ch|Vol|vol|ed|eds|pp?|[A-Z])\.\s*$/;
const numbered = /(?:^|[\s("'[*_])[Nn]os?\.\s*$/;

// Unicode sees no end in `**Stop.** Then` and in front of code, which begins with what is no capital letter to it.
const ended = /[.!?…]["'”’)\]*_`~]{0,8}\s+/g;
const beginsCode = /^["'“‘([*_~]{0,8}`/;
const beginsWord = /^["'“‘([*_~]{0,8}[^\s\p{Ll}"'“‘([*_~]/u;
// An ideographic full stop needs no space behind it; every other sentence ends in one.
const spaced = /[\s。！？｡]["'”’」』）)\]*_~]{0,8}$/u;

function cutsOf(flat: string): number[] {
  const cuts = new Set<number>();
  for (const { start, text } of stretches(flat)) {
    for (const { index } of segmenter.segment(text)) {
      const at = start + index;
      if (at > 0 && spaced.test(flat.slice(Math.max(0, at - 10), at))) cuts.add(at);
    }
  }
  for (const found of flat.matchAll(ended)) {
    const cut = found.index + found[0].length;
    const next = flat.slice(cut, cut + 16);
    if (beginsCode.test(next) || (/[*_`~]/.test(found[0]) && beginsWord.test(next))) cuts.add(cut);
  }
  const code = codeSpans(flat);
  let from = 0;
  let span = 0;
  return [...cuts]
    .sort((a, b) => a - b)
    .filter((cut) => {
      while (span < code.length && (code[span]?.end ?? 0) <= cut) span += 1;
      const inCode = (code[span]?.start ?? cut) < cut;
      const lead = flat.slice(Math.max(from, cut - 40), cut);
      const shortened =
        abbreviation.test(lead) || (numbered.test(lead) && /^\d/.test(flat.slice(cut, cut + 1)));
      if (inCode || shortened) return false;
      from = cut;
      return true;
    });
}

// Segmenting takes time by the square of a text's length. A long paragraph is therefore given in stretches that end with
// a sentence, or after 20,000 characters where none ends.
function* stretches(flat: string): Generator<{ readonly start: number; readonly text: string }> {
  for (let start = 0; start < flat.length; ) {
    const certain = /[.!?]\s+(?=\p{Lu})/gu;
    certain.lastIndex = start + 2_000;
    const found = flat.length - start > 4_000 ? certain.exec(flat) : null;
    const sure = found === null ? flat.length : found.index + found[0].length;
    const end = Math.min(sure, start + 20_000, flat.length);
    yield { start, text: flat.slice(start, end) };
    start = end;
  }
}

// A run of backticks is closed by the next run of the same length; one that has none is plain text.
function codeSpans(flat: string): { readonly start: number; readonly end: number }[] {
  const runs = [...flat.matchAll(/`+/g)];
  const twin: (number | undefined)[] = [];
  const next = new Map<number, number>();
  for (let i = runs.length - 1; i >= 0; i -= 1) {
    const length = runs[i]?.[0].length ?? 0;
    twin[i] = next.get(length);
    next.set(length, i);
  }
  const spans: { start: number; end: number }[] = [];
  for (let i = 0; i < runs.length; i += 1) {
    const close = twin[i];
    if (close === undefined) continue;
    spans.push({
      start: runs[i]?.index ?? 0,
      end: (runs[close]?.index ?? 0) + (runs[close]?.[0].length ?? 0),
    });
    i = close;
  }
  return spans;
}
