/** Sessions over several runs and processes: one writer at a time, rights that only narrow, a record that must be whole. */
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../src/clock.ts';
import type { Store } from '../src/ledger/store.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { defineTool } from '../src/native/tool/define-tool.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';

const opened: Rig[] = [];
async function rig(options: RigOptions): Promise<Rig> {
  const one = await openRig(options);
  opened.push(one);
  return one;
}
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const call = (id: string) => ({ id, name: 'look', arguments: '' });
function look(ran: string[]) {
  return defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    capability: 'stock',
    access: 'read',
    execute: async () => {
      ran.push('look');
      return 'seen';
    },
  });
}

/** Runs into a record that breaks when a model request is recorded, and leaves the run as a dead process would. */
async function interrupted(store: Store, more: Partial<RigOptions> = {}) {
  const first = await rig({
    script: [],
    ...more,
    store: {
      ...store,
      append: (lease, events, options) =>
        events.some(({ type }) => type === 'model-request')
          ? Promise.reject(new Error('gone'))
          : store.append(lease, events, options),
      close: async () => {},
    },
  });
  return (await first.run('Go.')).run;
}

describe('two that resume one run', () => {
  test('at once: one carries it on, the other is refused and changes nothing', async () => {
    const store = memoryStore({ clock: systemClock });
    const run = await interrupted(store);
    const one = await rig({ script: [{ text: 'Done.' }], store });
    const ends = await Promise.allSettled([
      one.resume(run, { holder: 'elsewhere:1:1' }),
      one.resume(run, { holder: 'elsewhere:2:2' }),
    ]);
    expect(ends.map((end) => end.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find((end) => end.status === 'rejected')).toMatchObject({
      reason: { code: 'ledger.lease-held' },
    });
    expect((await store.events(run)).filter((event) => event.type === 'run-finish')).toHaveLength(1);
  });

  test('one after the other: the second sees the end that the first recorded', async () => {
    const store = memoryStore({ clock: systemClock });
    const run = await interrupted(store);
    const one = await rig({ script: [{ text: 'Done.' }], store });
    // The second gets the lease only when the first has ended, as a slow process would.
    let firstEnded: Promise<unknown> = Promise.resolve();
    const late = await rig({
      script: [],
      store: {
        ...store,
        acquire: async (...args) => {
          await firstEnded;
          return store.acquire(...args);
        },
        close: async () => {},
      },
    });
    firstEnded = one.resume(run);
    await expect(late.resume(run)).rejects.toMatchObject({ code: 'run.already-ended' });
    await firstEnded;
    expect((await store.events(run)).at(-1)?.type).toBe('run-finish');
  });

  test('a refused resume gives the run back', async () => {
    const one = await rig({ script: [{ text: 'Done.' }] });
    const { run } = await one.run('Go.');
    await expect(one.resume(run)).rejects.toMatchObject({ code: 'run.already-ended' });
    expect(await one.store.holder(run)).toBeUndefined();
  });
});

describe('the next run of a session', () => {
  test('does not hold what is no longer granted, and its record says what it holds', async () => {
    const ran: string[] = [];
    const one = await rig({
      tools: [look(ran)],
      script: [{ text: 'One.' }, { calls: [call('a')] }, { text: 'Two.' }],
    });
    const first = await one.run('One.');
    const second = await one.run('Two.', { session: first.session, capabilities: ['other'] });
    expect([second.status, ran]).toEqual(['completed', []]);
    const starts = one.events
      .filter((event) => event.type === 'run-start')
      .map((event) => event.capabilities);
    expect(starts).toEqual([['stock'], []]);
    // What the model is shown stays the same bytes; showing is not granting.
    expect(one.provider.requests[2]?.json.tools).toEqual(one.provider.requests[0]?.json.tools);
    const [, result] = one.provider.requests[2]?.json.messages.slice(-2) ?? [];
    expect(result.content).toContain('failed(tool.capability-missing)');
  });

  test('is refused with another model', async () => {
    const store = memoryStore({ clock: systemClock });
    const one = await rig({ script: [{ text: 'One.' }], store });
    const { session } = await one.run('One.');
    const other = await rig({ script: [], store, model: 'local/other' });
    await expect(other.run('Two.', { session })).rejects.toMatchObject({
      code: 'run.session-mismatch',
      kind: 'refused',
    });
  });

  test('is refused when another process has just begun it', async () => {
    const store = memoryStore({ clock: systemClock });
    const one = await rig({ script: [{ text: 'One.' }, { text: 'Two.' }], store });
    const { session } = await one.run('One.');
    const two = await Promise.allSettled([one.run('Two.', { session }), one.run('Two.', { session })]);
    expect(two.map((end) => end.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(two.find((end) => end.status === 'rejected')).toMatchObject({
      reason: { code: 'run.session-busy' },
    });
  });
});

describe('a record that is not whole', () => {
  test.each([2, 4])('without event %i it is not carried on', async (lost) => {
    const store = memoryStore({ clock: systemClock });
    const run = await interrupted(store);
    const events = async (id: string) => (await store.events(id)).filter((event) => event.seq !== lost);
    const longer = { ...store, events, close: async () => {} };
    const lease = await store.acquire(run, 'elsewhere:1:1', 1000);
    for (let i = 0; i < 5; i += 1) await store.append(lease, [{ type: 'notice', code: 'x', text: 'x' }]);
    await store.release(lease);
    const one = await rig({ script: [], store: longer });
    await expect(one.resume(run)).rejects.toMatchObject({ code: 'run.record-damaged' });
  });
});

test('time at work before a crash counts up to the last sign of life', async () => {
  let now = 1_000_000;
  const clock = { ...systemClock, now: () => now };
  const store = memoryStore({ clock });
  const run = await interrupted(store);
  const lease = await store.acquire(run, 'elsewhere:1:1', 15_000);
  await store.append(lease, [{ type: 'notice', code: 'x', text: 'at work' }]);
  now += 8_000;
  await store.renew(lease, 15_000);
  // It dies here; its lease runs out long after.
  now += 60_000;
  const one = await rig({ script: [{ text: 'Done.' }], store });
  const result = await one.resume(run, { limits: { wallTimeMs: 100_000 } });
  expect(result.status).toBe('completed');
  expect((await store.events(run)).find((event) => event.type === 'run-resume')).toMatchObject({
    lostMs: 8_000,
  });
  expect(result.budget.wallTimeMs?.used).toBeGreaterThanOrEqual(8_000);
  expect(result.budget.wallTimeMs?.used).toBeLessThan(20_000);
});
