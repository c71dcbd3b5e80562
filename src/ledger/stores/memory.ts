/** The store that keeps everything in this process's memory: for tests and for runs that need no record. */
import type { Clock } from '../../clock.ts';
import { systemClock } from '../../clock.ts';
import type { EventBody, RunEvent } from '../../protocol/events.ts';
import type { RunRecord, SessionRecord } from '../../protocol/record.ts';
import { alreadyExists, closed, fenced, leaseHeld, noRun, noSession } from '../errors.ts';
import type { LeaseRow } from '../holder.ts';
import { isHeld } from '../holder.ts';
import { digestsIn, recordText } from '../record-text.ts';
import type { Lease, Namespace, Store, StoredBlob } from '../store.ts';

interface KeptSession {
  readonly text: string;
  readonly agent: string;
  /** The digests of the blobs that were stored for it. */
  readonly blobs: Set<string>;
  readonly runs: KeptRun[];
}

interface KeptRun {
  readonly record: RunRecord;
  readonly session: KeptSession;
  readonly events: { readonly text: string; readonly at: number; readonly epoch: number }[];
  lease: LeaseRow;
}

/** Records are kept as their JSON text, so that nobody can change them through a value handed in or out. */
export function memoryStore({ clock = systemClock }: { readonly clock?: Clock } = {}): Store {
  const sessions = new Map<string, KeptSession>();
  const runs = new Map<string, KeptRun>();
  const blobs = new Map<string, Uint8Array | string>();
  let namespace: Namespace = { id: clock.id('ledger'), epoch: 0 };
  let open = true;

  function isOpen(): void {
    if (!open) throw closed('memory');
  }

  function runOf(id: string): KeptRun {
    const run = runs.get(id);
    if (run === undefined) throw noRun(id);
    return run;
  }

  function keep(session: KeptSession, given: readonly StoredBlob[]): void {
    for (const { digest, bytes } of given) {
      session.blobs.add(digest);
      // A string cannot be changed by whoever handed it over; bytes can.
      if (!blobs.has(digest)) blobs.set(digest, typeof bytes === 'string' ? bytes : Buffer.from(bytes));
    }
  }

  return {
    name: 'memory',

    async namespace() {
      isOpen();
      return namespace;
    },

    async torn() {
      isOpen();
      return [];
    },

    async createSession(session, given) {
      isOpen();
      const text = recordText(session);
      if (sessions.has(session.id)) throw alreadyExists(`session ${session.id}`);
      const kept: KeptSession = { text, agent: session.agent, blobs: new Set(), runs: [] };
      sessions.set(session.id, kept);
      keep(kept, given);
    },

    async session(id) {
      isOpen();
      const kept = sessions.get(id);
      return kept === undefined ? undefined : (JSON.parse(kept.text) as SessionRecord);
    },

    async createRun(run) {
      isOpen();
      const session = sessions.get(run.session);
      if (session === undefined) throw noSession(run.session);
      if (runs.has(run.id)) throw alreadyExists(`run ${run.id}`);
      if (session.runs.some(({ record }) => record.index === run.index)) {
        throw alreadyExists(`run ${run.index} of session ${run.session}`);
      }
      const lease = { epoch: namespace.epoch, holder: '', expires: 0 };
      const kept: KeptRun = { record: { ...run }, session, events: [], lease };
      runs.set(run.id, kept);
      session.runs.push(kept);
    },

    async run(id) {
      isOpen();
      const kept = runs.get(id);
      return kept === undefined ? undefined : { ...kept.record };
    },

    async runs(filter = {}) {
      isOpen();
      return [...runs.values()]
        .filter(({ record }) => filter.session === undefined || record.session === filter.session)
        .filter(({ session }) => filter.agent === undefined || session.agent === filter.agent)
        .map(({ record }) => ({ ...record }))
        .reverse()
        .sort((a, b) => b.createdAt - a.createdAt)
        .slice(0, filter.limit);
    },

    async acquire(id, holder, ttlMs) {
      isOpen();
      const run = runOf(id);
      const now = clock.now();
      if (isHeld(run.lease, now)) throw leaseHeld(id, run.lease.holder, run.lease.expires);
      const heldUntil = run.lease.holder === '' ? 0 : run.lease.expires;
      run.lease = { epoch: run.lease.epoch + 1, holder, expires: now + ttlMs };
      return { run: id, epoch: run.lease.epoch, holder, heldUntil };
    },

    async renew(lease, ttlMs) {
      isOpen();
      const run = runOf(lease.run);
      if (!isNewest(run.lease, lease)) throw fenced(lease, run.lease.epoch);
      run.lease = { ...run.lease, expires: clock.now() + ttlMs };
    },

    async release(lease) {
      isOpen();
      const run = runs.get(lease.run);
      if (run !== undefined && isNewest(run.lease, lease))
        run.lease = { ...run.lease, holder: '', expires: 0 };
    },

    async holder(id) {
      isOpen();
      const lease = runs.get(id)?.lease;
      if (lease === undefined || !isHeld(lease, clock.now())) return undefined;
      return { run: id, epoch: lease.epoch, holder: lease.holder };
    },

    async append(lease, events, options = {}) {
      isOpen();
      const texts = events.map(recordText);
      const run = runOf(lease.run);
      if (run.lease.epoch !== lease.epoch) throw fenced(lease, run.lease.epoch);
      keep(run.session, options.blobs ?? []);
      const at = clock.now();
      const first = run.events.length + 1;
      for (const text of texts) run.events.push({ text, at, epoch: lease.epoch });
      return events.map((event, i) => ({ ...event, run: lease.run, seq: first + i, at, epoch: lease.epoch }));
    },

    async events(id, after = 0) {
      isOpen();
      const kept = runs.get(id)?.events ?? [];
      return kept
        .slice(Math.max(after, 0))
        .map(({ text, at, epoch }, i) => stored(text, id, Math.max(after, 0) + i + 1, at, epoch));
    },

    async blob(digest) {
      isOpen();
      const kept = blobs.get(digest);
      return kept === undefined ? undefined : new Uint8Array(Buffer.from(kept));
    },

    async forget(id, leases = []) {
      isOpen();
      const session = sessions.get(id);
      if (session === undefined) return;
      for (const { record, lease } of session.runs) {
        const own = leases.some((given) => given.run === record.id && isNewest(lease, given));
        if (!own && isHeld(lease, clock.now())) throw leaseHeld(record.id, lease.holder, lease.expires);
      }
      const epoch = Math.max(namespace.epoch, ...session.runs.map(({ lease }) => lease.epoch));
      namespace = { ...namespace, epoch };
      for (const { record } of session.runs) runs.delete(record.id);
      sessions.delete(id);
      const stillNamed = new Set([...sessions.values()].flatMap((other) => [...namesOf(other)]));
      for (const digest of namesOf(session)) if (!stillNamed.has(digest)) blobs.delete(digest);
    },

    async close() {
      open = false;
    },
  };
}

/** The digests that a session's record, its blobs and its runs' events name; read only when something is forgotten. */
function namesOf({ text, blobs, runs }: KeptSession): Set<string> {
  const texts = [text, ...runs.flatMap(({ events }) => events.map((event) => event.text))];
  return new Set([...blobs, ...texts.flatMap((one) => [...digestsIn(one)])]);
}

function isNewest(row: LeaseRow, lease: Lease): boolean {
  return row.epoch === lease.epoch && row.holder === lease.holder;
}

function stored(text: string, run: string, seq: number, at: number, epoch: number): RunEvent {
  return { ...(JSON.parse(text) as EventBody), run, seq, at, epoch };
}
