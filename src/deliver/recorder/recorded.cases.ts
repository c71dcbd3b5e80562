/** What tests of the recorder share: an exchange around a body, as if it had been recorded. */
import type { Exchange, HeaderLines } from './exchange.ts';

/** A whole POST of a JSON body. */
export function posted(
  path: string,
  body: unknown,
  options: { readonly number?: number; readonly headers?: HeaderLines; readonly bytes?: Uint8Array } = {},
): Exchange {
  const bytes = options.bytes ?? Buffer.from(JSON.stringify(body));
  return {
    number: options.number ?? 1,
    at: 0,
    durationMs: 1,
    method: 'POST',
    path,
    request: { headers: options.headers ?? [], body: { bytes, bytesSeen: bytes.length, complete: true } },
    response: { status: 200, headers: [], body: { bytes: Buffer.from('ok'), bytesSeen: 2, complete: true } },
    fault: null,
  };
}
