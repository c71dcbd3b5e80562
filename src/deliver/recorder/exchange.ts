/** One request and its answer as they went over the wire, and which of their headers a record may show. */

/** Names and values in the order, the spelling and the number in which they were sent. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** A body as it was sent, still compressed if it was. */
export interface RecordedBody {
  readonly bytes: Uint8Array;
  /** How many bytes went by; more than `bytes` holds where the record was cut at its limit. */
  readonly bytesSeen: number;
  /** False where the sender stopped before its end. */
  readonly complete: boolean;
}

export interface RecordedResponse {
  readonly status: number;
  /** Without secrets. */
  readonly headers: HeaderLines;
  readonly body: RecordedBody;
}

export interface Exchange {
  /** Counts the requests of one recorder from 1, in the order in which they arrived. */
  readonly number: number;
  /** Milliseconds since the Unix epoch at which the request arrived. */
  readonly at: number;
  /** From the arrival of the request to the end of the answer. */
  readonly durationMs: number;
  readonly method: string;
  /** Path and query, without the recorder's own token and without keys. */
  readonly path: string;
  readonly request: { readonly headers: HeaderLines; readonly body: RecordedBody };
  /** Null where no answer came. */
  readonly response: RecordedResponse | null;
  /** Why the exchange is not whole; null where it is. */
  readonly fault: ExchangeFault | null;
}

export type ExchangeFault =
  | { readonly what: 'upstream-unreachable'; readonly message: string }
  | { readonly what: 'upstream-cut'; readonly message: string }
  | { readonly what: 'client-left' }
  /** The gate of the recorder answered in the upstream's place. */
  | { readonly what: 'held-back'; readonly message: string };

/** What stands in the place of a value that a record must not show. */
export const redacted = '[redacted]';

// A name is enough: which values are secret cannot be told from the values. Counts of tokens are no secrets.
const secretName = /auth|cookie|secret|credential|password|api[-_]?key|(^|[-_])(key|token)$/i;

/** The headers that a record keeps: the value of whatever may be a secret is replaced, its name stays. */
export function redactHeaders(headers: HeaderLines): HeaderLines {
  return headers.map(([name, value]) => [name, secretName.test(name) ? redacted : value] as const);
}

/** The same for a path with its query, where some providers take their key. */
export function redactPath(path: string): string {
  const at = path.indexOf('?');
  if (at < 0) return path;
  const query = path
    .slice(at + 1)
    .split('&')
    .map((pair) => {
      const name = pair.split('=', 1)[0] ?? '';
      return secretName.test(decoded(name)) ? `${name}=${redacted}` : pair;
    });
  return `${path.slice(0, at)}?${query.join('&')}`;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Node's flat list of raw headers as pairs. */
export function headerLines(raw: readonly string[]): HeaderLines {
  const lines: [string, string][] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) lines.push([raw[i] ?? '', raw[i + 1] ?? '']);
  return lines;
}

/** The first value of a header, whatever the spelling of its name. */
export function headerOf(headers: HeaderLines, name: string): string | undefined {
  return headers.find(([one]) => one.toLowerCase() === name)?.[1];
}
