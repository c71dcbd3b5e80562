import { describe, expect, test } from 'vitest';
import { openCatalogue } from './catalogue.ts';
import { compileSurface } from './compile-surface.ts';
import type { UnitDefinition } from './unit.ts';
import { tool } from './units.cases.ts';

/** `a>b` as `requires`, `a?b` as `suggests`, `a#b` as `conflicts`, `a^b` as `supersedes`; priority as score. */
function surfaceOf(selected: string, relations: string, more: Record<string, Partial<UnitDefinition>> = {}) {
  const fields = { '>': 'requires', '?': 'suggests', '#': 'conflicts', '^': 'supersedes' } as const;
  const units = new Map<string, Record<string, string[]>>();
  const unit = (name: string) => units.get(name) ?? units.set(name, {}).get(name) ?? {};
  for (const name of selected) unit(name);
  for (const [from = '', sign = '', to = ''] of relations.split(' ').filter(Boolean)) {
    const field = Object.entries(fields).find(([one]) => one === sign)?.[1] ?? 'requires';
    unit(from)[field] = [...(unit(from)[field] ?? []), `tool:${to}`];
    if (to !== 'z') unit(to);
  }
  const catalogue = openCatalogue([...units].map(([name, lists]) => tool(name, { ...lists, ...more[name] })));
  const surface = compileSurface(catalogue, {
    task: '',
    capabilities: [],
    selected: [...selected].map((name) => `tool:${name}`),
  });
  const bare = (id: string) => id.replace('tool:', '');
  return {
    active: surface.active.map(({ unit }) => bare(unit)).join(''),
    rejected: Object.fromEntries(surface.rejected.map(({ unit, reasons }) => [bare(unit), reasons])),
    edges: surface.edges.map(({ from, to, kind }) => `${bare(from)} ${kind} ${bare(to)}`),
  };
}
const needs = (unit: string, ...reasons: object[]) => [
  { kind: 'requirement', unit: `tool:${unit}`, reasons },
];

describe('requirements', () => {
  test('come along over any number of steps, and the edges say for whom', () => {
    expect(surfaceOf('a', 'a>b b>c')).toEqual({
      active: 'abc',
      rejected: {},
      edges: ['a requires b', 'b requires c'],
    });
  });

  test('in a circle, or on itself, are walked once', () => {
    expect(surfaceOf('a', 'a>b b>c c>a c>c').active).toBe('abc');
  });

  test('a missing one rejects the root and brings in nothing else of it', () => {
    expect(surfaceOf('ax', 'a>b b>z a>c')).toMatchObject({
      active: 'x',
      rejected: { a: needs('z', { kind: 'not-registered' }) },
    });
  });

  test.each([
    [{ available: false }, { kind: 'unavailable' }],
    [{ capability: 'sql' }, { kind: 'not-capable', capability: 'sql' }],
  ])('one with %j rejects the root for that reason', (more, reason) => {
    expect(surfaceOf('a', 'a>b', { b: more })).toMatchObject({
      active: '',
      rejected: { a: needs('b', reason) },
    });
  });

  test('that exclude each other cannot be had', () => {
    const contradiction = (...units: string[]) => ({
      active: '',
      rejected: { a: [{ kind: 'contradiction', units: units.map((one) => `tool:${one}`) }] },
    });
    expect(surfaceOf('a', 'a>b a>c c#b')).toMatchObject(contradiction('c', 'b'));
    expect(surfaceOf('a', 'a>b a^b')).toMatchObject(contradiction('a', 'b'));
    expect(surfaceOf('a', 'a>b a>c c^d d^b')).toMatchObject(contradiction('c', 'b'));
  });
});

describe('suggestions', () => {
  test('join with what they need, one step far', () => {
    expect(surfaceOf('a', 'a?b b>c b?d')).toEqual({
      active: 'abc',
      rejected: {},
      edges: ['a suggests b', 'b requires c'],
    });
  });

  test('that cannot join leave the suggester alone', () => {
    expect(surfaceOf('a', 'a?b a?z b>z')).toMatchObject({
      active: 'a',
      rejected: { b: needs('z', { kind: 'not-registered' }) },
    });
    expect(surfaceOf('a', 'a?b', { b: { available: false } })).toMatchObject({
      active: 'a',
      rejected: { b: [{ kind: 'unavailable' }] },
    });
  });

  test('of a unit that is itself left out leave with it', () => {
    expect(surfaceOf('ax', 'x#a a?b', { x: { priority: 200 } })).toMatchObject({
      active: 'x',
      rejected: { a: [{ kind: 'conflict', with: 'tool:x' }] },
    });
  });
});

describe('supersession', () => {
  test('takes out the older unit whatever the scores, over several versions', () => {
    const superseded = (by: string) => [{ kind: 'superseded', by: `tool:${by}` }];
    expect(surfaceOf('ab', 'a^b', { b: { priority: 900 } })).toMatchObject({
      active: 'a',
      rejected: { b: superseded('a') },
    });
    expect(surfaceOf('abc', 'c^b b^a')).toMatchObject({
      active: 'c',
      rejected: { a: superseded('c'), b: superseded('c') },
    });
    expect(surfaceOf('ac', 'c^b b^a')).toMatchObject({ active: 'c', rejected: { a: superseded('c') } });
  });

  test('takes out what needs the older unit, and leaves it where nothing newer is chosen', () => {
    expect(surfaceOf('ac', 'a^b c>b')).toMatchObject({
      active: 'a',
      rejected: { c: needs('b', { kind: 'superseded', by: 'tool:a' }) },
    });
    expect(surfaceOf('b', 'a^b').active).toBe('b');
  });

  test('by a unit that is lost itself takes out nothing', () => {
    // a supersedes b, and loses what it needs to d: so b stays.
    expect(surfaceOf('abd', 'a^b a>c d^c')).toMatchObject({
      active: 'bd',
      rejected: { a: needs('c', { kind: 'superseded', by: 'tool:d' }) },
    });
    // a would take b out over x, but is itself lost to c: so b stays, and takes out d.
    expect(surfaceOf('abcd', 'a^x a>y b>x b^d c^y')).toMatchObject({
      active: 'bcx',
      rejected: {
        a: needs('y', { kind: 'superseded', by: 'tool:c' }),
        d: [{ kind: 'superseded', by: 'tool:b' }],
      },
    });
    // The same where a conflict is what a loses.
    expect(surfaceOf('abx', 'a^b x#a', { x: { priority: 200 } })).toMatchObject({
      active: 'bx',
      rejected: { a: [{ kind: 'conflict', with: 'tool:x' }] },
    });
  });
});

describe('conflicts', () => {
  const lost = (to: string) => [{ kind: 'conflict', with: `tool:${to}` }];

  test('are won by the higher score, then by the name, whichever of the two says so', () => {
    expect(surfaceOf('ab', 'a#b', { b: { priority: 200 } })).toMatchObject({
      active: 'b',
      rejected: { a: lost('b') },
    });
    expect(surfaceOf('ab', 'b#a')).toMatchObject({ active: 'a', rejected: { b: lost('a') } });
  });

  test('are settled after supersession: what was superseded beats nobody', () => {
    const { active, rejected } = surfaceOf('abc', 'a^b b#c', { b: { priority: 900 } });
    expect([active, Object.keys(rejected)]).toEqual(['ac', ['b']]);
  });

  test('take out what needs the loser, and what only the loser needed', () => {
    expect(surfaceOf('ab', 'b>c c#a b>d')).toMatchObject({
      active: 'a',
      rejected: { b: needs('c', ...lost('a')) },
    });
  });

  test('with itself are none', () => {
    expect(surfaceOf('ab', 'a#a b>a').active).toBe('ab');
  });
});
