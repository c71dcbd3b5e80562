import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import type { EvidenceStatus } from '../../protocol/spec.ts';
import { type Assertion, argumentTypes, openAssertions } from './catalogue.ts';
import { compileSpec, type FrozenSpec, mustBeWhole } from './compile-spec.ts';
import { meetSpec } from './meet-spec.ts';
import { claimOf, type Observation, observeSpec } from './observe-spec.ts';
import { readSpec, readSpecText, specJsonSchema } from './spec.ts';
import { verifySpec } from './verify-spec.ts';

const world = new Map<string, number>();
const exists: Assertion = {
  kind: 'counter',
  version: 2,
  description: 'A counter has at least a value.',
  policy: { sources: ['disk', 'probe'], trust: ['trusted', 'observed'], freshness: 'any', coherent: false },
  timeoutMs: 40,
  check: argumentTypes({ name: 'string', least: 'number' }),
  async collect({ name }, signal) {
    if (name === 'slow') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (name === 'broken') throw new Error('the disk is gone');
    const value = world.get(String(name));
    return value === undefined ? undefined : { source: 'disk', trust: 'observed', value };
  },
  judge({ least }, value) {
    if (typeof value !== 'number') throw new Error('no number');
    return value >= Number(least);
  },
};
const catalogue = openAssertions([exists]);
const requirement = (id: string, name = id, more: object = {}) => ({
  id,
  assertion: { kind: 'counter', version: 2, args: { name, least: 1 } },
  ...more,
});
const source = (...requirements: readonly object[]) => ({
  schemaVersion: 1,
  subject: 'the counters',
  requirements,
});
const freeze = (...requirements: readonly object[]) =>
  compileSpec(readSpec(source(...requirements)), catalogue, { series: 's', version: 1 });
const state = { ref: 'main', revision: 'r2' };
const observe = (spec: FrozenSpec, signal = new AbortController().signal) =>
  observeSpec(spec, catalogue, { state, clock: systemClock, signal });
const code = (expected: string) => expect.objectContaining({ code: expected });

describe('the closed form', () => {
  test('is read with its defaults, in one order, invariants and the output among the rest', () => {
    const spec = readSpec({
      ...source(requirement('b'), requirement('a', 'a', { severity: 'optional', provenance: 'ada' })),
      invariants: [requirement('c')],
      outputContract: requirement('d'),
    });
    expect(
      spec.requirements.map(({ id, role, severity, provenance }) => [id, role, severity, provenance]),
    ).toEqual([
      ['a', 'requirement', 'optional', 'ada'],
      ['b', 'requirement', 'required', null],
      ['c', 'invariant', 'required', null],
      ['d', 'output', 'required', null],
    ]);
  });

  test.each([
    ['an unknown member', { ...source(requirement('a')), run: 'rm' }],
    ['no requirement', source()],
    ['an id twice', source(requirement('a'), requirement('a'))],
    ['another version of the form', { ...source(requirement('a')), schemaVersion: 2 }],
    [
      'code',
      source({ ...requirement('a'), assertion: { kind: 'counter', version: 2, args: { name: () => 1 } } }),
    ],
    ['an unknown trust', source(requirement('a', 'a', { evidence: { trust: ['faith'] } }))],
    ['an empty list of sources', source(requirement('a', 'a', { evidence: { sources: [] } }))],
    ['a text', 'spec'],
  ])('refuses %s', (_what, value) => expect(() => readSpec(value)).toThrow(code('spec.unreadable')));

  test('is published as a JSON Schema', () => {
    expect(JSON.parse(readFileSync('schema/spec.schema.json', 'utf8'))).toEqual(specJsonSchema());
  });

  test('of a text refuses a key that stands twice, and what is no JSON', () => {
    const text = JSON.stringify(source(requirement('a')));
    expect(readSpecText(text)).toEqual(readSpec(JSON.parse(text)));
    expect(() => readSpecText(text.replace('{', '{"subject":"x",'))).toThrow(code('spec.unreadable'));
    expect(() => readSpecText('(defspec)')).toThrow(code('spec.unreadable'));
  });
});

describe('the catalogue', () => {
  test('lists what it has without its code', () => {
    const { kind, version, description, policy } = exists;
    expect(catalogue.list()).toEqual([{ kind, version, description, policy }]);
  });

  test.each([
    ['twice', [exists, exists]],
    ['without sources', [{ ...exists, policy: { ...exists.policy, sources: [] } }]],
    ['that believes a model', [{ ...exists, policy: { ...exists.policy, trust: ['model_claim' as const] } }]],
  ])('refuses an assertion %s', (_what, all) =>
    expect(() => openAssertions(all)).toThrow(code('spec.bad-assertion')),
  );
});

describe('freezing', () => {
  test('narrows the policy of evidence and never widens it', () => {
    const evidence = {
      sources: ['disk', 'rumour'],
      trust: ['observed', 'model_claim'],
      freshness: 'current',
    };
    expect(freeze(requirement('a', 'a', { evidence })).requirements[0]?.policy).toEqual({
      sources: ['disk'],
      trust: ['observed'],
      freshness: 'current',
      coherent: false,
    });
  });

  test.each([
    [
      'an unknown kind',
      { ...requirement('a'), assertion: { kind: 'x', version: 2, args: {} } },
      'spec.unknown-assertion',
    ],
    [
      'another version',
      { ...requirement('a'), assertion: { kind: 'counter', version: 1, args: {} } },
      'spec.unknown-assertion',
    ],
    [
      'arguments of another type',
      { ...requirement('a'), assertion: { kind: 'counter', version: 2, args: { name: 1, least: 1 } } },
      'spec.bad-arguments',
    ],
    [
      'an argument too many',
      {
        ...requirement('a'),
        assertion: { kind: 'counter', version: 2, args: { name: 'a', least: 1, x: 1 } },
      },
      'spec.bad-arguments',
    ],
    ['claims alone', requirement('a', 'a', { evidence: { trust: ['model_claim'] } }), 'spec.policy-empty'],
    [
      'another source alone',
      requirement('a', 'a', { evidence: { sources: ['rumour'] } }),
      'spec.policy-empty',
    ],
  ])('refuses %s', (_what, one, expected) => expect(() => freeze(one)).toThrow(code(expected)));

  test('has a fingerprint of all that counts, and of nothing else', () => {
    const plain = freeze(requirement('a'), requirement('b'));
    expect(freeze(requirement('b', 'b', { provenance: 'ada' }), requirement('a')).fingerprint).toBe(
      plain.fingerprint,
    );
    expect(freeze(requirement('a'), requirement('b', 'c')).fingerprint).not.toBe(plain.fingerprint);
    expect(freeze(requirement('a'), requirement('b', 'b', { severity: 'optional' })).fingerprint).not.toBe(
      plain.fingerprint,
    );
  });

  test('cannot be changed after, and a copy that was is found out', () => {
    const spec = freeze(requirement('a'));
    expect(() => Object.assign(spec.requirements[0] ?? {}, { severity: 'optional' })).toThrow(TypeError);
    const weakened: FrozenSpec = {
      ...spec,
      requirements: spec.requirements.map((one) => ({
        ...one,
        policy: { ...one.policy, trust: ['model_claim' as const] },
      })),
    };
    expect(() => mustBeWhole(weakened)).toThrow(code('spec.altered'));
    expect(() => verifySpec(weakened, catalogue, [], state)).toThrow(code('spec.altered'));
  });

  test('of changed content needs a higher version', () => {
    const newest = freeze(requirement('a'));
    const again = (id: string, version: number) =>
      compileSpec(readSpec(source(requirement(id))), catalogue, { series: 's', version, newest });
    expect(again('a', 1).fingerprint).toBe(newest.fingerprint);
    expect(() => again('b', 1)).toThrow(code('spec.version-taken'));
    expect(again('b', 2).version).toBe(2);
  });
});

describe('observing', () => {
  test('gives one observation each, whatever happens', async () => {
    world.clear();
    world.set('a', 3);
    const seen = await observe(
      freeze(requirement('a'), requirement('absent'), requirement('broken'), requirement('slow')),
    );
    expect(
      seen.map(({ requirement: id, status, value, trust, reason }) => [id, status, value, trust, reason]),
    ).toEqual([
      ['a', 'passed', 3, 'observed', 'It was seen.'],
      ['absent', 'missing', null, 'unresolved', 'There is nothing to be seen yet.'],
      ['broken', 'error', null, 'unresolved', 'the disk is gone'],
      ['slow', 'timeout', null, 'unresolved', 'It did not answer within 40 ms.'],
    ]);
  });

  test('stops with its signal', async () => {
    expect((await observe(freeze(requirement('a')), AbortSignal.abort()))[0]?.status).toBe('cancelled');
    const stop = new AbortController();
    const under = observe(freeze(requirement('slow')), stop.signal);
    stop.abort();
    expect((await under)[0]?.status).toBe('cancelled');
  });
});

describe('verifying', () => {
  const current = freeze(requirement('a', 'a', { evidence: { freshness: 'current' } }));
  const seen = (more: Partial<Observation> = {}): Observation => ({
    spec: current.fingerprint,
    requirement: 'a',
    question: claimOf(current, current.requirements[0] as never, 0, state, 0).question,
    status: 'passed',
    source: 'disk',
    trust: 'observed',
    value: 1,
    state,
    observedAt: 0,
    reason: 'It was seen.',
    ...more,
  });
  const statusOf = (...all: readonly Observation[]) => {
    const { accepted, results } = verifySpec(current, catalogue, all, state);
    expect(accepted).toBe(results[0]?.status === 'passed');
    return results[0]?.status;
  };

  test.each<[string, readonly Observation[], EvidenceStatus]>([
    ['what was seen and is enough', [seen()], 'passed'],
    ['what was seen and is not enough', [seen({ value: 0 })], 'failed'],
    ['nothing', [], 'missing'],
    ['evidence of another requirement', [seen({ requirement: 'b' })], 'missing'],
    ['a claim of a model', [seen({ trust: 'model_claim', source: 'model' })], 'missing'],
    [
      'a claim beside what was seen',
      [seen({ trust: 'model_claim', value: 9 }), seen({ value: 0 })],
      'failed',
    ],
    ['what was seen beside a claim', [seen({ trust: 'model_claim', value: 0 }), seen()], 'passed'],
    ['evidence for another specification', [seen({ spec: 'x' })], 'indeterminate'],
    ['evidence of another version of the assertion', [seen({ question: 'x' })], 'indeterminate'],
    ['another source', [seen({ source: 'rumour' })], 'indeterminate'],
    ['what was only derived', [seen({ trust: 'derived' })], 'indeterminate'],
    ['evidence of another thing', [seen({ state: { ref: 'fork', revision: 'r2' } })], 'stale'],
    ['evidence of an old revision', [seen({ state: { ref: 'main', revision: 'r1' } })], 'stale'],
    ['a value that cannot be judged', [seen({ value: 'many' })], 'error'],
    ['two, of which one is not enough', [seen(), seen({ source: 'probe', value: 0 })], 'failed'],
    ['two that are enough', [seen(), seen({ source: 'probe' })], 'passed'],
    ...(
      [
        'failed',
        'missing',
        'pending',
        'skipped',
        'cancelled',
        'error',
        'timeout',
        'indeterminate',
        'stale',
      ] as const
    ).map((status): [string, readonly Observation[], EvidenceStatus] => [
      `an observation that ${status}`,
      [seen({ status })],
      status,
    ]),
  ])('%s', (_what, all, expected) => expect(statusOf(...all)).toBe(expected));

  test('only what is required decides', async () => {
    world.clear();
    world.set('a', 1);
    const spec = freeze(requirement('a'), requirement('b', 'b', { severity: 'optional' }));
    const verdict = verifySpec(spec, catalogue, await observe(spec), state);
    expect([verdict.accepted, verdict.results.map(({ status }) => status)]).toEqual([
      true,
      ['passed', 'missing'],
    ]);
  });

  test('evidence of two revisions cannot pass together where it has to be of one', async () => {
    world.clear();
    for (const id of ['a', 'b', 'c']) world.set(id, 1);
    const bound = { evidence: { coherent: true } };
    const spec = freeze(requirement('a', 'a', bound), requirement('b', 'b', bound), requirement('c'));
    const [a, b, c] = await observe(spec);
    if (a === undefined || b === undefined || c === undefined) throw new Error('not observed');
    const older = { ref: 'main', revision: 'r1' };
    const of = (...all: Observation[]) =>
      verifySpec(spec, catalogue, all, state).results.map(({ status }) => status);
    expect(of(a, b, { ...c, state: older })).toEqual(['passed', 'passed', 'passed']);
    expect(of(a, { ...b, state: older }, c)).toEqual(['indeterminate', 'indeterminate', 'passed']);
  });
});

describe('working towards it', () => {
  const options = {
    catalogue,
    clock: systemClock,
    signal: new AbortController().signal,
    state: async () => state,
  };
  test('tries again with what is missing, against the same specification', async () => {
    world.clear();
    const spec = freeze(requirement('a'), requirement('b'));
    const told: string[][] = [];
    const end = await meetSpec({
      ...options,
      spec,
      async attempt(missing) {
        told.push(missing.map(({ id, status }) => `${id} ${status}`));
        world.set(told.length === 1 ? 'a' : 'b', 1);
        return 'I have done all of it.';
      },
    });
    expect([end.attempts, end.verdict.accepted, end.verdict.spec]).toEqual([2, true, spec.fingerprint]);
    expect(told).toEqual([[], ['b missing']]);
  });

  test('ends after the repairs that it has, whatever the attempts say of themselves', async () => {
    world.clear();
    const end = await meetSpec({ ...options, spec: freeze(requirement('a')), attempt: async () => 'Done.' });
    expect([end.attempts, end.verdict.accepted]).toEqual([3, false]);
  });
});
