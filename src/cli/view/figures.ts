/** Numbers as people read them: counts, sizes, times and money, each with its unit. */
import type { BudgetCounter } from '../../protocol/budget.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { KnownUsage } from '../../run/derive.ts';

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

/** What is said of a sum of which nothing is known. */
const nothingKnown: KnownUsage = { totalTokens: 0, costUsd: 0 };

/** Tokens of some model calls, and their cost: unknown, or at least what is known of them, where a call did not say. */
export function usageFigures(usage: Usage, known = nothingKnown): readonly [string, string] {
  const { totalTokens, costUsd } = usage;
  const atLeast = known.totalTokens > 0 ? `at least ${count(known.totalTokens, 'token')}` : 'tokens unknown';
  const reckoned = usage.estimatedUsd ?? 0;
  const unbilled = reckoned > 0 ? `${money(reckoned)} by the program's own estimate` : money(null);
  const costAtLeast = known.costUsd > 0 ? `at least ${money(known.costUsd)}` : unbilled;
  return [
    totalTokens === null ? atLeast : count(totalTokens, 'token'),
    costUsd === null ? costAtLeast : money(costUsd),
  ];
}

/** The same as one text. */
export function usageText(usage: Usage, known?: KnownUsage): string {
  return usageFigures(usage, known).join(' · ');
}

const counterNouns: Readonly<Record<Exclude<BudgetCounter, 'costUsd' | 'wallTimeMs'>, string>> = {
  turns: 'turn',
  steps: 'step',
  modelCalls: 'model call',
  toolCalls: 'tool call',
  contextOps: 'context operation',
  tokens: 'token',
  outputBytes: 'output byte',
  depth: 'level',
  concurrency: 'child at once',
};

/** An amount of a counter in words: `13 model calls`, `$0.24`, `58.0 s`. */
export function counterText(counter: BudgetCounter, amount: number): string {
  if (counter === 'costUsd') return money(amount);
  if (counter === 'wallTimeMs') return duration(amount);
  if (counter === 'concurrency' && amount !== 1) return `${grouped.format(amount)} children at once`;
  return count(amount, counterNouns[counter]);
}

/** The first digits of a digest, enough to tell two apart by eye. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 12);
}

/** `2025-01-31 09:05:12Z` */
export function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
