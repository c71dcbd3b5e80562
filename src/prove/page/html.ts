/** HTML and SVG as values that are escaped where they are made: a text of a model or an item can never become markup. */

/** Markup that is safe to put into a page. */
export interface Markup {
  readonly markup: string;
}

type Part = Markup | string | number | readonly Part[];

const names: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// Characters that HTML does not allow, or that turn the direction of what follows, are shown by their number.
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/gu;

/** The text as HTML shows it, in content and in quoted attributes alike. */
export function escaped(text: string): string {
  return text
    .replace(/[&<>"']/g, (found) => names[found] ?? '')
    .replace(unseen, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A template whose values are escaped; what is Markup already stands as it is. Attributes must be quoted. */
export function html(literals: TemplateStringsArray, ...values: readonly Part[]): Markup {
  return { markup: literals.map((literal, at) => literal + markupOf(values[at])).join('') };
}

function markupOf(part: Part | undefined): string {
  if (part === undefined) return '';
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  if ('markup' in part) return part.markup;
  return part.map(markupOf).join('');
}
