/** What a recorded run goes on with: the text, tools and limits that it began with, and all that it did so far. */
import type { TakenLease } from '../ledger/store.ts';
import type { BudgetLimits } from '../protocol/budget.ts';
import type { RunEvent } from '../protocol/events.ts';
import type { RunRecord } from '../protocol/record.ts';
import { checkLimits } from './budget.ts';
import { openSpent } from './child-record.ts';
import { lastOf, limitsOf, stateOf } from './derive.ts';
import { RunError } from './errors.ts';
import { checkGuarantees } from './guarantees.ts';
import { lostWorkMs } from './lease.ts';
import type { RunSeat } from './seat.ts';
import { changedNotice, damaged, narrowed, openRecorded, readText } from './session.ts';
import { resumePoint, tornFor, tornText } from './torn.ts';
import type { RunWork } from './work.ts';

export interface ContinueRequest extends RunSeat {
  /** New limits; those of the run so far where left out. */
  readonly limits?: BudgetLimits;
  /** Digest of what the agent folder composes now; null where it could not be composed, or is not looked at. */
  readonly promptNow: string | null;
}

/** Throws `run.already-ended`, `run.session-mismatch` and `run.record-damaged`. The lease must be held. */
export async function continued(
  request: ContinueRequest,
  record: RunRecord,
  lease: TakenLease,
  runEvents: readonly RunEvent[],
): Promise<RunWork> {
  const { store, harness } = request;
  const state = stateOf(runEvents, false);
  if (state !== 'interrupted' && state !== 'paused') {
    throw new RunError('run.already-ended', `Run ${record.id} has ended as ${state}.`, {
      next: `Look at it with: writ runs show ${record.id}; give its session another task with: ${another(record, runEvents)}`,
      details: { state, session: record.session },
    });
  }
  const start = runEvents[0];
  if (start?.type !== 'run-start') {
    throw damaged(`Run ${record.id} was interrupted before its start was recorded.`);
  }
  const limits = request.limits ?? limitsOf(runEvents) ?? {};
  checkLimits(limits);
  const notices = [...checkGuarantees(harness, limits, request.lowered ?? {})];
  const opened = narrowed(
    await openRecorded(store, record.session, harness, start.agent),
    start.capabilities,
  );
  const changed = request.promptNow !== null && request.promptNow !== opened.record.prompt;
  if (changed) notices.push(changedNotice(record.session));
  const after = resumePoint(runEvents) ?? start;
  notices.push(...tornFor(runEvents, await store.torn()).map((tail) => tornText(tail, after)));
  return {
    ...request,
    run: record.id,
    session: opened.session,
    prompt: opened.record.prompt,
    limits,
    task: await readText(store, start.task, 'task'),
    notices,
    sessionEvents: opened.events.filter((event) => event.run !== record.id),
    runEvents,
    opening: {
      type: 'run-resume',
      by: request.holder,
      promptNow: request.promptNow,
      changed,
      budget: limits,
      lostMs: lostWorkMs(lease, runEvents),
    },
    openingBlobs: [],
    origin: start.origin,
    openSpent: await openSpent(store, runEvents),
  };
}

/** How the session goes on; with room where its last run had none left. */
function another({ session }: RunRecord, events: readonly RunEvent[]): string {
  const error = lastOf(events, 'run-finish')?.error;
  const counter = error?.code === 'budget.exhausted' ? error.details?.counter : undefined;
  const room = typeof counter === 'string' ? ` --budget ${counter}=N` : '';
  return `writ run AGENT --session ${session}${room} -- TASK`;
}
