import { describe, expect, test } from 'vitest';
import { type UnitDefinition, unitId, unitLimits, unitOf } from './unit.ts';
import { mcpTool, skill, tool } from './units.cases.ts';

const schema = { name: 'a', description: 'A.', parameters: { type: 'object' } };
const fault = (definition: unknown) => {
  try {
    unitOf(definition as UnitDefinition);
    return undefined;
  } catch (thrown) {
    return thrown;
  }
};

describe('a unit', () => {
  test('is named by kind and name, and by server where it has one', () => {
    expect([unitOf(skill('report')).id, unitOf(mcpTool('github', 'create_issue')).id]).toEqual([
      'skill:report',
      'mcp_tool:github/create_issue',
    ]);
    expect(unitId('mcp_prompt', 'review', 'github')).toBe('mcp_prompt:github/review');
  });

  test('of a tool is shown as its schema, and charged for it', () => {
    const text = JSON.stringify(schema);
    expect(unitOf({ kind: 'tool', name: 'a', description: 'A.', schema }).variants).toEqual([
      { kind: 'schema', text, utility: 0, bytes: text.length, tokens: Math.ceil(text.length / 4) },
    ]);
  });

  test('without variants is one line, and with them the most useful comes first', () => {
    expect(unitOf(skill('report')).variants.map(({ text }) => text)).toEqual(['report: About report.']);
    const variants = [
      { kind: 'brief', text: 'b', utility: 70 },
      { kind: 'full', text: 'bbbb', utility: 100 },
    ];
    expect(unitOf(skill('report', { variants })).variants.map(({ kind }) => kind)).toEqual(['full', 'brief']);
  });

  test('is the same whatever the order of its lists, and another with another order of schema keys', () => {
    const digest = (more: Partial<UnitDefinition>) => unitOf(tool('a', more)).digest;
    expect(digest({ requires: ['tool:x', 'tool:y'] })).toBe(
      digest({ requires: ['tool:y', 'tool:x', 'tool:y'] }),
    );
    const properties = (parameters: Record<string, string>) => ({ schema: { ...schema, parameters } });
    expect(digest(properties({ a: '1', b: '2' }))).not.toBe(digest(properties({ b: '2', a: '1' })));
  });

  test('cannot be changed any more, neither itself nor through what it was made from', () => {
    const parameters = { type: 'object', required: ['x'] };
    const unit = unitOf({ kind: 'tool', name: 'a', description: 'A.', schema: { ...schema, parameters } });
    parameters.required.push('y');
    expect(unit.schema?.parameters).toEqual({ type: 'object', required: ['x'] });
    expect(Object.isFrozen(unit.schema?.parameters.required)).toBe(true);
  });

  test('keeps the beginning of a long provenance', () => {
    expect(unitOf(skill('a', { provenance: 'x'.repeat(600) })).provenance).toHaveLength(
      unitLimits.provenance,
    );
  });
});

const long = (length: number) => 'x'.repeat(length);
const cyclic: Record<string, unknown> = { type: 'object' };
cyclic.self = cyclic;

describe('what is no unit is refused, with the field and what was expected', () => {
  test.each<[string, unknown, string]>([
    ['no object', 'tool:a', 'a unit is an object'],
    ['an unknown field', { ...skill('a'), require: [] }, "Write 'requires'."],
    ['a fragment', { ...skill('a'), kind: 'instruction' }, 'expected one of skill, tool,'],
    ['a name with a blank', skill('a b'), 'without blanks'],
    ['a name with a star', skill('a*'), 'without blanks'],
    ['a name too long', skill(long(129)), '1 to 128 characters'],
    ['a server on a skill', { ...skill('a'), server: 's' }, 'a skill has no server'],
    ['no server on an MCP tool', { ...tool('a'), kind: 'mcp_tool' }, 'names its server'],
    ['a server with a slash', mcpTool('a/b', 'c'), 'wrong server'],
    ['a long description', skill('a', { description: long(2049) }), 'at most 2048 characters, found 2049'],
    ['no description', { kind: 'skill', name: 'a' }, 'expected text, found undefined'],
    ['half a character', skill('a', { description: '\ud83d' }), 'half of a character'],
    ['a blank category', skill('a', { category: ' ' }), 'it is blank'],
    [
      '33 aliases',
      skill('a', { aliases: Array.from({ length: 33 }, (_, i) => `b${i}`) }),
      'at most 32 entries',
    ],
    ['a long alias', skill('a', { aliases: [long(129)] }), 'at most 128 characters'],
    ['a blank requirement', skill('a', { requires: [''] }), 'an entry is blank'],
    [
      'requirements as text',
      { ...skill('a'), requires: 'tool:b' },
      'expected a list, found a value of type string',
    ],
    [
      'an unknown trigger',
      { ...skill('a'), triggers: [{ kind: 'regex', text: 'a', weight: 1 }] },
      'a kind of phrase',
    ],
    ['a trigger as text', { ...skill('a'), triggers: ['a'] }, 'expected {kind, text, weight}'],
    [
      'a trigger without words',
      skill('a', { triggers: [{ kind: 'phrase', text: '…', weight: 1 }] }),
      'neither letter',
    ],
    [
      'a verb of two words',
      skill('a', { triggers: [{ kind: 'verb', text: 'set up', weight: 1 }] }),
      'are a phrase',
    ],
    [
      'a heavy trigger',
      skill('a', { triggers: [{ kind: 'verb', text: 'a', weight: 100_001 }] }),
      'from 0 to 100000',
    ],
    [
      'one trigger twice',
      skill('a', { triggers: [1, 2].map((weight) => ({ kind: 'verb', text: 'a', weight })) }),
      'two of them',
    ],
    ['a priority of text', { ...skill('a'), priority: '1' }, 'found a value of type string'],
    ['availability of text', { ...skill('a'), available: 'no' }, 'expected true or false'],
    ['a schema on a skill', { ...skill('a'), schema }, 'only tools have one'],
    ['a tool without schema', { kind: 'tool', name: 'a', description: 'A.' }, 'a tool needs {name'],
    [
      'a handler in a schema',
      tool('a', { schema: { ...schema, parameters: { run: (() => 1) as never } } }),
      'no JSON form',
    ],
    [
      'a Map in a schema',
      tool('a', { schema: { ...schema, parameters: { x: new Map() as never } } }),
      'instance of a class',
    ],
    [
      'a cycle in a schema',
      tool('a', { schema: { ...schema, parameters: cyclic as never } }),
      'deeper than 64',
    ],
    [
      'a number that is none',
      tool('a', { schema: { ...schema, parameters: { x: Number.NaN } } }),
      'no JSON form',
    ],
    [
      'a huge schema',
      tool('a', { schema: { ...schema, parameters: { x: long(32_768) } } }),
      'characters of JSON',
    ],
    [
      'a tool with variants',
      tool('a', { variants: [{ kind: 'x', text: 'x', utility: 1 }] }),
      'in no other form',
    ],
    [
      'a huge variant',
      skill('a', { variants: [{ kind: 'x', text: long(32_769), utility: 1 }] }),
      'at most 32768',
    ],
    ['a variant as text', { ...skill('a'), variants: ['x'] }, 'expected {kind, text, utility}'],
    [
      'two variants of a kind',
      skill('a', { variants: [1, 2].map((utility) => ({ kind: 'x', text: 'x', utility })) }),
      'have one kind',
    ],
  ])('%s', (_, definition, message) => {
    expect(fault(definition)).toMatchObject({
      code: 'compose.bad-unit',
      message: expect.stringContaining(message),
    });
  });
});
