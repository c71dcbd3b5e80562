/** The session a run belongs to: made and stored before anything is sent, or opened as it was stored and checked. */
import type { Clock } from '../clock.ts';
import { blobOf, sha256 } from '../digest.ts';
import type { Harness, Projection, Session } from '../harness.ts';
import type { Store } from '../ledger/store.ts';
import type { Composition } from '../protocol/composition.ts';
import type { RunEvent } from '../protocol/events.ts';
import type { Blob, RunRecord, SessionRecord } from '../protocol/record.ts';
import { stateOf } from './derive.ts';
import { RunError } from './errors.ts';

/** What a session is made from. */
export interface NewSession {
  readonly harness: Harness;
  readonly store: Store;
  readonly clock: Clock;
  readonly composition: Composition;
  readonly capabilities: readonly string[];
  /** The first one; what the session shows beside its text may be chosen by it. */
  readonly task: string;
  /** Only these of the harness's tools, where given. */
  readonly tools?: readonly string[];
  /** What is needed to open the session again later; stored as it is, so never a secret. */
  readonly origin: SessionRecord['origin'];
}

/** A session as the ledger has it, checked: what its runs begin from. */
export interface OpenedSession {
  readonly record: SessionRecord;
  /** What a session that is not stored yet is stored with. */
  readonly unstored?: readonly Blob[];
  readonly session: Session;
  readonly composition: Composition;
  readonly earlierRuns: readonly RunRecord[];
  /** Events of all its runs, oldest first. */
  readonly events: readonly RunEvent[];
}

// Many sessions may begin with one composition: it is written and hashed once.
const written = new WeakMap<Composition, readonly [Blob, Blob]>();

/** The blobs of a composition: the whole of it as JSON, and its text alone. */
function blobsOf(composition: Composition): readonly [Blob, Blob] {
  const known = written.get(composition) ?? [blobOf(JSON.stringify(composition)), blobOf(composition.text)];
  written.set(composition, known);
  return known;
}

/** Makes a session, to be stored with its text and its tools before anything is sent. Throws what makes it impossible. */
export async function newSession(request: NewSession): Promise<OpenedSession> {
  const { harness, composition, capabilities, clock, origin } = request;
  // Whatever makes the session impossible is thrown here, before the ledger knows of it.
  const projection = await harness.project({
    capabilities,
    task: request.task,
    ...(request.tools === undefined ? {} : { tools: request.tools }),
  });
  const [whole, text] = blobsOf(composition);
  const surface = blobOf(JSON.stringify(projection));
  const record: SessionRecord = {
    id: clock.id('session'),
    createdAt: clock.now(),
    agent: composition.agent,
    harness: harness.name,
    model: harness.model,
    prompt: composition.digest,
    composition: whole.digest,
    projection: surface.digest,
    capabilities,
    origin,
  };
  const session: Session = { id: record.id, composition, projection, capabilities };
  return { record, unstored: [whole, surface, text], session, composition, earlierRuns: [], events: [] };
}

/**
 * Opens a session for its next run. What the session held and the caller grants no more is not held: rights only narrow.
 * Throws `run.session-busy` while its newest run has no end.
 */
export async function continueSession(request: NewSession, id: string): Promise<OpenedSession> {
  const { store, harness, composition, capabilities } = request;
  const opened = await openRecorded(store, id, harness, composition.agent);
  const newest = opened.earlierRuns.at(-1);
  if (newest === undefined) return narrowed(opened, capabilities);
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
  return narrowed(opened, capabilities);
}

/** The session with no more rights than the given ones; what it shows its model stays the same bytes. */
export function narrowed(opened: OpenedSession, granted: readonly string[]): OpenedSession {
  const capabilities = opened.session.capabilities.filter((name) => granted.includes(name));
  return { ...opened, session: { ...opened.session, capabilities } };
}

/** Opens a stored session. Throws `run.unknown-session`, `run.session-mismatch` and `run.record-damaged`. */
export async function openRecorded(
  store: Store,
  id: string,
  harness: Harness,
  agent: string,
): Promise<OpenedSession> {
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
  const events = (await Promise.all(earlierRuns.map((run) => readEvents(store, run.id)))).flat();
  const session: Session = { id, composition, projection, capabilities: record.capabilities };
  return { record, session, composition, earlierRuns, events };
}

/** The events of a run, none missing. Throws `run.record-damaged`. */
export async function readEvents(store: Store, run: string): Promise<readonly RunEvent[]> {
  const events = await store.events(run);
  const gap = events.findIndex((event, i) => event.seq !== i + 1);
  if (gap >= 0) throw damaged(`Run ${run} has no event ${gap + 1}, although later ones are there.`);
  return events;
}

/** A stored text. Bytes whose digest is wrong, as where a secret was replaced, are not what was read: `run.record-damaged`. */
export async function readText(store: Store, digest: string, what: string): Promise<string> {
  const bytes = await store.blob(digest);
  if (bytes === undefined) throw damaged(`The ledger has no ${what} of digest ${digest.slice(0, 12)}.`);
  if (sha256(bytes) !== digest)
    throw damaged(`The stored ${what} ${digest.slice(0, 12)} was altered, or a secret in it was replaced.`);
  return Buffer.from(bytes).toString('utf8');
}

export function damaged(message: string): RunError {
  return new RunError('run.record-damaged', message, { next: 'Start the task in a new session.' });
}

export function changedNotice(session: string): string {
  return `The agent folder composes differently now; session ${session} keeps the text it began with. Start a new session to use the new text.`;
}
