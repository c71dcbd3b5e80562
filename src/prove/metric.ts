/** The metrics of a trial by name: their units, their good direction, and how each is read from a trial. */
import type { Estimand } from './statistics/estimand.ts';
import type { Better } from './statistics/margin.ts';
import { isResult, type TrialRow } from './trial.ts';

/** A metric as it is registered. */
export interface MetricRecord {
  readonly metric: string;
  readonly per: string | null;
  /** What a trial's value is: passed or not, a quantity, or the parts of a ratio. */
  readonly values: 'binary' | 'quantity' | 'ratio';
  readonly estimand: Estimand;
  readonly better: Better;
  readonly margin: number | null;
  readonly question: 'difference' | 'non-inferiority' | 'equivalence';
}

/** `costUsd`, or `costUsd per score`. */
export function nameOf({ metric, per }: { readonly metric: string; readonly per: string | null }): string {
  return per === null ? metric : `${metric} per ${per}`;
}

/** A grade is passed or not, unless a model judges; everything else is a quantity. */
export function valuesOf(metric: string, per: string | null, grader: string): MetricRecord['values'] {
  if (per !== null) return 'ratio';
  return metric === 'score' && grader !== 'judge' ? 'binary' : 'quantity';
}

/** Only of the grade is more better; everything else is effort. */
export function betterOf(metric: string): Better {
  return metric === 'score' ? 'higher' : 'lower';
}

const units: Readonly<Record<string, string>> = {
  score: 'points',
  timeMs: 'ms',
  costUsd: 'US dollars',
  tokens: 'tokens',
  promptTokens: 'tokens',
  completionTokens: 'tokens',
  turns: 'turns',
  modelCalls: 'model requests',
  toolCalls: 'tool calls',
  answerBytes: 'bytes',
};

/** What a number of the metric counts. */
export function unitOf(metric: string): string {
  return units[metric] ?? 'calls';
}

/** The value of a trial; null where it is unknown, and for every trial that is no result. */
export function metricValue(row: TrialRow, metric: string): number | null {
  if (!isResult(row)) return null;
  if (metric.startsWith('calls.')) return row.calls[metric.slice('calls.'.length)] ?? 0;
  switch (metric) {
    case 'score':
      return row.outcome === 'agent-failure' ? 0 : row.score;
    case 'timeMs':
      return row.timeMs;
    case 'costUsd':
      return row.usage.costUsd;
    case 'tokens':
      return row.usage.totalTokens;
    case 'promptTokens':
      return row.usage.promptTokens;
    case 'completionTokens':
      return row.usage.completionTokens;
    case 'turns':
      return row.turns;
    case 'modelCalls':
      return row.usage.modelCalls;
    case 'toolCalls':
      return row.toolCalls;
    default:
      return row.answerBytes;
  }
}
