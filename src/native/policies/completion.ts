/** The completion contract: an answer is the end only if its last line is the agreed token and nothing else. */

export interface CompletionOptions {
  /** One line without white space at its ends. */
  readonly token: string;
  /** How often an answer without the token is questioned before the run fails. */
  readonly challenges: number;
}

export const completionUsual: CompletionOptions = { token: 'DONE', challenges: 1 };

/** What the task ends with, so that the model knows the contract. */
export function completionTerms({ token }: CompletionOptions): string {
  return `When the task is finished, and only then, end your answer with a last line that is exactly ${token}, without anything before or behind it on that line.`;
}

/** How a finished task is ended, as words behind "if it is finished,"; without the contract an answer is enough. */
export function finishing(completion: CompletionOptions | undefined): string {
  return completion === undefined
    ? 'give your final answer'
    : `give your final answer with ${completion.token} as its last line`;
}

/** What is said to an answer without the token. It pushes to neither end. */
export function completionChallenge({ token }: CompletionOptions): string {
  return `Your answer did not end with the line ${token}, so the task still counts as open. If it is not finished, go on with it. If you cannot go on, say plainly what is missing. If it is finished, give your answer again with ${token} as its last line.`;
}

/** What is said once to a run that has changed and checked its work and only talks. Only the token ends it, as ever. */
export function idleChallenge({ token }: CompletionOptions): string {
  return `The last check succeeded after your last change, and you have done nothing since. If the task is finished, confirm it: give your final answer with ${token} as its last line. If it is not, say exactly what is left, and do it.`;
}

/**
 * True if the last line of a text is the token: the same case, no indent, punctuation or markup, and neither in an open
 * code fence nor in an HTML block. Line ends of any kind and white space behind the text do not count.
 */
export function asserts(text: string, token: string): boolean {
  const lines = text.replace(/\r\n?/g, '\n').trimEnd().split('\n');
  if (lines.at(-1) !== token) return false;
  return !endsInBlock(lines.slice(0, -1));
}

/** The answer as a person gets it, without the line that only the contract needed. */
export function withoutToken(text: string, token: string): string {
  if (!asserts(text, token)) return text;
  const end = text.trimEnd();
  return end.slice(0, end.length - token.length).trimEnd();
}

/** The answer of these lines ends inside a fence of CommonMark, or a block of HTML that has not ended. */
function endsInBlock(lines: readonly string[]): boolean {
  let fence: { readonly character: string; readonly length: number } | undefined;
  let html: RegExp | undefined;
  for (const [at, line] of lines.entries()) {
    if (fence !== undefined) {
      const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
      if (closing?.[0] === fence.character && closing.length >= fence.length) fence = undefined;
      continue;
    }
    if (html !== undefined) {
      if (html.test(line)) html = undefined;
      continue;
    }
    const [, marker = '', words = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    // The words behind a fence of backticks may hold none.
    if (marker !== '' && !(marker[0] === '`' && words.includes('`'))) {
      fence = { character: marker[0] ?? '', length: marker.length };
      continue;
    }
    html = htmlEnd(line, lines[at - 1] ?? '');
  }
  return fence !== undefined || html !== undefined;
}

/** What ends the block of HTML that begins on a line; undefined where none begins, or it ends on the line itself. */
function htmlEnd(line: string, before: string): RegExp | undefined {
  const start = /^ {0,3}(<.*)$/.exec(line)?.[1];
  if (start === undefined) return undefined;
  const [, end] = htmlBlocks.find(([begins]) => begins.test(start)) ?? [];
  if (end !== undefined) return end !== blank && end.test(start) ? undefined : end;
  // Any other whole tag begins a block only where no paragraph is open.
  return before.trim() === '' && wholeTag.test(start) ? blank : undefined;
}

const blank = /^[ \t]*$/;
const blockTags =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul';
// CommonMark 0.31, HTML blocks 1 to 6: how each begins, and how it ends.
const htmlBlocks: readonly (readonly [RegExp, RegExp])[] = [
  [/^<(?:pre|script|style|textarea)(?:\s|>|$)/i, /<\/(?:pre|script|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![a-z]/i, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [new RegExp(`^</?(?:${blockTags})(?:\\s|/?>|$)`, 'i'), blank],
];
const wholeTag = /^(?:<[a-z][a-z\d-]*(?:\s+[^<>]*)?\/?>|<\/[a-z][a-z\d-]*\s*>)\s*$/i;
