/** The counters of a budget: one list of names for agent.yaml, the command line, records and refusals. */
import type { ErrorJson, ErrorTable } from '../errors.ts';
import type { Usage } from './usage.ts';

/** Each counter with its unit. A limit that is left out is no limit. */
export const budgetCounters = {
  turns: 'rounds of the model, each a request and its tool results',
  steps: 'steps of typed plans',
  modelCalls: 'requests to a model, failed attempts included',
  toolCalls: 'tool calls that were dispatched',
  contextOps: 'operations on opaque contexts',
  tokens: 'tokens of prompts and answers together',
  costUsd: 'US dollars',
  outputBytes: 'UTF-8 bytes of tool results and answers',
  wallTimeMs: 'milliseconds since the run began, pauses left out',
  depth: 'levels of children below the root',
  concurrency: 'children or branches at work at once',
} as const;

export type BudgetCounter = keyof typeof budgetCounters;

/** Limits. Whole numbers of the counter's unit, `costUsd` a decimal number; all zero or more. */
export type BudgetLimits = { readonly [C in BudgetCounter]?: number };

/** An amount per counter, used for reservations and charges. */
export type BudgetAmount = { readonly [C in BudgetCounter]?: number };

/** How deep children may go where a budget says nothing of it. */
export const depthUsual = 1;

/** Adds counter by counter. */
export function addAmounts(a: BudgetAmount, b: BudgetAmount): BudgetAmount {
  const sum: { [C in BudgetCounter]?: number } = { ...a };
  for (const [counter, amount] of Object.entries(b)) {
    const known = counter as BudgetCounter;
    sum[known] = (sum[known] ?? 0) + amount;
  }
  return sum;
}

/** Where one counter stands: `left` is null where there is no limit. */
export interface BudgetLine {
  readonly limit: number | null;
  readonly used: number;
  readonly reserved: number;
  readonly left: number | null;
  /** By how much actual use went past what was reserved, over the whole run. */
  readonly overrun: number;
}

export type BudgetReport = { readonly [C in BudgetCounter]?: BudgetLine };

export const budgetErrors = {
  'budget.exhausted': { kind: 'failed', about: 'A limit of the budget leaves no room for what comes next.' },
} as const satisfies ErrorTable;

/** The one error of every spent limit: which counter, its limit, what is left, and what was wanted. */
export function budgetExhausted(spent: {
  readonly counter: BudgetCounter;
  readonly limit: number;
  readonly left: number;
  readonly wanted: number;
}): ErrorJson {
  const { counter, limit, left, wanted } = spent;
  return {
    code: 'budget.exhausted',
    kind: budgetErrors['budget.exhausted'].kind,
    message: `The budget allows ${amountText(limit)} ${counter} (${budgetCounters[counter]}); left: ${amountText(left)}, wanted: ${amountText(wanted)}.`,
    next: `Raise the limit with --budget ${counter}=N in a new run (--session keeps what was said), or ask for less.`,
    details: { counter, limit, left, wanted },
  };
}

/** An amount of a counter as people read it: `12,000`, `0.0001`; whole amounts keep every digit. */
export function amountText(amount: number): string {
  return amount.toLocaleString('en-US', Number.isInteger(amount) ? {} : { maximumSignificantDigits: 6 });
}

/** What usage says for the counters of a budget, and which of them it leaves unknown. */
export function amountOf(usage: Usage): {
  readonly known: BudgetAmount;
  readonly unknown: readonly BudgetCounter[];
} {
  const unknown: BudgetCounter[] = [];
  if (usage.totalTokens === null) unknown.push('tokens');
  if (usage.costUsd === null) unknown.push('costUsd');
  return {
    known: {
      modelCalls: usage.modelCalls,
      ...(usage.totalTokens === null ? {} : { tokens: usage.totalTokens }),
      ...(usage.costUsd === null ? {} : { costUsd: usage.costUsd }),
    },
    unknown,
  };
}
