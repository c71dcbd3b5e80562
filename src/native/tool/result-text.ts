/** What a model reads of a result: exact text, cut on a character boundary, and saying so when it was cut. */
import { type ExactJson, exactJsonText } from '../../protocol/json.ts';

export interface ResultText {
  /** Never more than the limit in UTF-8, and always valid Unicode. */
  readonly text: string;
  /** UTF-8 bytes of the whole result, before any cut. */
  readonly bytes: number;
  readonly truncated: boolean;
}

/** A value as the model reads it: a string as it is, anything else as JSON with every integer exact. */
export function resultText(value: ExactJson, bytesMax: number): ResultText {
  return fitText(wholeText(value), bytesMax);
}

/** The same without any cut. */
export function wholeText(value: ExactJson): string {
  return wellFormed(typeof value === 'string' ? value : exactJsonText(value));
}

/** A failure as the model reads it: `failed(code): message`. */
export function failureText(code: string, message: string, bytesMax: number): ResultText {
  return fitText(`failed(${code}): ${message}`, bytesMax);
}

/** Replaces each half of a surrogate pair by U+FFFD: a lone one makes a request body that providers refuse. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** The longest prefix that fits into so many UTF-8 bytes without cutting a character. */
export function utf8Prefix(text: string, bytesMax: number): string {
  if (bytesMax <= 0) return '';
  // `encodeInto` stops before a character that does not fit; `read` counts UTF-16 units.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.min(bytesMax, text.length * 3)));
  return text.slice(0, read);
}

/** The longest ending that fits into so many UTF-8 bytes without cutting a character. */
export function utf8Suffix(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text.replace(/^[\uDC00-\uDFFF]/, ''));
  let start = Math.max(0, bytes.length - bytesMax);
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}

function fitText(raw: string, bytesMax: number): ResultText {
  const whole = wellFormed(raw);
  const bytes = Buffer.byteLength(whole);
  if (bytes <= bytesMax) return { text: whole, bytes, truncated: false };
  // The number shown depends on the room the line takes, and the line on the number: reserve for the longest.
  const room = bytesMax - Buffer.byteLength(closingLine(bytes, bytes));
  const shown = utf8Prefix(whole, room);
  const text = utf8Prefix(shown + closingLine(Buffer.byteLength(shown), bytes), bytesMax);
  return { text, bytes, truncated: true };
}

function closingLine(shown: number, bytes: number): string {
  return `\n[cut: ${shown} of ${bytes} bytes shown. Ask for less: narrow the query, or read a smaller range.]`;
}
