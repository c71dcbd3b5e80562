/** Searches a large text line by line in bounded memory: by its bytes for a plain text, on each candidate line for an expression. */
import { ContextError } from './errors.ts';
import { fitText, jsonBytes, openBasket } from './fit.ts';
import type { Found, Hit, SearchValue, Work } from './operations.ts';
import type { Pattern } from './pattern.ts';
import { beginsCharacter, type Text } from './text-index.ts';

const pieceBytes = 256 * 1024;
/** An expression is not tried on longer lines: half of one would give wrong answers, all of it would take the memory. */
const lineBytesMax = 1024 * 1024;
/** A hit shows so much of its line, as JSON. */
const hitBytesMax = 1024;
const newline = 10;

/** How far a scan has come. */
interface Progress {
  /** Every line that ends before this byte was searched. */
  byte: number;
  skipped: number;
  /** True if the line at `byte` has had its match already. */
  inMatchedLine: boolean;
}

/** The first match of each line from `from` on. It ends early when the time is spent: `next` then says where to go on. */
export async function searchText(
  text: Text,
  work: Work,
  pattern: Pattern,
  from: number,
): Promise<Found<SearchValue>> {
  const { index, size, read } = text;
  const begin = await index.byteOfLine(from, read);
  const progress: Progress = { byte: begin, skipped: 0, inMatchedLine: false };
  const basket = openBasket<Hit>(work.limits.resultsMax, work.limits.bytesMax, frameBytes);
  const scan = pattern.regex ? matchLines : matchBytes;
  let cut = false;
  let next: number | null = null;
  for await (const match of scan(text, work, pattern, progress)) {
    const { line, character } = await index.placeOf(match, read);
    const shown = await excerpt(match, size, read);
    const hit = { index: line, at: character, value: shown.text };
    if (!basket.offer(hit)) {
      // Where not even one hit fits, a part of it is better than nothing, and the search has to go on behind it.
      const part = {
        ...hit,
        value: fitText(shown.text, basket.room() - jsonBytes({ ...hit, value: '' }) + 2),
      };
      const only = basket.items.length === 0 && basket.offer(part);
      next = only ? line + 1 : line;
      cut = true;
      break;
    }
    cut ||= shown.cut;
  }
  if (next === null && progress.byte < size) {
    next = (await index.placeOf(progress.byte, read)).line + (progress.inMatchedLine ? 1 : 0);
    if (next === from) throw timeLimit(work.limits.timeMs);
  }
  if (next !== null && next >= index.lines) next = null;
  const value = { hits: basket.items, next, skipped: progress.skipped };
  return { value, truncated: cut || next !== null || progress.skipped > 0 };
}

function timeLimit(timeMs: number): ContextError {
  return new ContextError(
    'context.time-limit',
    `The first line was not searched through within ${timeMs} ms.`,
    { next: 'Search for a plain text.' },
  );
}

/** `{"hits":[],"next":…,"skipped":…}` with numbers of any length. */
const frameBytes = 60;

/** Yields the byte at which a plain text stands in a line; lines are only looked at where it stands. */
async function* matchBytes({ size, read }: Text, work: Work, pattern: Pattern, progress: Progress) {
  const needle = Buffer.from(pattern.literal);
  for (let start = progress.byte; start < size; start += pieceBytes) {
    const end = Math.min(start + pieceBytes, size);
    // So much of the next piece that a match over the edge is whole.
    const bytes = await read(start, Math.min(end + needle.length - 1, size));
    let at = 0;
    for (;;) {
      if (progress.inMatchedLine) {
        const ends = bytes.indexOf(newline, at);
        if (ends < 0 || ends >= end - start) break;
        progress.inMatchedLine = false;
        at = ends + 1;
      }
      at = bytes.indexOf(needle, at);
      if (at < 0 || at >= end - start) break;
      yield start + at;
      progress.inMatchedLine = true;
    }
    progress.byte = end;
    if (await stopped(work)) return;
  }
}

/** Yields the byte at which an expression matches, tried on each line that holds what every match must hold. */
async function* matchLines(text: Text, work: Work, pattern: Pattern, progress: Progress) {
  const literal = pattern.literal === '' ? undefined : Buffer.from(pattern.literal);
  for await (const { start, bytes } of wholeLines(text, work, progress)) {
    let at = 0;
    while (at < bytes.length) {
      if (literal !== undefined) {
        const found = bytes.indexOf(literal, at);
        if (found < 0) break;
        at = bytes.lastIndexOf(newline, found) + 1;
      }
      const ends = bytes.indexOf(newline, at);
      const end = ends < 0 ? bytes.length : ends;
      const line = bytes.toString('utf8', at, withoutReturn(bytes, at, end));
      const match = pattern.find(line);
      if (match !== undefined) yield start + at + Buffer.byteLength(line.slice(0, match));
      at = end + 1;
    }
    progress.byte = start + bytes.length;
    if (await stopped(work)) return;
  }
}

/** Blocks of whole lines. A line beyond the limit is left out and counted. */
async function* wholeLines({ size, read }: Text, work: Work, progress: Progress) {
  let carried: Buffer[] = [];
  let carriedBytes = 0;
  let tooLong = false;
  for (let start = progress.byte; start < size; start += pieceBytes) {
    const piece = await read(start, Math.min(start + pieceBytes, size));
    const isLast = start + piece.length === size;
    const first = piece.indexOf(newline);
    const last = isLast ? piece.length : piece.lastIndexOf(newline) + 1;
    if (first < 0 && !isLast) {
      tooLong ||= carriedBytes + piece.length > lineBytesMax;
      carried = tooLong ? [] : [...carried, piece];
      carriedBytes = tooLong ? 0 : carriedBytes + piece.length;
      await work.pace.step();
      continue;
    }
    const lineEnd = first < 0 ? piece.length : first + 1;
    if (tooLong || carriedBytes + lineEnd > lineBytesMax) {
      progress.skipped += 1;
      yield { start: start + lineEnd, bytes: piece.subarray(lineEnd, last) };
    } else {
      const bytes = Buffer.concat([...carried, piece.subarray(0, last)]);
      yield { start: start - carriedBytes, bytes };
    }
    tooLong = false;
    carried = last < piece.length ? [piece.subarray(last)] : [];
    carriedBytes = piece.length - last;
  }
}

async function stopped(work: Work): Promise<boolean> {
  await work.pace.step();
  return work.pace.spent();
}

function withoutReturn(bytes: Buffer, start: number, end: number): number {
  return end > start && bytes[end - 1] === 13 ? end - 1 : end;
}

/** The line of a match without its end, or a part that begins a little before the match where the line is long. */
async function excerpt(
  match: number,
  size: number,
  read: (start: number, end: number) => Promise<Buffer>,
): Promise<{ readonly text: string; readonly cut: boolean }> {
  const from = Math.max(0, match - hitBytesMax);
  const bytes = await read(from, Math.min(size, match + hitBytesMax));
  const place = match - from;
  const lineStart = place === 0 ? 0 : bytes.lastIndexOf(newline, place - 1) + 1;
  const ends = bytes.indexOf(newline, place);
  const lineEnd = ends < 0 ? bytes.length : withoutReturn(bytes, lineStart, ends);
  const isWhole = (lineStart > 0 || from === 0) && (ends >= 0 || from + bytes.length === size);
  const line = bytes.toString('utf8', lineStart, lineEnd);
  if (isWhole && jsonBytes(line) <= hitBytesMax) return { text: line, cut: false };
  const start = nextCharacter(bytes, Math.max(lineStart, place - hitBytesMax / 4));
  return { text: fitText(wholeCharacters(bytes, start, lineEnd), hitBytesMax), cut: true };
}

function nextCharacter(bytes: Buffer, at: number): number {
  let next = at;
  while (next < bytes.length && !beginsCharacter(bytes, next)) next += 1;
  return next;
}

/** The text of a range whose end may have halved a character. */
function wholeCharacters(bytes: Buffer, start: number, end: number): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start, end), { stream: true });
}
