/** Makes the run: stores it with its session, takes its lease, and gives what it goes to work with. */
import { blobOf } from '../digest.ts';
import { WritError } from '../errors.ts';
import type { TakenLease } from '../ledger/store.ts';
import type { BudgetLimits } from '../protocol/budget.ts';
import type { RunRecord } from '../protocol/record.ts';
import { RunError } from './errors.ts';
import { leaseMs } from './lease.ts';
import type { RunSeat } from './seat.ts';
import type { OpenedSession } from './session.ts';
import type { RunWork } from './work.ts';

export interface BeginRequest extends RunSeat {
  readonly run: string;
  readonly task: string;
  readonly limits: BudgetLimits;
  readonly notices: readonly string[];
  readonly origin: RunWork['origin'];
}

/** The run of which the new one is a child. */
export type Parent = { readonly run: string } & NonNullable<RunWork['parent']>;

/** Throws `run.session-busy` where another process has just begun the next run of the session. */
export async function begun(
  request: BeginRequest,
  opened: OpenedSession,
  parent?: Parent,
): Promise<{ readonly work: RunWork; readonly lease: TakenLease }> {
  const { run, task, limits, origin, harness, clock } = request;
  const { record, session } = opened;
  const lease = await create(request, opened, {
    id: run,
    session: record.id,
    createdAt: clock.now(),
    index: opened.earlierRuns.length + 1,
    parent: parent?.run ?? null,
  });
  const taskBlob = blobOf(task);
  const work: RunWork = {
    ...request,
    session,
    prompt: record.prompt,
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
    openSpent: {},
    ...(parent === undefined ? {} : { parent }),
  };
  return { work, lease };
}

// Asked for in one breath, a store writes them in one transaction; its writes take effect in the order of their calls.
async function create(
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
