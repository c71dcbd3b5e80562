/** Starts and resumes runs: whatever is wrong is thrown before the run exists or goes on; from then on every end is returned. */
import { blobOf } from '../digest.ts';
import { WritError } from '../errors.ts';
import type { TakenLease } from '../ledger/store.ts';
import type { BudgetLimits } from '../protocol/budget.ts';
import type { RunEvent } from '../protocol/events.ts';
import type { RunResult } from '../protocol/outcome.ts';
import type { RunRecord } from '../protocol/record.ts';
import { checkLimits } from './budget.ts';
import { limitsOf, stateOf } from './derive.ts';
import { type Drive, drive } from './drive.ts';
import { RunError, unknownRun } from './errors.ts';
import { checkGuarantees } from './guarantees.ts';
import { leaseMs, lostWorkMs } from './lease.ts';
import type { RunSeat } from './seat.ts';
import {
  changedNotice,
  continueSession,
  damaged,
  type NewSession,
  narrowed,
  newSession,
  type OpenedSession,
  openRecorded,
  readEvents,
  readText,
} from './session.ts';

export interface StartRequest extends RunSeat, NewSession {
  readonly limits: BudgetLimits;
  readonly task: string;
  /** Continues this session instead of starting a new one. */
  readonly session?: string;
}

export interface ResumeRequest extends RunSeat {
  readonly run: string;
  /** New limits; those of the run so far where left out. */
  readonly limits?: BudgetLimits;
  /** Digest of what the agent folder composes now; null where it could not be composed. */
  readonly promptNow: string | null;
}

/**
 * Runs a task in a new or a given session. Throws a RunError or LedgerError for what is wrong before the run exists;
 * from then on every end is a RunResult.
 */
export async function startRun(request: StartRequest): Promise<RunResult> {
  const { harness, clock, limits, task, composition, origin } = request;
  if (task.trim() === '') {
    throw new RunError('run.task-empty', 'The task is empty.', {
      next: 'Give the task after --, with --task-file, or on standard input.',
    });
  }
  checkLimits(limits);
  const notices = [...checkGuarantees(harness, limits, request.lowered ?? {})];
  const opened =
    request.session === undefined
      ? await newSession(request)
      : await continueSession(request, request.session);
  const { record, session } = opened;
  await harness.admit?.(session, { task, earlier: opened.events });
  if (record.prompt !== composition.digest) notices.push(changedNotice(record.id));
  const run: RunRecord = {
    id: clock.id('run'),
    session: record.id,
    createdAt: clock.now(),
    index: opened.earlierRuns.length + 1,
    parent: null,
  };
  const lease = await begin(request, opened, run);
  const taskBlob = blobOf(task);
  const work: Drive = {
    ...request,
    run: run.id,
    session,
    prompt: record.prompt,
    notices,
    sessionEvents: opened.events,
    runEvents: [],
    opening: {
      type: 'run-start',
      session: record.id,
      agent: record.agent,
      harness: harness.name,
      model: harness.model,
      prompt: record.prompt,
      task: taskBlob.digest,
      taskBytes: Buffer.byteLength(task),
      capabilities: session.capabilities,
      budget: limits,
      approve: request.approve,
      origin,
    },
    openingBlobs: [taskBlob],
  };
  return drive(work, lease);
}

// Asked for in one breath, a store writes them in one transaction; its writes take effect in the order of their calls.
async function begin(
  { store, holder }: RunSeat,
  { record, unstored }: OpenedSession,
  run: RunRecord,
): Promise<TakenLease> {
  const writes = Promise.all([
    unstored === undefined ? undefined : store.createSession(record, unstored),
    store.createRun(run),
    store.acquire(run.id, holder, leaseMs),
  ]);
  const [, , lease] = await writes.catch((cause: unknown) => {
    throw cause instanceof WritError && cause.code === 'ledger.already-exists'
      ? raced(record.id, cause)
      : cause;
  });
  return lease;
}

/**
 * Carries on a run that was interrupted or paused, with the session's stored text and tools. Throws `run.unknown-run`,
 * `run.already-ended`, `run.session-mismatch`, `run.record-damaged`, or `ledger.lease-held` while another process has it.
 */
export async function resumeRun(request: ResumeRequest): Promise<RunResult> {
  const { store } = request;
  const record = await store.run(request.run);
  if (record === undefined) throw unknownRun(request.run);
  const lease = await store.acquire(record.id, request.holder, leaseMs);
  let work: Drive;
  try {
    // Under the lease: of two processes that resume one run, the second must see all that the first has done.
    work = await continued(request, record, lease, await readEvents(store, record.id));
  } catch (cause) {
    await store.release(lease).catch(() => {});
    throw cause;
  }
  return drive(work, lease);
}

async function continued(
  request: ResumeRequest,
  record: RunRecord,
  lease: TakenLease,
  runEvents: readonly RunEvent[],
): Promise<Drive> {
  const { store, harness } = request;
  const state = stateOf(runEvents, false);
  if (state !== 'interrupted' && state !== 'paused') {
    throw new RunError('run.already-ended', `Run ${record.id} has ended as ${state}.`, {
      next: `Look at it with: writ runs show ${record.id}`,
      details: { state },
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
  return {
    ...request,
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
  };
}

function raced(session: string, cause: unknown): RunError {
  return new RunError(
    'run.session-busy',
    `Another process has just begun the next run of session ${session}.`,
    {
      next: 'Wait until that run has ended, then give the session its next task.',
      details: { session },
      cause,
    },
  );
}
