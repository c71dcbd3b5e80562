import { describe, expect, test } from 'vitest';
import { labelledTasks, sampleCatalogue } from '../../../bench/selection-catalogue.mjs';
import { openCatalogue } from './catalogue.ts';
import { mcpTool, skill, tool } from './units.cases.ts';

describe('registering', () => {
  test('the same definition again changes nothing', () => {
    const catalogue = openCatalogue([tool('a')]);
    const before = catalogue.digest();
    expect([catalogue.register(tool('a')), catalogue.size, catalogue.digest()]).toEqual([
      'tool:a',
      1,
      before,
    ]);
  });

  test('another definition under the same id is refused, and one name in two kinds is two units', () => {
    const catalogue = openCatalogue([tool('a'), skill('a')]);
    expect(() => catalogue.register(tool('a', { priority: 1 }))).toThrow(
      expect.objectContaining({
        code: 'compose.unit-clash',
        details: expect.objectContaining({ unit: 'tool:a' }),
      }),
    );
    expect(catalogue.size).toBe(2);
  });

  test.each([
    [[tool('a', { supersedes: ['tool:a'] })], 'tool:a → tool:a'],
    [
      [tool('a', { supersedes: ['tool:b'] }), tool('b', { supersedes: ['tool:a'] })],
      'tool:b → tool:a → tool:b',
    ],
    [
      [
        tool('a', { supersedes: ['tool:b'] }),
        tool('c', { supersedes: ['tool:a'] }),
        tool('b', { supersedes: ['tool:c'] }),
      ],
      'tool:b → tool:c → tool:a → tool:b',
    ],
  ])('units that supersede each other in a circle are refused', (units, circle) => {
    const catalogue = openCatalogue(units.slice(0, -1));
    const last = units.at(-1);
    expect(() => last && catalogue.register(last)).toThrow(
      expect.objectContaining({
        code: 'compose.supersession-cycle',
        message: expect.stringContaining(circle),
      }),
    );
    expect(catalogue.size).toBe(units.length - 1);
  });

  test('the digest holds for any order and changes with any unit', () => {
    const units = [tool('a'), tool('b'), skill('c')];
    const catalogue = openCatalogue(units);
    expect(openCatalogue(units.toReversed()).digest()).toBe(catalogue.digest());
    const before = catalogue.digest();
    catalogue.register(tool('d'));
    expect(catalogue.digest()).not.toBe(before);
    expect(catalogue.units().map(({ id }) => id)).toEqual(['skill:c', 'tool:a', 'tool:b', 'tool:d']);
  });
});

describe('searching', () => {
  const catalogue = openCatalogue([
    mcpTool('github', 'create_issue', { description: 'Open a ticket in a repository.', capability: 'code' }),
    mcpTool('jira', 'createIssue', { description: 'Open a ticket on a board.', category: 'tracking' }),
    tool('config', { description: 'Reads the configuration.', available: false }),
    tool('configuration_dump', { description: 'Writes all settings.' }),
  ]);

  test('tells what a unit is, and neither its schema nor its body', () => {
    expect(catalogue.search({ query: 'create issue github' })[0]).toEqual({
      unit: 'mcp_tool:github/create_issue',
      kind: 'mcp_tool',
      name: 'create_issue',
      server: 'github',
      category: null,
      description: 'Open a ticket in a repository.',
      available: true,
      capability: 'code',
      score: expect.any(Number),
    });
  });

  test('finds what was named before what is about it, available or not', () => {
    const names = (query: string) => catalogue.search({ query }).map(({ name }) => name);
    expect(names('config')).toEqual(['config']);
    expect(names('configurations').sort()).toEqual(['config', 'configuration_dump']);
    expect(names('createIssue')).toEqual(['createIssue', 'create_issue']);
  });

  test('takes the beginning of a word, and a longer form of it', () => {
    expect(catalogue.search({ query: 'repos' }).map(({ name }) => name)).toEqual(['create_issue']);
    expect(catalogue.search({ query: 'boarding' }).map(({ name }) => name)).toEqual(['createIssue']);
    expect(catalogue.search({ query: 'xyzzy' })).toEqual([]);
  });

  test('stays inside the scope and the capabilities that it is given', () => {
    const units = (more: object) =>
      catalogue
        .search({ query: 'ticket', ...more })
        .map(({ server }) => server)
        .sort();
    expect(units({})).toEqual(['github', 'jira']);
    expect(units({ scope: ['mcp_tool:github/*'] })).toEqual(['github']);
    expect(units({ scope: ['category:tracking'] })).toEqual(['jira']);
    expect(units({ scope: [] })).toEqual([]);
    expect(units({ capabilities: [] })).toEqual(['jira']);
    expect(units({ capabilities: ['code'] })).toEqual(['github', 'jira']);
  });

  test('gives 8 units unless asked for more, and never more than 32', () => {
    const many = openCatalogue(
      Array.from({ length: 40 }, (_, i) => tool(`read_${i}`, { description: 'Reads.' })),
    );
    expect(many.search({ query: 'read' })).toHaveLength(8);
    expect(many.search({ query: 'read', limit: 32 })).toHaveLength(32);
  });

  test.each([
    [{ query: '' }],
    [{ query: '  ' }],
    [{ query: 'x'.repeat(513) }],
    [{ query: 'x', limit: 0 }],
    [{ query: 'x', limit: 33 }],
    [{ query: 'x', limit: 1.5 }],
  ])('%j is out of bounds', (request) => {
    expect(() => catalogue.search(request)).toThrow(
      expect.objectContaining({ code: 'compose.bad-surface-request' }),
    );
  });

  test('an empty catalogue finds nothing', () => {
    expect(openCatalogue().search({ query: 'anything' })).toEqual([]);
  });

  test('a catalogue that grew between searches answers as one that was made at once', () => {
    const units = sampleCatalogue(300);
    const growing = openCatalogue(units.slice(0, 100));
    const whole = openCatalogue(units);
    const queries = ['create repository', 'repos', 'worklo', 'issues in jira'];
    for (const query of queries) growing.search({ query });
    for (const unit of units.slice(100)) growing.register(unit);
    expect(queries.map((query) => growing.search({ query }))).toEqual(
      queries.map((query) => whole.search({ query })),
    );
  });
});

test('of 10,400 units the one that does a task is among the first 8, for at least 95 of 100 labelled tasks', () => {
  const catalogue = openCatalogue(sampleCatalogue(10_400));
  const tasks = labelledTasks();
  expect(tasks.length).toBeGreaterThanOrEqual(120);
  expect(tasks.filter(([, unit]) => catalogue.get(unit) === undefined)).toEqual([]);
  const found = tasks.filter(([query, unit]) => catalogue.search({ query }).some((hit) => hit.unit === unit));
  expect(found.length / tasks.length).toBeGreaterThanOrEqual(0.95);
});
