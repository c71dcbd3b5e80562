/** `executePlan`: runs an accepted plan step by step, each recorded when it begins and when it has ended. */
import { setMaxListeners } from 'node:events';
import { blobOf } from '../../digest.ts';
import type { ErrorJson } from '../../errors.ts';
import type { BudgetAmount, BudgetLimits } from '../../protocol/budget.ts';
import { type ExactJson, exactJsonText, parseExactJson } from '../../protocol/json.ts';
import type { Plan, Step } from './ast.ts';
import { runBranches } from './branches.ts';
import type { AcceptedPlan } from './check-plan.ts';
import { PlanError } from './errors.ts';
import { evaluate } from './evaluate.ts';
import type { PlanLimits } from './limits.ts';
import { planRecordOf, type RecordedStep } from './plan-record.ts';
import type { PlanResponse } from './plan-response.ts';
import { inside } from './read-plan.ts';
import {
  type Ended,
  exhausted,
  type Frame,
  failedBy,
  type Held,
  type Performed,
  type PlanRun,
  type PlanSeat,
  type StepEnd,
} from './seat.ts';
import { contextStep, modelStep, startAmount, toolStep } from './steps.ts';

export type PlanEnd = (
  | { readonly status: 'completed'; readonly value: ExactJson }
  | { readonly status: 'cancelled' }
  | { readonly status: 'held'; readonly outcome: Held }
  | { readonly status: 'failed'; readonly error: ErrorJson }
) & {
  /** Every answer of the model inside the plan, those of steps that failed included. */
  readonly responses: readonly PlanResponse[];
  /** The labels that were passed, in order. */
  readonly checkpoints: readonly string[];
};

/**
 * Runs the plan, or goes on behind its last finished step where the record has some. Resolves with every end, after all of
 * its branches have settled; rejects only if the record fails.
 */
export async function executePlan(accepted: AcceptedPlan, seat: PlanSeat): Promise<PlanEnd> {
  const { host, lane } = seat;
  const record = planRecordOf(seat.events, lane);
  const stop = openStop(seat, accepted.limits.timeMs);
  const work: PlanRun = {
    accepted,
    seat,
    record,
    allotment: host.share(sharedLimits(accepted.limits), record.spent),
    inTurn: oneAtATime(),
    responses: [...record.responses],
    checkpoints: [...record.checkpoints],
  };
  const told = () => ({ responses: work.responses, checkpoints: work.checkpoints });
  try {
    if (!record.accepted) {
      const plan = blobOf(accepted.text);
      await host.record([{ type: 'plan-accept', turn: seat.turn, plan: plan.digest, lane }], [plan]);
    }
    const frame: Frame = {
      path: '',
      names: { inputs: seat.inputs, variables: new Map() },
      capabilities: accepted.capabilities,
      signal: stop.signal,
      holdsSlot: false,
    };
    const end = await runPlan(accepted.plan, frame, work);
    if (end.kind === 'ok') return { status: 'completed', value: end.value, ...told() };
    if (end.kind === 'failed') return { status: 'failed', error: end.error, ...told() };
    if (end.kind === 'held') return { status: 'held', outcome: end.outcome, ...told() };
    if (stop.timedOut() && !host.signal.aborted)
      return { status: 'failed', error: timeLimit(accepted.limits.timeMs).toJSON(), ...told() };
    return { status: 'cancelled', ...told() };
  } finally {
    stop.close();
  }
}

/** The counters that the parts of a plan draw from; depth is known before the first step, and time is the plan's signal. */
function sharedLimits({ depth: _depth, timeMs: _time, ...limits }: PlanLimits): BudgetLimits {
  return limits;
}

function timeLimit(timeMs: number): PlanError {
  return new PlanError('plan.time-limit', `The plan was not done within ${timeMs} ms.`, {
    next: 'Plan with fewer steps, or raise the limit timeMs.',
    details: { timeMs },
  });
}

/** The signal of the whole plan, which every branch inherits: the run's, or the plan's own deadline. */
function openStop({ host }: PlanSeat, timeMs: number) {
  const controller = new AbortController();
  // Each branch listens, and so does whatever is at work in it: many listeners are no leak here.
  setMaxListeners(0, controller.signal);
  const done = new AbortController();
  let timedOut = false;
  const onAbort = () => controller.abort(host.signal.reason);
  if (host.signal.aborted) onAbort();
  else host.signal.addEventListener('abort', onAbort, { once: true });
  void host.clock.sleep(timeMs, done.signal).then(() => {
    if (done.signal.aborted || controller.signal.aborted) return;
    timedOut = true;
    controller.abort(new Error('The time of the plan is spent.'));
  });
  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    close() {
      done.abort();
      host.signal.removeEventListener('abort', onAbort);
    },
  };
}

function oneAtATime(): PlanRun['inTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

async function runPlan(plan: Plan, frame: Frame, work: PlanRun): Promise<StepEnd> {
  const variables = new Map(frame.names.variables);
  const inner: Frame = { ...frame, names: { ...frame.names, variables } };
  let end: StepEnd = { kind: 'ok', value: null };
  for (const [i, step] of plan.steps.entries()) {
    end = await runStep(step, { ...inner, path: inside(frame.path, String(i)) }, work);
    if (end.kind !== 'ok') return end;
    if ('bind' in step) variables.set(step.bind, end.value);
  }
  return end;
}

async function runStep(step: Step, frame: Frame, work: PlanRun): Promise<StepEnd> {
  const { seat, record, allotment } = work;
  const before = record.steps.get(frame.path);
  if (before?.end !== undefined) return replay(before.end, work);
  if (frame.signal.aborted) return { kind: 'cancelled' };
  const own = startAmount(step, frame, work);
  const reservation = allotment.reserve(before === undefined ? { steps: 1, ...own } : own);
  if (!reservation.granted) return conclude(step, frame, work, exhausted(reservation), 0);
  const turn = before?.turn ?? (step.op === 'tool' ? seat.numbers.next() : 0);
  const ended = { lane: seat.lane, path: frame.path, operation: step.op, turn, value: null, error: null };
  // In the line before whatever the step does: a write's own record takes it along.
  if (before === undefined) seat.host.note([{ type: 'plan-step', ...ended, status: 'begun', bytes: 0 }]);
  let used: BudgetAmount = own;
  try {
    const { end, actual = own, bytes } = await perform(step, frame, work, turn);
    used = actual;
    return await conclude(step, frame, work, end, turn, actual, bytes);
  } catch (thrown) {
    // A plan's own errors are for whoever planned; any other throw is the record's, and ends the run.
    if (!(thrown instanceof PlanError)) throw thrown;
    return await conclude(step, frame, work, failedBy(thrown), turn, own);
  } finally {
    allotment.charge(reservation.id, before === undefined ? { steps: 1, ...used } : used);
  }
}

async function replay(end: NonNullable<RecordedStep['end']>, { seat }: PlanRun): Promise<StepEnd> {
  if ('error' in end) return { kind: 'failed', error: end.error };
  const bytes = await seat.host.recall(end.value);
  const text = bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
  if (text !== undefined && blobOf(text).digest === end.value)
    return { kind: 'ok', value: parseExactJson(text) };
  return failedBy(
    new PlanError(
      'plan.record-changed',
      `The ledger ${text === undefined ? 'has no' : 'has an altered'} value of a finished step.`,
      { next: 'Give the task again in a new session.', details: { digest: end.value } },
    ),
  );
}

/** A finished step is durable before the next one begins; one that was stopped is not finished and stays open. */
async function conclude(
  step: Step,
  { path }: Frame,
  { seat, allotment, checkpoints }: PlanRun,
  given: StepEnd,
  turn: number,
  actual: BudgetAmount = {},
  charged?: number,
): Promise<StepEnd> {
  if (given.kind !== 'ok' && given.kind !== 'failed') return given;
  let end: Ended = given;
  let bytes = charged ?? 0;
  const text = given.kind === 'ok' ? exactJsonText(given.value) : '';
  const isOwn = charged === undefined && given.kind === 'ok';
  // What a plan inside brought is charged there, once.
  if (isOwn && !['recurse', 'parallel', 'retry', 'checkpoint'].includes(step.op)) {
    const wanted = Buffer.byteLength(text);
    const room = allotment.reserve({ outputBytes: wanted });
    if (room.granted) {
      allotment.charge(room.id, { outputBytes: wanted });
      bytes = wanted;
    } else end = exhausted(room);
  }
  const blob = end.kind === 'ok' ? blobOf(text) : undefined;
  const counter = (['toolCalls', 'contextOps'] as const).find((name) => (actual[name] ?? 0) > 0);
  await seat.host.record(
    [
      {
        type: 'plan-step',
        lane: seat.lane,
        path,
        operation: step.op,
        status: end.kind,
        turn,
        value: blob?.digest ?? null,
        error: end.kind === 'failed' ? end.error : null,
        ...(step.op === 'checkpoint' ? { label: step.label } : {}),
        ...(counter === undefined ? {} : { counter }),
        bytes,
      },
    ],
    blob === undefined ? [] : [blob],
  );
  if (step.op === 'checkpoint') checkpoints.push(step.label);
  return end;
}

async function perform(step: Step, frame: Frame, work: PlanRun, turn: number): Promise<Performed> {
  switch (step.op) {
    case 'context':
      return contextStep(step, frame, work);
    case 'tool':
      return toolStep(step, frame, work, turn);
    case 'model':
      return modelStep(step, frame, work);
    case 'recurse': {
      const capabilities = frame.capabilities.filter((name) =>
        work.accepted.childCapabilities.includes(name),
      );
      return {
        end: await runPlan(step.plan, { ...frame, path: inside(frame.path, 'r'), capabilities }, work),
      };
    }
    case 'parallel':
      return {
        end: await runBranches(step.plans, frame, work.allotment, (plan, branch) =>
          runPlan(plan, branch, work),
        ),
      };
    case 'retry':
      return { end: await runTries(step, frame, work) };
    case 'checkpoint':
      return { end: { kind: 'ok', value: null } };
    case 'final':
      return { end: { kind: 'ok', value: evaluate(step.value, frame.names) } };
  }
}

/** Nothing is given back between tries: each draws from what is left, and none is made once a budget is spent. */
async function runTries(
  { attempts, plan }: Extract<Step, { readonly op: 'retry' }>,
  frame: Frame,
  work: PlanRun,
): Promise<StepEnd> {
  let end: StepEnd = { kind: 'cancelled' };
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    end = await runPlan(plan, { ...frame, path: inside(frame.path, `t${attempt}`) }, work);
    const spent = end.kind === 'failed' && end.error.code === 'plan.budget-exhausted';
    if (end.kind !== 'failed' || spent) return end;
  }
  return end;
}
