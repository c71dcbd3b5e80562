/** Numbers as people read them: counts, sizes, times and money, each with its unit. */
import type { Usage } from '../../protocol/usage.ts';

const grouped = new Intl.NumberFormat('en-US');

/** `1,234 bytes`; the plural is the singular with an s. */
export function count(amount: number, singular: string): string {
  return `${grouped.format(amount)} ${singular}${amount === 1 ? '' : 's'}`;
}

/** `35 ms`, `3.2 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const cents = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const fractions = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 3,
});

/** `$0.0012`: small sums keep their digits, and an unknown cost is never shown as zero. */
export function money(usd: number | null): string {
  if (usd === null) return 'cost unknown';
  return usd < 1 ? fractions.format(usd) : cents.format(usd);
}

/** `1,234 tokens`, or that they are unknown. */
export function tokens(total: number | null): string {
  return total === null ? 'tokens unknown' : count(total, 'token');
}

/** Tokens and money of some model calls. */
export function usageText(usage: Usage): string {
  return `${tokens(usage.totalTokens)} · ${money(usage.costUsd)}`;
}

/** The first digits of a digest, enough to tell two apart by eye. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 12);
}

/** `2025-01-31 09:05:12Z` */
export function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
