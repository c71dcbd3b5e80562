/** The contract of an adapter, held over every one that the catalogue names. */
import { existsSync, readdirSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adapters as catalogued } from '../catalog.ts';
import { sha256 } from '../digest.ts';
import type { WritError } from '../errors.ts';
import { type Cell, type DeliveryPlan, dimensions } from '../protocol/delivery.ts';
import { type Intent, intents } from '../protocol/intent.ts';
import type { Adapter } from './adapter.ts';
import {
  carriedTexts,
  cellFor,
  intentsOf,
  requestFor,
  sampleRequest,
  withDimension,
} from './conformance.cases.ts';
import { type DeliveryRules, isControl } from './permit.ts';
import { planDelivery } from './plan-delivery.ts';
import type { DeliveryRequest } from './request.ts';

const adapters: readonly Adapter[] = await Promise.all(catalogued.map((part) => part.load()));

function rulesWith(
  measured: readonly Cell[],
  unmeasured: DeliveryRules['unmeasured'] = 'refuse',
): DeliveryRules {
  return { adapters, measured, unmeasured };
}

/** Plans with a measurement that lets the control pass. */
function planOf(adapter: Adapter, changes: Partial<DeliveryRequest> = {}, cell: Partial<Cell> = {}) {
  const request = requestFor(adapter, changes);
  return planDelivery(adapter.name, request, rulesWith([cellFor(adapter, request, cell)]));
}

function refusalOf(run: () => unknown): WritError {
  try {
    run();
  } catch (error) {
    return error as WritError;
  }
  throw new Error('Expected a refusal, found none.');
}

/** What a program is told. */
function bodyOf({ program, argv, env, files, acp }: DeliveryPlan): string {
  return JSON.stringify([program, argv, env, files, acp]);
}

test('every folder of harnesses/ is in the catalogue, so none is without a row', () => {
  expect(readdirSync('src/deliver/harnesses').sort()).toEqual(adapters.map(({ name }) => name).sort());
});

/** Who has a control; an agent of a protocol may pass a text over without a word, so it is none of them. */
const canBeAsked: { readonly [I in Intent]: readonly string[] } = {
  replace: ['native', 'claude-code', 'codex', 'gemini', 'opencode', 'pi', 'qwen-code'],
  append: ['native', 'claude-code', 'opencode', 'pi', 'qwen-code'],
  developer: ['codex'],
  context: ['claude-code', 'codex', 'gemini', 'opencode'],
};

test.each(['kimi-code', 'factory', 'nanoclaw', 'claude', 'never-seen', '', '__proto__'])(
  'the name %j honours no intent',
  (name) => {
    for (const intent of intents) {
      const error = refusalOf(() => planDelivery(name, { ...sampleRequest, intent }, rulesWith([], 'warn')));
      expect(error).toMatchObject({
        code: 'deliver.unknown-harness',
        kind: 'refused',
        details: { harness: name, field: 'intent', able: canBeAsked[intent] },
      });
    }
  },
);

describe.each(adapters.map((adapter) => [adapter.name, adapter] as const))('%s', (name, adapter) => {
  const able = intentsOf(adapter);
  const unable = intents.filter((intent) => !able.includes(intent));

  test('answers every intent, and refuses some', () => {
    expect(Object.keys(adapter.controls).sort()).toEqual([...intents].sort());
    expect([able.length > 0, unable.length > 0]).toEqual([true, true]);
  });

  test.each(unable)('%s is refused: who, what is needed, the alternative, and who can', (intent) => {
    // Even a measurement that says otherwise gives no control to send the text by.
    const request = requestFor(adapter, { intent });
    const error = refusalOf(() =>
      planDelivery(name, request, rulesWith([cellFor(adapter, request)], 'warn')),
    );
    expect(error).toMatchObject({
      code: 'deliver.no-control',
      kind: 'refused',
      details: {
        harness: name,
        field: 'intent',
        requirement: expect.stringContaining(intent),
        alternative: expect.stringMatching(/intent/),
        able: canBeAsked[intent],
      },
    });
    expect(error.message).toContain(name);
    expect(error.next).toMatch(/^Use .+\.$/);
  });

  test('a login that is made up to be measured stands where the own one would', () => {
    const [intent = 'replace'] = able;
    const request = requestFor(adapter, { intent, authMode: 'login' });
    const { seeds, files } = planDelivery(name, request, rulesWith([cellFor(adapter, request)], 'warn'));
    const paths = (adapter.loginForVerify?.() ?? []).map(({ path }) => path);
    expect(seeds.map(({ to }) => to)).toEqual(expect.arrayContaining(paths));
    expect(files.map(({ path }) => path).filter((path) => paths.includes(path))).toEqual([]);
  });

  test.each(able)('%s: any text is carried whole and once, its digest named, or it is refused', (intent) => {
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }).filter((text) => !/\p{Surrogate}/u.test(text)),
      fc.constantFrom(
        '',
        '-x',
        '--',
        '@a',
        '/x',
        '{env:HOME} {file:x}',
        '---\n',
        '\uFEFFx',
        'a\0b',
        '"\\ud800K"',
      ),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          const plan = planOf(adapter, { intent, text, task: 'TASK' });
          const [used] = plan.controls;
          expect(used).toMatchObject({ wish: intent, bytes: Buffer.byteLength(text), sha256: sha256(text) });
          // Ours is handed the composition itself; its own tests hold the bytes.
          if (adapter.needsCell === false) return;
          const whole = carriedTexts(plan).filter((one) => one === text).length;
          const shortOrEmpty = text.length < 8;
          expect(shortOrEmpty ? Math.min(whole, 1) : whole).toBe(1);
          expect(plan.stdin ?? '').not.toContain(text.length < 8 ? '\uFFFF' : text);
        } catch (error) {
          const { code } = error as WritError;
          if (code !== 'deliver.not-transportable' && code !== 'deliver.too-large') throw error;
        }
      }),
      { numRuns: 60 },
    );
  });

  test('a plan is pure: the same again, the request as it was, nothing on disk', () => {
    for (const intent of able) {
      const request = requestFor(adapter, { intent });
      const before = JSON.stringify(request);
      const rules = rulesWith([cellFor(adapter, request)]);
      const plan = planDelivery(name, Object.freeze(request), rules);
      expect(planDelivery(name, structuredClone(request), rules)).toEqual(plan);
      expect(JSON.stringify(request)).toBe(before);
      // Closed JSON: what is stored or printed is all there is.
      expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
      expect(existsSync(request.home)).toBe(false);
    }
  });

  test('equal text under two intents is two plans', () => {
    const plans = able.map((intent) => JSON.stringify({ ...planOf(adapter, { intent }), cell: null }));
    expect(new Set(plans).size).toBe(able.length);
  });

  test('an empty text is a text', () => {
    for (const intent of able) {
      const [used] = planOf(adapter, { intent, text: '' }).controls;
      expect(used).toMatchObject({ wish: intent, bytes: 0, sha256: sha256('') });
    }
  });

  test.each(able)(
    '%s: a text of 2 MB goes by a file, or is refused with its size and the limit',
    (intent) => {
      const text = `${'All work and no play. '.repeat(100_000)}!`;
      try {
        const plan = planOf(adapter, { intent, text });
        expect(Math.max(0, ...plan.argv.map((word) => word.length))).toBeLessThan(10_000);
        expect(plan.stdin ?? '').not.toContain('no play');
      } catch (error) {
        expect(error).toMatchObject({ code: 'deliver.too-large', kind: 'refused' });
        expect((error as Error).message).toMatch(/2200\d{3} .* \d+/);
      }
    },
  );

  test('files lie below the home, each once, and never in the workspace', () => {
    for (const intent of able) {
      const { files, argv, env } = planOf(adapter, { intent });
      const paths = files.map(({ path }) => path);
      expect(new Set(paths).size).toBe(paths.length);
      for (const path of paths) expect(path).toMatch(/^(?!.*\.\.)[^/].*$/);
      expect([...argv, ...Object.values(env)].join('\n')).not.toContain('/nowhere/workspace');
    }
  });

  test.each(dimensions)(
    '%s is delivered natively, or the whole request is refused by its name',
    (dimension) => {
      const wish = withDimension(dimension);
      const refused = able.filter((intent) => {
        const without = planOf(adapter, { intent });
        try {
          const plan = planOf(adapter, { intent, ...wish });
          expect(plan.controls.map((used) => used.wish)).toContain(dimension);
          if (adapter.needsCell === false) return false;
          expect(bodyOf(plan)).not.toBe(bodyOf(without));
          expect(bodyOf(plan)).toMatch(/canary|read|plan|low|4321/i);
          return false;
        } catch (error) {
          expect(error).toMatchObject({
            code: 'deliver.dimension-unsupported',
            kind: 'refused',
            details: { harness: name, field: dimension },
          });
          return true;
        }
      });
      // What the table names is delivered with one intent at least, and what it does not name with none.
      expect(refused.length === able.length).toBe(adapter.dimensions[dimension] === undefined);
    },
  );

  test('a secret that a server needs travels by its name alone', () => {
    const server = { url: 'https://example.com/mcp', keyEnv: 'CANARY_TOKEN' };
    const request = { intent: able[0] ?? 'replace', mcpServers: { canary: server } } as const;
    try {
      expect(planOf(adapter, request).inherit).toContain('CANARY_TOKEN');
    } catch (error) {
      expect(error).toMatchObject({
        code: 'deliver.dimension-unsupported',
        details: { field: 'mcpServers' },
      });
    }
  });

  test('what nobody measured is refused for replace with the command that measures it; warn is the choice of the caller', () => {
    if (!able.includes('replace') || adapter.needsCell === false) return;
    const request = requestFor(adapter, { version: '999.0.0' });
    expect(refusalOf(() => planDelivery(name, request, rulesWith([])))).toMatchObject({
      code: 'deliver.unmeasured',
      kind: 'refused',
      next: expect.stringMatching(new RegExp(`measure it: writ harness verify ${name}\\b`, 'i')),
      details: { harness: name, field: 'intent', version: '999.0.0', authMode: 'api-key' },
    });
    const row = adapter.controls.replace;
    const warned = () => planDelivery(name, request, rulesWith([], 'warn'));
    if (isControl(row) && row.silent === true) {
      expect(refusalOf(warned)).toMatchObject({ code: 'deliver.unmeasured' });
      const append = { ...request, intent: 'append' } as const;
      expect(refusalOf(() => planDelivery(name, append, rulesWith([], 'warn')))).toMatchObject({
        code: 'deliver.unmeasured',
      });
    } else
      expect(warned()).toMatchObject({ cell: null, notices: expect.arrayContaining([expect.any(String)]) });
    // Nobody can say "exact" without having looked.
    const exact = { ...request, fidelity: 'exact' } as const;
    expect(refusalOf(() => planDelivery(name, exact, rulesWith([], 'warn')))).toMatchObject({
      code: 'deliver.unmeasured',
    });
  });

  test('exact is for replace alone, where there is a prompt of a vendor that could stay', () => {
    for (const intent of able) {
      const exact = () => planOf(adapter, { intent, fidelity: 'exact' });
      if (intent === 'replace' || adapter.needsCell === false) expect(exact().fidelity).toBe('exact');
      else
        expect(refusalOf(exact)).toMatchObject({ code: 'deliver.residue', details: { field: 'fidelity' } });
    }
  });

  test('a measured cell beats every table', () => {
    if (adapter.needsCell === false) return;
    const [intent = 'replace'] = able;
    const failed = { delivered: false, position: null };
    expect(refusalOf(() => planOf(adapter, { intent }, failed))).toMatchObject({
      code: 'deliver.not-delivered',
    });
    const altered = { altered: ['leading-dash'] } as const;
    expect(refusalOf(() => planOf(adapter, { intent, text: '- a' }, altered))).toMatchObject({
      code: 'deliver.text-altered',
      details: { field: 'text' },
    });
    expect(planOf(adapter, { intent, text: 'a' }, altered).cell).toMatchObject(altered);
    expect(refusalOf(() => planOf(adapter, { intent }, { byteEquality: false }))).toMatchObject({
      code: 'deliver.text-altered',
    });
    const beside = { residue: { bytes: 62, firstWords: 'You are Claude Code' } };
    expect(planOf(adapter, { intent }, beside).residue[0]).toMatch(/^62 bytes .*You are Claude Code/);
    if (intent === 'replace')
      expect(refusalOf(() => planOf(adapter, { intent, fidelity: 'exact' }, beside))).toMatchObject({
        code: 'deliver.residue',
        details: { field: 'fidelity' },
      });
  });

  test('a session is continued by its id, or that is refused', () => {
    const [intent = 'replace'] = able;
    const resume = 'canary-session';
    if (adapter.resume === 'none') {
      expect(refusalOf(() => planOf(adapter, { intent, resume }))).toMatchObject({
        code: 'deliver.no-resume',
      });
      return;
    }
    const plan = planOf(adapter, { intent, resume });
    if (adapter.needsCell === false) return;
    expect(plan.argv).toContain(resume);
    // Kept: sent again it would stand twice. Send again: left out it would be gone.
    const sent = carriedTexts(plan).includes(sampleRequest.text);
    expect(sent).toBe(adapter.resume === 'send-again');
  });

  test('shipped cells are of its own controls', () => {
    for (const cell of adapter.cells) {
      const row = adapter.controls[cell.intent];
      expect([cell.harness, cell.control]).toEqual([name, isControl(row) ? row.control : null]);
    }
    // Each outside program that ships with cells can be asked for what was measured.
    if (adapter.program !== null) expect(adapter.cells.length).toBeGreaterThan(0);
  });

  test('what is no request is no request here either', () => {
    for (const text of [null, 7, undefined])
      expect(refusalOf(() => planOf(adapter, { text: text as unknown as string }))).toMatchObject({
        code: 'deliver.bad-request',
        details: { field: 'text' },
      });
    expect(refusalOf(() => planOf(adapter, { model: '--version' }))).toMatchObject({
      code: 'deliver.bad-request',
      details: { field: 'model' },
    });
  });

  test('a variable too large to start a program with is refused by its name, without its value', () => {
    if (adapter.dimensions.env === undefined) return;
    const [intent = 'replace'] = able;
    const error = refusalOf(() => planOf(adapter, { intent, env: { CANARY: 'hush'.repeat(40_000) } }));
    expect(error).toMatchObject({ code: 'deliver.too-large', kind: 'refused' });
    expect(error.message).toMatch(/CANARY: 160007 bytes/);
    expect(JSON.stringify(error)).not.toContain('hush');
  });

  test('a variable that steers the harness itself cannot be set by a request', () => {
    if (adapter.dimensions.env === undefined || adapter.program === null) return;
    const [intent = 'replace'] = able;
    const [planned = ''] = Object.keys(planOf(adapter, { intent }).env);
    // One that a plan does not set steers the program just as well.
    const unplanned = [...adapter.owns.source.matchAll(/[A-Z]{2,}/g)].map(([vendor]) => `${vendor}_CANARY`);
    expect(unplanned).not.toEqual([]);
    for (const variable of [planned, ...unplanned])
      expect(refusalOf(() => planOf(adapter, { intent, env: { [variable]: 'x' } }))).toMatchObject({
        code: 'deliver.dimension-unsupported',
        details: { field: 'env' },
      });
  });
});
