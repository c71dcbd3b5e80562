/** Starts and resumes runs: checks first, then session, lease and record, then the harness between a host and an end. */
import { sha256 } from '../digest.ts';
import type { Harness, Projection, Session } from '../harness.ts';
import type { Store } from '../ledger/store.ts';
import type { BudgetLimits } from '../protocol/budget.ts';
import type { Composition } from '../protocol/composition.ts';
import type { RunEvent } from '../protocol/events.ts';
import type { RunResult } from '../protocol/outcome.ts';
import type { Blob, RunRecord, SessionRecord } from '../protocol/record.ts';
import { checkLimits } from './budget.ts';
import { limitsOf, stateOf } from './derive.ts';
import { drive } from './drive.ts';
import { RunError, unknownRun } from './errors.ts';
import { checkGuarantees } from './guarantees.ts';
import type { RunSeat } from './seat.ts';

export interface StartRequest extends RunSeat {
  readonly composition: Composition;
  readonly capabilities: readonly string[];
  readonly limits: BudgetLimits;
  readonly task: string;
  /** Continues this session instead of starting a new one. */
  readonly session?: string;
  /** What is needed to open the session again later; stored as it is, so never a secret. */
  readonly origin: SessionRecord['origin'];
}

export interface ResumeRequest extends RunSeat {
  readonly run: string;
  /** New limits; those of the run's start where left out. */
  readonly limits?: BudgetLimits;
  /** Digest of what the agent folder composes now; null where it could not be composed. */
  readonly promptNow: string | null;
}

/**
 * Runs a task in a new or a given session. Throws a RunError or LedgerError for what is wrong before the run exists;
 * from then on every end is a RunResult.
 */
export async function startRun(request: StartRequest): Promise<RunResult> {
  const { harness, store, clock, limits, task, composition } = request;
  if (task.trim() === '') {
    throw new RunError('run.task-empty', 'The task is empty.', {
      next: 'Give the task after --, with --task-file, or on standard input.',
    });
  }
  checkLimits(limits);
  const notices = [...checkGuarantees(harness, limits, request.lowered ?? {})];
  const opened =
    request.session === undefined
      ? await createSession(request)
      : await continueSession(store, request.session, harness, composition.agent);
  if (opened.composition.digest !== composition.digest) notices.push(changedNotice(opened.record.id));
  const run: RunRecord = {
    id: clock.id('run'),
    session: opened.record.id,
    createdAt: clock.now(),
    index: opened.earlierRuns.length + 1,
    parent: null,
  };
  await store.createRun(run);
  const taskDigest = sha256(task);
  return drive({
    ...request,
    run: run.id,
    session: opened.session,
    prompt: opened.record.prompt,
    limits,
    task,
    notices,
    sessionEvents: opened.events,
    runEvents: [],
    opening: {
      type: 'run-start',
      session: opened.record.id,
      agent: opened.record.agent,
      harness: harness.name,
      model: harness.model,
      prompt: opened.record.prompt,
      task: taskDigest,
      taskBytes: Buffer.byteLength(task),
      capabilities: opened.session.capabilities,
      budget: limits,
      approve: request.approve,
    },
    openingBlobs: [{ digest: taskDigest, bytes: task }],
  });
}

/**
 * Carries on a run that was interrupted or paused, with the session's stored text and tools. Throws `run.unknown-run`,
 * `run.already-ended`, `run.session-mismatch`, `run.record-damaged`, or `ledger.lease-held` while another process has it.
 */
export async function resumeRun(request: ResumeRequest): Promise<RunResult> {
  const { store, harness } = request;
  const record = await store.run(request.run);
  if (record === undefined) throw unknownRun(request.run);
  const runEvents = await store.events(record.id);
  const start = runEvents.find((event) => event.type === 'run-start');
  const state = stateOf(runEvents, false);
  if (state !== 'interrupted' && state !== 'paused') {
    throw new RunError('run.already-ended', `Run ${record.id} has ended as ${state}.`, {
      next: `Look at it with: writ runs show ${record.id}`,
      details: { state },
    });
  }
  if (start?.type !== 'run-start')
    throw damaged(`Run ${record.id} was interrupted before its start was recorded.`);
  const limits = request.limits ?? limitsOf(runEvents) ?? {};
  checkLimits(limits);
  const notices = [...checkGuarantees(harness, limits, request.lowered ?? {})];
  const opened = await openRecorded(store, record.session, harness, start.agent);
  const changed = request.promptNow !== null && request.promptNow !== opened.record.prompt;
  if (changed) notices.push(changedNotice(record.session));
  const task = await readText(store, start.task, 'task');
  return drive({
    ...request,
    run: record.id,
    session: opened.session,
    prompt: opened.record.prompt,
    limits,
    task,
    notices,
    sessionEvents: opened.events.filter((event) => event.run !== record.id),
    runEvents,
    opening: {
      type: 'run-resume',
      by: request.holder,
      promptNow: request.promptNow,
      changed,
      budget: limits,
    },
    openingBlobs: [],
  });
}

interface Opened {
  readonly record: SessionRecord;
  readonly session: Session;
  readonly composition: Composition;
  readonly earlierRuns: readonly RunRecord[];
  /** Events of all its runs, oldest first. */
  readonly events: readonly RunEvent[];
}

async function createSession(request: StartRequest): Promise<Opened> {
  const { harness, composition, capabilities, clock, store, origin } = request;
  // Whatever makes the session impossible is thrown here, before the ledger knows of it.
  const projection = await harness.project({ capabilities });
  const parts: readonly Blob[] = [
    JSON.stringify(composition),
    JSON.stringify(projection),
    composition.text,
  ].map((bytes) => ({
    digest: sha256(bytes),
    bytes,
  }));
  const record: SessionRecord = {
    id: clock.id('session'),
    createdAt: clock.now(),
    agent: composition.agent,
    harness: harness.name,
    model: harness.model,
    prompt: composition.digest,
    composition: parts[0]?.digest ?? '',
    projection: parts[1]?.digest ?? '',
    capabilities,
    origin,
  };
  await store.createSession(record, parts);
  const session: Session = { id: record.id, composition, projection, capabilities };
  return { record, session, composition, earlierRuns: [], events: [] };
}

async function continueSession(store: Store, id: string, harness: Harness, agent: string): Promise<Opened> {
  const opened = await openRecorded(store, id, harness, agent);
  const newest = opened.earlierRuns.at(-1);
  if (newest === undefined) return opened;
  const state = stateOf(
    opened.events.filter((event) => event.run === newest.id),
    (await store.holder(newest.id)) !== undefined,
  );
  if (state === 'running' || state === 'paused' || state === 'interrupted') {
    throw new RunError('run.session-busy', `Run ${newest.id} of this session is ${state}.`, {
      next: `Finish it first: writ runs resume ${newest.id}, or writ runs cancel ${newest.id}.`,
      details: { run: newest.id, state },
    });
  }
  return opened;
}

async function openRecorded(store: Store, id: string, harness: Harness, agent: string): Promise<Opened> {
  const record = await store.session(id);
  if (record === undefined) {
    throw new RunError('run.unknown-session', `There is no session ${id} in this ledger.`, {
      next: 'List the sessions with: writ runs list, or name another ledger with --ledger.',
    });
  }
  const asked = `${agent} on ${harness.name} with ${harness.model ?? 'no model'}`;
  const stored = `${record.agent} on ${record.harness} with ${record.model ?? 'no model'}`;
  if (asked !== stored) {
    throw new RunError('run.session-mismatch', `Session ${id} belongs to ${stored}; asked for ${asked}.`, {
      next: 'Continue it with the same agent, harness and model, or start a new session.',
    });
  }
  const composition = JSON.parse(await readText(store, record.composition, 'composition')) as Composition;
  const projection = JSON.parse(await readText(store, record.projection, 'projection')) as Projection;
  if (composition.digest !== record.prompt || sha256(composition.text) !== record.prompt) {
    throw damaged(`The stored text of session ${id} does not match its digest.`);
  }
  const earlierRuns = [...(await store.runs({ session: id }))].reverse();
  const events = (await Promise.all(earlierRuns.map((run) => store.events(run.id)))).flat();
  const session: Session = { id, composition, projection, capabilities: record.capabilities };
  return { record, session, composition, earlierRuns, events };
}

// Bytes whose digest is wrong are no longer what the model read; a stored secret that was replaced is such a case.
async function readText(store: Store, digest: string, what: string): Promise<string> {
  const bytes = await store.blob(digest);
  if (bytes === undefined) throw damaged(`The ledger has no ${what} of digest ${digest.slice(0, 12)}.`);
  if (sha256(bytes) !== digest)
    throw damaged(`The stored ${what} ${digest.slice(0, 12)} was altered, or a secret in it was replaced.`);
  return Buffer.from(bytes).toString('utf8');
}

function damaged(message: string): RunError {
  return new RunError('run.record-damaged', message, { next: 'Start the task in a new session.' });
}

function changedNotice(session: string): string {
  return `The agent folder composes differently now; session ${session} keeps the text it began with. Start a new session to use the new text.`;
}
