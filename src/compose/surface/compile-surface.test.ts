import { describe, expect, test } from 'vitest';
import { labelledTasks, sampleCatalogue } from '../../../bench/selection-catalogue.mjs';
import { openCatalogue } from './catalogue.ts';
import { compileSurface, recompileSurface } from './compile-surface.ts';
import type { SurfaceRequest } from './request.ts';
import type { TriggerKind, UnitDefinition } from './unit.ts';
import { mcpTool, skill, tool } from './units.cases.ts';

const surfaceOf = (units: readonly UnitDefinition[], request: Partial<SurfaceRequest> = {}) =>
  compileSurface(openCatalogue(units), { task: '', capabilities: [], ...request });
const activeOf = (units: readonly UnitDefinition[], request: Partial<SurfaceRequest> = {}) =>
  surfaceOf(units, request).active.map(({ unit }) => unit);
const on = (kind: TriggerKind, text: string, weight = 100) => ({ kind, text, weight });
const rejectionOf = (units: readonly UnitDefinition[], request: Partial<SurfaceRequest>, unit: string) =>
  surfaceOf(units, request).rejected.find((one) => one.unit === unit)?.reasons;

describe('evidence', () => {
  const mail = tool('mail', { description: 'Post.', triggers: [on('phrase', 'send an email')] });

  test('a phrase calls for its unit however it is written, and its words apart do not', () => {
    expect(activeOf([mail, tool('other')], { task: 'Please SEND an e-mail; send an Email' })).toEqual([
      'tool:mail',
    ]);
    expect(activeOf([mail], { task: 'email me what to send' })).toEqual([]);
    expect(activeOf([mail], { task: 'Tell me what to send. An email came.' })).toEqual([]);
  });

  test('a keyword is the word as written, a verb or an object any form of it', () => {
    const units = [
      tool('k', { description: 'One.', triggers: [on('keyword', 'file')] }),
      tool('v', { description: 'Two.', triggers: [on('verb', 'translate')] }),
      tool('o', { description: 'Three.', triggers: [on('object', 'file')] }),
    ];
    expect(activeOf(units, { task: 'translating files' })).toEqual(['tool:o', 'tool:v']);
    expect(activeOf(units, { task: 'the FILE' })).toEqual(['tool:k', 'tool:o']);
  });

  test('the weights of verb and object add up, each once', () => {
    const both = tool('x', {
      description: 'One.',
      triggers: [on('verb', 'read', 30), on('object', 'page', 20)],
    });
    expect(surfaceOf([both], { task: 'Read the page, read all pages' }).candidates).toEqual([
      {
        unit: 'tool:x',
        score: 30 + 20 + 100,
        selected: false,
        triggers: [on('object', 'page', 20), on('verb', 'read', 30)],
        words: [],
      },
    ]);
  });

  test('needs and signals are closed words given with the request', () => {
    const units = [
      tool('a', { description: 'One.', triggers: [on('need', 'charts')] }),
      tool('b', { description: 'Two.', triggers: [on('signal', 'csv')] }),
    ];
    expect(activeOf(units, { task: 'charts csv' })).toEqual([]);
    expect(activeOf(units, { needs: ['charts'] })).toEqual(['tool:a']);
    expect(activeOf(units, { signals: ['csv'] })).toEqual(['tool:b']);
  });

  test('shared words make a candidate, and say which', () => {
    const [first, ...rest] = surfaceOf([tool('sql_query'), tool('mail')], {
      task: 'Run three SQL queries',
    }).candidates;
    expect([first?.unit, first?.words, rest]).toEqual(['tool:sql_query', ['queries', 'sql'], []]);
  });

  test('of a long task the 64 rarest words count, so that the work is bounded', () => {
    const words = Array.from({ length: 70 }, (_, i) => `w${i}`);
    const units = [tool('a', { description: words.join(' ') }), tool('b', { description: 'w0 w1' })];
    const [first] = surfaceOf(units, { task: words.join(' ') }).candidates;
    expect([first?.unit, first?.words.length, first?.words.includes('w0')]).toEqual(['tool:a', 64, false]);
  });

  test('without any evidence nothing is active', () => {
    expect(surfaceOf([tool('a')], { task: 'hello' })).toMatchObject({
      active: [],
      rejected: [],
      cut: [],
      candidates: [],
    });
    expect(surfaceOf([], {})).toMatchObject({ active: [], sizes: { tokens: 0, bytes: 0 } });
  });

  test('what was selected is active without a match; an id that nobody registered is said to be so', () => {
    expect(activeOf([tool('a'), tool('b')], { selected: ['tool:a'] })).toEqual(['tool:a']);
    expect(rejectionOf([tool('a')], { selected: ['tool:b'] }, 'tool:b')).toEqual([
      { kind: 'not-registered' },
    ]);
  });
});

describe('what stands against a unit', () => {
  const query = tool('sql_query', { capability: 'sql', category: 'data' });
  const held = { capabilities: ['sql'], selected: ['tool:sql_query'] };

  test.each<[string, Partial<SurfaceRequest>, object[]]>([
    ['the task', { task: 'without sql_query' }, [{ kind: 'negated', words: 'without sql query' }]],
    ['a denial by id', { denied: ['tool:sql_query'] }, [{ kind: 'denied' }]],
    ['a denial by category', { denied: ['category:data'] }, [{ kind: 'denied' }]],
    ['the scope', { scope: ['tool:mail'] }, [{ kind: 'out-of-scope' }]],
    ['a missing capability', { capabilities: ['mail'] }, [{ kind: 'not-capable', capability: 'sql' }]],
    ['several at once', { denied: ['tool:*'], scope: [] }, [{ kind: 'denied' }, { kind: 'out-of-scope' }]],
  ])('%s beats its selection', (_, request, reasons) => {
    const surface = surfaceOf([query], { ...held, ...request });
    expect([surface.active, surface.rejected]).toEqual([[], [{ unit: 'tool:sql_query', reasons }]]);
  });

  test('that it is not available now is a reason, and it stays registered', () => {
    const catalogue = openCatalogue([tool('a', { available: false })]);
    const surface = compileSurface(catalogue, { task: '', capabilities: [], selected: ['tool:a'] });
    expect([surface.active, surface.rejected[0]?.reasons]).toEqual([[], [{ kind: 'unavailable' }]]);
    expect(catalogue.get('tool:a')?.available).toBe(false);
  });

  test('a unit that was denied by its id is told as denied although nothing spoke for it', () => {
    expect(
      rejectionOf([query], { denied: ['tool:sql_query'], capabilities: ['sql'] }, 'tool:sql_query'),
    ).toEqual([{ kind: 'denied' }]);
  });

  test('denied units leave their places to others', () => {
    const units = Array.from({ length: 10 }, (_, i) => tool(`read_${i}`));
    const surface = surfaceOf(units, {
      task: 'read',
      denied: ['tool:read_0', 'tool:read_1'],
      candidateLimit: 2,
    });
    expect(surface.active.map(({ unit }) => unit)).toEqual(['tool:read_2', 'tool:read_3']);
  });
});

describe('the candidate limit', () => {
  test('names what it cut, which is something else than no evidence', () => {
    const units = ['a', 'b', 'c'].map((name) => tool(`read_${name}`));
    const surface = surfaceOf([...units, tool('mail')], { task: 'read', candidateLimit: 1 });
    expect([surface.candidates.map(({ unit }) => unit), surface.cut]).toEqual([
      ['tool:read_a'],
      ['tool:read_b', 'tool:read_c'],
    ]);
  });

  test('does not cut what a candidate needs', () => {
    const units = [tool('read_a', { requires: ['tool:read_c'] }), tool('read_b'), tool('read_c')];
    const surface = surfaceOf(units, { task: 'read', selected: ['tool:read_a'], candidateLimit: 1 });
    expect([surface.active.map(({ unit }) => unit), surface.cut]).toEqual([
      ['tool:read_a', 'tool:read_c'],
      ['tool:read_b'],
    ]);
  });

  test('narrows 5,000 units to 32 before anything is packed, and 50,000 as well', () => {
    for (const size of [5000, 50_000]) {
      const catalogue = openCatalogue(sampleCatalogue(size));
      const surface = compileSurface(catalogue, {
        task: labelledTasks()[0]?.[0] ?? '',
        capabilities: [],
        candidateLimit: 32,
      });
      expect([surface.candidates.length, surface.active.length]).toEqual([32, 32]);
      expect(surface.cut.length).toBeGreaterThan(100);
    }
  });
});

test('a catalogue that grew between surfaces compiles as one that was made at once', () => {
  const units = ['m', 'z', 'a', 'k'].map((name, priority) => tool(name, { priority }));
  const growing = openCatalogue(units.slice(0, 2));
  const request = { task: '', capabilities: [], mode: 'all_tools' } as const;
  compileSurface(growing, request);
  for (const unit of units.slice(2)) growing.register(unit);
  expect(compileSurface(growing, request)).toEqual(compileSurface(openCatalogue(units), request));
});

describe('recompiling', () => {
  const units = [
    tool('query', { triggers: [on('need', 'rows')] }),
    tool('chart', { triggers: [on('need', 'charts')] }),
    tool('drop_table', { capability: 'write', triggers: [on('need', 'charts')] }),
    tool('other', { triggers: [on('need', 'charts')] }),
  ];
  const catalogue = openCatalogue(units);
  const first = compileSurface(catalogue, {
    task: '',
    capabilities: [],
    needs: ['rows'],
    scope: ['tool:query', 'tool:chart', 'tool:drop_table'],
  });

  test('with a need brings in the next tool, in a new surface', () => {
    const before = structuredClone(first);
    const next = recompileSurface(catalogue, first, { needs: ['charts'] });
    expect(next.active.map(({ unit }) => unit)).toEqual(['tool:chart', 'tool:query']);
    expect(next.fingerprint).not.toBe(first.fingerprint);
    expect(first).toEqual(before);
  });

  test('with a need widens neither capabilities nor scope', () => {
    const { request, rejected } = recompileSurface(catalogue, first, { needs: ['charts'] });
    expect([request.capabilities, request.scope]).toEqual([first.request.capabilities, first.request.scope]);
    expect(rejected).toEqual([
      { unit: 'tool:drop_table', reasons: [{ kind: 'not-capable', capability: 'write' }] },
      { unit: 'tool:other', reasons: [{ kind: 'out-of-scope' }] },
    ]);
  });

  test('with nothing new gives the same surface', () => {
    expect(recompileSurface(catalogue, first, {})).toEqual(first);
  });
});

describe('the mode all_tools', () => {
  const units = [tool('a'), tool('b', { capability: 'x' }), skill('c'), tool('d', { available: false })];

  test('shows all that is allowed, whatever the task says, negative evidence excepted', () => {
    expect(activeOf(units, { mode: 'all_tools', candidateLimit: 1 })).toEqual(['skill:c', 'tool:a']);
    expect(activeOf(units, { mode: 'all_tools', task: 'without c' })).toEqual(['tool:a']);
  });

  test('keeps to the same budget, the higher priority first', () => {
    const surface = surfaceOf([skill('a'), skill('b', { priority: 200 })], {
      mode: 'all_tools',
      budgetTokens: 4,
    });
    expect([surface.active.map(({ unit }) => unit), surface.pending.map(({ unit }) => unit)]).toEqual([
      ['skill:b'],
      ['skill:a'],
    ]);
  });
});

describe('a surface is a description', () => {
  test('of MCP units and what they need, with nothing connected: it is plain data', () => {
    const units = [
      mcpTool('files', 'read', { requires: ['mcp_prompt:files/how', 'resource:files'] }),
      { kind: 'mcp_prompt', name: 'how', server: 'files', description: 'How.' } as const,
      { kind: 'resource', name: 'files', description: 'All files.' } as const,
    ];
    const surface = surfaceOf(units, { selected: ['mcp_tool:files/read'] });
    expect(surface.active.map(({ unit }) => unit)).toEqual([
      'mcp_prompt:files/how',
      'mcp_tool:files/read',
      'resource:files',
    ]);
    expect(JSON.parse(JSON.stringify(surface))).toEqual(surface);
  });

  test('that grants nothing: an active unit adds no capability, and the request is left as it was', () => {
    const request = Object.freeze({ task: '', capabilities: Object.freeze(['sql']), selected: ['tool:a'] });
    const surface = surfaceOf([tool('a', { capability: 'sql' })], request);
    expect([surface.active.length, surface.request.capabilities, request.capabilities]).toEqual([
      1,
      ['sql'],
      ['sql'],
    ]);
  });
});

describe('a request out of its limits is refused before anything is looked up', () => {
  test.each<[string, object, string]>([
    ['an unknown mode', { mode: 'compile' }, "No mode is called 'compile'"],
    ['an unknown field', { candidates: 3 }, "no field 'candidates'"],
    ['no task', { task: undefined }, 'must be text'],
    ['a long task', { task: 'x'.repeat(32_769) }, '32769 characters'],
    ['a limit of none', { candidateLimit: 0 }, 'from 1 to 256'],
    ['a limit too high', { candidateLimit: 257 }, 'from 1 to 256'],
    ['a budget below zero', { budgetTokens: -1 }, '-1 tokens'],
    ['no list', { needs: 'charts' }, "'needs' must be a list"],
    ['an empty entry', { signals: [''] }, "'signals' must be a list"],
    ['no capabilities', { capabilities: undefined }, "'capabilities' must be a list"],
    [
      'more selected than considered',
      { selected: ['a', 'b'], candidateLimit: 1 },
      "'selected' has 2 entries",
    ],
  ])('%s', (_, request, message) => {
    expect(() => surfaceOf([], request)).toThrow(
      expect.objectContaining({
        code: 'compose.bad-surface-request',
        message: expect.stringContaining(message),
      }),
    );
  });
});
