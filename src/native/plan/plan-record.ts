/** What the record of a run says of one plan: which steps have ended and how, so that a resumed plan goes on behind them. */
import type { ErrorJson } from '../../errors.ts';
import type { BudgetAmount } from '../../protocol/budget.ts';
import { didRun, type RunEvent } from '../../protocol/events.ts';
import { type PlanResponse, planResponse } from './plan-response.ts';

export interface RecordedStep {
  /** The turn under which its effects stand. */
  readonly turn: number;
  /** Undefined while it has not ended. */
  readonly end: { readonly value: string } | { readonly error: ErrorJson } | undefined;
}

export interface PlanRecord {
  /** True once the plan was accepted: then nothing of it is estimated again. */
  readonly accepted: boolean;
  readonly steps: ReadonlyMap<string, RecordedStep>;
  /** What it has used of its own limits. */
  readonly spent: BudgetAmount;
  readonly checkpoints: readonly string[];
  readonly responses: readonly PlanResponse[];
}

/** Reads the record of the plan of this lane; `events` are those of the run. */
export function planRecordOf(events: readonly RunEvent[], lane: string): PlanRecord {
  let accepted = false;
  const steps = new Map<string, RecordedStep>();
  const checkpoints: string[] = [];
  const responses: PlanResponse[] = [];
  const spent = { steps: 0, modelCalls: 0, toolCalls: 0, contextOps: 0, outputBytes: 0 };
  const turns = new Map<number, string>();
  const lanes = new Set<string>();
  for (const event of events) {
    if (event.type === 'plan-accept') accepted ||= event.lane === lane;
    else if (event.type === 'plan-step' && event.lane === lane) {
      const { path, status, turn, value, error } = event;
      const end = value !== null ? { value } : error !== null ? { error } : undefined;
      steps.set(path, { turn, end });
      if (status === 'begun') spent.steps += 1;
      if (event.counter !== undefined) spent[event.counter] += 1;
      if (event.label !== undefined && status === 'ok') checkpoints.push(event.label);
      spent.outputBytes += event.bytes;
    } else if (event.type === 'turn-start' && event.lane !== undefined && isOf(event.lane, lane)) {
      turns.set(event.turn, event.lane);
      // The first turn of a model step is the step itself.
      if (lanes.has(event.lane)) spent.steps += 1;
      lanes.add(event.lane);
    } else if ('turn' in event && turns.has(event.turn)) {
      const inLane = turns.get(event.turn) ?? '';
      if (event.type === 'model-request') spent.modelCalls += 1;
      if (event.type === 'model-response') responses.push(planResponse(event, pathOf(inLane, lane)));
      if (event.type === 'tool-result' && didRun(event.status)) {
        spent[event.counter ?? 'toolCalls'] += 1;
        spent.outputBytes += event.bytes;
      }
    }
  }
  return { accepted, steps, spent, checkpoints, responses };
}

/** The lane of the conversation of a model step. */
export function stepLane(lane: string, path: string): string {
  return `${lane}#${path}`;
}

function isOf(inner: string, lane: string): boolean {
  return inner.startsWith(`${lane}#`);
}

function pathOf(inner: string, lane: string): string {
  return inner.slice(lane.length + 1);
}
