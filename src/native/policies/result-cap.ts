/** The cap on what one call puts before the model: head and tail are kept, and what stands between says what was left out. */
import { utf8Prefix, utf8Suffix } from '../tool/result-text.ts';

export interface ResultCapOptions {
  /** UTF-8 bytes; 0 is no cap. Goes before the others. */
  readonly bytes?: number;
  /** What the model can take in tokens; a modest model where it is left out. */
  readonly contextTokens?: number;
  /** The part of it that a conversation may fill, 0.1 to 1. */
  readonly fraction?: number;
}

/** As few bytes make a token as dense text has. */
const bytesPerToken = 3;
const bytesMax = 51_200;
const contextTokensUsual = 65_536;
const fractionUsual = 0.65;
/** One result may take this part of what is left for the conversation. */
const share = 0.15;
const lineCharactersMax = 2_000;

/** The cap in UTF-8 bytes; 0 is none. */
export function resultCapBytes({ bytes, contextTokens, fraction }: ResultCapOptions): number {
  if (bytes !== undefined) return bytes;
  const whole = contextTokens ?? contextTokensUsual;
  const part =
    fraction !== undefined && Number.isFinite(fraction)
      ? Math.min(1, Math.max(0.1, fraction))
      : fractionUsual;
  const tokens = Math.min(Math.ceil(bytesMax / bytesPerToken), Math.floor(Math.floor(whole * part) * share));
  return tokens * bytesPerToken;
}

/**
 * A text within the cap is returned as it is. A longer one keeps its beginning and its end, cut between characters, with
 * a line between them; long lines are broken. The result never has more bytes than the cap, that line included.
 */
export function capResult(
  text: string,
  succeeded: boolean,
  cap: number,
): { readonly text: string; readonly cut: boolean } {
  const bytes = Buffer.byteLength(text);
  if (cap === 0 || bytes <= cap) return { text, cut: false };
  const broken = breakLines(text);
  // The number of bytes shown is part of the line that says it: a few passes settle it, and a plain cut is always right.
  let room = cap;
  for (let pass = 0; pass < 6; pass += 1) {
    const head = utf8Prefix(broken, Math.ceil(room / 2));
    const tail = utf8Suffix(broken, Math.floor(room / 2));
    const shown = Buffer.byteLength(head) + Buffer.byteLength(tail);
    const fitted = `${head}\n${hint(shown, bytes, succeeded)}\n${tail}`;
    const over = Buffer.byteLength(fitted) - cap;
    if (over <= 0) return { text: fitted, cut: true };
    room -= over;
    if (room <= 0) break;
  }
  return { text: utf8Prefix(hint(0, bytes, succeeded), cap), cut: true };
}

function hint(shown: number, bytes: number, succeeded: boolean): string {
  const how = succeeded ? 'The call succeeded' : 'The call FAILED';
  return `[${how}. ${shown} of ${bytes} bytes are shown: the beginning and the end. Ask for less, or for the part that is missing.]`;
}

function breakLines(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      if (line.length <= lineCharactersMax) return line;
      const characters = [...line];
      const parts: string[] = [];
      for (let at = 0; at < characters.length; at += lineCharactersMax)
        parts.push(characters.slice(at, at + lineCharactersMax).join(''));
      return parts.join('\n');
    })
    .join('\n');
}
