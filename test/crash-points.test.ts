/** A run that stops being recorded at any point, before or after the write, is resumed to its end and acts at most once. */
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import type { Store } from '../src/ledger/store.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import type { EventBody } from '../src/protocol/events.ts';
import { stateOf } from '../src/run/derive.ts';
import { openRig, type Rig } from './rig.ts';
import type { Script } from './scripted-provider.ts';

const opened: Rig[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

type FailsAt = (count: number, events: readonly EventBody[]) => boolean;

/** Fails from an append on, as the ledger of a process that dies there would look to the next one. */
function failingStore(store: Store, failsAt: FailsAt, stored: 'before' | 'after'): Store {
  let count = 0;
  let failed = false;
  return {
    ...store,
    async append(lease, events, options) {
      count += 1;
      if (failed) throw new Error('the process is gone');
      failed = failsAt(count, events);
      if (!failed) return store.append(lease, events, options);
      if (stored === 'after') await store.append(lease, events, options);
      throw new Error('the process is gone');
    },
    close: async () => {},
  };
}

// Answers from what it is sent, so that it does not matter how often it is asked.
const script: Script = ({ json }) => {
  const results = json.messages.filter((m: { role: string }) => m.role === 'tool');
  if (results.length === 0) return { calls: [call('a', 'look'), call('b', 'book'), call('c', 'look')] };
  if (results.length === 3) return { calls: [call('d', 'look')] };
  return { text: results.map((m: { content: string }) => m.content.slice(0, 28)).join(' | ') };
};
const call = (id: string, name: string) => ({ id, name, arguments: '' });

async function crashAt(failsAt: FailsAt, stored: 'before' | 'after') {
  let acted = 0;
  const shared = {
    description: 'Acts.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    capability: 'c',
  } as const;
  const look = defineTool({ ...shared, name: 'look', access: 'read', execute: async () => 'look done' });
  const book = defineTool({
    ...shared,
    name: 'book',
    access: 'write',
    repeat: 'once',
    execute: async () => {
      acted += 1;
      return 'book done';
    },
  });
  const tools = [look, book];
  const store = memoryStore({ clock: systemClock });
  const more = {
    approve: 'ask' as const,
    ask: async () => ({ decision: 'approved' as const, by: 'ana', reason: '' }),
  };
  const first = await openRig({ script, tools, store: failingStore(store, failsAt, stored) });
  const second = await openRig({ script, tools, store });
  opened.push(first, second);
  const result = await first.run('Go.', more).catch(() => undefined);
  const [run] = await store.runs();
  const state = stateOf(await store.events(run?.id ?? ''), false);
  if (state !== 'interrupted' && state !== 'paused')
    return { ended: true, state, acted, answer: result?.answer ?? null };
  const events = await store.events(run?.id ?? '');
  if (!events.some((event) => event.type === 'run-start'))
    return { ended: false, state: 'not started', acted, answer: null };
  const resumed = await second.resume(run?.id ?? '', more);
  return { ended: false, state: resumed.status, acted, answer: resumed.answer };
}

/** How often an undisturbed run writes: each of these is a place to crash at. */
async function countWrites(): Promise<number> {
  let writes = 0;
  const { state } = await crashAt((count) => {
    writes = count;
    return false;
  }, 'before');
  expect(state).toBe('completed');
  for (const one of opened.splice(0)) await one.close();
  return writes;
}

describe.each(['before', 'after'] as const)('the record breaks %s a write is stored', async (stored) => {
  const writes = await countWrites();

  test.each(Array.from({ length: writes }, (_, i) => i + 1))(`at write %i of ${writes}`, async (nth) => {
    const { state, acted, answer, ended } = await crashAt((count) => count === nth, stored);
    expect(acted).toBeLessThanOrEqual(1);
    if (nth === 1 && stored === 'before') {
      expect([state, acted]).toEqual(['not started', 0]);
      return;
    }
    expect(state).toBe('completed');
    // Only the last write can be stored and make the run an ended one for everyone else.
    expect(ended).toBe(nth === writes && stored === 'after');
    if (ended) return;
    // What the model read of the booking: its real result, or honestly unknown; never a guess and never a second try.
    expect(answer).toMatch(
      /^look done \| (book done|failed\(tool\.outcome-unknown\)) \| look done \| look done$/,
    );
    if (answer?.includes('book done')) expect(acted).toBe(1);
  });
});

describe('a write that was sent before its process died', () => {
  test.each(['once', 'idempotent'] as const)(
    'is unknown, not "not run", when the run is cancelled instead of resumed (%s)',
    async (repeat) => {
      let acted = 0;
      const book = defineTool({
        name: 'book',
        description: 'Books.',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
        capability: 'c',
        access: 'write',
        repeat,
        execute: async () => `booked ${++acted}`,
      });
      const store = memoryStore({ clock: systemClock });
      const once: Script = ({ json }) =>
        json.messages.length > 2 ? { text: 'ok' } : { calls: [{ id: 'a', name: 'book', arguments: '' }] };
      const more = {
        approve: 'ask' as const,
        ask: async () => ({ decision: 'approved' as const, by: 'ana', reason: '' }),
      };
      const atObservation: FailsAt = (_count, events) => events.some(({ type }) => type === 'effect-observe');
      const first = await openRig({
        script: once,
        tools: [book],
        store: failingStore(store, atObservation, 'before'),
      });
      const second = await openRig({ script: once, tools: [book], store });
      const third = await openRig({ script: once, tools: [], store });
      opened.push(first, second, third);
      const died = await first.run('Go.', more);
      expect([died.status, acted]).toEqual(['unknown', 1]);
      const cancelled = await third.resume(died.run, { signal: AbortSignal.abort() });
      expect(cancelled.status).toBe('cancelled');
      const result = (await store.events(died.run)).find((event) => event.type === 'tool-result');
      expect(result).toMatchObject({ status: 'unknown', code: 'tool.outcome-unknown' });
      expect(await second.run('Again.', { ...more, session: died.session })).toMatchObject({
        status: 'completed',
      });
      expect(acted).toBe(1);
    },
  );
});
