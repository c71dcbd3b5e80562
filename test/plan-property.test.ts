/** What holds of every plan: nothing goes past what is left, nothing acts before a valid plan, a cancel leaves nothing at work. */
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { planTask } from '../src/native/plan/session-plans.ts';
import type { RunEvent } from '../src/protocol/events.ts';
import { counted, final, model, parallel, plan, ref, rights, tool } from './plan.cases.ts';
import { openRig, type Rig, type RigOptions } from './rig.ts';
import type { SeenRequest } from './scripted-provider.ts';

let rig: Rig | undefined;
afterEach(async () => rig?.close());

const turns = (count: number) =>
  new Promise<void>((resolve) => {
    const next = (left: number) => (left === 0 ? resolve() : setImmediate(next, left - 1));
    next(count);
  });

/** Opens a rig, works with it, and proves on the way out that it has nothing open. */
async function inRig<T>(options: RigOptions, work: (rig: Rig) => Promise<T>): Promise<T> {
  rig = await openRig(options);
  try {
    return await work(rig);
  } finally {
    await rig.close();
    rig = undefined;
  }
}

test('whatever branches, tries and conversations do at once, nothing is admitted beyond what is left', async () => {
  const branch = fc.record({ turns: fc.integer({ min: 1, max: 4 }), delay: fc.integer({ min: 0, max: 6 }) });
  const limits = fc.record({
    modelCalls: fc.integer({ min: 3, max: 9 }),
    toolCalls: fc.integer({ min: 3, max: 6 }),
    steps: fc.integer({ min: 18, max: 24 }),
    turns: fc.integer({ min: 3, max: 9 }),
    concurrency: fc.integer({ min: 1, max: 3 }),
    tokens: fc.integer({ min: 900, max: 20_000 }),
    outputBytes: fc.integer({ min: 60, max: 2000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.tuple(branch, branch, branch), limits, async (branches, given) => {
      const look = counted('look', 'read', async (args) => {
        await turns(Number((args as { n?: number }).n ?? 0));
        return 'seen';
      });
      // Each conversation asks for its tool in every turn but its last.
      const script = ({ json }: SeenRequest) => {
        const { turns: count = 1, delay = 0 } = JSON.parse(json.messages[1].content);
        const asked = (json.messages.length - 2) / 2 + 1;
        const id = `${count}.${asked}.${delay}`;
        return asked < count
          ? { calls: [{ id, name: 'look', arguments: JSON.stringify({ n: delay }) }] }
          : { text: 'done' };
      };
      const steps = branches.map((one) => [
        tool('look', 'x', { n: one.delay }),
        model({ ref: 'literal', value: one }, 'y'),
        final(1),
      ]);
      const text = plan(parallel('all', ...steps), final(ref('all')));
      await inRig({ script, tools: [look.tool], root: 'plan' }, async (open) => {
        const result = await open.run(planTask(text), { capabilities: rights, limits: given });
        for (const counter of Object.keys(given) as (keyof typeof given)[]) {
          const line = result.budget[counter];
          expect([counter, line?.overrun ?? 0, (line?.used ?? 0) <= given[counter]]).toEqual([
            counter,
            0,
            true,
          ]);
          expect([counter, line?.reserved ?? 0]).toEqual([counter, 0]);
        }
        expect(open.provider.requests.length).toBeLessThanOrEqual(given.modelCalls);
        // A request that was stopped on its way counts, though the server never saw it.
        expect(open.provider.requests.length).toBeLessThanOrEqual(result.usage.modelCalls);
        expect(look.acted.length).toBeLessThanOrEqual(given.toolCalls);
        expect(result.budget.toolCalls?.used).toBe(look.acted.length);
      });
    }),
    { numRuns: 25 },
  );
});

test('whatever a model sends as a plan, nothing acts and nothing is asked before it is valid', async () => {
  const good = JSON.parse(
    plan(tool('look', 'x'), parallel('y', [tool('book', 'z'), final(1)]), model('Hi.', 'm'), final(ref('x'))),
  );
  // A part of a good plan is replaced by any JSON, or taken out.
  const broken = fc
    .tuple(fc.array(fc.nat(5), { maxLength: 6 }), fc.option(fc.jsonValue({ maxDepth: 3 })))
    .map(([way, part]) => {
      const copy = structuredClone(good);
      let at = copy;
      for (const [i, turn] of way.entries()) {
        const keys = Object.keys(at);
        const key = keys[turn % Math.max(1, keys.length)];
        if (key === undefined) break;
        const inner = at[key];
        if (i < way.length - 1 && typeof inner === 'object' && inner !== null) at = inner;
        else if (part === null) delete at[key];
        else at[key] = structuredClone(part);
      }
      return JSON.stringify(copy);
    });
  const [look, book] = [counted('look'), counted('book', 'write')];
  let valid = 0;
  await inRig(
    { script: () => ({ text: 'Hi.' }), tools: [look.tool, book.tool], root: 'plan' },
    async (open) => {
      await fc.assert(
        fc.asyncProperty(fc.oneof(broken, fc.json(), fc.string()), async (text) => {
          const before = [
            look.acted.length,
            book.acted.length,
            open.provider.requests.length,
            open.events.length,
          ];
          const ended = await open
            .run(planTask(text), { capabilities: rights })
            .catch((thrown: unknown) => thrown);
          const accepted = open.events.slice(before[3]).some(({ type }) => type === 'plan-accept');
          if (accepted) valid += 1;
          else
            expect([look.acted.length, book.acted.length, open.provider.requests.length]).toEqual(
              before.slice(0, 3),
            );
          if (!accepted)
            expect(ended).toMatchObject({
              code: expect.stringMatching(
                /^(plan\.(unreadable|invalid|capability-missing|over-budget)|run\.task-empty)$/,
              ),
            });
        }),
        { numRuns: 300 },
      );
    },
  );
  expect(valid).toBeLessThan(300);
});

test('a cancel at any moment ends in bounded time and leaves nothing at work', async () => {
  let atWork = 0;
  const busy = async (_: unknown, signal: AbortSignal) => {
    atWork += 1;
    await Promise.race([turns(3), new Promise((resolve) => signal.addEventListener('abort', resolve))]);
    atWork -= 1;
    return 'done';
  };
  const [look, book] = [counted('look', 'read', busy), counted('book', 'write', busy)];
  const text = plan(
    parallel(
      'all',
      [tool('look', 'a'), model('Hi.', 'b'), final(1)],
      [tool('book', 'c'), final(2)],
      [tool('look', 'd'), final(3)],
    ),
    { op: 'retry', attempts: 2, plan: { steps: [tool('look', 'e'), final(4)] }, bind: 'f' },
    model('Again.', 'g'),
    final(ref('all')),
  );
  const ask = async () => ({ decision: 'approved' as const, by: 'tester', reason: '' });
  /** Runs the plan and cancels it when it has stored so many events. */
  const cancelAfter = (count: number) =>
    inRig({ script: () => ({ text: 'Hi.' }), tools: [look.tool, book.tool], root: 'plan' }, async (open) => {
      const stop = new AbortController();
      let seen = 0;
      const stored: RunEvent[] = [];
      const onEvents = (events: readonly RunEvent[]) => {
        stored.push(...events);
        seen += events.length;
        if (seen >= count) stop.abort('enough');
      };
      const result = await open.run(planTask(text), {
        capabilities: rights,
        approve: 'ask',
        ask,
        signal: stop.signal,
        onEvents,
      });
      const ended = [atWork, stored.at(-1)?.type, stored.length];
      await turns(5);
      expect([atWork, stored.at(-1)?.type, stored.length]).toEqual(ended);
      expect(ended.slice(0, 2)).toEqual([0, 'run-finish']);
      expect(result.budget.concurrency?.reserved ?? 0).toBe(0);
      return { status: result.status, events: stored.length };
    });
  const whole = await cancelAfter(Number.POSITIVE_INFINITY);
  expect(whole.status).toBe('completed');
  for (let count = 1; count < whole.events; count += 1) {
    const { status } = await cancelAfter(count);
    expect([count, ['cancelled', 'completed'].includes(status)]).toEqual([count, true]);
  }
});
