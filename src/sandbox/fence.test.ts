/** The fence opens on proof alone, and what is drained is what was asked for. */
import { expect, test } from 'vitest';
import { openFence } from './fence.ts';

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

test('only what is named is drained, with what an earlier drain left; the rest goes on inside', async () => {
  const fence = openFence();
  const drained: string[] = [];
  const gone = new Set(['one']);
  const one = (name: string) => ({
    name,
    drain: async () => {
      drained.push(name);
      return gone.has(name);
    },
  });
  const [first, second] = [one('one'), one('two')];
  fence.enter(first);
  fence.enter(one('bystander'));
  expect(await fence.drain([first])).toEqual({ state: 'open' });
  // It was never inside: a run whose commands nobody could end.
  expect(await fence.drain([second])).toEqual({ state: 'stuck', names: ['two'] });
  expect(await fence.drain([])).toEqual({ state: 'stuck', names: ['two'] });
  gone.add('two');
  expect(await fence.drain([])).toEqual({ state: 'open' });
  expect(drained).toEqual(['one', 'two', 'two', 'two']);
});
