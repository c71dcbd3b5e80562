/** How long a provider asks a client to wait. */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Milliseconds from `now`, from `retry-after-ms` or from `Retry-After` in seconds or as an HTTP date (RFC 9110, 10.2.3 and
 * 5.6.7); zero for a date that has passed, null where the header is missing or unreadable. However long the wait, it is a
 * finite number.
 */
export function retryAfterMs(headers: IncomingHttpHeaders, now: number): number | null {
  const exact = headers['retry-after-ms'];
  if (typeof exact === 'string' && isCount(exact)) return wait(Number(exact));
  const text = headers['retry-after']?.trim();
  if (text === undefined) return null;
  if (isCount(text)) return wait(Number(text) * 1000);
  const at = httpDate(text, now);
  return at === null ? null : Math.max(0, at - now);
}

function isCount(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}

function wait(ms: number): number {
  return Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER);
}

const time = String.raw`(?<clock>\d{2}:\d{2}:\d{2})`;
// The form that is written today, and the two older ones that a client must still read.
const forms = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${time} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]+day, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) ${time} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${time} (?<year>\d{4})$`),
];

// Date.parse alone takes almost any text with a number in it for a date.
function httpDate(text: string, now: number): number | null {
  const parts = forms.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return null;
  const { day = '', month = '', year = '', clock = '' } = parts;
  const at = (full: number) => Date.parse(`${day.trim()} ${month} ${full} ${clock} GMT`);
  if (year.length === 4) return orNull(at(Number(year)));
  // Two digits that seem to lie more than fifty years ahead stand for the century before.
  const thisYear = new Date(now).getUTCFullYear();
  const full = thisYear - (thisYear % 100) + Number(year);
  return orNull(at(full > thisYear + 50 ? full - 100 : full));
}

function orNull(at: number): number | null {
  return Number.isNaN(at) ? null : at;
}
