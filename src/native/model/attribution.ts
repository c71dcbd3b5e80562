/** The headers by which OpenRouter tells applications and sessions apart; checked before anything is sent. */
import { ModelError } from './errors.ts';

export interface Attribution {
  /** The application's address. */
  readonly referer?: string | undefined;
  /** The application's name. */
  readonly title?: string | undefined;
  /** Groups the requests of one conversation; at most 256 characters. */
  readonly sessionId?: string | undefined;
}

const headers = {
  referer: { name: 'HTTP-Referer', charsMax: 2048 },
  title: { name: 'X-OpenRouter-Title', charsMax: 256 },
  sessionId: { name: 'X-Session-Id', charsMax: 256 },
} as const;

/** The headers for what is given. Throws `model.bad-attribution` for what cannot stand in a header. */
export function attributionHeaders(attribution: Attribution): Record<string, string> {
  const made: Record<string, string> = {};
  for (const field of ['referer', 'title', 'sessionId'] as const) {
    const value: unknown = attribution[field];
    if (value === undefined) continue;
    const { name, charsMax } = headers[field];
    const found = fault(value, charsMax);
    if (found !== null || typeof value !== 'string') {
      throw new ModelError(
        'model.bad-attribution',
        `Expected 1 to ${charsMax} printable ASCII characters for ${name}; found ${found}.`,
        { next: `Change or remove the ${field} of the attribution.`, details: { field } },
      );
    }
    made[name] = value;
  }
  return made;
}

function fault(value: unknown, charsMax: number): string | null {
  if (typeof value !== 'string') return value === null ? 'null' : typeof value;
  if (value.trim() === '') return 'a blank text';
  if (value.length > charsMax) return `${value.length} characters`;
  const at = value.search(/[^\x20-\x7e]/);
  return at < 0 ? null : `the character U+${hex(value.codePointAt(at) ?? 0)} at position ${at + 1}`;
}

function hex(codePoint: number): string {
  return codePoint.toString(16).toUpperCase().padStart(4, '0');
}
