import { describe, expect, test } from 'vitest';
import { matcher, narrowScope } from './scope.ts';
import { unitOf } from './unit.ts';
import { mcpTool, tool } from './units.cases.ts';

const unit = unitOf(mcpTool('github', 'create_issue', { category: 'code' }));

describe('an entry', () => {
  test.each([
    ['mcp_tool:github/create_issue', true],
    ['mcp_tool:github/*', true],
    ['*', true],
    ['category:code', true],
    ['mcp_tool:github', false],
    ['create_issue', false],
    ['tool:*', false],
    ['category:cod', false],
  ])('%s names the unit: %s', (entry, named) => {
    expect(matcher([entry])(unit)).toBe(named);
  });

  test('without entries nothing is named, and a unit without category is in none', () => {
    expect([matcher([])(unit), matcher(['category:'])(unitOf(tool('a')))]).toEqual([false, false]);
  });
});

describe('the scope of a child', () => {
  test.each([
    [null, ['tool:a']],
    [null, null],
    [['tool:*'], ['tool:a', 'tool:b*']],
    [['*'], ['category:code']],
    [['category:code'], ['category:code']],
    [['tool:a'], []],
  ])('below %j may be %j', (parent, child) => {
    expect(narrowScope(parent, child)).toEqual(child);
  });

  test.each([
    [['tool:a'], null, 'everything'],
    [['tool:a'], ['tool:b'], "'tool:b'"],
    [['tool:a'], ['tool:a*'], "'tool:a*'"],
    [['c*'], ['category:code'], "'category:code'"],
    [[], ['tool:a'], 'only: nothing'],
  ])('below %j may not be %j', (parent, child, message) => {
    expect(() => narrowScope(parent, child)).toThrow(
      expect.objectContaining({ code: 'compose.scope-widened', message: expect.stringContaining(message) }),
    );
  });
});
