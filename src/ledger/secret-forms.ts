/** The forms in which programs write a secret, as patterns: the whole of it, and the beginnings that a cut may leave. */

/**
 * One place of a pattern: the ways to write it, each a row of atoms of which every one matches at least one character.
 * A beginning may end after any atom.
 */
type Place = readonly (readonly string[])[];

/** The ways to write one secret: character by character, and as part of anything in base64. */
export type Forms = readonly (readonly Place[])[];

/** In `bytes` a character beyond ASCII is looked for as its UTF-8 bytes, one character of the pattern a byte. */
export function formsOf(value: string, alphabet: 'utf16' | 'bytes'): Forms {
  const parts = value.match(/\\+|./gsu) ?? [];
  const characters = parts.map((part) =>
    part.startsWith('\\') ? backslashes(part.length) : character(part, alphabet),
  );
  return [characters, ...base64Forms(Buffer.from(value))];
}

/** A pattern without capturing groups for all of the secret. */
export function wholePattern(forms: Forms): string {
  return forms.map((places) => places.map(wholePlace).join('')).join('|');
}

/** A pattern for any beginning of the secret of at least so many places; the caller says what has to follow it. */
export function beginningPattern(forms: Forms, placesMin: number): string {
  return forms
    .filter((places) => places.length > placesMin)
    .map((places) => {
      const certain = places.slice(0, placesMin).map(wholePlace).join('');
      const more = beginning(places.slice(placesMin));
      return placesMin === 0 ? more : `${certain}(?:${more})?`;
    })
    .join('|');
}

// Each place is one more level of groups, of which an engine allows only so many; that much of a secret is no chance.
const placesMax = 64;

function beginning(places: readonly Place[]): string {
  let pattern = places.length > placesMax ? String.raw`[\s\S]*` : '';
  for (const place of places.slice(0, placesMax).reverse()) {
    const whole = pattern === '' ? wholePlace(place) : `${wholePlace(place)}(?:${pattern})?`;
    pattern = [whole, ...partsOf(place)].join('|');
  }
  return pattern;
}

function partsOf(place: Place): string[] {
  return place
    .filter((atoms) => atoms.length > 1)
    .map((atoms) =>
      atoms.slice(0, -1).reduceRight((rest, atom) => (rest === '' ? atom : `${atom}(?:${rest})?`), ''),
    );
}

function wholePlace(place: Place): string {
  const [only] = place;
  if (place.length === 1 && only !== undefined) return only.join('');
  return `(?:${place.map((atoms) => atoms.join('')).join('|')})`;
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

// Text in text in text: each level doubles the backslashes.
const slashes = String.raw`\\{1,15}`;

function character(one: string, alphabet: 'utf16' | 'bytes'): Place {
  const utf8 = Buffer.from(one);
  const plain = alphabet === 'bytes' ? utf8.toString('latin1') : one;
  const units = Array.from({ length: one.length }, (_, i) => hex(one.charCodeAt(i), 4));
  const ways = [
    Array.from(plain, literal),
    units.flatMap((unit) => [slashes, 'u', ...Array.from(unit, anyCase)]),
    [...utf8].flatMap((byte) => ['%', ...Array.from(hex(byte, 2), anyCase)]),
  ];
  const mark = short[one];
  if (mark !== undefined) ways.push([slashes, literal(mark)]);
  if (one === ' ') ways.push([String.raw`\+`]);
  return ways;
}

// A run is one place of the pattern: many small ones, each of any length, would be tried in every combination.
function backslashes(count: number): Place {
  return [
    [...Array.from({ length: count - 1 }, () => String.raw`\\`), String.raw`\\{1,${count * 15 + 1}}`],
    Array.from({ length: count }, () => [slashes, 'u', '0', '0', '5', '[cC]']).flat(),
    Array.from({ length: count }, () => ['%', '5', '[cC]']).flat(),
  ];
}

/**
 * What base64 makes of the bytes wherever they stand in a longer text: the characters that depend on them alone. The
 * few bits shared with a neighbour are left where they are.
 */
function base64Forms(bytes: Buffer): Place[][] {
  return [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    return Array.from(whole.slice(first, last), (digit): Place => {
      if (digit === '+') return [['[+-]']];
      return digit === '/' ? [[String.raw`\\{1,15}`, String.raw`\/`], [String.raw`\/`], ['_']] : [[digit]];
    });
  });
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function anyCase(digit: string): string {
  return digit.replace(/[a-f]/, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

function literal(text: string): string {
  return text.replace(/[\^$\\.*+?()[\]{}|/]/g, String.raw`\$&`);
}
