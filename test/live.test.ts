/** The live lanes on a scripted model: they work, they say what went wrong, and none of it counts as live evidence. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mustBeLive, writeEvidence } from './live/evidence.ts';
import { cache, context, type Lane, smoke, stream, tool } from './live/lanes.ts';
import { liveTarget } from './live/target.ts';
import { type Script, type SeenRequest, type Step, scriptedProvider } from './scripted-provider.ts';

async function laneOn(lane: Lane, script: Script) {
  const provider = await scriptedProvider(script);
  const target = liveTarget({ WRIT_LIVE_MODEL: 'local/scripted-1', WRIT_LIVE_BASE_URL: provider.url });
  if (target.kind === 'skip') throw new Error(target.why);
  const { model } = target;
  const result = await lane(model);
  await model.close();
  await provider.close();
  return { result, model, requests: provider.requests };
}

const numbers = Array.from({ length: 30 }, (_, i) => i + 1).join(' ');
/** Calls the tool, then answers with the digits that it returned. */
const withTool =
  (name: string, args: string) =>
  ({ json }: SeenRequest): Step => {
    const last = json.messages.at(-1);
    if (last.role !== 'tool') return { calls: [{ id: 'c1', name, arguments: args }] };
    return { text: `It is ${/\b\d{6}\b/.exec(last.content)?.[0]}.` };
  };

const cases: readonly (readonly [string, Lane, Script])[] = [
  ['smoke', smoke, [{ text: 'Pong.' }]],
  ['stream', stream, [{ text: numbers }]],
  ['tool', tool, withTool('stock_of', '{"part":"hinge"}')],
  ['context', context, withTool('context_search', '{"query":"blue door"}')],
  [
    'cache',
    cache,
    [
      { text: 'part-84' },
      {
        text: 'part-1400',
        usage: {
          prompt_tokens: 9000,
          completion_tokens: 5,
          total_tokens: 9005,
          prompt_tokens_details: { cached_tokens: 8000 },
        },
      },
    ],
  ],
];

test.each(cases)('%s: a model that does as asked is healthy and good', async (name, lane, script) => {
  const { result } = await laneOn(lane, script);
  expect(result).toMatchObject({
    lane: name,
    health: 'ok',
    quality: 1,
    fault: null,
    modelSeen: 'scripted-1',
  });
});

test.each([
  ['another word', smoke, [{ text: 'ping' }], { health: 'ok', quality: 0.5, fault: null }],
  [
    'no text',
    smoke,
    [{ text: '' }],
    { health: 'failed', quality: 0, fault: expect.stringContaining('failed: ') },
  ],
  ['no call', tool, [{ text: '4' }], { health: 'failed', quality: 0, fault: 'The model called no tool.' }],
  ['one part', stream, [{ text: '1' }], { health: 'failed', fault: 'The text came in 1 parts.' }],
  ['no cached token', cache, [{ text: 'x' }, { text: 'part-1400' }], { health: 'ok', quality: 0.5 }],
  ['a refusal', smoke, [{ status: 401 }], { health: 'failed', fault: expect.stringContaining('401') }],
])('%s is told apart', async (_what, lane, script, expected) => {
  expect((await laneOn(lane, script)).result).toMatchObject(expected);
});

test('without a model or its key there is a reason to skip', () => {
  expect(liveTarget({})).toMatchObject({ kind: 'skip', why: expect.stringContaining('WRIT_LIVE_MODEL') });
  expect(liveTarget({ WRIT_LIVE_MODEL: 'openai/x' })).toMatchObject({
    kind: 'skip',
    why: expect.stringContaining('OPENAI_API_KEY'),
  });
  expect(() => liveTarget({ WRIT_LIVE_MODEL: 'nowhere/x' })).toThrow('nowhere');
});

test('a scripted model leaves no evidence', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'writ-live-'));
  const { result, model } = await laneOn(smoke, [{ text: 'pong' }]);
  const evidence = { model: model.id, url: model.url, date: '2025-01-31T09:05:12.000Z', lanes: [result] };
  await expect(writeEvidence(folder, evidence)).rejects.toThrow('no live evidence');
  expect(await readdir(folder)).toEqual([]);
  const live = { ...evidence, url: 'https://api.example.com/v1' };
  const path = await writeEvidence(folder, live, async () => [{ address: '93.184.215.14' }]);
  expect(path).toBe(join(folder, '2025-01-31T09-05-12-000Z-local_scripted-1.json'));
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject(live);
  await rm(folder, { recursive: true });
});

test.each([
  ['http://127.0.0.1:9/v1', '127.0.0.1'],
  ['http://localhost:9/v1', '127.0.0.1'],
  ['http://[::1]:9/v1', '::1'],
  ['https://models.example.com/v1', '127.8.0.1'],
  ['https://models.example.com/v1', '10.1.2.3'],
  ['https://models.example.com/v1', '::1'],
  ['https://models.example.com/v1', 'fd00::1'],
  ['https://models.example.com/v1', '::ffff:127.0.0.1'],
])('%s at %s is no live model', async (url, address) => {
  await expect(mustBeLive(url, async () => [{ address }])).rejects.toThrow('no live model');
});
