/** Words of a text: as they stand, for names and triggers, and as light stems, for ranking. */

/** A run of letters and digits, in lower case. */
export interface Word {
  readonly text: string;
  /** What stands between the word before and this one: a comma, the end of a sentence, clause or line, or neither. */
  readonly gap: 'none' | 'comma' | 'end';
  /** The same run in its own case. */
  readonly written: string;
}

const run = /[\p{L}\p{N}]+/gu;
const asciiRun = /[A-Za-z0-9]+/g;
// A dot inside `node.js` separates nothing; one before a blank does.
const ending = /[.;:!?)\]][^\s]*\s|\n/;
const beyondAscii = /[\u0080-\uffff]/;

/** The words of a text in order; `sql_query`, `sql-query` and `SQL query` are two words each. */
export function wordsOf(text: string): Word[] {
  const wide = beyondAscii.test(text);
  const plain = wide ? text.normalize('NFKC') : text;
  const words: Word[] = [];
  let end = 0;
  for (const { 0: written, index } of plain.matchAll(wide ? run : asciiRun)) {
    words.push({ text: written.toLowerCase(), gap: gapOf(plain, end, index), written });
    end = index + written.length;
  }
  return words;
}

function gapOf(text: string, from: number, to: number): Word['gap'] {
  // One blank is by far the commonest gap.
  if (to - from === 1 && text[from] === ' ') return 'none';
  const between = text.slice(from, to);
  if (ending.test(between)) return 'end';
  return between.includes(',') ? 'comma' : 'none';
}

/** Some neighbouring words without separators and case, the last one in the singular: `SQL queries` → `sqlquery`. */
export function compact(words: readonly Word[], from = 0, to = words.length): string {
  let text = '';
  for (let i = from; i < Math.min(to, words.length); i += 1) text += words[i]?.text ?? '';
  return singular(text);
}

const stopWords = new Set(
  `a about all also am an and any are as at be been but by can could did do does for from get give had has have how i if in into is
  it its just let like made make me my need no not of on onto or our out please shall she should so some such t than that the
  their them then there these they this those to up us use used using via want was we were what when where which while who
  will with without would you your`.split(/\s+/),
);

/** The stems that a text is ranked by, with repeats: `createIssue` gives those of create, issue and createissue. */
export function termsOf(words: readonly Word[]): string[] {
  const terms: string[] = [];
  for (const { text, written } of words) {
    if (stopWords.has(text)) continue;
    terms.push(stem(text));
    if (written === text) continue;
    const parts = written.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
    if (parts.length > 1) for (const part of parts) terms.push(stem(part.toLowerCase()));
  }
  return terms;
}

/** A plural as its singular, by the commonest English endings; other words as they are. */
export function singular(word: string): string {
  if (word.length < 4 || !word.endsWith('s')) return word;
  if (word.endsWith('ies')) return word.length > 4 ? `${word.slice(0, -3)}y` : word;
  if (/(ss|us|is)$/.test(word)) return word;
  return /(x|ch|sh|ss|zz)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}

/**
 * A light English stem: `files`, `filed` and `filing` meet, and so do `creates`, `creating`, `creation` and `creator`. It need
 * not be a word. Rules of endings alone, so that it is the same everywhere and costs nothing.
 */
export function stem(word: string): string {
  const base = singular(word);
  if (base.length < 5) return base.length === 4 && base.endsWith('e') ? base.slice(0, 3) : base;
  const cut = base.replace(/(?:ing|ed|ion|or)$/, '');
  if (cut === base) return base.endsWith('e') ? base.slice(0, -1) : base;
  // What is left of `bring` or `onion` is no stem.
  if (cut.length < 3 || !/[aeiouy]/.test(cut)) return base;
  return /([bdgmnprt])\1$/.test(cut) ? cut.slice(0, -1) : cut;
}
