import { Environment } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conditionCompiler, isReservedName } from './conditions.ts';
import { TextFault } from './errors.ts';
import type { FactType, FactValue } from './facts.ts';

const types = new Map<string, FactType>([
  ['mode', 'string'],
  ['workspace.dbt', 'bool'],
  ['workspace.deep.size', 'int'],
  ['ratio', 'double'],
  ['tags', 'list'],
]);
const compile = conditionCompiler(types);

function evaluate(source: string, facts: Record<string, FactValue> = {}) {
  return compile(source).evaluate((name) => facts[name]);
}

function faultOf(source: string): { offset: number; message: string; next: string } {
  try {
    compile(source);
  } catch (thrown) {
    if (thrown instanceof TextFault)
      return { offset: thrown.offset, message: thrown.message, next: thrown.next };
    throw thrown;
  }
  throw new Error(`${source} was accepted`);
}

describe('values', () => {
  test.each([
    ['mode == "headless" && workspace.dbt == false', { mode: 'interactive' }, false],
    ['mode == "headless" && workspace.dbt == false', { mode: 'headless' }, undefined],
    ['mode == "headless" && workspace.dbt == false', { mode: 'headless', 'workspace.dbt': false }, true],
    ['workspace.dbt || !workspace.dbt', {}, undefined],
    ['workspace.dbt == workspace.dbt', {}, undefined],
    ['workspace.dbt ? mode == "a" : mode == "a"', { mode: 'a' }, true],
    ['workspace.dbt ? true : false', {}, undefined],
    ['(workspace.dbt ? "x" : "x") == "x"', {}, true],
    ['workspace.dbt ? mode == "a" : true', { 'workspace.dbt': false }, true],
    ['mode in []', {}, false],
    ['mode in ["a", "b"]', {}, undefined],
    ['mode in ["a", env.HOME]', { mode: 'a' }, true],
    ['mode in ["a", env.HOME]', { mode: 'b' }, undefined],
    ['"x" in tags', { tags: ['x'] }, true],
    ['mode in tags', { tags: [] }, false],
    ['mode in tags', { mode: 'x' }, undefined],
    ['mode.startsWith("head") && mode.endsWith("less") && mode.contains("dl")', { mode: 'headless' }, true],
    ['workspace.deep.size >= -3 && workspace.deep.size < 10', { 'workspace.deep.size': -3 }, true],
    ['ratio > 1.5', { ratio: 2 }, true],
    ['workspace.deep.size < 1.5', { 'workspace.deep.size': 1 }, true],
    ['!workspace.dbt', {}, undefined],
    ['env.ANY_NAME == "1"', { 'env.ANY_NAME': '1' }, true],
    ['false && workspace.dbt || true', {}, true],
  ] as [string, Record<string, FactValue>, boolean | undefined][])(
    '%s with %j is %s',
    (source, facts, value) => {
      expect(evaluate(source, facts)).toBe(value);
    },
  );

  test('the facts of a condition are named in order, and as they stand', () => {
    const { facts, factsAsWritten, source } = compile('workspace.dbt || mode == env.B || "a" in tags');
    expect({ facts, factsAsWritten, source }).toEqual({
      source: 'workspace.dbt || mode == env.B || "a" in tags',
      facts: ['env.B', 'mode', 'tags', 'workspace.dbt'],
      factsAsWritten: ['workspace.dbt', 'mode', 'env.B', 'tags'],
    });
  });
});

describe('what is refused at load', () => {
  test.each([
    ['has(workspace.dbt)', 0, 'has'],
    ['true && size(mode) == 1', 8, 'size'],
    ['tags.all(t, t == "a")', 0, 'all'],
    ['mode.matches("a")', 0, 'matches'],
    ['mode.size() == 1', 0, 'size'],
    ['mode + "a" == "b"', 0, '+'],
    ['workspace.deep.size * 2 == 4', 0, '*'],
    ['-workspace.deep.size < 3', 0, '-'],
    ['env["HOME"] == "x"', 0, '[]'],
    ['mode == {"a": 1}', 8, 'map'],
    ['tags == ["a"]', 0, 'list'],
    ['workspace == workspace', 0, 'beginning'],
    ['env == env', 0, 'env.NAME'],
    ['mode in env', 8, 'beginning'],
    ['mode in mode', 8, 'neither'],
    ['mode == null', 8, 'literal'],
    ['mode == b"a"', 8, 'literal'],
    ['workspace.deep.size == 99999999999999999', 23, 'beyond'],
    ['workspace.deep.size == "a"', 0, 'types'],
    ['workspace.deep.size == 1.0', 0, 'types'],
    ['mode', 0, 'type string'],
    ['"x"', 0, 'type string'],
    ['wokspace.dbt', 0, 'no fact'],
    ['mode == "a" && workspace.dbq', 15, 'no fact'],
    ['mode = "a"', 5, 'cannot be read'],
    ['', 0, 'cannot be read'],
    ['mode == "a', 8, 'cannot be read'],
    ['toString == 1', 0, 'no fact'],
    ['mode.constructor("a")', 0, 'constructor'],
    ['cel.bind(x, 1, x == 1)', 0, 'bind'],
    ['!'.repeat(600).concat('true'), 500, 'nested'],
    ['!'.repeat(20_000).concat('true'), 0, 'characters'],
  ] as [string, number | undefined, string][])('%.60s', (source, offset, part) => {
    const fault = faultOf(source);
    if (offset !== undefined) expect(fault.offset).toBe(offset);
    expect(fault.message + fault.next).toContain(part);
    expect(fault.next).toMatch(/^[A-Z].*[.…"]$/s);
  });

  test('a misspelt fact is named with the right one', () => {
    expect(faultOf('mode == "a" && workspace.dbq')).toEqual({
      offset: 15,
      message: "no fact is called 'workspace.dbq'",
      next: "Write 'workspace.dbt'.",
    });
    expect(faultOf('mode = "a"').next).toBe('Compare with ==.');
  });

  test.each([
    ['package', 'string', true],
    ['int', 'bool', true],
    ['a.in', 'bool', true],
    ['workspace.size', 'int', false],
    ['constructor', 'bool', false],
  ] as const)('%s of type %s is a reserved name: %s', (name, type, reserved) => {
    expect(isReservedName(name, type)).toBe(reserved);
  });
});

// Every form that the grammar allows, over facts with few values, so that all completions can be tried.
const domains: Record<string, readonly FactValue[]> = {
  a: [true, false],
  b: [true, false],
  s: ['', 'x', 'xy'],
  t: ['x', 'y'],
  n: [0, 1, -2],
  l: [[], ['x'], ['x', 'y']],
};
const grammarTypes = new Map<string, FactType>([
  ['a', 'bool'],
  ['b', 'bool'],
  ['s', 'string'],
  ['t', 'string'],
  ['n', 'int'],
  ['l', 'list'],
]);
const grammar = fc.letrec<Record<'bool' | 'string' | 'int', string>>((tie) => {
  const two = (name: 'bool' | 'string' | 'int') => fc.tuple(tie(name), tie(name));
  const ternary = (name: 'bool' | 'string' | 'int') =>
    fc.tuple(tie('bool'), tie(name), tie(name)).map(([c, x, y]) => `(${c} ? ${x} : ${y})`);
  const compared = (name: 'bool' | 'string' | 'int') =>
    fc
      .tuple(fc.constantFrom('==', '!=', '<', '<=', '>', '>='), two(name))
      .map(([op, [x, y]]) => `(${x} ${op} ${y})`);
  return {
    bool: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('a', 'b', 'true', 'false'),
      two('bool').map(([x, y]) => `(${x} && ${y})`),
      two('bool').map(([x, y]) => `(${x} || ${y})`),
      tie('bool').map((x) => `!${x}`),
      compared('bool'),
      compared('string'),
      compared('int'),
      ternary('bool'),
      fc.tuple(tie('string'), fc.array(tie('string'), { maxLength: 3 })).map(([x, l]) => `(${x} in [${l}])`),
      tie('string').map((x) => `(${x} in l)`),
      fc
        .tuple(fc.constantFrom('startsWith', 'endsWith', 'contains'), two('string'))
        .map(([m, [x, y]]) => `${x}.${m}(${y})`),
    ),
    string: fc.oneof({ depthSize: 'small' }, fc.constantFrom('s', 't', '"x"', '""'), ternary('string')),
    int: fc.oneof({ depthSize: 'small' }, fc.constantFrom('n', '0', '-2'), ternary('int')),
  };
});
const assignment = fc.record(
  Object.fromEntries(Object.entries(domains).map(([name, values]) => [name, fc.constantFrom(...values)])),
);
const hidden = fc.subarray(Object.keys(domains));

function completions(
  facts: Record<string, FactValue>,
  unknown: readonly string[],
): Record<string, FactValue>[] {
  return unknown.reduce<Record<string, FactValue>[]>(
    (all, name) => all.flatMap((one) => (domains[name] ?? []).map((value) => ({ ...one, [name]: value }))),
    [facts],
  );
}

describe('laws', () => {
  const compileGrammar = conditionCompiler(grammarTypes);

  test('a known value holds for every completion of the unknown facts', () => {
    let known = 0;
    fc.assert(
      fc.property(grammar.bool, assignment, hidden, (source, facts, unknown) => {
        const condition = compileGrammar(source);
        const value = condition.evaluate((name) => (unknown.includes(name) ? undefined : facts[name]));
        if (value === undefined) return;
        known += 1;
        const relevant = unknown.filter((name) => condition.facts.includes(name));
        for (const complete of completions(facts, relevant)) {
          expect(condition.evaluate((name) => complete[name])).toBe(value);
        }
      }),
      { numRuns: 3000 },
    );
    expect(known).toBeGreaterThan(300);
  });

  test('with every fact known, and wherever cel-js knows, it says what cel-js says', () => {
    const cel = new Environment();
    const celType = { bool: 'bool', string: 'string', int: 'int', double: 'double', list: 'list<string>' };
    for (const [name, type] of grammarTypes) cel.registerVariable(name, celType[type]);
    fc.assert(
      fc.property(grammar.bool, assignment, hidden, (source, facts, unknown) => {
        const parsed = cel.parse(source);
        const bound = Object.entries(facts).map(([name, value]) => [
          name,
          typeof value === 'number' ? BigInt(value) : value,
        ]);
        const condition = compileGrammar(source);
        expect(condition.evaluate((name) => facts[name])).toBe(parsed(Object.fromEntries(bound)));
        let partly: unknown;
        try {
          partly = parsed(Object.fromEntries(bound.filter(([name]) => !unknown.includes(String(name)))));
        } catch {
          return;
        }
        expect(condition.evaluate((name) => (unknown.includes(name) ? undefined : facts[name]))).toBe(partly);
      }),
      { numRuns: 3000 },
    );
  });

  test('evaluation never throws, whatever the facts hold', () => {
    const anything = fc.dictionary(fc.constantFrom(...grammarTypes.keys()), fc.anything());
    fc.assert(
      fc.property(grammar.bool, anything, (source, facts) => {
        compileGrammar(source).evaluate((name) => facts[name] as FactValue);
      }),
    );
  });
});
