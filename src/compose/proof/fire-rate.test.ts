/** Fire rates over recorded compositions. */
import { expect, test } from 'vitest';
import type { Composition, Decision } from '../../protocol/composition.ts';
import { plainComposition } from '../plain.ts';
import { fireRateNote, fireRates } from './fire-rate.ts';

const decided = (
  fragment: string,
  value: Decision['value'],
  included: boolean,
  when: string | null = 'a',
): Decision => ({
  fragment,
  value,
  included,
  when,
  facts: [],
});
const session = (profile: string, ...decisions: readonly Decision[]): Composition => ({
  ...plainComposition('x', ''),
  profile,
  decisions,
});

test('kept, left out and unknown are counted per profile, fragment and condition', () => {
  const rates = fireRates([
    session(
      'default',
      decided('base', 'true', true, null),
      decided('p', 'true', true),
      decided('q', 'unknown', true),
    ),
    session('default', decided('p', 'false', false), decided('q', 'unknown', true)),
    session('default', decided('p', 'unknown', false), decided('q', 'unknown', true, 'b')),
    session('qa', decided('p', 'false', false), decided('r', 'true', true)),
  ]);
  expect(rates.map((rate) => ({ ...rate, note: fireRateNote(rate) }))).toEqual([
    { fragment: 'p', profile: 'default', when: 'a', kept: 1, left: 2, unknown: 1, note: null },
    {
      fragment: 'q',
      profile: 'default',
      when: 'a',
      kept: 2,
      left: 0,
      unknown: 2,
      note: 'never fired: its condition was unknown every time',
    },
    {
      fragment: 'q',
      profile: 'default',
      when: 'b',
      kept: 1,
      left: 0,
      unknown: 1,
      note: 'never fired: its condition was unknown every time',
    },
    { fragment: 'p', profile: 'qa', when: 'a', kept: 0, left: 1, unknown: 0, note: 'never in' },
    {
      fragment: 'r',
      profile: 'qa',
      when: 'a',
      kept: 1,
      left: 0,
      unknown: 0,
      note: 'never fired: it was never left out',
    },
  ]);
  expect(fireRates([])).toEqual([]);
});
