import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../digest.ts';
import type { Agent } from './agent.ts';
import { compose } from './compose.ts';
import type { Fact } from './facts.ts';
import { loadAgent } from './load/agent.ts';
import { type SituationInput, settle } from './settle.ts';
import type { SessionTexts } from './situation.ts';
import { folderWith, vocabulary } from './testing.cases.ts';

const yaml = (join: string, fragments: string) => `key: demo
join: ${join}
profiles: { default: [${fragments}] }
facts:
  dbt: { type: bool }
  load: { type: int, default: 1, volatile: true }
`;

async function load(fragments: Record<string, string>, join = 'blocks'): Promise<Agent> {
  const folder = folderWith({
    'agent.yaml': yaml(join, Object.keys(fragments).join(', ')),
    ...Object.fromEntries(Object.entries(fragments).map(([id, text]) => [`instructions/${id}.md`, text])),
  });
  return loadAgent(folder, vocabulary);
}

async function composed(agent: Agent, input: SituationInput = {}) {
  return compose(agent, await settle(agent, input, []));
}

const header = (lines: string, body: string) => `---\n${lines}\n---\n${body}`;
const sample = {
  who: header('layer: identity', 'You are Ana.\n'),
  base: 'Base é 😀.\n',
  guard: header('when: mode == "headless" && dbt == false', '\n\nGuard.\n\n'),
  quiet: header('when: dbt\nunknown: drop', 'Quiet.\n'),
  last: header('layer: directives', 'Last.\n'),
};

describe('a composition', () => {
  test('holds layers, decisions, sizes and digests of exactly its text', async () => {
    const agent = await load(sample);
    const text = 'You are Ana.\n\nBase é 😀.\n\nGuard.\n\nLast.\n';
    const layer = (id: string, title: string, joinBefore: string, own: string, fragments: string[]) => ({
      id,
      title,
      joinBefore,
      text: own,
      bytes: Buffer.byteLength(own),
      tokens: Math.ceil([...own].length / 4),
      fragments,
    });
    const dbt = { name: 'dbt', known: false, reason: 'nothing gave it a value', source: 'agent.yaml' };
    const mode = { name: 'mode', known: true, value: 'headless', source: 'built-in' };
    const plain = (fragment: string) => ({ fragment, included: true, value: 'true', when: null, facts: [] });
    expect(await composed(agent)).toEqual({
      agent: 'demo',
      profile: 'default',
      digest: sha256(text),
      bytes: Buffer.byteLength(text),
      characters: [...text].length,
      tokens: Math.ceil([...text].length / 4),
      tokenMethod: 'chars/4',
      text,
      stablePrefixBytes: Buffer.byteLength(text),
      layers: [
        layer('identity', 'Identity', '', 'You are Ana.\n', ['who']),
        layer('contract', 'Operating contract', '\n', 'Base é 😀.\n\nGuard.\n', ['base', 'guard']),
        layer('directives', 'Directives', '\n', 'Last.\n', ['last']),
      ],
      decisions: [
        plain('who'),
        plain('base'),
        {
          fragment: 'guard',
          included: true,
          value: 'unknown',
          when: 'mode == "headless" && dbt == false',
          facts: [dbt, mode],
        },
        { fragment: 'quiet', included: false, value: 'unknown', when: 'dbt', facts: [dbt] },
        plain('last'),
      ],
    });
  });

  test('leaves a fragment out where its condition is false, and nowhere else', async () => {
    const agent = await load(sample);
    const text = async (input: SituationInput) => (await composed(agent, input)).text;
    expect(await text({ facts: { dbt: 'true' } })).toBe('You are Ana.\n\nBase é 😀.\n\nQuiet.\n\nLast.\n');
    expect(await text({ facts: { dbt: 'false' } })).toBe(await text({}));
    expect(await text({ mode: 'interactive' })).toBe('You are Ana.\n\nBase é 😀.\n\nLast.\n');
  });

  test('gates on the key and never on the display name, and never on a customised text', async () => {
    const gate = header('when: \'!(agent.key == "demo" && text.stock && dbt == false)\'', 'Gated.\n');
    const agent = await load({ base: 'B\n', gate });
    const included = async (input: SituationInput, of = agent) =>
      (await composed(of, input)).decisions[1]?.included;
    expect(await included({ facts: { dbt: 'false' } })).toBe(false);
    expect(await included({ facts: { dbt: 'true' } })).toBe(true);
    expect(await included({})).toBe(true);
    expect(await included({ facts: { dbt: 'false' }, customised: true })).toBe(true);
    expect(await included({ facts: { dbt: 'false' } }, { ...agent, name: 'other' })).toBe(false);
    expect(await included({ facts: { dbt: 'false' } }, { ...agent, key: 'other', name: 'demo' })).toBe(true);
  });

  test('of nothing is empty', async () => {
    const agent = await load({ none: header('when: false', 'x'), blank: '\n \n' });
    expect(await composed(agent)).toMatchObject({
      text: '',
      bytes: 0,
      tokens: 0,
      layers: [],
      digest: sha256(''),
    });
  });

  test('does not change the agent, and a blank template leaves no gap', async () => {
    const agent = await load({
      a: 'A',
      b: header('template: true', '{% when mode == "x" %}B{% end %}\n'),
      c: 'C',
    });
    const before = structuredClone([...agent.profiles]);
    expect((await composed(agent)).text).toBe('A\n\nC\n');
    expect([...agent.profiles]).toEqual(before);
  });

  test('throws for a profile that is not there, in a situation made by hand too', async () => {
    const agent = await load({ a: 'A' });
    expect(() => compose(agent, { profile: 'x', facts: new Map(), texts: {} })).toThrow(
      "No profile is called 'x'.",
    );
  });

  test('takes a fact that a hand-made situation leaves out as unknown', async () => {
    const agent = await load({ a: header('when: dbt', 'A') });
    expect(compose(agent, { profile: 'default', facts: new Map(), texts: {} }).decisions[0]).toEqual({
      fragment: 'a',
      included: true,
      value: 'unknown',
      when: 'dbt',
      facts: [{ name: 'dbt', known: false, reason: 'not in the situation', source: 'none' }],
    });
  });
});

describe('verbatim', () => {
  test('keeps every byte of the fragments and adds none', async () => {
    const parts = { a: '# A\r\n\n', b: '  indented\n', c: '{"a": {"b": "{{ x }}"}}', d: '\n\n\n' };
    const { text, layers } = await composed(await load(parts, 'verbatim'));
    expect(text).toBe(Object.values(parts).join(''));
    expect(layers.map((layer) => layer.id)).toEqual(['contract']);
  });

  test.each([
    ['A', '\n\n'],
    ['A\n', '\n'],
    ['A\r\n', '\n'],
    ['A\n\n', ''],
    ['A\r\n\r\n', ''],
    ['\n', '\n'],
  ])('after %j a later layer is joined by %j', async (body, join) => {
    const agent = await load({ a: body, z: header('layer: directives', 'Z') }, 'verbatim');
    const { text, layers } = await composed(agent);
    expect(layers[1]?.joinBefore).toBe(join);
    expect(text).toBe(`${body}${join}Z`);
  });
});

describe('texts given for the session', () => {
  test('form layers of their own, each headed; blank ones none', async () => {
    const agent = await load({ base: 'Base.\n' });
    const { text, layers } = await composed(agent, {
      texts: {
        identity: ' I am B.\n',
        governance: 'Be kind.',
        memory: ' \n',
        session: '# Style\nShort.\r\n',
      },
    });
    expect(layers.map((layer) => [layer.id, layer.fragments])).toEqual([
      ['identity', []],
      ['contract', ['base']],
      ['governance', []],
      ['session', []],
    ]);
    expect(text.replaceAll(/\n\nThe [^\n]+\.\n\n/g, '\n\n(why)\n\n')).toBe(
      'I am B.\n\nBase.\n\n# Governance\n\n(why)\n\nBe kind.\n\n# Session instructions\n\n(why)\n\n\\# Style\nShort.\n',
    );
  });

  test('identity replaces its layer alone, and the decision says so', async () => {
    const agent = await load(sample);
    const [stock, own] = [await composed(agent), await composed(agent, { texts: { identity: 'I am B.' } })];
    expect(own.layers.slice(1)).toEqual(stock.layers.slice(1));
    expect(own.layers[0]).toMatchObject({ id: 'identity', text: 'I am B.\n', fragments: [] });
    expect(own.decisions[0]).toEqual({
      fragment: 'who',
      included: false,
      value: 'true',
      when: null,
      facts: [],
      replaced: true,
    });
    expect(own.decisions.slice(1)).toEqual(stock.decisions.slice(1));
  });
});

describe('the stable prefix', () => {
  const volatile = header('when: env.CI == "1"', 'CI.\n');
  test.each([
    [{ a: 'A', b: volatile, c: 'C' }, {}, 'A'],
    [{ a: 'A', b: volatile, c: 'C' }, { env: { CI: '1' } }, 'A'],
    [{ a: 'A', b: header('when: git.branch == "x"', 'B') }, {}, 'A'],
    [{ a: 'A', b: header('when: load == 1', 'B') }, {}, 'A'],
    [{ a: 'A', b: header('when: mode == "x" && env.CI == "1"', 'B'), c: 'C' }, {}, 'A\n\nC\n'],
    [{ a: 'A', b: header('when: mode == "headless" || env.CI == "1"', 'B'), c: 'C' }, {}, 'A\n\nB\n\nC\n'],
    [{ a: 'A', b: header('template: true', '{{ load }}'), c: 'C' }, {}, 'A'],
    [{ a: 'A', b: header('template: true\nwhen: false', '{{ load }}'), c: 'C' }, {}, 'A\n\nC\n'],
    [{ b: volatile, a: header('layer: identity', 'A') }, {}, 'A\n'],
    [{ a: 'A' }, { texts: { governance: 'G' } }, 'A\n'],
    [
      { a: 'A', b: header('layer: identity\nwhen: env.CI == "1"', 'B') },
      { texts: { identity: 'I' } },
      'I\n\nA\n',
    ],
  ] as [Record<string, string>, SituationInput, string][])(
    'of %j with %j',
    async (fragments, input, prefix) => {
      const { text, stablePrefixBytes } = await composed(await load(fragments), input);
      expect(Buffer.from(text).subarray(0, stablePrefixBytes).toString()).toBe(prefix);
    },
  );
});

const outside = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('# x', '===', '```', '<!--', '- ', '', ' a', '# Memory', '\u2028# x', '> # x'))
    .map((l) => l.join('\n')),
);
const texts: fc.Arbitrary<SessionTexts> = fc.record(
  { governance: outside, memory: outside, session: outside },
  { requiredKeys: [] },
);

describe('laws', () => {
  const loaded: Agent[] = [];
  beforeAll(async () => {
    for (const join of ['blocks', 'bare', 'verbatim']) {
      loaded.push(
        await load({ ...sample, v: header('when: env.CI == "1"\ntemplate: true', 'V {{ env.CI }}') }, join),
      );
      loaded.push(await load({ a: 'A' }, join));
      loaded.push(await load({ a: header('when: env.CI == "1"', '') }, join));
    }
  });
  const agents = fc.nat({ max: 8 }).map((i) => loaded[i] as Agent);
  const fact: fc.Arbitrary<Fact> = fc.oneof(
    fc.boolean().map((value): Fact => ({ known: true, value, source: 's' })),
    fc.constant<Fact>({ known: false, reason: 'r', source: 's' }),
  );
  const facts = fc.record({ dbt: fact, ci: fc.constantFrom(null, '1', 'x\n# y') }).map(
    ({ dbt, ci }): ReadonlyMap<string, Fact> =>
      new Map<string, Fact>([
        ['dbt', dbt],
        ['mode', { known: true, value: 'headless', source: 's' }],
        ['env.CI', { known: true, value: ci, source: 's' }],
      ]),
  );
  const wellFormed = (given: SessionTexts) =>
    Object.values(given).every((text) => !/\p{Surrogate}/u.test(text));

  test('the text is the join of its layers, and each later text leaves an exact prefix before it', () => {
    fc.assert(
      fc.property(agents, facts, texts, (agent, known, given) => {
        const steps: SessionTexts[] = [
          {},
          { governance: given.governance },
          { ...given, session: undefined },
          given,
        ];
        const results = steps.map((step) =>
          compose(agent, { profile: 'default', facts: known, texts: step }),
        );
        results.forEach((one, i) => {
          expect(one.text).toBe(one.layers.map((layer) => layer.joinBefore + layer.text).join(''));
          expect(one.text.startsWith(results[i - 1]?.text ?? '')).toBe(true);
          expect(one.stablePrefixBytes).toBe(results[0]?.stablePrefixBytes);
        });
      }),
    );
  });

  test('bare is blocks without its last newline, whatever is composed', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 }), facts, texts, (i, known, given) => {
        const [blocks, bare] = [loaded[i], loaded[i + 3]].map((agent) =>
          compose(agent as Agent, { profile: 'default', facts: known, texts: given }),
        );
        expect(bare?.text).toBe(blocks?.text.replace(/\n$/, ''));
        expect(bare?.text.endsWith('\n')).toBe(false);
      }),
    );
  });

  test('the stable prefix is the same whatever volatile facts and given texts are', () => {
    fc.assert(
      fc.property(agents, facts, facts, texts, (agent, one, other, given) => {
        const mixed = new Map([...one, ['env.CI', other.get('env.CI') as Fact]]);
        const a = compose(agent, { profile: 'default', facts: one, texts: {} });
        const b = compose(agent, { profile: 'default', facts: mixed, texts: given });
        expect(b.stablePrefixBytes).toBe(a.stablePrefixBytes);
        const prefix = (text: string) => Buffer.from(text).subarray(0, a.stablePrefixBytes).toString();
        expect(prefix(b.text)).toBe(prefix(a.text));
      }),
    );
  });

  test('a given text holds no line that could pass for a heading of ours', () => {
    fc.assert(
      fc.property(texts.filter(wellFormed), (given) => {
        const { text, layers } = compose(loaded[1] as Agent, {
          profile: 'default',
          facts: new Map(),
          texts: given,
        });
        const headings = text
          .split(/[\n\r\v\f\u0085\u2028\u2029]/)
          .filter((line) => /^[\s>]*#{1,6}(\s|$)/.test(line));
        const ours = layers.filter(({ id }) => id !== 'contract').map(({ title }) => `# ${title}`);
        expect(headings).toEqual(ours);
      }),
      { numRuns: 1000 },
    );
  });

  test('composing reaches for nothing outside: no part of it imports the disk', () => {
    const seen = new Map<string, string>();
    const walk = (path: string) => {
      if (seen.has(path)) return;
      const source = readFileSync(path, 'utf8');
      seen.set(path, source);
      for (const [, next = ''] of source.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)';/gms))
        walk(join(dirname(path), next));
    };
    walk(join(import.meta.dirname, 'compose.ts'));
    expect(seen.size).toBeGreaterThan(5);
    const outside = /from 'node:(?!crypto'|util')/;
    expect([...seen].filter(([, source]) => outside.test(source)).map(([path]) => path)).toEqual([]);
  });

  test('processes with another folder, home, language and time zone compose the same bytes', async () => {
    const agent = await load({
      ...sample,
      t: header('template: true', '{{ mode }} {{ git.branch | "none" }}'),
    });
    const built = (name: string) =>
      JSON.stringify(new URL(`../../dist/compose/${name}.js`, import.meta.url).href);
    const script = `
      const { loadAgent } = await import(${built('load/agent')});
      const { settle } = await import(${built('settle')});
      const { compose } = await import(${built('compose')});
      const agent = await loadAgent(${JSON.stringify(agent.folder)}, ${JSON.stringify(vocabulary)});
      const input = { facts: { dbt: 'true' }, texts: { session: 'Ä. Ö' } };
      process.stdout.write(JSON.stringify(compose(agent, await settle(agent, input, []))));`;
    const run = (cwd: string, env: Record<string, string>) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd, env, encoding: 'utf8' });
    const here = run(process.cwd(), { HOME: '/', LANG: 'C', TZ: 'UTC' });
    const there = run(folderWith({}), {
      HOME: join(agent.folder),
      LANG: 'tr_TR.UTF-8',
      LC_ALL: 'tr_TR.UTF-8',
      TZ: 'Asia/Kolkata',
    });
    expect(there).toBe(here);
    expect(JSON.parse(here)).toEqual(
      await composed(agent, { facts: { dbt: 'true' }, texts: { session: 'Ä. Ö' } }),
    );
  });
});
