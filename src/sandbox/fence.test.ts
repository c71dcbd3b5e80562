/** The fence opens on proof alone, and the gate lets a capture run alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openFence } from './fence.ts';
import { openGate } from './gate.ts';

test('what is inside is drained at once, nothing new comes in meanwhile, and proof opens it again', async () => {
  const fence = openFence();
  const drained: string[] = [];
  const one = (name: string, gone: boolean | Error) => ({
    name,
    drain: async () => {
      drained.push(name);
      if (gone instanceof Error) throw gone;
      return gone;
    },
  });
  const left = fence.enter(one('left', true));
  if (left.entered) left.leave();
  fence.enter(one('inside', true));
  const draining = fence.drain();
  expect(fence.enter(one('late', true))).toEqual({ entered: false, state: 'draining' });
  expect(await draining).toEqual({ state: 'open' });
  expect(drained).toEqual(['inside']);
  expect(fence.enter(one('next', true)).entered).toBe(true);
});

test('without proof it stays shut and names what may still run; a later drain looks again', async () => {
  const fence = openFence();
  let gone = false;
  let looks = 0;
  fence.enter({
    name: 'stubborn',
    drain: async () => {
      looks += 1;
      if (looks === 1) throw new Error('unreachable');
      return gone;
    },
  });
  fence.enter({ name: 'obedient', drain: async () => true });
  expect(await fence.drain()).toEqual({ state: 'stuck', names: ['stubborn'] });
  expect(fence.enter({ name: 'new', drain: async () => true })).toEqual({ entered: false, state: 'stuck' });
  const [one, other] = await Promise.all([fence.drain(), fence.drain()]);
  expect([one, other, looks]).toEqual([
    { state: 'stuck', names: ['stubborn'] },
    { state: 'stuck', names: ['stubborn'] },
    2,
  ]);
  gone = true;
  expect(await fence.drain()).toEqual({ state: 'open' });
  expect(fence.state).toBe('open');
});

test('operations run side by side, captures alone and in order, and nothing waits for ever', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ capture: fc.boolean(), steps: fc.nat({ max: 4 }), fails: fc.boolean() }), {
        maxLength: 12,
      }),
      async (works) => {
        const gate = openGate();
        let operating = 0;
        let capturing = 0;
        const captures: number[] = [];
        const ends = works.map(({ capture, steps, fails }, i) => {
          const work = async () => {
            if (capture) {
              capturing += 1;
              captures.push(i);
            } else operating += 1;
            for (let step = 0; step <= steps; step += 1) {
              expect(capturing === 0 || (capturing === 1 && operating === 0)).toBe(true);
              await null;
            }
            if (capture) capturing -= 1;
            else operating -= 1;
            if (fails) throw new Error(String(i));
            return i;
          };
          return (capture ? gate.capture(work) : gate.operate(work)).catch((error: Error) =>
            Number(error.message),
          );
        });
        expect(await Promise.all(ends)).toEqual(works.map((_, i) => i));
        expect(captures).toEqual([...captures].sort((a, b) => a - b));
      },
    ),
  );
  const gate = openGate();
  let most = 0;
  let now = 0;
  const work = async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    now -= 1;
  };
  await Promise.all([gate.operate(work), gate.operate(work), gate.operate(work)]);
  expect(most).toBe(3);
});
