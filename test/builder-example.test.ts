/** The example builder: its pins, and a protocol that is left out only where it is known not to apply. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { vocabulary } from '../src/catalog.ts';
import { systemClock } from '../src/clock.ts';
import { compose } from '../src/compose/compose.ts';
import { loadAgent } from '../src/compose/load/agent.ts';
import { projectMarker } from '../src/compose/probes/project-marker.ts';
import type { Lock } from '../src/compose/proof/lock.ts';
import { type SituationInput, settle } from '../src/compose/settle.ts';
import { sha256 } from '../src/digest.ts';
import { thisHolder } from '../src/ledger/holder.ts';
import { openLedger } from '../src/ledger/ledger.ts';
import { memoryStore } from '../src/ledger/stores/memory.ts';
import { resolveModel } from '../src/native/model/providers.ts';
import { native } from '../src/native/native.ts';
import { startRun } from '../src/run/run.ts';
import { bin } from './docs-commands.ts';
import { scriptedProvider } from './scripted-provider.ts';

const folder = resolve('examples/builder');
const builder = await loadAgent(folder, vocabulary);
const order = builder.profiles.get('default') ?? [];
const body = (id: string) => builder.fragments.get(id)?.body ?? '';
const whole = order.map(body).join('');
const scoped = order
  .filter((id) => id !== 'sql-guard')
  .map(body)
  .join('');

const composed = async (input: SituationInput, agent = builder) =>
  compose(agent, await settle(agent, input, [projectMarker]));
const pins = async () => JSON.parse(await readFile(join(folder, 'writ.lock.json'), 'utf8')) as Lock;

let workspace: string;
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'writ-builder-'));
  await mkdir(join(workspace, 'a/b/c/d/e/f'), { recursive: true });
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

const headless = () => ({ mode: 'headless', workspace }) as const;
const plain = { facts: { 'workspace.dbt': 'false' } };

describe('fragments and profiles', () => {
  test('the whole text is what the lock pins, and peels fragment by fragment to nothing', async () => {
    const { text, digest } = await composed({ mode: 'interactive' });
    expect(digest).toBe((await pins()).situations['interactive-plain']?.default?.sha256);
    let rest = text;
    for (const id of order) {
      expect(rest.startsWith(body(id))).toBe(true);
      rest = rest.slice(body(id).length);
    }
    expect(rest).toBe('');
  });

  test('ten fragments, none empty, each ended by a newline, each once, and none of them unused', () => {
    expect(order).toHaveLength(10);
    expect(new Set(order).size).toBe(10);
    for (const id of order) expect(body(id)).toMatch(/\S[\s\S]*\n$/);
    expect(builder.unused).toEqual([]);
  });

  test('the small profile is a part of the large one in the same order, and does not change it', async () => {
    const before = (await composed({ mode: 'interactive' })).digest;
    const small = await composed({ profile: 'data-qa' });
    expect(small.text).toBe(['core', 'sources', 'training'].map(body).join(''));
    expect(order.filter((id) => small.layers[0]?.fragments.includes(id))).toEqual(small.layers[0]?.fragments);
    for (const id of order.filter((one) => !['core', 'sources', 'training'].includes(one)))
      expect(small.text).not.toContain(body(id).trim());
    expect((await composed({ mode: 'interactive' })).digest).toBe(before);
  });

  test('the protocol stands before the instruction to finish, which speaks of everything above it', () => {
    expect(order.indexOf('sql-guard')).toBeLessThan(order.indexOf('finish'));
    expect(order.at(-1)).toBe('finish');
  });

  test('two processes with another folder and another home give the same bytes', async () => {
    const digests = await Promise.all(
      [workspace, join(workspace, 'a')].map(async (cwd) => {
        const env = { PATH: process.env.PATH, HOME: cwd };
        const words = [bin, 'compose', folder, '--situation', 'headless-plain'];
        return sha256((await promisify(execFile)(process.execPath, words, { cwd, env })).stdout);
      }),
    );
    expect(new Set([...digests, sha256(scoped)]).size).toBe(1);
  });
});

describe('the protocol is left out', () => {
  test('headless, builder, stock text, and a workspace that is known to be no project', async () => {
    expect((await composed(headless())).text).toBe(scoped);
    expect((await composed(headless())).decisions.find(({ when }) => when !== null)).toMatchObject({
      fragment: 'sql-guard',
      included: false,
      value: 'false',
    });
  });

  test.each([
    ['a project at the root', async () => writeFile(join(workspace, 'dbt_project.yml'), '')],
    ['a project six levels down', async () => writeFile(join(workspace, 'a/b/c/d/e/f/dbt_project.yaml'), '')],
  ])('but not with %s', async (_name, make) => {
    await make();
    expect((await composed(headless())).text).toBe(whole);
  });

  test.each([
    ['in an interactive session', { mode: 'interactive', ...plain }],
    ['with a text that was changed', { customised: true, ...plain }],
    ['with the workspace unknown', { unknown: ['workspace.dbt'] }],
    ['without a workspace', {}],
    ['with the mode unknown', { unknown: ['mode'], ...plain }],
  ] satisfies [string, SituationInput][])('but not %s', async (_name, input) => {
    expect((await composed(input)).text).toBe(whole);
  });

  test('by the key of the agent, whatever it is called', async () => {
    expect((await composed(plain, { ...builder, name: 'Something else' })).text).toBe(scoped);
    expect((await composed(plain, { ...builder, key: 'analyst', name: 'Model builder' })).text).toBe(whole);
  });

  test('and nothing else with it, and the agent stays whole for the next session', async () => {
    const { text } = await composed(plain);
    for (const id of order) expect(text.includes(body(id))).toBe(id !== 'sql-guard');
    expect((await composed({ mode: 'interactive' })).text).toBe(whole);
  });

  test('one decision holds for a session; the next one looks again', async () => {
    const situation = await settle(builder, headless(), [projectMarker]);
    await writeFile(join(workspace, 'dbt_project.yml'), '');
    expect(compose(builder, situation).text).toBe(scoped);
    expect((await composed(headless())).text).toBe(whole);
  });

  test('an interactive session does not pay for a look at the disk', async () => {
    let looks = 0;
    const counting = { ...projectMarker, run: () => Promise.reject(new Error(`looked ${++looks} times`)) };
    await settle(builder, { mode: 'interactive', workspace }, [counting]);
    expect(looks).toBe(0);
    await settle(builder, headless(), [counting]);
    expect(looks).toBe(1);
  });
});

test('what the model is sent is the text that was decided', async () => {
  const provider = await scriptedProvider(() => ({ text: 'Done.' }));
  const model = resolveModel('local/any', { env: {}, baseUrl: provider.url });
  try {
    for (const dbt of ['false', 'true']) {
      const composition = await composed({ mode: 'headless', facts: { 'workspace.dbt': dbt } });
      const result = await startRun({
        harness: native({ model, tools: [] }),
        composition,
        capabilities: [],
        limits: { turns: 2 },
        task: 'Go.',
        store: openLedger({ store: memoryStore(), secrets: model.secrets }),
        clock: systemClock,
        holder: thisHolder(),
        approve: 'deny',
        origin: {},
      });
      expect(result.status).toBe('completed');
      const [first] = provider.requests.at(-1)?.json.messages ?? [];
      expect(first).toMatchObject({ role: 'system', content: dbt === 'true' ? whole : scoped });
    }
  } finally {
    await model.close();
    await provider.close();
  }
});

test('the lock, the changelog and the lint of the example hold', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [bin, 'check', folder, '--json']);
  expect(JSON.parse(stdout)).toEqual({
    agent: 'builder',
    ok: true,
    pins: 8,
    baselines: 1,
    reports: 0,
    findings: [],
  });
});
