/** `runBranches`: the plans of a `parallel`, at work side by side as far as the budget has room for them. */

import { setMaxListeners } from 'node:events';
import type { BudgetShare } from '../../harness.ts';
import type { Plan } from './ast.ts';
import { PlanError } from './errors.ts';
import { inside } from './read-plan.ts';
import { type Frame, failedBy, type StepEnd } from './seat.ts';

/**
 * The first branch that fails stops the others; all have settled before this resolves. A branch for which there is no room
 * waits until another has ended. The values stand in the order of the branches.
 */
export async function runBranches(
  plans: readonly Plan[],
  frame: Frame,
  allotment: BudgetShare,
  run: (plan: Plan, frame: Frame) => Promise<StepEnd>,
): Promise<StepEnd> {
  const part = openPart(frame.signal);
  const ends: (StepEnd | undefined)[] = plans.map(() => undefined);
  const running = new Set<Promise<void>>();
  let first: StepEnd | undefined;
  let broken: { readonly cause: unknown } | undefined;
  const start = (index: number, plan: Plan, slot: number | undefined): void => {
    const branch: Frame = {
      ...frame,
      path: inside(frame.path, `b${index}`),
      signal: part.signal,
      holdsSlot: true,
    };
    const work = run(plan, branch)
      .then(
        (end) => {
          ends[index] = end;
          if (end.kind === 'ok') return;
          first ??= end;
          // A write that waits for a person leaves the others to end: a stopped one could only be unknown.
          if (end.kind !== 'held' || end.outcome.status !== 'paused') part.stop();
        },
        (cause: unknown) => {
          broken ??= { cause };
          part.stop();
        },
      )
      .finally(() => {
        running.delete(work);
        if (slot !== undefined) allotment.charge(slot, { concurrency: 0 });
      });
    running.add(work);
  };
  try {
    for (const [index, plan] of plans.entries()) {
      let slot = allotment.reserve({ concurrency: 1 });
      while (!slot.granted && running.size > 0) {
        await Promise.race(running);
        slot = allotment.reserve({ concurrency: 1 });
      }
      if (first !== undefined || broken !== undefined || part.signal.aborted) {
        if (slot.granted) allotment.charge(slot.id, { concurrency: 0 });
        break;
      }
      // The branch around this one waits for it, so its own place is free: nested branches can never wait for each other.
      if (!slot.granted && !frame.holdsSlot) {
        first = failedBy(noRoom(slot.limit));
        break;
      }
      start(index, plan, slot.granted ? slot.id : undefined);
    }
    await Promise.all(running);
  } finally {
    part.close();
  }
  if (broken !== undefined) throw broken.cause;
  if (first !== undefined) return first;
  const values = ends.flatMap((end) => (end?.kind === 'ok' ? [end.value] : []));
  return values.length === plans.length ? { kind: 'ok', value: values } : { kind: 'cancelled' };
}

function noRoom(limit: number): PlanError {
  return new PlanError(
    'plan.budget-exhausted',
    `No branch may be at work; the limit of concurrency is ${limit}.`,
    {
      next: 'Raise the limit concurrency.',
      details: { counter: 'concurrency', limit, left: 0, wanted: 1 },
    },
  );
}

// AbortSignal.any keeps its sources alive as long as the run's signal lives, so the link is made and cut by hand.
function openPart(signal: AbortSignal) {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const onAbort = () => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    stop: () => controller.abort(new Error('Another branch has ended the parallel step.')),
    close: () => signal.removeEventListener('abort', onAbort),
  };
}
