/** The contract of a store as cases, run over every store by the test beside it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { sha256 } from '../digest.ts';
import type { EventBody } from '../protocol/events.ts';
import type { RunRecord, SessionRecord } from '../protocol/record.ts';
import { thisHolder } from './holder.ts';
import type { Lease, Store } from './store.ts';

/** A clock that stands still until it is moved; waiting is real. */
export function testClock(start = 1_700_000_000_000): Clock & { move(ms: number): void } {
  let now = start;
  return {
    ...systemClock,
    now: () => now,
    move(ms) {
      now += ms;
    },
  };
}

export function sessionRecord(id: string, more: Partial<SessionRecord> = {}): SessionRecord {
  const digest = sha256(id);
  return {
    id,
    createdAt: 1,
    agent: 'analyst',
    harness: 'native',
    model: null,
    prompt: digest,
    composition: digest,
    projection: digest,
    capabilities: ['sql'],
    origin: { folder: 'agents/analyst' },
    ...more,
  };
}

export function runRecord(id: string, session: string, more: Partial<RunRecord> = {}): RunRecord {
  return { id, session, createdAt: 1, index: 1, parent: null, ...more };
}

export function notice(text: string): EventBody {
  return { type: 'notice', code: 'test', text };
}

/** A session and a run in it, taken by this process. */
export async function begin(store: Store, run = 'run_a', session = 'session_a'): Promise<Lease> {
  await store.createSession(sessionRecord(session), []);
  await store.createRun(runRecord(run, session));
  return store.acquire(run, thisHolder(), 60_000);
}

const code = (wanted: string) => expect.objectContaining({ name: 'LedgerError', code: wanted });

/** Declares the cases; `open` gives an empty store each time. */
export function storeCases(name: string, open: (clock: Clock) => Store): void {
  describe(`the ${name} store`, () => {
    const clock = testClock();
    let store: Store;
    beforeEach(() => {
      store = open(clock);
    });
    afterEach(() => store.close());

    describe('sessions and runs', () => {
      test('come back as they were given', async () => {
        const session = sessionRecord('session_a', { origin: { deep: [{ a: 1 }, null, 'ü\u2028'] } });
        const run = runRecord('run_a', 'session_a', { parent: 'run_parent' });
        await store.createSession(session, []);
        await store.createRun(run);
        expect([await store.session('session_a'), await store.run('run_a')]).toEqual([session, run]);
        expect([await store.session('session_x'), await store.run('run_x')]).toEqual([undefined, undefined]);
      });

      test('are never overwritten', async () => {
        await begin(store);
        await expect(store.createSession(sessionRecord('session_a'), [])).rejects.toEqual(
          code('ledger.already-exists'),
        );
        await expect(store.createRun(runRecord('run_a', 'session_a', { index: 2 }))).rejects.toEqual(
          code('ledger.already-exists'),
        );
        await expect(store.createRun(runRecord('run_b', 'session_a'))).rejects.toEqual(
          code('ledger.already-exists'),
        );
      });

      test('a run needs its session', async () => {
        await expect(store.createRun(runRecord('run_a', 'session_x'))).rejects.toEqual(
          code('ledger.no-session'),
        );
      });

      test('runs are listed newest first, filtered and limited', async () => {
        await store.createSession(sessionRecord('session_a'), []);
        await store.createSession(sessionRecord('session_b', { agent: 'other' }), []);
        for (const [id, session, index, createdAt] of [
          ['run_1', 'session_a', 1, 10],
          ['run_2', 'session_b', 1, 30],
          ['run_3', 'session_a', 2, 20],
          ['run_4', 'session_a', 3, 20],
        ] as const) {
          await store.createRun(runRecord(id, session, { index, createdAt }));
        }
        const ids = async (filter?: Parameters<Store['runs']>[0]) =>
          (await store.runs(filter)).map(({ id }) => id);
        expect(await ids()).toEqual(['run_2', 'run_4', 'run_3', 'run_1']);
        expect(await ids({ session: 'session_a' })).toEqual(['run_4', 'run_3', 'run_1']);
        expect(await ids({ agent: 'other' })).toEqual(['run_2']);
        expect(await ids({ agent: 'analyst', limit: 2 })).toEqual(['run_4', 'run_3']);
        expect(await ids({ session: 'session_b', agent: 'analyst' })).toEqual([]);
      });
    });

    describe('events', () => {
      test('are numbered from 1 in the order of the calls, each call whole', async () => {
        const lease = await begin(store);
        const [first, second] = await Promise.all([
          store.append(lease, [notice('a'), notice('b')]),
          store.append(lease, [notice('c')], { power: true }),
        ]);
        const at = clock.now();
        const expected = ['a', 'b', 'c'].map((text, i) => ({
          ...notice(text),
          run: 'run_a',
          seq: i + 1,
          at,
          epoch: 1,
        }));
        expect([...first, ...second]).toEqual(expected);
        expect(await store.events('run_a')).toEqual(expected);
        expect(await store.events('run_a', 2)).toEqual(expected.slice(2));
        expect(await store.events('run_a', 3)).toEqual([]);
        expect(await store.events('run_x')).toEqual([]);
      });

      test('each run has its own numbers', async () => {
        const a = await begin(store, 'run_a', 'session_a');
        const b = await begin(store, 'run_b', 'session_b');
        await Promise.all([
          store.append(a, [notice('1')]),
          store.append(b, [notice('2')]),
          store.append(a, [notice('3')]),
        ]);
        expect((await store.events('run_a')).map(({ seq }) => seq)).toEqual([1, 2]);
        expect((await store.events('run_b')).map(({ seq }) => seq)).toEqual([1]);
      });

      test('an empty append is nothing', async () => {
        const lease = await begin(store);
        expect(await store.append(lease, [])).toEqual([]);
      });

      test('are what they were when append was called', async () => {
        const lease = await begin(store);
        const event = { ...notice('before') };
        const stored = store.append(lease, [event]);
        Object.assign(event, { text: 'after' });
        expect(await stored).toEqual([expect.objectContaining({ text: 'before' })]);
        expect(await store.events('run_a')).toEqual([expect.objectContaining({ text: 'before' })]);
      });

      test.each([
        ['a bigint', 1n, 'type bigint'],
        ['NaN', Number.NaN, 'NaN'],
        ['a function', () => 1, 'type function'],
        ['a date', new Date(0), 'class Date'],
        ['undefined in a list', [undefined], '/details/value/0'],
      ])(
        'what JSON cannot carry is refused, and its neighbours are kept: %s',
        async (_what, value, found) => {
          const lease = await begin(store);
          const bad = { ...notice('bad'), details: { value } };
          const results = await Promise.allSettled([
            store.append(lease, [notice('a')]),
            store.append(lease, [notice('never'), bad]),
            store.append(lease, [notice('b')]),
          ]);
          expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
          expect(results[1]).toMatchObject({
            reason: { code: 'ledger.unserialisable', message: expect.stringContaining(found) },
          });
          expect(
            (await store.events('run_a')).map((event) => [event.seq, 'text' in event && event.text]),
          ).toEqual([
            [1, 'a'],
            [2, 'b'],
          ]);
        },
      );

      test('a cycle is refused', async () => {
        const lease = await begin(store);
        const loop: Record<string, unknown> = {};
        loop.self = loop;
        await expect(store.append(lease, [Object.assign(notice('bad'), { loop })])).rejects.toEqual(
          code('ledger.unserialisable'),
        );
      });
    });

    describe('leases', () => {
      test('a living holder keeps others out until it gives the run back', async () => {
        const lease = await begin(store);
        const held = { run: 'run_a', epoch: 1, holder: thisHolder() };
        expect(lease).toEqual({ ...held, heldUntil: 0 });
        expect(await store.holder('run_a')).toEqual(held);
        await expect(store.acquire('run_a', 'elsewhere:1:1', 1000)).rejects.toEqual(
          code('ledger.lease-held'),
        );
        await store.release(lease);
        expect(await store.holder('run_a')).toBeUndefined();
        expect(await store.acquire('run_a', 'elsewhere:1:1', 1000)).toMatchObject({ epoch: 2 });
      });

      test('an unknown run cannot be taken or written', async () => {
        await expect(store.acquire('run_x', 'h', 1000)).rejects.toEqual(code('ledger.no-run'));
        const forged = { run: 'run_x', epoch: 1, holder: 'h' };
        await expect(store.append(forged, [notice('x')])).rejects.toEqual(code('ledger.no-run'));
        expect(await store.holder('run_x')).toBeUndefined();
      });

      test('an expired lease is taken over, and its old holder is fenced without a trace', async () => {
        const old = await begin(store);
        clock.move(60_000);
        const taken = await store.acquire('run_a', 'elsewhere:1:1', 1000);
        const results = await Promise.allSettled([
          store.append(taken, [notice('new')]),
          store.append(old, [notice('old')], { blobs: [{ digest: sha256('old'), bytes: 'old' }] }),
          store.append(taken, [notice('newer')]),
        ]);
        expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
        expect(results[1]).toMatchObject({
          reason: { code: 'ledger.fenced', details: { epoch: 1, newest: 2 } },
        });
        await expect(store.renew(old, 1000)).rejects.toEqual(code('ledger.fenced'));
        await store.release(old);
        const { heldUntil, ...held } = taken;
        expect(await store.holder('run_a')).toEqual(held);
        expect(heldUntil).toBeGreaterThan(0);
        expect((await store.events('run_a')).map((event) => [event.seq, event.epoch])).toEqual([
          [1, 2],
          [2, 2],
        ]);
        expect(await store.blob(sha256('old'))).toBeUndefined();
      });

      test('an epoch from the future is fenced too', async () => {
        const lease = await begin(store);
        await expect(store.append({ ...lease, epoch: 2 }, [notice('x')])).rejects.toEqual(
          code('ledger.fenced'),
        );
      });

      test('renewing keeps the run', async () => {
        const lease = await begin(store);
        clock.move(59_000);
        await store.renew(lease, 60_000);
        clock.move(59_000);
        await expect(store.acquire('run_a', 'elsewhere:1:1', 1)).rejects.toEqual(code('ledger.lease-held'));
      });

      test('a run given back cannot be renewed, but its last holder may still add to it while nobody took it', async () => {
        const lease = await begin(store);
        await store.release(lease);
        await expect(store.renew(lease, 1000)).rejects.toEqual(code('ledger.fenced'));
        expect(await store.append(lease, [notice('late')])).toMatchObject([{ seq: 1, epoch: 1 }]);
      });

      test('a dead holder on this host loses the run at once', async () => {
        await begin(store);
        const [host, pid] = thisHolder().split(':');
        const lease = await store.acquire('run_a', thisHolder(), 60_000).catch(() => undefined);
        expect(lease).toBeUndefined();
        clock.move(60_000);
        // The same number with another start is another process.
        await store.acquire('run_a', `${host}:${pid}:1`, 60_000);
        expect(await store.holder('run_a')).toBeUndefined();
        expect(await store.acquire('run_a', thisHolder(), 1000)).toMatchObject({ epoch: 3 });
      });

      test('of two who want a run at one moment one gets it', async () => {
        const lease = await begin(store);
        await store.release(lease);
        const wanted = ['elsewhere:1:1', 'elsewhere:2:1'].map((holder) =>
          store.acquire('run_a', holder, 1000),
        );
        expect(await Promise.allSettled(wanted)).toEqual([
          {
            status: 'fulfilled',
            value: { run: 'run_a', epoch: 2, holder: 'elsewhere:1:1', heldUntil: 0 },
          },
          { status: 'rejected', reason: code('ledger.lease-held') },
        ]);
      });

      test('a lease renewed at the last moment is held from then on', async () => {
        const lease = await begin(store);
        clock.move(60_000);
        const [, , taken] = await Promise.allSettled([
          store.append(lease, [notice('x')]),
          store.renew(lease, 1000),
          store.acquire('run_a', 'elsewhere:1:1', 1000),
        ]);
        expect(taken).toEqual({ status: 'rejected', reason: code('ledger.lease-held') });
      });

      test('writes take effect in the order of their calls', async () => {
        const lease = await begin(store);
        const [, , taken] = await Promise.all([
          store.append(lease, [notice('last')]),
          store.release(lease),
          store.acquire('run_a', 'elsewhere:1:1', 1000),
        ]);
        expect(taken).toMatchObject({ epoch: 2 });
        expect(await store.events('run_a')).toMatchObject([{ seq: 1, epoch: 1 }]);
      });
    });

    describe('blobs', () => {
      const blob = (bytes: string | Uint8Array) => ({ digest: sha256(bytes), bytes });

      test('come back byte for byte, the first of a digest staying', async () => {
        const lease = await begin(store);
        const binary = Uint8Array.from({ length: 256 }, (_, i) => i);
        await store.append(lease, [notice('x')], { blobs: [blob('grüße'), blob(binary), blob('')] });
        await store.append(lease, [], { blobs: [{ digest: sha256('grüße'), bytes: 'other' }] });
        const digests = ['grüße', binary, ''].map(sha256);
        const kept = await Promise.all(digests.map((digest) => store.blob(digest)));
        expect(kept.map((bytes) => bytes && Buffer.from(bytes))).toEqual(
          ['grüße', binary, ''].map((bytes) => Buffer.from(bytes)),
        );
        expect(await store.blob(sha256('none'))).toBeUndefined();
      });

      test('forgetting a session takes its records and the blobs nothing else names', async () => {
        const [own, shared, named, record] = [blob('own'), blob('shared'), blob('named'), blob('record')];
        await store.createSession(sessionRecord('session_a'), [record]);
        await store.createRun(runRecord('run_a', 'session_a'));
        const a = await store.acquire('run_a', thisHolder(), 60_000);
        const b = await begin(store, 'run_b', 'session_b');
        await store.append(a, [notice('x')], { blobs: [own, shared, named] });
        // One is stored by both sessions, one is only named by an event of the other.
        await store.append(b, [{ type: 'plan-accept', turn: 1, plan: named.digest, lane: 'plan' }], {
          blobs: [shared],
        });
        await store.release(a);
        await store.forget('session_a');
        const left = await Promise.all([own, shared, named, record].map(({ digest }) => store.blob(digest)));
        expect(left.map((bytes) => bytes !== undefined)).toEqual([false, true, true, false]);
        expect([await store.session('session_a'), await store.run('run_a')]).toEqual([undefined, undefined]);
        expect(await store.events('run_a')).toEqual([]);
        expect((await store.runs()).map(({ id }) => id)).toEqual(['run_b']);
        expect(await store.events('run_b')).toHaveLength(1);
        await expect(store.append(a, [notice('x')])).rejects.toEqual(code('ledger.no-run'));
      });

      test('has no torn end where nothing was torn', async () => {
        await begin(store);
        expect(await store.torn()).toEqual([]);
      });

      test('what was forgotten cannot be written again under an old lease, even where its name comes back', async () => {
        const before = await store.namespace();
        const old = await begin(store);
        await store.release(old);
        const newest = await store.acquire('run_a', thisHolder(), 60_000);
        await expect(store.forget('session_a', [old])).rejects.toEqual(code('ledger.lease-held'));
        await store.forget('session_a', [newest]);
        expect(await store.namespace()).toEqual({ id: before.id, epoch: newest.epoch });
        const again = await begin(store);
        expect(again.epoch).toBeGreaterThan(newest.epoch);
        for (const zombie of [old, newest])
          await expect(store.append(zombie, [notice('x')])).rejects.toEqual(code('ledger.fenced'));
        expect(await store.events('run_a')).toEqual([]);
      });

      test('a store has one name, and no other has it', async () => {
        const other = open(clock);
        const [one, same, two] = [await store.namespace(), await store.namespace(), await other.namespace()];
        await other.close();
        expect(one).toEqual({ id: expect.stringMatching(/^ledger_/), epoch: 0 });
        expect(same).toEqual(one);
        expect(two.id).not.toBe(one.id);
      });

      test('a session that is being written is not forgotten; one that is not there needs nothing', async () => {
        await begin(store);
        await expect(store.forget('session_a')).rejects.toEqual(code('ledger.lease-held'));
        expect(await store.session('session_a')).toBeDefined();
        expect(await store.forget('session_x')).toBeUndefined();
      });
    });

    describe('closing', () => {
      test('waits for what was accepted, may be repeated, and ends the store', async () => {
        const lease = await begin(store);
        const last = store.append(lease, [notice('last')]);
        await Promise.all([store.close(), store.close()]);
        expect(await last).toMatchObject([{ seq: 1 }]);
        await store.close();
        await expect(store.append(lease, [notice('x')])).rejects.toEqual(code('ledger.closed'));
        await expect(store.events('run_a')).rejects.toEqual(code('ledger.closed'));
      });
    });
  });
}
