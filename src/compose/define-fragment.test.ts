/** Fragments that a program defines: like those of a folder, and refused where they are not pure. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compose } from './compose.ts';
import { defineFragment, type FragmentDefinition, twice } from './define-fragment.ts';
import { loadAgent } from './load/agent.ts';
import { lockAgent } from './proof/lock.ts';
import { spaceOf } from './proof/space.ts';
import { spansOf } from './proof/spans.ts';
import { type SituationInput, settle } from './settle.ts';
import { agentYaml, folderWith, vocabulary } from './testing.cases.ts';
import { withFragments } from './with-fragments.ts';

const agent = await loadAgent(
  folderWith({
    'agent.yaml': agentYaml(
      ['base'],
      [
        'facts:',
        '  team: { type: int, default: 2 }',
        '  note: { type: string, default: "" }',
        '  tags: { type: list, default: [] }',
        '  probed: { type: bool, probe: project-marker, options: { files: [x] } }',
        'situations: { plain: { probed: true } }',
        '',
      ].join('\n'),
    ),
    'instructions/base.md': 'Base.\n',
  }),
  vocabulary,
);

const probe = {
  name: 'project-marker',
  run: async () => ({ known: true, value: true, source: 'probe' }) as const,
};
const composed = async (definition: FragmentDefinition, input: SituationInput = {}) => {
  const wider = withFragments(agent, [defineFragment(definition)]);
  return compose(wider, await settle(wider, input, [probe]));
};

describe('a defined fragment', () => {
  test('stands at the end of its layer, with its decision, and leaves the agent as it was', async () => {
    const extra = [
      defineFragment({ id: 'rule', when: 'team > 1', render: 'Say who reads it.\n' }),
      defineFragment({ id: 'who', layer: 'identity', render: 'You are Ana.' }),
      defineFragment({ id: 'alone', title: 'Alone', when: 'team == 1', render: 'Alone.' }),
    ];
    const situation = await settle(agent, {}, []);
    const composition = compose(agent, situation, extra);
    expect(composition.text).toBe('You are Ana.\n\nBase.\n\nSay who reads it.\n');
    expect(composition.decisions.map(({ fragment, included }) => [fragment, included])).toEqual([
      ['base', true],
      ['rule', true],
      ['who', true],
      ['alone', false],
    ]);
    expect(compose(agent, situation).text).toBe('Base.\n');
    expect([...agent.fragments.keys()]).toEqual(['base']);
  });

  test('writes from the facts it lists, which are probed for it, counted as volatile and pinned', async () => {
    const definition: FragmentDefinition = {
      id: 'written',
      facts: ['team', 'probed', 'env.CI'],
      render: (read) => `${read('team')} ${read('probed')} ${read('env.CI')}`,
    };
    const composition = await composed(definition, { env: { CI: '1' } });
    expect(composition.text).toBe('Base.\n\n2 true 1\n');
    expect(composition.stablePrefixBytes).toBe('Base.'.length);
    expect((await composed(definition, { unknown: ['probed'] })).text).toBe('Base.\n\n2 undefined\n');
    const wider = withFragments(agent, [defineFragment(definition)]);
    await expect(lockAgent(wider, new Map())).rejects.toMatchObject({
      details: { open: [{ name: 'plain', profile: 'default', fact: 'env.CI', fragment: 'written' }] },
    });
    const space = await spaceOf(wider, 'default', new Set());
    expect([space.complete, space.notes]).toEqual([
      false,
      ['not enumerated: what a function writes for written'],
    ]);
    const situation = await settle(wider, {}, [probe]);
    const spans = spansOf(wider, situation, compose(wider, situation));
    expect(spans.map(({ fragment, text }) => [fragment, text])).toEqual([
      ['base', 'Base.'],
      ['written', '2 true'],
    ]);
  });

  test('is kept or dropped like any other where its condition is unknown', async () => {
    const text = async (unknown: 'keep' | 'drop') =>
      (await composed({ id: 'x', when: 'probed', unknown, render: 'X' }, { unknown: ['probed'] })).text;
    expect([await text('keep'), await text('drop')]).toEqual(['Base.\n\nX\n', 'Base.\n']);
  });

  test('a value of outside origin opens no heading, fence or second line', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (note) => {
        const { layers } = await composed(
          { id: 'x', facts: ['note', 'tags'], render: (read) => `${read('note')}\n${read('tags')}` },
          {
            situation: new Map<string, string | string[]>([
              ['note', note],
              ['tags', [note]],
            ]),
          },
        );
        expect(layers[0]?.text).not.toMatch(/^\s*(#{1,6}\s|```|~~~|<[a-z!?/])/im);
        expect(layers[0]?.text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/).length).toBeLessThanOrEqual(5);
      }),
      { examples: [['# System'], ['a\n# b'], ['```'], ['<!--']] },
    );
  });
});

// Written out, because the compiler and the linter would not let them stand.
const written = (source: string): FragmentDefinition['render'] => Function(`return (${source})`)();

describe('purity', () => {
  const outside = { count: 0, text: 'captured' };
  const { random } = Math;
  const now = Date.now;
  test.each<[string, FragmentDefinition['render']]>([
    ['the clock', () => String(Date.now())],
    ['the clock, captured before', () => String(now())],
    ['a date', () => new Date().toISOString()],
    ['chance', () => String(Math.random())],
    ['chance, captured before', () => String(random())],
    ['chance that does not show', () => (Math.random() < 2 ? 'x' : '')],
    ['the process', () => process.cwd()],
    ['the global object', () => String(globalThis)],
    ['a variable around it', () => outside.text],
    ['a counter around it', written('() => String(++outside.count)')],
    ['a module', () => readFileSync('/etc/hostname', 'utf8')],
    ['the locale', () => (1234.5).toLocaleString()],
    ['the language', () => ['a', 'b'].sort((a, b) => a.localeCompare(b)).join()],
    ['Intl', () => new Intl.NumberFormat().format(1)],
    ['crypto', () => crypto.randomUUID()],
    ['a new function', written(`() => [].constructor.constructor('return "x"')()`)],
    ['state on a prototype', written('() => String((Object.prototype.n = 1))')],
    ['state on a hidden prototype', written('() => String(((function* () {})().constructor.n = 1))')],
    ['state on itself', written('function self() { return String((self.n = 1)); }')],
    ['state on a built-in', written('() => String((JSON.n = 1))')],
    ['a global of its own', written('() => { Object = 1; return "x"; }')],
    ['a new global', written('() => { fresh = 1; return "x"; }')],
    ['a fact that it does not list', (read) => String(read('team'))],
    ['no text', written('() => 1')],
    ['null', written('() => null')],
    ['a promise', written('async () => { throw new Error("later"); }')],
    ['half a character', () => '\ud83d'],
    ['what cannot be read', written('() => { throw { toString() { throw 1; } }; }')],
  ])('%s is refused', async (_, render) => {
    await expect(composed({ id: 'x', render })).rejects.toMatchObject({
      code: 'compose.impure-render',
      message: expect.stringMatching(/^The render function of the fragment 'x' .*\.$/s),
      details: { fragment: 'x' },
    });
    expect(outside.count).toBe(0);
  });

  test('what depends on this machine alone is not there to be read', async () => {
    const render = () => {
      'xay'.match(/a/);
      const { stack } = new Error('e');
      const last = (RegExp as { lastMatch?: string }).lastMatch;
      return [stack, last, typeof setTimeout, typeof performance, typeof console, typeof WeakRef].join(' ');
    };
    expect((await composed({ id: 'x', render })).text).toBe(
      'Base.\n\nError: e  undefined undefined undefined undefined\n',
    );
  });

  test('it keeps nothing from one call to the next', async () => {
    const count = '{ const self = this ?? {}; self.n = (self.n ?? 0) + 1; return String(self.n); }';
    for (const source of [`function () ${count}`, `() => ${count}`])
      for (const _ of [1, 2])
        expect((await composed({ id: 'x', render: written(source) })).text).toBe('Base.\n\n1\n');
  });

  test('two texts for the same facts are refused', () => {
    let calls = 0;
    expect(() =>
      twice('x', () => {
        calls += 1;
        return String(calls);
      }),
    ).toThrow(
      expect.objectContaining({
        code: 'compose.impure-render',
        message: expect.stringContaining('another text'),
      }),
    );
    expect(twice('x', () => 'same')).toBe('same');
  });

  test('a pure function may use all of the language', async () => {
    const render: FragmentDefinition['render'] = (read) => {
      const names = [...new Set(['b', 'a', 'b'])].sort();
      const byName = new Map(names.map((name, i) => [name, i]));
      const { team } = JSON.parse(JSON.stringify({ team: read('team') }));
      return `${names} ${byName.get('b')} ${Math.max(1, team)} ${'x'.padStart(2, '-').replace(/x/u, 'y')}`;
    };
    expect((await composed({ id: 'x', facts: ['team'], render })).text).toBe('Base.\n\na,b 1 2 -y\n');
    const { method } = {
      method(read: (name: string) => unknown) {
        return `m ${read('team')}`;
      },
    };
    expect((await composed({ id: 'x', facts: ['team'], render: method })).text).toBe('Base.\n\nm 2\n');
  });
});

describe('what is refused', () => {
  const good: FragmentDefinition = { id: 'x', render: 'X' };
  test.each<[string, object, string]>([
    ['another field', { ...good, body: '' }, "has no field 'body'"],
    ['no id', { render: 'X' }, 'needs an id'],
    ['an id with a blank', { ...good, id: 'a b' }, 'needs an id'],
    ['a layer that is given', { ...good, layer: 'session' }, "has no layer 'session'"],
    ['a word for unknown', { ...good, unknown: 'maybe' }, "takes keep or drop for unknown, not 'maybe'"],
    ['a title that is no text', { ...good, title: 1 }, "needs a text as 'title'"],
    ['facts that are no list', { ...good, facts: 'team' }, "needs texts in 'facts'"],
    ['a fact that can be none', { ...good, facts: ['a b'] }, "lists 'a b', which cannot be a fact"],
    ['evidence that is no text', { ...good, evidence: [1] }, "needs texts in 'evidence'"],
    ['no render', { id: 'x' }, 'needs a text or a function as render'],
    ['a bound function', { id: 'x', render: (() => 'x').bind(null) }, 'cannot stand alone'],
    [
      'an import',
      { id: 'x', render: Function('return () => { import("node:fs"); return "x"; }')() },
      'it imports a module',
    ],
  ])('%s', (_, definition, found) => {
    expect(() => defineFragment(definition as FragmentDefinition)).toThrow(
      expect.objectContaining({ code: 'compose.bad-fragment', message: expect.stringContaining(found) }),
    );
  });

  test.each<[string, FragmentDefinition, string]>([
    ['an id that is taken', { id: 'base', render: 'X' }, 'compose.repeated-name'],
    ['a fact that there is not', { ...good, facts: ['teem'] }, 'compose.unknown-name'],
    ['a condition that cannot be read', { ...good, when: 'team >' }, 'compose.condition'],
    ['a condition over no fact', { ...good, when: 'teem > 1' }, 'compose.condition'],
  ])('%s', (_, definition, code) => {
    const fragment = defineFragment(definition);
    expect(() => withFragments(agent, [fragment])).toThrow(expect.objectContaining({ code }));
  });
});
