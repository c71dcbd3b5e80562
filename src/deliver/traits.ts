/** What about a text may be mishandled on its way, told from the text alone. */
import type { TextTrait } from '../protocol/delivery.ts';

const tests: Readonly<Record<TextTrait, (text: string) => boolean>> = {
  empty: (text) => text === '',
  'leading-dash': (text) => text.startsWith('-'),
  'leading-at': (text) => text.startsWith('@'),
  'leading-slash': (text) => text.startsWith('/'),
  'rule-line': (text) => /^---[ \t]*\r?$/m.test(text),
  quotes: (text) => /["']/.test(text),
  braces: (text) => /[{}]/.test(text),
  'dollar-brace': (text) => text.includes('${'),
  backtick: (text) => text.includes('`'),
  crlf: (text) => text.includes('\r'),
  bom: (text) => text.startsWith('\uFEFF'),
  nul: (text) => text.includes('\0'),
  'blank-lines-around': (text) => text !== text.trim(),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
  'non-ascii': (text) => /[^\x00-\x7F]/.test(text),
  large: (text) => Buffer.byteLength(text) > 131_071,
  // Whether there is such a file cannot be told purely: any short line may name one.
  'file-name': (text) => /^[^\n\r\0]{1,255}$/.test(text),
};

/** The traits of a text, in the order in which they are named. */
export function traitsOf(text: string): readonly TextTrait[] {
  return (Object.keys(tests) as TextTrait[]).filter((trait) => tests[trait](text));
}
