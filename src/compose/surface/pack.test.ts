import { describe, expect, test } from 'vitest';
import { openCatalogue } from './catalogue.ts';
import { compileSurface } from './compile-surface.ts';
import type { UnitDefinition } from './unit.ts';
import { skill, tool } from './units.cases.ts';

const forms = (...tokens: number[]) => ({
  variants: tokens.map((count, i) => ({
    kind: `form${count}`,
    text: 'x'.repeat(4 * count),
    utility: 100 - i,
  })),
});
const surfaceOf = (units: readonly UnitDefinition[], budgetTokens: number | null) =>
  compileSurface(openCatalogue(units), {
    task: '',
    capabilities: [],
    selected: units.map(({ kind, name }) => `${kind}:${name}`),
    budgetTokens,
  });
const shown = (units: readonly UnitDefinition[], budgetTokens: number | null) =>
  surfaceOf(units, budgetTokens).active.map(({ unit, variant }) => `${unit} ${variant}`);

describe('the budget', () => {
  test('without a limit gives each unit its most useful form', () => {
    expect(shown([skill('a', forms(9, 3)), skill('b', forms(5))], null)).toEqual([
      'skill:a form9',
      'skill:b form5',
    ]);
  });

  test('buys breadth first, then the better forms, the best unit first', () => {
    const units = [skill('a', forms(9, 5, 1)), skill('b', { ...forms(9, 5, 1), priority: 200 })];
    expect(shown(units, 2)).toEqual(['skill:a form1', 'skill:b form1']);
    expect(shown(units, 6)).toEqual(['skill:a form1', 'skill:b form5']);
    expect(shown(units, 14)).toEqual(['skill:a form5', 'skill:b form9']);
  });

  test('leaves out by score what does not fit, and a smaller unit may follow', () => {
    const surface = surfaceOf([skill('a', forms(6)), skill('b', forms(6)), skill('c', forms(3))], 10);
    expect([surface.active.map(({ unit }) => unit), surface.pending]).toEqual([
      ['skill:a', 'skill:c'],
      [{ unit: 'skill:b', root: 'skill:b', tokens: 6, leftTokens: 4 }],
    ]);
  });

  test('takes a unit with all that it needs or not at all', () => {
    const units = [skill('a', { ...forms(4), requires: ['skill:z'], priority: 200 }), skill('b', forms(3))];
    const needed = skill('z', forms(4));
    const compile = (budgetTokens: number) =>
      compileSurface(openCatalogue([...units, needed]), {
        task: '',
        capabilities: [],
        selected: ['skill:a', 'skill:b'],
        budgetTokens,
      });
    expect(compile(8).active.map(({ unit }) => unit)).toEqual(['skill:a', 'skill:z']);
    expect([compile(7).active.map(({ unit }) => unit), compile(7).pending]).toEqual([
      ['skill:b'],
      [
        { unit: 'skill:a', root: 'skill:a', tokens: 8, leftTokens: 7 },
        { unit: 'skill:z', root: 'skill:a', tokens: 8, leftTokens: 7 },
      ],
    ]);
  });

  test('of nothing shows nothing that costs', () => {
    expect(surfaceOf([skill('a', forms(1))], 0)).toMatchObject({
      active: [],
      sizes: { tokens: 0, leftTokens: 0 },
    });
  });
});

describe('mandatory units', () => {
  test('go before better ones, with what they need', () => {
    const units = [
      skill('a', { ...forms(5), priority: 900 }),
      skill('b', { ...forms(3), mandatory: true, requires: ['skill:c'] }),
      skill('c', forms(3)),
    ];
    const surface = surfaceOf(units, 8);
    expect([surface.active.map(({ unit }) => unit), surface.pending.map(({ unit }) => unit)]).toEqual([
      ['skill:b', 'skill:c'],
      ['skill:a'],
    ]);
  });

  test('that do not fit in their smallest forms fail, with every size, and are never left out', () => {
    const units = [
      skill('a', { ...forms(9, 3), mandatory: true }),
      skill('b', { ...forms(3), mandatory: true }),
    ];
    expect(shown(units, 6)).toHaveLength(2);
    expect(() => surfaceOf(units, 5)).toThrow(
      expect.objectContaining({
        code: 'compose.surface-too-large',
        details: {
          budgetTokens: 5,
          tokens: 6,
          units: [
            { unit: 'skill:a', tokens: 3 },
            { unit: 'skill:b', tokens: 3 },
          ],
        },
      }),
    );
  });

  test('that nothing called for are not there', () => {
    const catalogue = openCatalogue([skill('a', { ...forms(9), mandatory: true })]);
    expect(compileSurface(catalogue, { task: '', capabilities: [], budgetTokens: 1 }).active).toEqual([]);
  });
});

test('the ledger of sizes charges schemas, is exactly the sum, and changes with each unit less', () => {
  const units = [tool('a'), tool('b'), skill('c')];
  const all = surfaceOf(units, 1000);
  const sum = (field: 'tokens' | 'bytes') => all.active.reduce((total, unit) => total + unit[field], 0);
  expect(all.sizes).toEqual({
    tokenMethod: 'chars/4',
    budgetTokens: 1000,
    tokens: sum('tokens'),
    bytes: sum('bytes'),
    leftTokens: 1000 - sum('tokens'),
  });
  const schemaTokens = Math.ceil(JSON.stringify(tool('b').schema).length / 4);
  expect(all.sizes.tokens - surfaceOf([tool('a'), skill('c')], 1000).sizes.tokens).toBe(schemaTokens);
});
