import { expect, test } from 'vitest';
import { openCatalogue } from './catalogue.ts';
import { compileSurface } from './compile-surface.ts';
import { explainAll, explainSurface } from './explain-surface.ts';
import type { SurfaceRequest } from './request.ts';
import { skill, tool } from './units.cases.ts';

const catalogue = openCatalogue([
  tool('sql_query', {
    description: 'Reads rows.',
    requires: ['skill:tables'],
    suggests: ['skill:charts'],
    triggers: [{ kind: 'keyword', text: 'rows', weight: 40 }],
  }),
  skill('tables', { description: 'Which there are.' }),
  skill('charts', { description: 'How to draw.' }),
  tool('sql_write', { description: 'Changes rows.', capability: 'write' }),
  tool('sql_old', { description: 'Old.', requires: ['tool:gone'] }),
  tool('rows_a', { description: 'Rows.' }),
  tool('rows_b', { description: 'Rows.' }),
]);
const explained = (unit: string, request: Partial<SurfaceRequest> = {}) =>
  explainSurface(compileSurface(catalogue, { task: 'Count rows', capabilities: [], ...request }), unit);

test('an active unit: what called for it, its size, and that it grants nothing', () => {
  expect(explained('tool:sql_query')).toEqual({
    unit: 'tool:sql_query',
    state: 'active',
    text: expect.stringMatching(
      /^'tool:sql_query' is active: the keyword 'rows' calls for it \(\+40\), it shares 'rows' with the task \(score [\d.]+\); it is shown as schema, \d+ tokens, which grants nothing, because each call is checked when it is made\.$/,
    ),
  });
  expect(explained('skill:tables').text).toContain(
    "is active: it is required by 'tool:sql_query'; it is shown as line",
  );
  expect(explained('skill:charts').text).toContain("is active: 'tool:sql_query' suggests it;");
  expect(explained('skill:charts', { selected: ['skill:charts'] }).text).toContain('it was selected (score');
  expect(explained('skill:charts', { mode: 'all_tools' }).text).toContain('all that is allowed is shown');
});

test('one that does not fit, alone or with what needs it', () => {
  const selected = ['tool:sql_query'];
  expect(explained('tool:sql_query', { selected, task: '', budgetTokens: 9 })).toMatchObject({
    state: 'pending',
    text: expect.stringMatching(
      /does not fit: it would have added \d+ tokens, all requirements counted, and 9 of 9 were left\.$/,
    ),
  });
  expect(explained('skill:tables', { selected, task: '', budgetTokens: 9 }).text).toContain(
    "'tool:sql_query', which needs it, would have added",
  );
});

test.each<[string, Partial<SurfaceRequest>, string]>([
  ['tool:sql_write', {}, "it needs the capability 'write', which is not held."],
  [
    'tool:sql_query',
    { task: 'rows without tables' },
    "it needs 'skill:tables', of which holds: the task says 'without tables'.",
  ],
  [
    'tool:sql_old',
    { task: 'sql' },
    "it needs 'tool:gone', of which holds: no unit of this id is registered.",
  ],
  [
    'tool:rows_a',
    { denied: ['tool:rows_a'], scope: [] },
    'the request denies it, and it lies outside the scope.',
  ],
])('%s rejected with %j', (unit, request, reasons) => {
  expect(explained(unit, request)).toEqual({
    unit,
    state: 'rejected',
    text: `'${unit}' is rejected: ${reasons}`,
  });
});

test('reasons from other units', () => {
  const units = [
    tool('a', { priority: 200, supersedes: ['tool:b'], conflicts: ['tool:c'] }),
    tool('b'),
    tool('c'),
    tool('d', { available: false }),
    tool('e', { requires: ['tool:b', 'tool:f'] }),
    tool('f', { conflicts: ['tool:b'] }),
  ];
  const selected = units.map(({ name }) => `tool:${name}`);
  expect(
    explainAll(compileSurface(openCatalogue(units), { task: '', capabilities: [], selected }))
      .split('\n')
      .slice(1),
  ).toEqual([
    "'tool:b' is rejected: 'tool:a' supersedes it.",
    "'tool:c' is rejected: it conflicts with 'tool:a', which ranks higher.",
    "'tool:d' is rejected: it is not available now.",
    "'tool:e' is rejected: it cannot be had whole, because 'tool:f' and 'tool:b' exclude each other.",
    expect.stringMatching(/^'tool:f' is active/),
    '',
  ]);
});

test('a unit that ranks too low is cut, which is something else than hidden', () => {
  expect(explained('tool:rows_b', { candidateLimit: 1 })).toEqual({
    unit: 'tool:rows_b',
    state: 'cut',
    text: "'tool:rows_b' is cut: the task speaks for it, but 1 units rank higher, and no more are considered (candidateLimit 1).",
  });
  expect(explained('tool:sql_old')).toEqual({
    unit: 'tool:sql_old',
    state: 'hidden',
    text: "'tool:sql_old' is hidden: nothing in the task, signals, needs or selection speaks for it.",
  });
});

test('a name from outside stays on its line', () => {
  expect(explained('tool:a\nactive').text).toMatch(/^'tool:a\\nactive' is hidden/);
});
