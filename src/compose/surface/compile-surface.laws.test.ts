/** What holds of every surface, whatever the catalogue and the request. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ComposeError } from '../errors.ts';
import { type Catalogue, openCatalogue } from './catalogue.ts';
import { compileSurface, type Surface } from './compile-surface.ts';
import { explainSurface } from './explain-surface.ts';
import type { SurfaceRequest } from './request.ts';
import { matcher } from './scope.ts';
import type { UnitDefinition } from './unit.ts';
import { skill } from './units.cases.ts';

const names = [...'abcdefghij'];
const ids = fc.subarray(
  names.map((name) => `skill:${name}`),
  { maxLength: 3 },
);
const words = ['read', 'write', 'page', 'row', 'send', 'mail'];
const sentence = fc.array(fc.constantFrom(...words), { maxLength: 5 }).map((list) => list.join(' '));
const capability = fc.constantFrom('one', 'two');

const unit = (name: string): fc.Arbitrary<UnitDefinition> =>
  fc
    .record({
      description: sentence,
      requires: ids,
      suggests: ids,
      conflicts: ids,
      // Only later names, so that no circle closes.
      supersedes: ids.map((list) => list.filter((id) => id > `skill:${name}`)),
      available: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
      priority: fc.integer({ min: 0, max: 300 }),
      mandatory: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      sizes: fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 3 }),
      capability: fc.option(capability, { nil: undefined }),
    })
    .map(({ sizes, capability: needed, ...rest }) =>
      skill(name, {
        ...rest,
        ...(needed === undefined ? {} : { capability: needed }),
        variants: sizes.map((size) => ({ kind: `v${size}`, text: 'x'.repeat(4 * size), utility: size })),
      }),
    );
const units = fc.tuple(...names.map(unit));
const request: fc.Arbitrary<SurfaceRequest> = fc.record({
  task: sentence,
  selected: ids,
  denied: fc.oneof(ids, fc.constant<string[]>(['skill:a*'])),
  capabilities: fc.subarray(['one', 'two']),
  scope: fc.oneof(
    fc.constant(null),
    fc.subarray(
      names.map((name) => `skill:${name}`),
      { minLength: 5 },
    ),
  ),
  mode: fc.constantFrom('compiled', 'all_tools'),
  budgetTokens: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 120 })),
  candidateLimit: fc.integer({ min: 3, max: 12 }),
});

/** The surface, or the error where mandatory units do not fit. */
function attempt(catalogue: Catalogue, asked: SurfaceRequest): Surface | ComposeError {
  try {
    return compileSurface(catalogue, asked);
  } catch (thrown) {
    if (thrown instanceof ComposeError && thrown.code === 'compose.surface-too-large') return thrown;
    throw thrown;
  }
}

const always = (check: (surface: Surface, catalogue: Catalogue, asked: SurfaceRequest) => void) =>
  fc.assert(
    fc.property(units, request, (all, asked) => {
      const catalogue = openCatalogue(all);
      const surface = attempt(catalogue, asked);
      if (!(surface instanceof ComposeError)) check(surface, catalogue, asked);
    }),
    { numRuns: 400 },
  );
const activeIds = (surface: Surface) => new Set(surface.active.map((one) => one.unit));

describe('of every surface holds', () => {
  test('the order of registration and of the request changes nothing', () => {
    const shuffled = units.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, request, ([all, other], asked) => {
        const again = {
          ...asked,
          selected: asked.selected?.toReversed() ?? [],
          capabilities: asked.capabilities.toReversed(),
        };
        expect(attempt(openCatalogue(other), again)).toEqual(attempt(openCatalogue(all), asked));
      }),
      { numRuns: 300 },
    );
  });

  test('nothing is active without all that it requires', () => {
    always((surface, catalogue) => {
      const active = activeIds(surface);
      for (const id of active) {
        for (const needed of catalogue.get(id)?.requires ?? []) expect(active).toContain(needed);
      }
    });
  });

  test('nothing active is denied, out of scope, unavailable or beyond the capabilities', () => {
    always((surface, catalogue, { denied = [], scope, capabilities }) => {
      for (const id of activeIds(surface)) {
        const one = catalogue.get(id);
        if (one === undefined) throw new Error(`${id} is active and not registered`);
        expect([matcher(denied)(one), one.available]).toEqual([false, true]);
        if (scope !== null && scope !== undefined) expect(scope).toContain(id);
        if (one.capability !== null) expect(capabilities).toContain(one.capability);
      }
    });
  });

  test('no two active units exclude each other', () => {
    always((surface, catalogue) => {
      const active = activeIds(surface);
      for (const id of active) {
        const { conflicts = [], supersedes = [] } = catalogue.get(id) ?? {};
        const excluded = [...conflicts, ...supersedes].filter((other) => other !== id && active.has(other));
        expect(excluded).toEqual([]);
      }
    });
  });

  test('the budget is kept and the ledger is the sum; mandatory units are never among the pending', () => {
    always((surface, catalogue) => {
      const { sizes, active, pending } = surface;
      expect(sizes.tokens).toBe(active.reduce((sum, { tokens }) => sum + tokens, 0));
      if (sizes.budgetTokens !== null) expect(sizes.tokens).toBeLessThanOrEqual(sizes.budgetTokens);
      expect(pending.filter(({ unit: id }) => catalogue.get(id)?.mandatory)).toEqual([]);
    });
  });

  test('each unit is in one list at most, no candidate is forgotten without cause, and each has its sentence', () => {
    always((surface) => {
      const { active, pending, rejected, cut } = surface;
      const listed = [...[...active, ...pending, ...rejected].map((one) => one.unit), ...cut];
      expect(new Set(listed).size).toBe(listed.length);
      for (const candidate of surface.candidates) expect(listed).toContain(candidate.unit);
      for (const name of names)
        expect(explainSurface(surface, `skill:${name}`).text).toMatch(/^'skill:\w' is .+\.$/);
    });
  });

  test('equal inputs have equal fingerprints, and any other input another one', () => {
    fc.assert(
      fc.property(units, request, request, (all, one, other) => {
        const catalogue = openCatalogue(all);
        const [a, b] = [attempt(catalogue, one), attempt(catalogue, other)];
        if (a instanceof ComposeError || b instanceof ComposeError) return;
        expect(a.fingerprint === b.fingerprint).toBe(JSON.stringify(a.request) === JSON.stringify(b.request));
      }),
    );
    const more = (extra: Partial<UnitDefinition>) =>
      compileSurface(openCatalogue([skill('a', extra)]), { task: '', capabilities: [] }).fingerprint;
    expect(more({ provenance: 'x' })).not.toBe(more({}));
  });
});
