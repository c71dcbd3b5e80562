/** Finds known secrets in text and bytes, in the forms in which programs write them, and puts their names in their place. */
import { depthMax } from './record-text.ts';
import { beginningPattern, type Forms, formsOf, wholePattern } from './secret-forms.ts';

export interface Secret {
  /** What a reader sees instead: `[secret NAME]`. */
  readonly name: string;
  readonly value: string;
}

export interface Redactor {
  text(text: string): string;
  /** The same for a message that may have been cut: a beginning of a secret before an ellipsis goes too. */
  message(text: string): string;
  /** The same bytes object where nothing was found. */
  bytes(bytes: Uint8Array | string): Uint8Array | string;
  /**
   * A copy of closed JSON in which strings are cleaned, and member names but for plain words; the same object where
   * nothing was found.
   */
  json<T>(value: T): T;
  /** The same for JSON that holds messages. */
  messages<T>(value: T): T;
  /** For text that arrives in pieces, which may cut a secret anywhere. */
  stream(): RedactedStream;
}

/** One text in pieces. What may be the beginning of a secret is held back until more has come. */
export interface RedactedStream {
  /** What may be shown now; may be empty. */
  push(piece: string): string;
  /** The rest. The stream then begins anew. */
  end(): string;
}

/** A shorter value would be found in ordinary text; it is not replaced. */
export const secretLengthMin = 6;

/** The secrets that are too short to be replaced anywhere. */
export function tooShort(secrets: readonly Secret[]): readonly Secret[] {
  return secrets.filter(({ value }) => value.trim().length < secretLengthMin);
}

/**
 * Each character of a secret is found as itself, escaped for JSON (once or more: a body holds arguments as text in
 * text), or percent-encoded, in any mixture; and the secret as part of anything in base64, at each of the three offsets
 * and in both alphabets. White space around a value does not count. The longest secret wins where several fit.
 */
export function redactor(secrets: readonly Secret[]): Redactor {
  const known = secrets
    .map(({ name, value }) => ({ name, value: value.trim() }))
    .filter(({ value }) => value.length >= secretLengthMin)
    .sort((a, b) => b.value.length - a.value.length);
  if (known.length === 0) return nothingKnown;

  const forms = known.map(({ value }) => formsOf(value, 'utf16'));
  const pattern = (one: (forms: Forms) => string) => forms.map((form) => `(${one(form)})`).join('|');
  const inText = new RegExp(pattern(wholePattern), 'gu');
  const beforeEllipsis = new RegExp(
    `(?:${pattern((form) => beginningPattern(form, secretLengthMin))})…`,
    'gu',
  );
  const atEnd = new RegExp(`(?:${pattern((form) => beginningPattern(form, 0))})$`, 'u');
  // Bytes are searched as Latin-1, one character a byte, so that whatever is not text comes back unchanged.
  const inBytes = new RegExp(
    known.map(({ value }) => `(${wholePattern(formsOf(value, 'bytes'))})`).join('|'),
    'g',
  );

  function label(groups: readonly unknown[]): string {
    return `[secret ${known[groups.findIndex((group) => group !== undefined)]?.name}]`;
  }

  function text(found: string): string {
    return found.replace(inText, (_match, ...groups: unknown[]) => label(groups));
  }

  function message(found: string): string {
    return text(found).replace(beforeEllipsis, (_match, ...groups: unknown[]) => `${label(groups)}…`);
  }

  function bytes(found: Uint8Array | string): Uint8Array | string {
    if (typeof found === 'string') return text(found);
    const latin = Buffer.from(found.buffer, found.byteOffset, found.byteLength).toString('latin1');
    const cleaned = latin.replace(inBytes, (_match, ...groups: unknown[]) =>
      Buffer.from(label(groups)).toString('latin1'),
    );
    return cleaned === latin ? found : Buffer.from(cleaned, 'latin1');
  }

  function json<T>(value: T): T {
    return clean(value, text, 0) as T;
  }

  function messages<T>(value: T): T {
    return clean(value, message, 0) as T;
  }

  function beginningIn(found: string, after: number): number {
    const at = atEnd.exec(found.slice(after))?.index;
    return at === undefined ? found.length : after + at;
  }

  function stream(): RedactedStream {
    let held = '';
    return {
      push(piece) {
        const all = held + piece;
        // Half of a character is no beginning that a pattern could see.
        const found = /[\ud800-\udbff]$/.test(all) ? all.slice(0, -1) : all;
        let shown = '';
        let at = 0;
        for (const match of found.matchAll(inText)) {
          // It may go on to be a longer one, which begins before it or with it.
          if (beginningIn(found, at) <= match.index) break;
          shown += found.slice(at, match.index) + label(match.slice(1));
          at = match.index + match[0].length;
        }
        const from = beginningIn(found, at);
        held = all.slice(from);
        return shown + found.slice(at, from);
      },
      end() {
        const rest = text(held);
        held = '';
        return rest;
      },
    };
  }

  return { text, message, bytes, json, messages, stream };
}

const nothingKnown: Redactor = {
  text: (text) => text,
  message: (text) => text,
  bytes: (bytes) => bytes,
  json: (value) => value,
  messages: (value) => value,
  stream: () => ({ push: (piece) => piece, end: () => '' }),
};

function clean(value: unknown, text: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return text(value);
  // The store refuses a record this deep, so it may pass unchanged. A record may stand in a list: hence one level more.
  if (typeof value !== 'object' || value === null || depth > depthMax + 1) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => clean(item, text, depth + 1));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  // What is not closed JSON is refused by the store, which sees it unchanged.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const members = Object.entries(value);
  const cleaned = members.map(([key, member]): [string, unknown] => [
    isWord(key) ? key : text(key),
    clean(member, text, depth + 1),
  ]);
  const same = cleaned.every(([key, member], i) => key === members[i]?.[0] && member === members[i]?.[1]);
  return same ? value : Object.fromEntries(cleaned);
}

/** True for a member name that is a word of some vocabulary: letters alone are no secret, even where a key is one. */
export function isWord(name: string): boolean {
  return /^[A-Za-z_]{1,32}$/.test(name);
}
