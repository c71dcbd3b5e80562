/** Finds known secrets in text and bytes, in the forms in which programs write them, and puts their names in their place. */
import { depthMax } from './record-text.ts';

export interface Secret {
  /** What a reader sees instead: `[secret NAME]`. */
  readonly name: string;
  readonly value: string;
}

export interface Redactor {
  text(text: string): string;
  /** The same bytes object where nothing was found. */
  bytes(bytes: Uint8Array | string): Uint8Array | string;
  /** A copy of closed JSON in which strings and member names are cleaned; the same object where nothing was found. */
  json<T>(value: T): T;
}

/** A shorter value would be found in ordinary text; it is not replaced. */
export const secretLengthMin = 6;

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
  if (known.length === 0) return { text: (text) => text, bytes: (bytes) => bytes, json: (value) => value };

  const inText = new RegExp(known.map(({ value }) => `(${formsOf(value, 'utf16')})`).join('|'), 'gu');
  // Bytes are searched as Latin-1, one character a byte, so that whatever is not text comes back unchanged.
  const inBytes = new RegExp(known.map(({ value }) => `(${formsOf(value, 'bytes')})`).join('|'), 'g');

  function label(groups: readonly unknown[]): string {
    return `[secret ${known[groups.findIndex((group) => group !== undefined)]?.name}]`;
  }

  function text(found: string): string {
    return found.replace(inText, (_match, ...groups: unknown[]) => label(groups));
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

  return { text, bytes, json };
}

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
    text(key),
    clean(member, text, depth + 1),
  ]);
  const same = cleaned.every(([key, member], i) => key === members[i]?.[0] && member === members[i]?.[1]);
  return same ? value : Object.fromEntries(cleaned);
}

/** A pattern without capturing groups. In `bytes` a character beyond ASCII is looked for as its UTF-8 bytes. */
function formsOf(value: string, alphabet: 'utf16' | 'bytes'): string {
  const parts = value.match(/\\+|./gsu) ?? [];
  const characters = parts
    .map((part) => (part.startsWith('\\') ? backslashForms(part.length) : characterForms(part, alphabet)))
    .join('');
  return [characters, ...base64Forms(Buffer.from(value))].join('|');
}

// The escapes JSON has a letter for; `/` may be written `\/`.
const short: Readonly<Record<string, string>> = {
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\f': 'f',
  '\r': 'r',
  '"': '"',
  '/': '/',
};

function characterForms(character: string, alphabet: 'utf16' | 'bytes'): string {
  const utf8 = Buffer.from(character);
  const plain = alphabet === 'bytes' ? utf8.toString('latin1') : character;
  const units = Array.from({ length: character.length }, (_, i) => hex(character.charCodeAt(i), 4));
  // Text in text in text: each level doubles the backslashes.
  const slashes = String.raw`\\{1,15}`;
  const forms = [
    literal(plain),
    units.map((unit) => `${slashes}u${anyCase(unit)}`).join(''),
    [...utf8].map((byte) => `%${anyCase(hex(byte, 2))}`).join(''),
  ];
  const mark = short[character];
  if (mark !== undefined) forms.push(slashes + literal(mark));
  if (character === ' ') forms.push(String.raw`\+`);
  return `(?:${forms.join('|')})`;
}

// A run is one part of the pattern: many small ones, each of any length, would be tried in every combination.
function backslashForms(count: number): string {
  const plain = String.raw`\\{${count},${count * 16}}`;
  return String.raw`(?:${plain}|(?:\\{1,15}u005[cC]){${count}}|(?:%5[cC]){${count}})`;
}

/**
 * What base64 makes of the bytes wherever they stand in a longer text: the characters that depend on them alone. The
 * few bits shared with a neighbour are left where they are.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    return whole.slice(first, last).replaceAll('+', '[+-]').replaceAll('/', String.raw`(?:\\*\/|_)`);
  });
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function anyCase(digits: string): string {
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function literal(text: string): string {
  return text.replace(/[\^$\\.*+?()[\]{}|/]/g, String.raw`\$&`);
}
