/** Capabilities: a starting point is cut without a word, a name that was turned on is had or refused, children only narrow. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CapabilityRequest, narrowCapabilities, resolveCapabilities } from './capabilities.ts';

const known = ['sql', 'project', 'goals', 'skills'];
const unavailable = [{ name: 'sql', by: 'config.yaml' }];

describe('forms', () => {
  test.each<[string, CapabilityRequest, string, string[]]>([
    ['all', 'all', 'all', ['goals', 'project', 'skills', 'sql']],
    ['none', 'none', 'none', []],
    ['a list', ['sql', 'goals'], 'none', ['goals', 'sql']],
    ['all but one', { from: 'all', set: { sql: false } }, 'all', ['goals', 'project', 'skills']],
    ['none but one', { from: 'none', set: { sql: true } }, 'none', ['sql']],
    ['an agent and one', { from: { agent: ['project'] }, set: { sql: true } }, 'agent', ['project', 'sql']],
  ])('%s', (_, request, from, capabilities) => {
    expect(resolveCapabilities(request, { known })).toEqual({
      version: 1,
      from,
      capabilities,
      unavailable: [],
    });
  });

  test('a name that there is not', () => {
    expect(() => resolveCapabilities(['goal'], { known })).toThrow(
      expect.objectContaining({ code: 'compose.unknown-name', next: "Write 'goals'." }),
    );
  });

  test('the answer is frozen', () => {
    const resolution = resolveCapabilities('all', { known });
    expect(Object.isFrozen(resolution) && Object.isFrozen(resolution.capabilities)).toBe(true);
  });
});

describe('limits', () => {
  test('cut a starting point and say what is unavailable', () => {
    const all = resolveCapabilities('all', { known, unavailable });
    expect(all.capabilities).toEqual(['goals', 'project', 'skills']);
    expect(all.unavailable).toEqual(['sql']);
    expect(
      resolveCapabilities({ from: { agent: ['sql'] }, set: {} }, { known, unavailable }).capabilities,
    ).toEqual([]);
  });

  test('refuse what was turned on, and let what was turned off be', () => {
    expect(() => resolveCapabilities({ from: 'none', set: { sql: true } }, { known, unavailable })).toThrow(
      expect.objectContaining({
        code: 'compose.capability-unavailable',
        details: { capability: 'sql', by: 'config.yaml' },
      }),
    );
    expect(() => resolveCapabilities(['sql'], { known, unavailable })).toThrow(/unavailable/);
    expect(
      resolveCapabilities({ from: 'all', set: { sql: false } }, { known, unavailable }).capabilities,
    ).not.toContain('sql');
  });

  test('a child starts with what its parent holds, and asks for more in vain', () => {
    expect(resolveCapabilities('all', { known, parent: ['goals'] }).capabilities).toEqual(['goals']);
    expect(() => resolveCapabilities(['sql'], { known, parent: ['goals'] })).toThrow(
      expect.objectContaining({ code: 'compose.capability-widening', details: { capability: 'sql' } }),
    );
  });
});

describe('what is implied', () => {
  const implied = [{ name: 'goals', by: 'the goal that was given' }];
  const from = (set: Readonly<Record<string, boolean>>): CapabilityRequest => ({ from: 'none', set });

  test('a goal turns goals on, from any start', () => {
    for (const request of ['none', 'all', from({}), from({ goals: true }), ['sql']] as const)
      expect(resolveCapabilities(request, { known, implied }).capabilities).toContain('goals');
    expect(resolveCapabilities(from({ sql: true }), { known, implied }).capabilities).toEqual([
      'goals',
      'sql',
    ]);
  });

  test('turned off beside it is a conflict; gone, or beyond the parent, is refused as any toggle', () => {
    expect(() => resolveCapabilities(from({ goals: false }), { known, implied })).toThrow(
      expect.objectContaining({
        code: 'compose.capability-conflict',
        details: { capability: 'goals', by: 'the goal that was given' },
      }),
    );
    const gone = [{ name: 'goals', by: 'config.yaml' }];
    expect(() => resolveCapabilities('all', { known, implied, unavailable: gone })).toThrow(
      expect.objectContaining({ code: 'compose.capability-unavailable' }),
    );
    expect(() => resolveCapabilities('all', { known, implied, parent: ['sql'] })).toThrow(
      expect.objectContaining({ code: 'compose.capability-widening' }),
    );
  });
});

describe('a child', () => {
  const parent = resolveCapabilities({ from: 'all', set: { project: false } }, { known, unavailable });

  test('holds of its request what the parent holds, and keeps what was unavailable', () => {
    expect(narrowCapabilities(parent, 'all', { known })).toEqual({
      version: 1,
      from: 'all',
      capabilities: ['goals', 'skills'],
      unavailable: ['sql'],
    });
    const grandchild = narrowCapabilities(narrowCapabilities(parent, ['goals'], { known }), 'all', { known });
    expect(grandchild.capabilities).toEqual(['goals']);
  });

  test('asks in vain for what the parent gave up, and for what it could not have', () => {
    const refused = (request: CapabilityRequest, code: string) =>
      expect(() => narrowCapabilities(parent, request, { known })).toThrow(expect.objectContaining({ code }));
    refused(['project'], 'compose.capability-widening');
    refused(['sql'], 'compose.capability-unavailable');
    const implied = [{ name: 'project', by: 'the task' }];
    expect(() => narrowCapabilities(parent, 'none', { known, implied })).toThrow(
      expect.objectContaining({ code: 'compose.capability-widening' }),
    );
  });
});

test('no request gives more than the limits and the parent allow', () => {
  const names = fc.uniqueArray(fc.constantFrom(...known));
  const start = fc.oneof(
    fc.constantFrom('all' as const, 'none' as const),
    names.map((agent) => ({ agent })),
  );
  const set = fc.dictionary(fc.constantFrom(...known), fc.boolean());
  fc.assert(
    fc.property(start, set, names, names, (from, toggles, parent, away) => {
      const limits = { known, parent, unavailable: away.map((name) => ({ name, by: 'test' })) };
      try {
        const { capabilities } = resolveCapabilities({ from, set: toggles }, limits);
        expect(capabilities.filter((name) => !parent.includes(name) || away.includes(name))).toEqual([]);
        for (const [name, on] of Object.entries(toggles)) expect(capabilities.includes(name)).toBe(on);
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: expect.stringMatching(/capability-(unavailable|widening)/) });
        expect(Object.values(toggles)).toContain(true);
      }
    }),
  );
});
