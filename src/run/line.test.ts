import { expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import type { Store } from '../ledger/store.ts';
import { memoryStore } from '../ledger/stores/memory.ts';
import type { EventBody, RunEvent } from '../protocol/events.ts';
import { openLine } from './line.ts';

const turn = (n: number): EventBody => ({ type: 'turn-start', turn: n });

async function lineOver(change: (store: Store) => Store = (store) => store) {
  const store = memoryStore({ clock: systemClock });
  const session = {
    id: 's',
    createdAt: 1,
    agent: 'a',
    harness: 'h',
    model: null,
    prompt: '',
    composition: '',
    projection: '',
  };
  await store.createSession({ ...session, capabilities: [], origin: {} }, []);
  await store.createRun({ id: 'r', session: 's', createdAt: 1, index: 1, parent: null });
  const lease = await store.acquire('r', 'test:1:1', 1000);
  const seen: RunEvent[] = [];
  const broken: unknown[] = [];
  const line = openLine(change(store), lease, {
    earlier: [],
    onEvents: (events) => seen.push(...events),
    onBroken: (cause) => broken.push(cause),
  });
  return { store, line, seen, broken };
}

const turns = (events: readonly RunEvent[]) =>
  events.map((event) => (event.type === 'turn-start' ? event.turn : 0));

test('what was noted stands before what is put after it, and is durable with it', async () => {
  const { store, line, seen } = await lineOver();
  line.note([turn(1)]);
  line.note([turn(2)]);
  await line.put([turn(3)]);
  expect(turns(await store.events('r'))).toEqual([1, 2, 3]);
  expect([turns(line.events), turns(seen)]).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
});

test('what was only noted is written without anyone waiting', async () => {
  const { store, line } = await lineOver();
  line.note([turn(1)]);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(turns(await store.events('r'))).toEqual([1]);
});

test('after a failure nothing more is accepted, and everyone is told the first cause', async () => {
  let appends = 0;
  const { store, line, broken } = await lineOver((inner) => ({
    ...inner,
    append: (...args) => (++appends === 2 ? Promise.reject(new Error('disk full')) : inner.append(...args)),
  }));
  await line.put([turn(1)]);
  line.note([turn(2)]);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  await expect(line.put([turn(3)])).rejects.toThrow('disk full');
  line.note([turn(4)]);
  await expect(line.put([turn(5)])).rejects.toThrow('disk full');
  expect(turns(await store.events('r'))).toEqual([1]);
  expect([broken.length, String(line.broken())]).toEqual([1, 'Error: disk full']);
});

test('a watcher that throws does not disturb the line', async () => {
  const { store } = await lineOver();
  const lease = await store
    .acquire('r', 'test:1:1', 1000)
    .catch(() => ({ run: 'r', epoch: 1, holder: 'test:1:1' }));
  const line = openLine(store, lease, {
    earlier: [],
    onEvents: () => {
      throw new Error('watcher');
    },
    onBroken: () => {},
  });
  await line.put([turn(1)]);
  await line.put([turn(2)]);
  expect(turns(await store.events('r'))).toEqual([1, 2]);
});
