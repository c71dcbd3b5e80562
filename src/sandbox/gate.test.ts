/** The gate lets a capture run alone, and nothing that is inside of it waits for itself. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openGate } from './gate.ts';

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

const hold = () => {
  let open = () => {};
  const held = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { held, open };
};

test('what begins inside of an operation belongs to it, also while a capture waits for that operation', async () => {
  const gate = openGate();
  const order: string[] = [];
  const { held, open } = hold();
  const outer = gate.operate(async () => {
    await held;
    await gate.operate(async () => void order.push('inner'));
    order.push('outer');
  });
  const capture = gate.capture(async () => void order.push('capture'));
  const later = gate.operate(async () => void order.push('later'));
  open();
  await Promise.all([outer, capture, later]);
  expect(order).toEqual(['inner', 'outer', 'capture', 'later']);
});

test('what begins inside of a capture belongs to it, and a capture inside of an operation is refused', async () => {
  const gate = openGate();
  const inside = gate.capture(() => gate.operate(() => gate.capture(async () => 'copied')));
  expect(await inside).toBe('copied');
  const refused = gate.operate(() => gate.capture(async () => expect.unreachable()));
  await expect(refused).rejects.toMatchObject({ code: 'sandbox.capture-inside', kind: 'input' });
  expect(await gate.capture(async () => 'copied')).toBe('copied');
});

test('what an operation left behind is not inside of it once it is over', async () => {
  const gate = openGate();
  const order: string[] = [];
  const { held, open } = hold();
  const left = await gate.operate(async () => ({
    late: held.then(() => gate.operate(async () => void order.push('late'))),
  }));
  const capture = gate.capture(async () => {
    open();
    await new Promise((resolve) => setTimeout(resolve, 20));
    order.push('capture');
  });
  await Promise.all([left.late, capture]);
  expect(order).toEqual(['capture', 'late']);
});

test('one that waits is let go when its signal aborts, and never entered', async () => {
  const gate = openGate();
  const { held, open } = hold();
  const capture = gate.capture(() => held);
  const stop = new AbortController();
  const entered: string[] = [];
  const work = async () => void entered.push('work');
  const waiting = gate.operate(work, stop.signal);
  stop.abort(new Error('no more'));
  await expect(waiting).rejects.toThrow('no more');
  await expect(gate.operate(work, stop.signal)).rejects.toThrow('no more');
  open();
  await capture;
  expect(await gate.operate(async () => 'next', new AbortController().signal)).toBe('next');
  // What nobody waits for any more would fail unseen.
  expect(entered).toEqual([]);
});
