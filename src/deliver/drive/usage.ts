/** What a program reports of its use, message by message or as totals, made into what one run used. */
import { addUsage, noUsage, type Usage, unknownUsage } from '../../protocol/usage.ts';
import type { Observed, ObservedUsage } from '../observed.ts';

type Report = Extract<Observed, { type: 'usage' }>;

export interface UsageLanes {
  /** Takes a report; a later one of the same message takes the place of the earlier. */
  take(report: Report): void;
  /** What the messages since the last call used, as far as they said; undefined where none reported. */
  turn(): Usage | undefined;
  /** All of the run: its total where the program gave one, else the sum of its messages. `turns` were seen. */
  run(turns: number): Usage;
}

/**
 * Opens the lanes of one run. `before` is what the session had used before this run, for programs that count from the
 * beginning of their session; null where that is not known.
 */
export function openUsage(before: Usage | null): UsageLanes {
  const messages = new Map<string, { readonly report: Report; readonly fresh: boolean }>();
  let total: Report | undefined;
  let unnamed = 0;
  return {
    take(report) {
      if (report.scope !== 'message') {
        total = report;
        return;
      }
      unnamed += report.id === null ? 1 : 0;
      const id = report.id ?? `unnamed ${unnamed}`;
      const known = messages.get(id);
      messages.set(id, { report, fresh: known?.fresh ?? true });
    },
    turn() {
      const fresh = [...messages].filter(([, message]) => message.fresh);
      for (const [id, { report }] of fresh) messages.set(id, { report, fresh: false });
      return fresh.length === 0 ? undefined : sum(fresh.map(([, { report }]) => report));
    },
    run(turns) {
      const reports = [...messages.values()].map(({ report }) => report);
      const calls = reports.length > 0 ? reports.length : Math.max(1, turns);
      if (total === undefined)
        return reports.length === 0 ? { ...unknownUsage, modelCalls: calls } : sum(reports);
      const all = usageOf(total, calls);
      return total.scope === 'session' ? since(before, all) : all;
    },
  };
}

function usageOf({ usage, costUsd, costLane }: Report, modelCalls: number): Usage {
  const counted = checked(usage);
  const { promptTokens, completionTokens } = counted;
  const cost = amount(costUsd);
  const billed = costLane === 'billed' && cost !== null;
  return {
    modelCalls,
    ...counted,
    totalTokens: plus(promptTokens, completionTokens),
    costUsd: billed ? cost : null,
    costSource: billed ? 'reported' : 'unknown',
    ...(costLane === 'estimated' ? { estimatedUsd: cost } : {}),
  };
}

/** A number that is none, or below zero, says nothing: it is unknown and never zero. */
function checked(usage: ObservedUsage): ObservedUsage {
  return {
    promptTokens: amount(usage.promptTokens),
    cachedTokens: amount(usage.cachedTokens),
    cacheWriteTokens: amount(usage.cacheWriteTokens),
    completionTokens: amount(usage.completionTokens),
    reasoningTokens: amount(usage.reasoningTokens),
  };
}

function amount(value: number | null): number | null {
  return value !== null && Number.isFinite(value) && value >= 0 ? value : null;
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function sum(reports: readonly Report[]): Usage {
  return reports.map((report) => usageOf(report, 1)).reduce(addUsage, noUsage);
}

const counts = [
  'promptTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'completionTokens',
  'reasoningTokens',
  'totalTokens',
] as const;

/** The part of a count that belongs to this run. A count below the one before began anew. */
function since(before: Usage | null, now: Usage): Usage {
  if (before?.modelCalls === 0) return now;
  const anew = before !== null && counts.some((name) => (now[name] ?? 0) < (before[name] ?? 0));
  if (anew) return now;
  const rest = counts.map((name) => {
    const [was, is] = [before?.[name] ?? null, now[name]];
    return [name, was === null || is === null ? null : is - was] as const;
  });
  return { ...now, ...Object.fromEntries(rest) };
}
