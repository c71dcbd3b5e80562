/** What an effect is bound to: its tool, its run, its session; and that forgetting and every other act on a run come one after the other. */
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { callId } from '../src/effects/effects.ts';
import { runRecord, sessionRecord } from '../src/ledger/store.cases.ts';
import type { Store } from '../src/ledger/store.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { sqliteStore } from '../src/ledger/stores/sqlite.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { Tool } from '../src/native/tool/tool.ts';
import type { EventBodies, EventBody } from '../src/protocol/events.ts';
import type { Ticket } from '../src/protocol/ticket.ts';
import { answerTicket } from '../src/run/decide.ts';
import { forgetSession } from '../src/run/forget.ts';
import { reconcileEffect } from '../src/run/reconcile.ts';
import { dyingAt } from './dying-store.ts';
import { openRig, type Rig } from './rig.ts';
import type { Script } from './scripted-provider.ts';

const opened: Rig[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const approved = {
  approve: 'ask' as const,
  ask: async () => ({ decision: 'approved' as const, by: 'ana', reason: '' }),
};
const results = (json: { messages: { role: string; content: string }[] }) =>
  json.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);

function acting(name: string, more: Partial<Tool> = {}) {
  const acted: string[] = [];
  const looked: string[] = [];
  const made = defineTool({
    name,
    description: 'Acts.',
    parameters: { type: 'object' },
    capability: 'c',
    access: 'write',
    repeat: 'once',
    execute: async () => {
      acted.push(name);
      return `${name} done`;
    },
    reconcile: async () => {
      looked.push(name);
      return `${name} found`;
    },
  });
  return { acted, looked, tool: { ...made, ...more } };
}

async function rigOn(store: Store, tools: readonly Tool[], script: Script): Promise<Rig> {
  const rig = await openRig({ script, tools, store: { ...store, close: async () => {} } });
  opened.push(rig);
  return rig;
}

/** Calls each tool once, all with equal arguments, in one turn; then tells what it has read. */
const callEach =
  (...names: string[]): Script =>
  ({ json }) =>
    results(json).length < names.length
      ? { calls: names.map((name, i) => ({ id: `c${i}`, name, arguments: '{"seat":"4A"}' })) }
      : { text: results(json).join(' | ') };

describe('a tool that is no longer what it was', () => {
  test.each([
    ['changed', () => 'another digest'],
    ['withdrawn', () => null],
  ])('is not asked what became of its call, and the call stays unknown: %s', async (_how, definition) => {
    const store = memoryStore({ clock: systemClock });
    const first = acting('book', { definition: () => 'digest' });
    const dying = await rigOn(dyingAt(store, 'effect-observe'), [first.tool], callEach('book'));
    const { run } = await dying.run('Book.', approved);
    const second = acting('book', { definition });
    const rig = await rigOn(store, [second.tool], callEach('book'));
    const { answer } = await rig.resume(run, approved);
    expect(answer).toMatch(/^failed\(tool\.outcome-unknown\): .*do not repeat it/);
    expect([first.acted, second.acted, second.looked]).toEqual([['book'], [], []]);
    const third = acting('book', { definition: () => 'digest' });
    const again = await rigOn(store, [third.tool], callEach('book'));
    await expect(again.resume(run, approved)).rejects.toMatchObject({ code: 'run.already-ended' });
  });

  test('as it was it is asked, so that the cases above prove something', async () => {
    const store = memoryStore({ clock: systemClock });
    const first = acting('book', { definition: () => 'digest' });
    const dying = await rigOn(dyingAt(store, 'effect-observe'), [first.tool], callEach('book'));
    const { run } = await dying.run('Book.', approved);
    const second = acting('book', { definition: () => 'digest' });
    const rig = await rigOn(store, [second.tool], callEach('book'));
    expect(await rig.resume(run, approved)).toMatchObject({ answer: 'book found' });
    expect(second).toMatchObject({ acted: [], looked: ['book'] });
  });
});

describe('an observation', () => {
  test('of one tool is none of another with equal arguments', async () => {
    const [a, b] = [acting('book_here'), acting('book_there')];
    const names = ['book_here', 'book_there', 'book_here'];
    const rig = await rigOn(memoryStore(), [a.tool, b.tool], callEach(...names));
    const { answer } = await rig.run('Book.', approved);
    expect(answer).toBe('book_here done | book_there done | book_here done');
    // The third is the first in the same words, and got its result.
    expect([a.acted, b.acted]).toEqual([['book_here'], ['book_there']]);
  });

  test('of one run is none of the next, in its session or in another', async () => {
    const store = memoryStore();
    const { tool, acted } = acting('book');
    const rig = await rigOn(store, [tool], ({ json }) =>
      json.messages.at(-1)?.role === 'tool'
        ? { text: 'Done.' }
        : { calls: [{ id: `c${json.messages.length}`, name: 'book', arguments: '{"seat":"4A"}' }] },
    );
    const { session } = await rig.run('Book.', approved);
    await rig.run('Book again.', { ...approved, session });
    await rig.run('Book.', approved);
    expect(acted).toHaveLength(3);
  });
});

test('a store that is closed while a tool works leaves it unknown, not lost and not repeated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-closed-'));
  const path = join(folder, 'ledger.sqlite');
  const first = sqliteStore({ path });
  let acted = 0;
  const { reconcile: _, ...tool } = acting('book', {
    execute: async () => {
      acted += 1;
      await first.close();
      return { status: 'succeeded', value: 'booked' };
    },
  }).tool;
  // Of a process that is gone, so that nobody waits for its lease.
  const seat = { ...approved, holder: `${hostname()}:4194304:1` };
  const { run, status } = await (await rigOn(first, [tool], callEach('book'))).run('Book.', seat);
  expect(status).toBe('unknown');
  const second = sqliteStore({ path });
  const { answer } = await (await rigOn(second, [tool], callEach('book'))).resume(run, seat);
  expect(answer).toMatch(/^failed\(tool\.outcome-unknown\)/);
  expect(acted).toBe(1);
  await second.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(['memory', 'sqlite'])('forgetting a session of the %s store', (kind) => {
  const ticket: Ticket = {
    ...{ id: 't', turn: 2, position: 1, tool: 'send', capability: 'c', arguments: '{}', fingerprint: 'f' },
    digest: 'd',
  };
  const dispatch: EventBodies['effect-dispatch'] & { readonly type: 'effect-dispatch' } = {
    ...{ type: 'effect-dispatch', turn: 1, position: 1, tool: 'book', access: 'write', repeat: 'once' },
    ...{ key: 'k', fingerprint: 'f', call: 'c', attempt: 1, ticket: null },
    lineage: { mode: 'initial', parent: null },
  };
  /** The dispatch as this store would have recorded it. */
  const bound = async (store: Store): Promise<EventBody> => {
    const id = { run: 'run_a', turn: 1, position: 1 };
    return { ...dispatch, call: callId((await store.namespace()).id, id, 'f') };
  };
  const seen = {
    attempt: 1,
    status: 'succeeded',
    text: 'd',
    truncated: false,
    bytes: 1,
    late: true,
  } as const;
  const observe: EventBody = { type: 'effect-observe', turn: 1, position: 1, ...seen };
  const decision = {
    run: 'run_a',
    turn: 1,
    position: 1,
    decision: 'abandoned',
    by: 'ana',
    reason: 'Old.',
  } as const;

  /** What another process does at the same moment, under a lease that it takes itself or has had for long. */
  const acts: Record<string, (store: Store, lease: () => ReturnType<Store['acquire']>) => Promise<unknown>> =
    {
      'a resume': async (store, lease) => store.append(await lease(), [{ type: 'turn-start', turn: 2 }]),
      'a dispatch': async (store, lease) => store.append(await lease(), [{ ...dispatch, turn: 2 }]),
      'a late observation': async (store, lease) => store.append(await lease(), [observe]),
      'a cancel': async (store, lease) =>
        store.append(await lease(), [{ type: 'cancel-request', by: 'ana', reason: '' }]),
      'a decision': (store) => reconcileEffect(store, 'other:1:1', decision),
      'an answer': (store) =>
        answerTicket(store, 'other:1:1', {
          run: 'run_a',
          ticket: 't',
          decision: 'denied',
          by: 'ana',
          reason: '',
        }),
    };

  test.each(Object.keys(acts).flatMap((act) => ['before', 'beside', 'after'].map((when) => [when, act])))(
    '%s %s: one comes after the other, and nothing is half there',
    async (when, act) => {
      const folder = mkdtempSync(join(tmpdir(), 'writ-prune-'));
      const path = join(folder, 'ledger.sqlite');
      const store = kind === 'memory' ? memoryStore() : sqliteStore({ path });
      const other = kind === 'memory' ? store : sqliteStore({ path });
      await store.createSession(sessionRecord('session_a'), []);
      await store.createRun(runRecord('run_a', 'session_a'));
      const first = await store.acquire('run_a', 'first:1:1', 60_000);
      await store.append(first, [{ type: 'approval-request', ticket }]);
      // Settled already where it is not what the act is about: an open effect would hold the session anyway.
      if (act === 'a decision' || act === 'a late observation')
        await store.append(first, [await bound(store)]);
      await store.release(first);
      const before = await store.events('run_a');
      const lease = () => other.acquire('run_a', 'other:1:1', 60_000);
      const forget = () => forgetSession(store, 'test:1:1', 'session_a');
      const does = () => acts[act]?.(other, lease) ?? Promise.reject(new Error('no such act'));
      let ends: PromiseSettledResult<unknown>[];
      if (when === 'beside') ends = await Promise.allSettled([forget(), does()]);
      else if (when === 'before') {
        const [forgot] = await Promise.allSettled([forget()]);
        ends = [forgot, ...(await Promise.allSettled([does()]))];
      } else {
        const [did] = await Promise.allSettled([does()]);
        ends = [...(await Promise.allSettled([forget()])), did];
      }
      const [forgot, did] = ends;
      const run = await store.run('run_a');
      const events = await store.events('run_a');
      expect(run === undefined).toBe(forgot?.status === 'fulfilled');
      if (run === undefined) expect([events, await store.session('session_a')]).toEqual([[], undefined]);
      else {
        expect(events.slice(0, before.length)).toEqual(before);
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
        if (did?.status === 'fulfilled') expect(events.length).toBeGreaterThan(before.length);
      }
      for (const end of ends)
        if (end.status === 'rejected')
          expect(end.reason.code).toMatch(
            /^(ledger\.(lease-held|no-run|fenced)|run\.(unknown-run|unknown-ticket|forged-ticket|effects-open))$/,
          );
      // An old lease writes nothing, neither to what is gone nor to what came under its name.
      await expect(store.append(first, [{ type: 'turn-start', turn: 9 }])).rejects.toMatchObject({
        code: expect.stringMatching(/^ledger\.(fenced|no-run)$/),
      });
      await other.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  );
});
