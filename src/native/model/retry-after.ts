/** How long a provider asks a client to wait. */
import type { IncomingHttpHeaders } from 'node:http';

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Milliseconds from `now`, from `retry-after-ms` or from `Retry-After` in seconds or as an HTTP date (RFC 9110, 10.2.3);
 * zero for a date that has passed, null where the header is missing or unreadable.
 */
export function retryAfterMs(headers: IncomingHttpHeaders, now: number): number | null {
  const exact = headers['retry-after-ms'];
  if (typeof exact === 'string' && isCount(exact)) return Math.ceil(Number(exact));
  const text = headers['retry-after']?.trim();
  if (text === undefined) return null;
  if (isCount(text)) return Math.ceil(Number(text) * 1000);
  // Date.parse alone takes almost any text with a number in it for a date.
  const at = httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function isCount(text: string): boolean {
  return /^\d{1,9}(\.\d+)?$/.test(text);
}
