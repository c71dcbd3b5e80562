/** Starts and resumes runs: whatever is wrong is thrown before the run exists or goes on; from then on every end is returned. */
import type { BudgetLimits } from '../protocol/budget.ts';
import type { RunResult } from '../protocol/outcome.ts';
import { begun } from './begun.ts';
import { checkLimits } from './budget.ts';
import { type ContinueRequest, continued } from './continued.ts';
import { drive } from './drive.ts';
import { childRun, RunError, unknownRun } from './errors.ts';
import { checkGuarantees } from './guarantees.ts';
import { leaseMs } from './lease.ts';
import type { RunSeat } from './seat.ts';
import { changedNotice, continueSession, type NewSession, newSession, readEvents } from './session.ts';
import type { RunWork } from './work.ts';

export interface StartRequest extends RunSeat, Omit<NewSession, 'tools'> {
  readonly limits: BudgetLimits;
  readonly task: string;
  /** Continues this session instead of starting a new one. */
  readonly session?: string;
  /** What the caller has to say of the run; recorded with it, and part of its result. */
  readonly notices?: readonly string[];
}

export interface ResumeRequest extends ContinueRequest {
  readonly run: string;
}

/**
 * Runs a task in a new or a given session. Throws a RunError or LedgerError for what is wrong before the run exists;
 * from then on every end is a RunResult.
 */
export async function startRun(request: StartRequest): Promise<RunResult> {
  const { harness, clock, limits, task, composition } = request;
  if (task.trim() === '') {
    throw new RunError('run.task-empty', 'The task is empty.', {
      next: 'Give the task after --, with --task-file, or on standard input.',
    });
  }
  checkLimits(limits);
  const notices = [...(request.notices ?? []), ...checkGuarantees(harness, limits, request.lowered ?? {})];
  const opened =
    request.session === undefined
      ? await newSession(request)
      : await continueSession(request, request.session);
  await harness.admit?.(opened.session, { task, earlier: opened.events });
  if (opened.record.prompt !== composition.digest) notices.push(changedNotice(opened.record.id));
  const { work, lease } = await begun({ ...request, run: clock.id('run'), notices }, opened);
  return drive(work, lease);
}

/**
 * Carries on a run that was interrupted or paused, with the session's stored text and tools. Throws `run.unknown-run`,
 * `run.is-child`, `run.already-ended`, `run.session-mismatch`, `run.record-damaged`, or `ledger.lease-held` while another
 * process has it.
 */
export async function resumeRun(request: ResumeRequest): Promise<RunResult> {
  const { store } = request;
  const record = await store.run(request.run);
  if (record === undefined) throw unknownRun(request.run);
  if (record.parent !== null) throw childRun(record.id, record.parent);
  const lease = await store.acquire(record.id, request.holder, leaseMs);
  let work: RunWork;
  try {
    // Under the lease: of two processes that resume one run, the second must see all that the first has done.
    work = await continued(request, record, lease, await readEvents(store, record.id));
  } catch (cause) {
    await store.release(lease).catch(() => {});
    throw cause;
  }
  return drive(work, lease);
}
