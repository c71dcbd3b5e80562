/** The space of prompts: exactly what composing every situation gives, and fast where there are many. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compose } from '../compose.ts';
import { loadAgent } from '../load/agent.ts';
import { settle } from '../settle.ts';
import { agentYaml, folderWith, vocabulary } from '../testing.cases.ts';
import { cutsOf, possibleValues } from './fact-values.ts';
import { spaceOf } from './space.ts';
import { combinationsMax, situationAt } from './space-groups.ts';
import { spaceText } from './space-view.ts';

interface Written {
  readonly when?: string;
  readonly unknown?: string;
  readonly body?: string;
  readonly template?: boolean;
}

async function agentWith(fragments: Readonly<Record<string, Written>>, facts: string, lines = '') {
  const files = Object.entries(fragments).map(([id, { when, unknown, body, template }]) => {
    const header = [
      when === undefined ? '' : `when: ${JSON.stringify(when)}\n`,
      unknown === undefined ? '' : `unknown: ${unknown}\n`,
      template ? 'template: true\n' : '',
    ].join('');
    return [`instructions/${id}.md`, `---\n${header}---\n${body ?? `Text of ${id}.\n`}`];
  });
  const yaml = agentYaml(Object.keys(fragments), `facts: ${facts}\n${lines}`);
  return loadAgent(folderWith(Object.fromEntries([['agent.yaml', yaml], ...files])), vocabulary);
}

const bools = (names: readonly string[]) =>
  `{ ${names.map((name) => `${name}: { type: bool }`).join(', ')} }`;

/** The digests of every point of the product of all values, composed one by one. */
async function composedOneByOne(agent: Awaited<ReturnType<typeof agentWith>>) {
  const sources = [...agent.fragments.values()].flatMap(({ when, template }) => [
    ...(when === null ? [] : [when.source]),
    ...(template?.pieces ?? []).flatMap((piece) => (piece.kind === 'when' ? [piece.condition.source] : [])),
  ]);
  const cuts = cutsOf(sources);
  const base = await settle(agent, { profile: 'default', env: {} }, []);
  const digests = new Set<string>();
  const names = [...agent.facts.keys()];
  const walk = (at: number, example: Map<string, ReturnType<typeof possibleValues>[number]>): void => {
    const name = names[at];
    if (name === undefined) {
      digests.add(compose(agent, situationAt(base, example)).digest);
      return;
    }
    const read = [...agent.fragments.values()].some(
      (one) => one.when?.facts.includes(name) || one.template?.facts.includes(name),
    );
    for (const value of read ? possibleValues(agent, name, cuts) : [undefined]) {
      const next = new Map(example);
      if (read) next.set(name, value);
      walk(at + 1, next);
    }
  };
  walk(0, new Map());
  return digests;
}

const names = ['a', 'b', 'c', 'd'];
const condition = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...names),
    fc.constantFrom(
      'n > 1',
      'n == 3',
      's == "x"',
      's.startsWith("y")',
      '"t" in l',
      'mode == "headless"',
      'a == b',
      'true',
    ),
    fc
      .tuple(fc.constantFrom('&&', '||', '==', '!='), tie('any'), tie('any'))
      .map(([op, l, r]) => `((${l}) ${op} (${r}))`),
    tie('any').map((inner) => `!(${inner})`),
    fc.tuple(tie('any'), tie('any'), tie('any')).map(([i, t, e]) => `((${i}) ? (${t}) : (${e}))`),
  ),
})).any;

test('for any conditions: the distinct prompts are those of composing every situation', async () => {
  const facts =
    '{ a: {type: bool}, b: {type: bool}, c: {type: bool}, d: {type: bool}, n: {type: int}, s: {type: string}, l: {type: list} }';
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(condition, fc.constantFrom('keep', 'drop')), { minLength: 1, maxLength: 4 }),
      condition,
      async (conditions, branch) => {
        const fragments = Object.fromEntries(
          conditions.map(([when, unknown], i) => [`f${i}`, { when, unknown }]),
        );
        const body = `{% when ${branch} %}Yes{% when a %} and a{% end %}.{% else %}No.{% end %}\n`;
        const agent = await agentWith({ ...fragments, t: { body, template: true } }, facts);
        const space = await spaceOf(agent, 'default', new Set());
        const all = await composedOneByOne(agent);
        expect(new Set(space.prompts.map((prompt) => prompt.digest))).toEqual(all);
        expect(space).toMatchObject({ count: all.size, complete: true });
      },
    ),
    { numRuns: 60 },
  );
}, 120_000);

const leaf = fc.oneof(
  fc
    .tuple(fc.constantFrom('<', '<=', '==', '!=', '>'), fc.integer({ min: -3, max: 3 }))
    .map(([op, n]) => `n ${op} ${n}`),
  fc
    .tuple(fc.constantFrom('<', '<=', '==', '>'), fc.constantFrom('0.1', '0.2', '-1.5', '3.0'))
    .map(([op, d]) => `d ${op} ${d}`),
  fc
    .tuple(fc.constantFrom('==', '!=', '<', '>='), fc.constantFrom('', 'a', 'ab', 'b'))
    .map(([op, t]) => `s ${op} "${t}"`),
  fc.constantFrom(
    's.startsWith("a")',
    '"x" in l',
    '"y" in l',
    's in ["b", "c"]',
    'n in [1, 2]',
    'n == m',
    'n < m',
    's in l',
    's == t',
    't < s',
  ),
);
const givenValues = fc.record({
  n: fc.integer({ min: -6, max: 6 }).map(String),
  m: fc.integer({ min: -6, max: 6 }).map(String),
  d: fc.constantFrom('-2', '-1.5', '0', '0.1', '0.15', '0.2', '1', '3', '3.5'),
  s: fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 3 }),
  t: fc.string({ unit: fc.constantFrom('a', 'b', 'x'), maxLength: 2 }),
  l: fc.subarray(['x', 'y', 'z', 'a', 'b']).map((list) => JSON.stringify(list)),
});

test('for any values that a session may have: its prompt is one of the space', async () => {
  const facts =
    '{ n: {type: int}, m: {type: int}, d: {type: double}, s: {type: string}, t: {type: string}, l: {type: list} }';
  await fc.assert(
    fc.asyncProperty(
      fc.array(leaf, { minLength: 1, maxLength: 3 }),
      fc.array(givenValues, { minLength: 5, maxLength: 10 }),
      async (conditions, situations) => {
        const agent = await agentWith(
          Object.fromEntries(conditions.map((when, i) => [`f${i}`, { when, unknown: 'drop' }])),
          facts,
        );
        const { prompts } = await spaceOf(agent, 'default', new Set());
        const digests = prompts.map((prompt) => prompt.digest);
        for (const values of situations)
          expect(digests).toContain(compose(agent, await settle(agent, { facts: values }, [])).digest);
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

test('each listed prompt has the size it states, in the situation it names', async () => {
  const agent = await agentWith(
    { base: {}, x: { when: 'a' }, y: { when: 'b', unknown: 'drop' } },
    bools(['a', 'b']),
  );
  const space = await spaceOf(agent, 'default', new Set());
  const listed = space.prompts.map(({ example, fragments, bytes }) => ({ example, fragments, bytes }));
  expect(listed).toEqual([
    { example: { a: true, b: true }, fragments: ['base', 'x', 'y'], bytes: 14 + 12 + 12 },
    { example: { a: false, b: true }, fragments: ['base', 'y'], bytes: 14 + 12 },
    { example: { a: true, b: false }, fragments: ['base', 'x'], bytes: 14 + 12 },
    { example: { a: false, b: false }, fragments: ['base'], bytes: 14 },
  ]);
  expect(space).toMatchObject({ count: 4, bytes: { min: 14, max: 38 }, notLocked: 4 });
  for (const { example, digest } of space.prompts) {
    const facts = Object.fromEntries(Object.entries(example).map(([name, value]) => [name, String(value)]));
    expect(compose(agent, await settle(agent, { facts }, [])).digest).toBe(digest);
  }
});

test('what is never in, always in, and at odds', async () => {
  const agent = await agentWith(
    {
      never: { when: 'a && !a', unknown: 'drop' },
      always: { when: 'a || !a' },
      yes: { when: 'a' },
      no: { when: '!a' },
      strict: { when: 'b', unknown: 'drop' },
      loose: { when: 'b == false', unknown: 'drop' },
      tool: { when: 'capability.sql' },
    },
    bools(['a', 'b']),
  );
  const { never, always, contradictions, groups } = await spaceOf(agent, 'default', new Set());
  expect({ never, always, contradictions }).toEqual({
    never: ['never', 'tool'],
    always: ['always'],
    contradictions: [
      { fragments: ['yes', 'no'], together: true },
      { fragments: ['strict', 'loose'], together: false },
    ],
  });
  expect(groups.map(({ fragments, points }) => ({ fragments, points }))).toEqual([
    { fragments: ['never', 'always', 'yes', 'no'], points: 3 },
    { fragments: ['strict', 'loose'], points: 3 },
    { fragments: ['tool'], points: 1 },
  ]);
});

test('values are cut at the constants, and nowhere else', async () => {
  const agent = await agentWith(
    { f: { when: 'n > 2 && n <= 3 && s in ["x", "y"] && mode == "headless" && env.HOME != ""' } },
    '{ n: { type: int, default: 0 }, s: { type: string } }',
  );
  const cuts = cutsOf([agent.fragments.get('f')?.when?.source ?? '']);
  const values = (name: string) => possibleValues(agent, name, cuts);
  expect(values('n')).toEqual([1, 2, 3, 4]);
  expect(values('s')).toEqual(expect.arrayContaining(['x', 'y', undefined]));
  expect(values('mode')).toEqual(['headless', 'interactive']);
  expect(values('env.HOME')).not.toContain(undefined);
});

describe('sixteen boolean facts in one group, unknown included, are exact', () => {
  const facts = Array.from({ length: 16 }, (_, i) => `f${i}`);
  const pairs = Array.from({ length: 8 }, (_, i) => [`f${2 * i}`, `f${2 * i + 1}`] as const);
  const each = (link: string) => ({
    ...Object.fromEntries(facts.map((name) => [name, { when: name }])),
    link: { when: link },
  });
  test.each([
    ['a pair or another', { link: { when: pairs.map(([a, b]) => `(${a} && ${b})`).join(' || ') } }, 2],
    ['parity', { link: { when: facts.reduce((all, one) => `(${all} != ${one})`) } }, 2],
    ['pairs that agree', { link: { when: pairs.map(([a, b]) => `${a} == ${b}`).join(' && ') } }, 2],
    ['one fragment for each fact, and one for all', each(facts.join(' && ')), 2 ** 16],
    ['one fragment for each fact, and one for any', each(facts.join(' || ')), 2 ** 16],
    [
      'a chain of neighbours',
      Object.fromEntries(
        facts.slice(1).map((name, i) => [`g${i}`, { when: `f${i} && ${name}`, unknown: 'drop' }]),
      ),
      null,
    ],
  ])('%s', async (_name, fragments, count) => {
    const agent = await agentWith(fragments, bools(facts));
    const space = await spaceOf(agent, 'default', new Set());
    expect(space.groups).toMatchObject([{ points: 3 ** 16 }]);
    expect(space.complete).toBe(true);
    if (count !== null) expect(space.count).toBe(count);
  });
});

test('groups multiply without being multiplied out', async () => {
  const facts = Array.from({ length: 40 }, (_, i) => `f${i}`);
  const fragments = Object.fromEntries(
    facts.map((name, i) => [name, { when: name, body: `${'x'.repeat(i + 1)}\n` }]),
  );
  const space = await spaceOf(await agentWith(fragments, bools(facts)), 'default', new Set(['x']));
  expect(space).toMatchObject({
    count: 2 ** 40,
    complete: true,
    bytes: { min: 0, max: (40 * 41) / 2 + 39 * 2 + 1 },
  });
  expect(space.notLocked).toBe(2 ** 40 - 1);
  expect(space.prompts).toHaveLength(256);
  expect(spaceText(space, false)).toContain(`and ${2 ** 40 - 256} more that are not listed`);
});

test('beyond the bound it says what it did not enumerate', async () => {
  const facts = Array.from({ length: 20 }, (_, i) => `f${i}`);
  const fragments = {
    ...Object.fromEntries(facts.map((name) => [name, { when: name }])),
    link: { when: facts.join(' || ') },
    base: {},
  };
  const space = await spaceOf(await agentWith(fragments, bools(facts)), 'default', new Set());
  expect(space.complete).toBe(false);
  expect(space.groups).toMatchObject([{ ways: null }]);
  expect(space.notes[0]).toMatch(
    new RegExp(`^not enumerated: f0, .*link over f0, .*more than ${combinationsMax} combinations$`),
  );
  expect(spaceText(space, false)).toContain('at least 1 distinct');
});

test('an agent without conditions has one prompt; an empty profile has the empty one', async () => {
  const plain = await spaceOf(await agentWith({ base: {} }, '{}'), 'default', new Set());
  expect(plain).toMatchObject({ count: 1, groups: [], complete: true, notLocked: 1 });
  expect(spaceText(plain, true)).toContain('Text of base.');
  const empty = await spaceOf(await agentWith({}, '{}'), 'default', new Set());
  expect(empty).toMatchObject({ count: 1, bytes: { min: 0, max: 0 } });
  await expect(spaceOf(await agentWith({}, '{}'), 'none', new Set())).rejects.toMatchObject({
    code: 'compose.unknown-name',
  });
});
