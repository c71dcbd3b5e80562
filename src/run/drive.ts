/** Drives an open session of a harness through one run, from the lease to the recorded end. */

import { sha256 } from '../digest.ts';
import { toErrorJson, WritError } from '../errors.ts';
import type { OpenSession } from '../harness.ts';
import type { Lease } from '../ledger/store.ts';
import { addAmounts, budgetExhausted } from '../protocol/budget.ts';
import type { EventBody } from '../protocol/events.ts';
import type { HarnessOutcome, RunResult } from '../protocol/outcome.ts';
import { inTurn, openDesk } from './approval.ts';
import { type Budget, openBudget } from './budget.ts';
import { type Children, openChildren } from './children.ts';
import { countsOf, specOf, spentBy, usageOf } from './derive.ts';
import { RunError } from './errors.ts';
import { openHost } from './host.ts';
import { keepLease } from './lease.ts';
import { type Line, openLine } from './line.ts';
import { openStop, type Stop } from './stop.ts';
import type { RunWork } from './work.ts';

/** The code of what this seat itself has to tell; a harness uses others. */
const ownNotice = 'run.notice';

/**
 * Records the opening, lets the harness work, records the end and gives the lease back. Rejects only if the opening could
 * not be recorded.
 */
export async function drive(given: RunWork, lease: Lease): Promise<RunResult> {
  const work = given.ask === undefined ? given : { ...given, ask: inTurn(given.ask) };
  const { store, clock } = work;
  const startedMs = clock.monotonicMs();
  const spent = spentBy(work.runEvents, work.opening.type === 'run-resume' ? work.opening.lostMs : 0);
  const budget = openBudget(work.limits, addAmounts(spent, work.openSpent), work.parent?.budget);
  const stop = openStop({ signal: work.signal, wallTimeMs: budget.left('wallTimeMs') });
  const line = openLine(store, lease, {
    earlier: work.runEvents,
    onEvents: work.onEvents,
    onBroken: (cause) => stop.now({ kind: 'record-broken', cause }),
  });
  let released: Promise<void> | undefined;
  // A release that fails only means that the lease runs out by itself.
  const giveBack = () => {
    released ??= store.release(lease).catch(() => {});
    return released;
  };
  const letGo = keepLease(store, lease, (cause) => stop.now({ kind: 'record-broken', cause }));
  // A person's word stands in the record when it is given, not only when the run has settled.
  const noteCancel = () => {
    const why = stop.why();
    if (why?.kind === 'cancelled') line.note([{ type: 'cancel-request', by: 'caller', reason: why.reason }]);
  };
  try {
    const notices = work.notices.map((text): EventBody => ({ type: 'notice', code: ownNotice, text }));
    // Not waited for here: it goes with the first thing that the harness records, and a harness records before it acts.
    const opened = line.put([work.opening, ...notices], { blobs: work.openingBlobs });
    opened.catch(() => {});
    if (stop.signal.aborted) noteCancel();
    else stop.signal.addEventListener('abort', noteCancel, { once: true });
    const children = openChildren({ work, budget, line, signal: stop.signal, drive });
    const outcome = settle(await perform(work, line, budget, stop, children), stop, budget);
    await children.stop();
    await opened;
    if (outcome.status !== 'paused') await children.endOpen();
    const workedMs = Math.round(clock.monotonicMs() - startedMs);
    // Time cannot be set aside before it passes; the stop's timer is what keeps its limit.
    budget.spend({ wallTimeMs: workedMs });
    const elapsedMs = Math.round(spent.wallTimeMs ?? 0) + workedMs;
    return await conclude(work, line, budget, outcome, elapsedMs, giveBack);
  } finally {
    letGo();
    stop.close();
    await giveBack();
  }
}

async function perform(
  work: RunWork,
  line: Line,
  budget: Budget,
  stop: Stop,
  children: Children,
): Promise<HarnessOutcome> {
  const { run, prompt, approve, ask, clock, store } = work;
  const signal = stop.signal;
  const desk = openDesk({ run, prompt, mode: approve, ask, line, clock, signal });
  const { id: namespace } = await store.namespace();
  const { sessionEvents, onLive } = work;
  const host = openHost({
    ...{ run, store, namespace, sessionEvents, line, budget, children, desk, clock, signal, onLive },
  });
  let open: OpenSession | undefined;
  try {
    open = await work.harness.open(work.session, host);
    const earlier = [...work.sessionEvents, ...work.runEvents];
    const child = work.parent === undefined ? {} : { child: true as const };
    const turns = open.turns({ task: work.task, earlier, run, ...child });
    for (;;) {
      const step = await turns.next();
      if (step.done) return step.value;
    }
  } catch (cause) {
    // The line's own failure is told by `settle`; any other throw is a fault inside the harness.
    const error =
      cause instanceof WritError
        ? cause
        : new RunError(
            'run.harness-fault',
            `The harness ${work.harness.name} failed inside: ${toErrorJson(cause).message}`,
            {
              next: `Look at the record with: writ runs show ${run}`,
              cause,
            },
          );
    return { status: 'failed', error: error.toJSON() };
  } finally {
    await open?.close().catch(() => {});
  }
}

// Why the run was stopped outranks how the harness describes being stopped; a finished answer outranks both.
function settle(outcome: HarnessOutcome, stop: Stop, budget: Budget): HarnessOutcome {
  const why = stop.why();
  if (why === undefined) return outcome;
  if (why.kind === 'record-broken') {
    const error = toErrorJson(why.cause);
    if (error.code !== 'ledger.fenced') return { status: 'unknown', error };
    const lost = new RunError(
      'run.lease-lost',
      'Another process took this run over while this one was at work.',
      {
        next: 'Look at the record: the other process carries the run on.',
        cause: why.cause,
      },
    );
    return { status: 'unknown', error: lost.toJSON() };
  }
  if (outcome.status === 'completed' || outcome.status === 'unknown') return outcome;
  if (why.kind === 'wall-time') {
    const limit = budget.report().wallTimeMs?.limit ?? 0;
    return { status: 'failed', error: budgetExhausted({ counter: 'wallTimeMs', limit, left: 0, wanted: 1 }) };
  }
  const cancelled = new RunError('run.cancelled', `The run was cancelled: ${why.reason}.`, {
    next: 'Start the task again, or give the session another task.',
    details: { reason: why.reason },
  });
  return { status: 'cancelled', error: cancelled.toJSON() };
}

async function conclude(
  work: RunWork,
  line: Line,
  budget: Budget,
  outcome: HarnessOutcome,
  elapsedMs: number,
  giveBack: () => Promise<void>,
): Promise<RunResult> {
  const answer = outcome.status === 'completed' ? outcome.answer : null;
  const error = 'error' in outcome ? outcome.error : null;
  const usage = usageOf(line.told);
  const spec = specOf(line.told);
  const last: EventBody[] = [];
  const digest = answer === null ? null : sha256(answer);
  if (outcome.status === 'paused')
    last.push({ type: 'run-pause', ticket: outcome.ticket?.id ?? null, error });
  else {
    last.push({
      type: 'run-finish',
      status: outcome.status,
      answer: digest,
      error,
      usage,
      budget: budget.report(),
      elapsedMs,
    });
  }
  const ended = line.put(last, { blobs: digest === null ? [] : [{ digest, bytes: answer ?? '' }] });
  // Behind the end and in one write with it.
  void giveBack();
  const unrecorded = await ended.then(
    () => null,
    (cause: unknown) => toErrorJson(cause),
  );
  return {
    // An end that could not be recorded is not an end: the record still says that the run is open.
    status: unrecorded === null ? outcome.status : 'unknown',
    run: work.run,
    session: work.session.id,
    agent: work.session.composition.agent,
    harness: work.harness.name,
    model: work.harness.model,
    prompt: work.prompt,
    answer,
    error: error ?? unrecorded,
    ticket: outcome.status === 'paused' ? outcome.ticket : null,
    ...countsOf(line.told),
    usage,
    budget: budget.report(),
    elapsedMs,
    notices: [...work.notices, ...toldByHarness(line.told)],
    ...(spec === undefined ? {} : { spec }),
  };
}

function toldByHarness(events: readonly EventBody[]): string[] {
  return events.flatMap((event) => (event.type === 'notice' && event.code !== ownNotice ? [event.text] : []));
}
