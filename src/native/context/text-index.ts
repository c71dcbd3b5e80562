/** A small index of a large text: how many characters and line ends lie before every 64 KiB, made in one pass. */
import { isAscii, isUtf8 } from 'node:buffer';
import type { ByteSource } from './bytes.ts';
import { ContextError } from './errors.ts';
import type { Pace } from './limits.ts';

/** One mark per so many bytes: 16 bytes of memory each, and one read of this size finds any place. */
const stride = 64 * 1024;
const pieceBytes = 4 * stride;
const newline = 10;

/** Reads these bytes of a text. */
export type Read = (start: number, end: number) => Promise<Buffer>;

export interface Place {
  /** From 0. */
  readonly line: number;
  /** Code points before it. */
  readonly character: number;
}

export interface TextIndex {
  /** Code points. */
  readonly characters: number;
  /** A line ends with its `\n`; the last one may have none. An empty text has no lines. */
  readonly lines: number;
  /** Where a byte lies that begins a character; the size of the text is its end. */
  placeOf(byte: number, read: Read): Promise<Place>;
  /** The byte at which a character begins; the size for the number of characters. */
  byteOfCharacter(character: number, read: Read): Promise<number>;
  /** The byte at which a line begins; the size for the number of lines. */
  byteOfLine(line: number, read: Read): Promise<number>;
}

/** A text in one operation. */
export interface Text {
  /** In bytes. */
  readonly size: number;
  readonly index: TextIndex;
  readonly read: Read;
}

/** Reads a text once, in pieces. Throws `context.not-text` for bytes that are not UTF-8, naming about where. */
export async function indexText(source: ByteSource, pace: Pace): Promise<TextIndex> {
  const marks = Math.ceil(source.size / stride) + 1;
  const charactersBefore = new Float64Array(marks);
  const endsBefore = new Float64Array(marks);
  let characters = 0;
  let ends = 0;
  let last = newline;
  // Bytes of a character that a piece has begun and the next one ends.
  let open: Buffer = Buffer.alloc(0);
  for (let start = 0; start < source.size; start += pieceBytes) {
    const piece = await source.read(start, Math.min(start + pieceBytes, source.size));
    const whole = open.length === 0 ? piece : Buffer.concat([open, piece]);
    const end = start + piece.length === source.size ? whole.length : lastBoundary(whole);
    if (!isUtf8(whole.subarray(0, end))) throw notText(start - open.length, start + piece.length);
    open = whole.subarray(end);
    for (let at = 0; at < piece.length; at += stride) {
      const part = piece.subarray(at, at + stride);
      const mark = (start + at) / stride;
      charactersBefore[mark] = characters;
      endsBefore[mark] = ends;
      characters += countCharacters(part);
      ends += countEnds(part);
    }
    last = piece[piece.length - 1] ?? newline;
    await pace.step();
  }
  charactersBefore[marks - 1] = characters;
  endsBefore[marks - 1] = ends;
  return view(source.size, charactersBefore, endsBefore, ends + (last === newline ? 0 : 1));
}

function view(
  size: number,
  charactersBefore: Float64Array,
  endsBefore: Float64Array,
  lines: number,
): TextIndex {
  const characters = charactersBefore.at(-1) ?? 0;
  const strideAt = (mark: number, read: Read) => read(mark * stride, Math.min((mark + 1) * stride, size));
  return {
    characters,
    lines,
    async placeOf(byte, read) {
      const mark = Math.floor(byte / stride);
      const before = byte === mark * stride ? Buffer.alloc(0) : await read(mark * stride, byte);
      const line = (endsBefore[mark] ?? 0) + countEnds(before);
      return { line, character: (charactersBefore[mark] ?? 0) + countCharacters(before) };
    },
    async byteOfCharacter(character, read) {
      if (character === 0) return 0;
      if (character >= characters) return size;
      const mark = lastAtMost(charactersBefore, character);
      return (
        mark * stride + nthCharacter(await strideAt(mark, read), character - (charactersBefore[mark] ?? 0))
      );
    },
    async byteOfLine(line, read) {
      if (line === 0) return 0;
      if (line >= lines) return size;
      const mark = lastAtMost(endsBefore, line - 1);
      const part = await strideAt(mark, read);
      let at = -1;
      for (let ends = endsBefore[mark] ?? 0; ends < line; ends += 1) at = part.indexOf(newline, at + 1);
      return mark * stride + at + 1;
    },
  };
}

/** The last mark whose value is at most `limit`: the one whose stride holds what comes after `limit` of them. */
function lastAtMost(values: Float64Array, limit: number): number {
  let low = 0;
  // The last mark is the end of the text, which holds nothing.
  let high = Math.max(0, values.length - 2);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((values[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

function countEnds(bytes: Buffer): number {
  let count = 0;
  for (let i = 0; i < bytes.length; i += 1) if (bytes[i] === newline) count += 1;
  return count;
}

function countCharacters(bytes: Buffer): number {
  if (isAscii(bytes)) return bytes.length;
  let count = 0;
  for (let i = 0; i < bytes.length; i += 1) if (beginsCharacter(bytes, i)) count += 1;
  return count;
}

/** Where the character after `count` others begins; the characters counted are those that begin in these bytes. */
function nthCharacter(bytes: Buffer, count: number): number {
  let left = count;
  for (let i = 0; i < bytes.length; i += 1) {
    if (!beginsCharacter(bytes, i)) continue;
    if (left === 0) return i;
    left -= 1;
  }
  return bytes.length;
}

/** False for a byte that continues a character of several bytes. */
export function beginsCharacter(bytes: Buffer, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) !== 0x80;
}

/** The end of the last whole character: the place before a lead byte whose character does not end here. */
export function lastBoundary(bytes: Buffer): number {
  let lead = bytes.length - 1;
  while (lead > 0 && bytes.length - lead < 4 && !beginsCharacter(bytes, lead)) lead -= 1;
  const first = bytes[lead] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return lead >= 0 && lead + length > bytes.length ? lead : bytes.length;
}

function notText(from: number, to: number): ContextError {
  return new ContextError(
    'context.not-text',
    `Expected UTF-8 text, found other bytes between byte ${from} and ${to}.`,
    {
      next: 'Convert it to UTF-8 first, for instance with iconv.',
      details: { from, to },
    },
  );
}
