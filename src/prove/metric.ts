/** The metrics of a trial by name: their units, their good direction, and how each is read from a trial. */
import type { Better } from './statistics/margin.ts';
import { isResult, type TrialRow } from './trial.ts';

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
